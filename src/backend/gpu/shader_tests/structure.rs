//! Graphs of equal structure have equal text, so that one pipeline serves all sizes and constants. Graphs of different
//! structures have different texts.

use std::collections::HashMap;

use super::cases::{Cases, Sizes};
use super::lowering;
use super::twins::unevaluated;
use super::validate::limits;
use crate::backend::gpu::codegen::StepModules;
use crate::backend::gpu::primitive::lower;
use crate::graph::node::Node;
use crate::graph::plan::{Int64Repr, PlanLimits, PlanOf, ProductRepr};

/// Entry points and texts of the kernels of a node, in order.
fn texts(node: &Node) -> Vec<(&'static str, String)> {
    texts_with(node, Int64Repr::Native)
}

fn texts_with(node: &Node, longs: Int64Repr) -> Vec<(&'static str, String)> {
    let plan = PlanOf::new(std::slice::from_ref(node), PlanLimits { products: ProductRepr::Native, ..limits(longs) });
    let mut texts = Vec::new();
    for step in &plan.steps {
        let launches = lower(step, lowering(&plan, 7, &StepModules::default())).expect("small").launches;
        let mut of_step: Vec<_> = launches.iter().map(|l| (l.entry, l.text().to_string())).collect();
        // The number of dispatches of a recurrence depends on sizes: each continues the one before.
        if step.recipe.family() == "scan_rows" {
            of_step.dedup();
        }
        texts.extend(of_step);
    }
    texts
}

#[test]
fn sizes_and_constants_are_not_in_the_text() {
    let backend = unevaluated();
    let small = Cases::all(&backend, Sizes { values: 50_000, rows: 3000, number: 42 });
    // Different sources have different digests, on which no order may depend.
    let large = Cases::all(&backend, Sizes { values: 1_000_000, rows: 70_000, number: 77 });
    assert_eq!(small.len(), large.len());
    for ((name, a), (other, b)) in small.iter().zip(&large) {
        assert_eq!(name, other);
        let (a, b) = (texts(a), texts(b));
        assert_eq!(a.len(), b.len(), "{name}: launches");
        for ((entry, a), (other, b)) in a.iter().zip(&b) {
            assert_eq!(entry, other, "{name}");
            let differing = a.lines().zip(b.lines()).find(|(a, b)| a != b);
            assert!(a == b, "{name}, {entry}: {differing:?}");
        }
    }
}

#[test]
fn lowering_is_deterministic() {
    let backend = unevaluated();
    let sizes = Sizes { values: 4096, rows: 256, number: -5 };
    let first: Vec<_> = Cases::all(&backend, sizes).iter().map(|(_, n)| texts(n)).collect();
    for _ in 0..3 {
        let again: Vec<_> = Cases::all(&backend, sizes).iter().map(|(_, n)| texts(n)).collect();
        assert!(first == again);
    }
}

#[test]
fn pairs_change_only_kernels_of_64_bit_integers() {
    let backend = unevaluated();
    let cases = Cases::all(&backend, Sizes { values: 4096, rows: 256, number: -5 });
    let is_long = |name: &str| ["i64", "u64", "f64", "Fingerprint", "Sip", "Murmur"].iter().any(|l| name.contains(l));
    let (long, other): (Vec<_>, Vec<_>) = cases.iter().partition(|(name, _)| is_long(name));
    assert!(long.len() > 100 && other.len() > 300, "{} and {}", long.len(), other.len());
    for (name, node) in other {
        assert!(texts_with(node, Int64Repr::Native) == texts_with(node, Int64Repr::Pairs), "{name}");
    }
}

/// Cases that only move elements.
const MOVES: [&str; 6] = ["checked ", "select ", "within ", "compact ", "a small compact ", "unique scatter "];

/// Cases that hash strings given by splits.
const HASHES: [&str; 3] = ["Fingerprint", "Murmur", "Sip"];

#[test]
fn different_structures_have_different_texts() {
    let backend = unevaluated();
    let cases = Cases::all(&backend, Sizes { values: 50_000, rows: 3000, number: 42 });
    let mut seen: HashMap<Vec<(&'static str, String)>, Vec<&str>> = HashMap::new();
    for (name, node) in &cases {
        seen.entry(texts(node)).or_default().push(name);
    }
    // Cases with equal WGSL: exclusive or and inequality of booleans; quotients of integers and of positions;
    // host-known and device-known numbers of rows (kernels that read splits do not depend on it); and dtypes of one
    // WGSL type, or cases that differ in parameters only.
    let walked = |n: &str| match n.strip_suffix(" counted").filter(|n| !n.ends_with("uniform")) {
        Some(n) => format!("{n} splits"),
        None if HASHES.iter().any(|op| n.starts_with(op)) => n.replace("counted true", "counted false"),
        None => n.to_owned(),
    };
    let same = |names: &[&str]| {
        let stems: Vec<String> = names
            .iter()
            .map(|n| n.replace("Ne bool", "Xor bool").replace("Index", "").replace(" of 4 numbers", ""))
            .map(|n| walked(&n))
            .collect();
        stems.windows(2).all(|w| w[0] == w[1])
            || names.iter().all(|n| n.contains("bits"))
            || names.iter().all(|n| n.contains("cast"))
            // Kernels that move 16-bit elements do not depend on the dtype.
            || names.iter().all(|n| MOVES.iter().any(|m| n.starts_with(m)) && n.contains("16"))
    };
    let mut clashes: Vec<_> = seen.into_values().filter(|names| names.len() > 1 && !same(names)).collect();
    clashes.sort();
    assert!(clashes.is_empty(), "{clashes:#?}");
}
