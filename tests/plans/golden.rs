//! Golden files: the plans of a family of programs, compared with a committed file, or written to it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Environment variable: `write` writes the golden files, `check` or none compares them.
const VARIABLE: &str = "RAGGED_PLANS";

/// Most lines of differences that a failure prints.
const MAX_LINES: usize = 80;

const HINT: &str = "\nIf the change is intended: RAGGED_PLANS=write cargo test --all-features --test plans, and commit \
    tests/plans/golden after reading its diff.";

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans/golden")
}

/// Whether golden files are written instead of compared.
///
/// # Panics
/// If the variable has any other value than the two.
pub fn is_written() -> bool {
    match std::env::var(VARIABLE).as_deref() {
        Ok("write") => true,
        Ok("check") | Err(std::env::VarError::NotPresent) => false,
        other => panic!("{VARIABLE} is {other:?}, but must be write or check, or not be set"),
    }
}

/// The plan of a program: the program's name, and the listing.
pub type Plan = (String, String);

/// Compares the plans with the golden file, and returns a description of the differences; or writes them.
pub fn compare(file: &str, plans: &[Plan]) -> Option<String> {
    let path = folder().join(file);
    let text: String = plans.iter().map(|(name, plan)| format!("== {name}\n{plan}\n")).collect();
    if is_written() {
        fs::write(&path, text).expect("written");
        return None;
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    // A checkout may convert line ends.
    let golden = golden.replace("\r\n", "\n");
    (golden != text).then(|| differences(file, &golden, &text))
}

/// Fails with the differences, if there are any.
///
/// # Panics
/// If there are any.
#[track_caller]
pub fn assert_none(differences: &[String]) {
    if differences.is_empty() {
        return;
    }
    let text = differences.concat();
    let mut lines: Vec<&str> = text.lines().take(MAX_LINES).collect();
    let left = text.lines().count() - lines.len();
    let more = format!("… and {left} lines more");
    if left > 0 {
        lines.push(&more);
    }
    panic!("plans differ from their golden files (-: golden, +: now)\n{}\n{HINT}", lines.join("\n"));
}

/// The programs of a golden file, with their plans.
fn sections(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut all = BTreeMap::new();
    for section in text.split("== ").filter(|section| !section.is_empty()) {
        let mut lines = section.lines();
        let name = lines.next().unwrap_or_default();
        all.insert(name, lines.filter(|line| !line.is_empty()).collect());
    }
    all
}

/// The lines of every program that differs: those only in the golden plan, those only in the plan of now, and one line
/// of context before each.
fn differences(file: &str, golden: &str, now: &str) -> String {
    let (golden, now) = (sections(golden), sections(now));
    let mut text = String::new();
    let names = golden.keys().chain(now.keys().filter(|name| !golden.contains_key(*name)));
    for name in names {
        let say = match (golden.get(name), now.get(name)) {
            (Some(_), None) => "the golden file has it, but no program".to_owned(),
            (None, Some(_)) => "the golden file lacks it".to_owned(),
            (Some(old), Some(new)) if old != new => lines_between(old, new),
            _ => continue,
        };
        writeln!(text, "{file}: {name}\n{say}").expect("a string");
    }
    if text.is_empty() {
        writeln!(text, "{file}: the order of the programs differs").expect("a string");
    }
    text
}

/// The changed lines of two texts, by their longest common subsequence.
fn lines_between(old: &[&str], new: &[&str]) -> String {
    let mut common = vec![vec![0usize; new.len() + 1]; old.len() + 1];
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            common[i][j] = if a == b { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || i < old.len() && common[i + 1][j] >= common[i][j + 1] {
            lines.push(format!("  - {}", old[i]));
            i += 1;
        } else {
            lines.push(format!("  + {}", new[j]));
            j += 1;
        }
    }
    lines.join("\n")
}
