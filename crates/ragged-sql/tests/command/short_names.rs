//! Names without `ragged_`.

use std::collections::BTreeSet;

use datafusion::prelude::SessionContext;
use ragged::Device;
use ragged_sql::Functions;

use crate::files::Folder;
use crate::process::ragged;

#[test]
fn free_names_need_no_prefix() {
    let folder = Folder::new().with_table();
    let query = "relu(tokens) AS p, reduce_sum(tokens) AS s, ngrams(words, 2) AS n";
    let ran = ragged(folder.path(), &["run", query, "in.parquet", "--format", "jsonl"]).ok().text();
    assert!(ran.contains(r#""s":12"#), "{ran}");
}

/// Names that DataFusion has taken: a change of this list changes what queries of the command line mean.
const TAKEN: &str = "abs acos acosh asin asinh atan atan2 atanh ceil char_length concat contains cos cosh exp floor length log lower \
                     max mean median min pow repeat reverse round sin sinh sqrt substr sum tan tanh upper";

#[test]
fn names_of_datafusion_are_its_own() {
    let session = SessionContext::new();
    let state = session.state();
    let all: BTreeSet<&str> = state
        .scalar_functions()
        .keys()
        .chain(state.aggregate_functions().keys())
        .chain(state.window_functions().keys())
        .map(String::as_str)
        .collect();
    let functions = Functions::new(&Device::cpu());
    let mut taken: Vec<&str> = functions
        .all()
        .iter()
        .flat_map(|function| std::iter::once(function.name()).chain(function.aliases().iter().map(String::as_str)))
        .filter_map(|name| name.strip_prefix("ragged_"))
        .filter(|name| all.contains(name))
        .collect();
    taken.sort_unstable();
    assert_eq!(taken.join(" "), TAKEN);
}
