//! The files of the crates, and those of `src` without comments and unit tests.

use std::path::{Path, PathBuf};

/// The folder `src` of the library.
pub fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The crates: their names, and their folders `src`.
pub fn crates() -> Vec<(String, PathBuf)> {
    let members = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let entries = std::fs::read_dir(&members).unwrap_or_else(|e| panic!("{}: {e}", members.display()));
    let member =
        |path: PathBuf| (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), path.join("src"));
    let members = entries.map(|e| e.expect("an entry").path()).filter(|path| path.is_dir()).map(member);
    std::iter::once(("ragged".to_owned(), src())).chain(members).collect()
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
