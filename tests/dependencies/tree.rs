//! The crates that the library is built of, with several choices of features.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::cargo;

/// Crates of which two versions are built, and the reason.
const DUPLICATES: [(&str, &str); 2] = [
    ("hashbrown", "safetensors and gpu-allocator (DX12) use 0.16, wgpu and naga 0.17"),
    (
        "syn",
        "the macros of zerocopy and windows use 2, those of bytemuck, serde and thiserror 3; programs contain neither",
    ),
];

/// Direct and indirect dependencies of `ragged-bench` that the library must not have.
const OF_THE_BINARY: [&str; 5] = ["anyhow", "clap", "comfy-table", "indicatif", "plotters"];

/// The normal dependencies of the library on all platforms: versions by name.
fn dependencies(features: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let tree = ["tree", "--package", "ragged", "--edges", "normal", "--target", "all", "--prefix", "none"];
    let text = cargo(&[&tree[..], features].concat());
    let mut out: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let mut words = line.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        assert!(version.starts_with('v'), "a line of another form: {line}");
        out.entry(name.to_owned()).or_default().insert(version.to_owned());
    }
    out
}

/// Whether the crate belongs to the GPU backend alone.
fn is_of_gpu(name: &str) -> bool {
    name == "ash" || name.starts_with("wgpu") || name.starts_with("naga")
}

#[test]
fn features_leave_crates_out() {
    let default = dependencies(&[]);
    for name in ["wgpu", "naga", "ash", "serde", "serde_json", "safetensors", "regex", "ndarray"] {
        assert!(default.contains_key(name), "the default features have no {name}");
    }
    for name in OF_THE_BINARY {
        assert!(!default.contains_key(name), "only ragged-bench uses {name}");
    }
    let without_gpu = dependencies(&["--no-default-features", "--features", "json,saved,regex,ndarray,tracing"]);
    let of_gpu: Vec<_> = without_gpu.keys().filter(|name| is_of_gpu(name)).collect();
    assert!(of_gpu.is_empty(), "without the feature gpu: {of_gpu:?}");
    let least = dependencies(&["--no-default-features"]);
    let direct = ["bytemuck", "half", "memmap2", "pollster", "rayon", "thiserror"];
    assert!(direct.iter().all(|name| least.contains_key(*name)), "{:?}", least.keys());
    for name in ["wgpu", "naga", "ash", "serde", "serde_json", "safetensors", "memchr", "regex", "ndarray", "tracing"] {
        assert!(!least.contains_key(name), "without features: {name}");
    }
}

#[test]
fn crates_have_one_version() {
    let all = dependencies(&["--all-features"]);
    let several: BTreeMap<_, _> = all.iter().filter(|(_, versions)| versions.len() > 1).collect();
    for (name, versions) in &several {
        let known = DUPLICATES.iter().any(|(known, _)| known == name);
        assert!(
            known,
            "{name} has the versions {versions:?}: update one, or add the reason to DUPLICATES and deny.toml"
        );
    }
    for (name, _) in DUPLICATES {
        assert!(several.contains_key(&name.to_owned()), "{name} has one version: remove it from DUPLICATES");
    }
}

/// Cargo writes those of one name to one file, whichever it builds last.
#[test]
fn examples_and_binaries_of_all_crates_have_names_of_their_own() {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version", "1", "--no-deps"])).expect("JSON");
    let mut owners: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("a list of packages") {
        for target in package["targets"].as_array().expect("a list of targets") {
            let is_executable = target["kind"][0] == "example" || target["kind"][0] == "bin";
            if let (true, Some(name), Some(owner)) = (is_executable, target["name"].as_str(), package["name"].as_str())
            {
                owners.entry(name).or_default().push(owner);
            }
        }
    }
    assert!(owners.len() > 12, "the examples are found");
    owners.retain(|_, owners| owners.len() > 1);
    assert!(owners.is_empty(), "{owners:?}");
}
