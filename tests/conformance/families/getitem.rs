//! The `getitem` family.

use ragged::arguments::Index;
use ragged::{Device, Result};
use serde_json::Value as Json;

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

/// Parses one item of a key.
fn item(v: &Json) -> Index<'static> {
    match v.as_str() {
        Some("newaxis") => return Index::NewAxis,
        Some("ellipsis") => return Index::Ellipsis,
        _ => {}
    }
    if let Some(i) = v.get("int") {
        return Index::At(i.as_i64().expect("an integer"));
    }
    let ends = &v["slice"];
    assert!(ends.is_array(), "a key item that is none: {v}");
    Index::Slice { start: ends[0].as_i64(), stop: ends[1].as_i64(), step: ends[2].as_i64().unwrap_or(1) }
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let x = case.tensor(0, device)?;
    Ok(match case.op.as_str() {
        "getitem" => {
            let key = case.attr("key").and_then(Json::as_array).expect("a key");
            x.slice(key.iter().map(item).collect::<Vec<_>>())?.into()
        }
        "getitem_tensor" => x.row_at(&case.tensor(1, device)?)?.into(),
        other => return Got::unsupported(other),
    })
}
