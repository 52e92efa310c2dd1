//! The files of the package: sources, shaders and examples, without tests, benchmarks and scripts.

use std::path::Path;

use crate::cargo;

/// Files of the root, including those that cargo makes.
const AT_ROOT: [&str; 9] = [
    ".cargo_vcs_info.json",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "Cargo.toml.orig",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
];

/// Maximum number of bytes per file. Measured: the largest file is `Cargo.lock`, of the whole workspace, with 105 KB.
const MAX_FILE: u64 = 160 << 10;

/// Maximum number of bytes of all files. Measured: 4.3 MB, of which the archive has 1.1 MB.
const MAX_TOTAL: u64 = 6 << 20;

/// A page that the documentation includes.
const TABLE: &str = "src/guide/operations.md";

/// The reason why a file must not be in the package.
fn fault(file: &str) -> Option<&'static str> {
    let (folder, extension) = (file.split_once('/').map(|(folder, _)| folder), file.rsplit('.').next());
    match (folder, extension) {
        (None, _) => (!AT_ROOT.contains(&file)).then_some("no file of the root"),
        _ if file == TABLE => None,
        (Some("src"), Some("rs" | "wgsl")) | (Some("examples"), Some("rs")) => None,
        (Some("shaders"), Some("wgsl" | "md")) => None,
        (Some("src" | "examples" | "shaders"), _) => Some("another kind of file"),
        (Some(_), _) => Some("another folder"),
    }
}

#[test]
fn the_package_has_sources_only() {
    let list = cargo(&["package", "--list", "--allow-dirty", "--package", "ragged"]);
    let files: Vec<&str> = list.lines().collect();
    for needed in ["src/lib.rs", "shaders/map.wgsl", "examples/quickstart.rs", "README.md", "LICENSE-MIT", TABLE] {
        assert!(files.contains(&needed), "the package has no {needed}");
    }
    let mut total = 0;
    for file in files {
        assert_eq!(fault(file), None, "{file}");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        // Cargo makes some of the files.
        let size = path.metadata().map_or(0, |data| data.len());
        assert!(size <= MAX_FILE, "{file} has {size} bytes");
        total += size;
    }
    assert!(total <= MAX_TOTAL, "the files have {total} bytes");
}

#[test]
fn other_files_are_found() {
    for file in
        ["tests/README.md", "benches/primitives.rs", "src/math/coefficients.py", "deny.toml", "examples/data.json"]
    {
        assert!(fault(file).is_some(), "{file}");
    }
}
