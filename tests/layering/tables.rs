//! The tables of files: each shader template has a row in `shaders/README.md`, each test in `tests/README.md`.

use std::path::Path;

/// The files and folders of a folder as its table names them: `lib/name.wgsl`, `tests/name.rs`, `tests/name/`.
fn entries(folder: &str, before: &str, is_listed: impl Fn(&str) -> bool) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry"));
    let name = |entry: std::fs::DirEntry| {
        let end = if entry.path().is_dir() { "/" } else { "" };
        format!("{before}{}{end}", entry.file_name().to_string_lossy())
    };
    entries.map(name).filter(|name| is_listed(name)).collect()
}

/// The entries without a row.
fn without_row(table: &str, entries: Vec<String>) -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(table)).expect("the table");
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    entries.into_iter().filter(|name| !rows.iter().any(|row| row.contains(&format!("`{name}`")))).collect()
}

#[test]
fn every_template_has_a_row() {
    let is_template = |name: &str| name.ends_with(".wgsl");
    let all = [entries("shaders", "", is_template), entries("shaders/lib", "lib/", is_template)].concat();
    assert!(all.len() > 20, "{all:?}");
    let missing = without_row("shaders/README.md", all);
    assert!(missing.is_empty(), "without a row in shaders/README.md: {missing:?}");
}

#[test]
fn every_test_has_a_row() {
    let all = entries("tests", "tests/", |name| name.ends_with(".rs") || name.ends_with('/'));
    assert!(all.len() > 50, "{all:?}");
    let missing = without_row("tests/README.md", all);
    assert!(missing.is_empty(), "without a row in tests/README.md: {missing:?}");
}
