//! The manifests of the crates: each has the lints of the workspace.

use crate::source::{crates, read};

/// Whether a manifest takes its lints from the workspace.
fn has_lints_of_workspace(manifest: &str) -> bool {
    let lines: Vec<&str> = manifest.lines().map(str::trim).collect();
    lines.windows(2).any(|pair| pair == ["[lints]", "workspace = true"])
}

#[test]
fn every_crate_has_the_lints_of_the_workspace() {
    let crates = crates();
    assert!(crates.len() > 1, "no folder in crates");
    for (name, src) in crates {
        let manifest = read(&src.with_file_name("Cargo.toml"));
        assert!(has_lints_of_workspace(&manifest), "{name}: add `[lints]` with `workspace = true`");
    }
}

#[test]
fn missing_lints_are_found() {
    assert!(has_lints_of_workspace("[package]\n\n[lints]\nworkspace = true\n"));
    assert!(!has_lints_of_workspace("[dependencies.a]\nworkspace = true\n\n[lints]\n"));
}
