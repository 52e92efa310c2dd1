//! The files of the crate, and those of `src` without comments and unit tests.

use std::path::{Path, PathBuf};

/// The folder `src`.
pub fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Text of a file.
pub fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// Every Rust file below `dir`, except in folders of build outputs.
pub fn all_files(dir: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    collect(dir, &mut out);
    out
}

/// Every Rust file below `dir` that is not a unit test.
pub fn files(dir: &Path) -> Vec<PathBuf> {
    let mut out = all_files(dir);
    out.retain(|file| {
        let inside = file.strip_prefix(dir).expect("a file of the folder");
        !inside.components().any(|c| {
            let name = c.as_os_str().to_string_lossy();
            name == "tests.rs" || name == "tests" || name.ends_with("_tests")
        })
    });
    out
}

fn collect(dir: &Path, out: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut entries: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    for entry in entries {
        if entry.ends_with("target") {
            continue;
        }
        if entry.is_dir() {
            collect(&entry, out);
        } else if entry.extension().is_some_and(|e| e == "rs") {
            out.push(entry);
        }
    }
}

/// The text without line comments and without unit tests, which are at the end of a file.
pub fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let line = |l: &str| l.split("//").next().unwrap_or_default().to_owned();
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
