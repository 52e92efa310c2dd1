//! Length of files: no Rust file has more than 400 lines, except tables.

use std::path::Path;

use crate::source::{all_files, read};

/// The most lines of a file.
const LIMIT: usize = 400;

/// The folders whose files are counted, unit tests included.
const FOLDERS: [&str; 5] = ["src", "crates", "tests", "examples", "benches"];

/// Tables, which may have more lines: file, reason.
const TABLES: [(&str, &str); 3] = [
    ("src/math/special_coefficients.rs", "generated: coefficients of polynomials"),
    ("src/math/tests/special_values.rs", "generated: arguments and values of the special functions"),
    ("src/math/tests/values.rs", "generated: arguments and values of elementary functions"),
];

/// Files of more than [`LIMIT`] lines that are not in `tables`, and tables that do not need to be in the list.
fn faults(lines: &[(String, usize)], tables: &[&str]) -> Vec<String> {
    let is_long = |name: &str| lines.iter().any(|(file, lines)| file == name && *lines > LIMIT);
    let long = lines.iter().filter(|(file, lines)| *lines > LIMIT && !tables.contains(&file.as_str()));
    let long = long.map(|(file, lines)| format!("{file} has {lines} lines, {LIMIT} at most: divide it by concept"));
    let unused = tables.iter().filter(|table| !is_long(table));
    let unused = unused.map(|table| format!("the exception for {table} is no longer needed"));
    long.chain(unused).collect()
}

#[test]
fn files_have_at_most_400_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = FOLDERS.iter().flat_map(|folder| all_files(&root.join(folder)));
    let lines: Vec<(String, usize)> = files
        .map(|file| {
            let inside = file.strip_prefix(root).expect("a file of the crate");
            let names: Vec<_> = inside.components().map(|c| c.as_os_str().to_string_lossy()).collect();
            (names.join("/"), read(&file).lines().count())
        })
        .collect();
    for folder in FOLDERS {
        assert!(lines.iter().any(|(file, _)| file.starts_with(folder)), "no file in {folder}");
    }
    let faults = faults(&lines, &TABLES.map(|(file, _)| file));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn long_files_and_unused_exceptions_are_found() {
    let lines = [("a.rs", 400), ("b.rs", 401), ("c.rs", 500), ("d.rs", 3)].map(|(file, n)| (file.to_owned(), n));
    let found = faults(&lines, &["c.rs", "d.rs", "e.rs"]);
    assert_eq!(
        found,
        [
            "b.rs has 401 lines, 400 at most: divide it by concept",
            "the exception for d.rs is no longer needed",
            "the exception for e.rs is no longer needed"
        ]
    );
}
