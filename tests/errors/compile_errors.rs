//! Compile errors say what to write instead.
//!
//! `compile_fail.rs` is compiled beside the library that this test is linked to, so that nothing is built again, and the
//! notes are compared, not the whole diagnosis, which differs by the version of the compiler. Measured: 0.5 s; the crate
//! `trybuild`, which checks the dependencies again in a folder of its own, takes 102 s of processor time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

const FILE: &str = "tests/errors/compile_fail.rs";

/// The folder of the built library and of its dependencies: that of this test.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test");
    test.parent().expect("a folder").to_owned()
}

/// The library that cargo built last.
fn library(folder: &Path) -> PathBuf {
    let entries =
        std::fs::read_dir(folder).expect("the folder of the test").map(|entry| entry.expect("an entry").path());
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libragged-") && name.ends_with(".rlib")
    };
    let modified = |path: &PathBuf| path.metadata().and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    entries.filter(is_library).max_by_key(modified).expect("a library beside the test")
}

/// The diagnoses of rustc, by the line of the file that they point at.
fn diagnoses(stderr: &str) -> BTreeMap<u32, String> {
    let mut out: BTreeMap<u32, String> = BTreeMap::new();
    for one in stderr.split("\n\n").filter(|one| one.trim_start().starts_with("error")) {
        let place =
            one.lines().find_map(|line| line.trim_start().strip_prefix("--> ")?.split(':').rev().nth(1)?.parse().ok());
        if let Some(line) = place {
            // Without the line of the program, whose comment has the text.
            let said = one.lines().filter(|line| !line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
            *out.entry(line).or_default() += &said.collect::<Vec<_>>().join("\n");
        }
    }
    out
}

#[test]
fn compile_errors_say_what_to_write() {
    let (root, folder) = (Path::new(env!("CARGO_MANIFEST_DIR")), built());
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let library = format!("ragged={}", library(&folder).display());
    let output = Command::new(rustc)
        .current_dir(root)
        .args(["--edition=2024", "--emit=metadata", "--cap-lints=allow", "-o"])
        .arg(folder.join("compile_fail.rmeta"))
        .args(["--extern", &library, "-L", &format!("dependency={}", folder.display()), FILE])
        .output()
        .expect("rustc runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let found = diagnoses(&stderr);
    let text = std::fs::read_to_string(root.join(FILE)).expect("the file");
    let mut wanted = BTreeMap::new();
    for (line, code) in (1..).zip(text.lines()) {
        if let Some((_, says)) = code.split_once("// says: ") {
            wanted.insert(line, says);
        }
    }
    assert!(wanted.len() > 9, "the file has its cases");
    let says = |line: &u32| found.get(line).map(String::as_str).unwrap_or("no error");
    let wrong: Vec<String> = wanted
        .iter()
        .filter(|(line, text)| !says(line).contains(**text))
        .map(|(line, text)| format!("line {line} does not say {text}:\n{}", says(line)))
        .collect();
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n\n"), if found.is_empty() { &stderr } else { "" });
    let others: Vec<&u32> = found.keys().filter(|line| !wanted.contains_key(line)).collect();
    assert!(others.is_empty(), "errors on other lines: {others:?}\n{stderr}");
}
