//! Equal structure gives equal text, so that one pipeline serves all sizes and numbers; another structure, another
//! text.

use std::collections::HashMap;

use super::cases::{Cases, Sizes};
use super::twins::unevaluated;
use super::validate::limits;
use crate::backend::gpu::codegen::StepModules;
use crate::backend::gpu::driver_limits::DriverLimits;
use crate::backend::gpu::lower::lower;
use crate::graph::node::Node;
use crate::graph::plan::{Int64Repr, plan};

/// Entry points and texts of what computes the node, in order.
fn texts(node: &Node) -> Vec<(&'static str, String)> {
    texts_with(node, Int64Repr::Native)
}

fn texts_with(node: &Node, longs: Int64Repr) -> Vec<(&'static str, String)> {
    let steps = plan(std::slice::from_ref(node), limits(longs)).steps;
    let launches = steps.iter().flat_map(|step| {
        lower(step, 7, DriverLimits::LoopIterations, &mut StepModules::default()).expect("small").launches
    });
    launches.map(|l| (l.entry, l.text().to_string())).collect()
}

#[test]
fn sizes_and_numbers_are_no_text() {
    let backend = unevaluated();
    let small = Cases::all(&backend, Sizes { values: 50_000, rows: 3000, number: 42 });
    // Other sources, so other digests: nothing may be ordered by them.
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
fn the_same_again_is_the_same_text() {
    let backend = unevaluated();
    let sizes = Sizes { values: 4096, rows: 256, number: -5 };
    let first: Vec<_> = Cases::all(&backend, sizes).iter().map(|(_, n)| texts(n)).collect();
    for _ in 0..3 {
        let again: Vec<_> = Cases::all(&backend, sizes).iter().map(|(_, n)| texts(n)).collect();
        assert!(first == again);
    }
}

#[test]
fn pairs_change_no_other_kernel() {
    let backend = unevaluated();
    let cases = Cases::all(&backend, Sizes { values: 4096, rows: 256, number: -5 });
    let is_long = |name: &str| ["i64", "u64", "f64", "Fingerprint", "Sip", "Murmur"].iter().any(|l| name.contains(l));
    let (long, other): (Vec<_>, Vec<_>) = cases.iter().partition(|(name, _)| is_long(name));
    assert!(long.len() > 100 && other.len() > 300, "{} and {}", long.len(), other.len());
    for (name, node) in other {
        assert!(texts_with(node, Int64Repr::Native) == texts_with(node, Int64Repr::Pairs), "{name}");
    }
}

/// Cases that take elements elsewhere and compute nothing of them.
const MOVES: [&str; 5] = ["checked ", "select ", "within ", "compact ", "a small compact "];

/// Cases that hash the strings that splits say.
const HASHES: [&str; 3] = ["Fingerprint", "Murmur", "Sip"];

#[test]
fn another_structure_is_another_text() {
    let backend = unevaluated();
    let cases = Cases::all(&backend, Sizes { values: 50_000, rows: 3000, number: 42 });
    let mut seen: HashMap<Vec<(&'static str, String)>, Vec<&str>> = HashMap::new();
    for (name, node) in &cases {
        seen.entry(texts(node)).or_default().push(name);
    }
    // What is one and the same in WGSL: exclusive or and inequality of truth values, quotients of numbers and of
    // positions, rows whose number the host knows and rows whose number it does not (kernels that walk splits stop
    // where these do), and whatever shares a type there or differs in a parameter only.
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
            // Halfwords are moved as they are, whatever they mean.
            || names.iter().all(|n| MOVES.iter().any(|m| n.starts_with(m)) && n.contains("16"))
    };
    let mut clashes: Vec<_> = seen.into_values().filter(|names| names.len() > 1 && !same(names)).collect();
    clashes.sort();
    assert!(clashes.is_empty(), "{clashes:#?}");
}
