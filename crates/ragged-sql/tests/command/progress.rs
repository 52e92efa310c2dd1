//! Progress.

use crate::files::Folder;
use crate::process::ragged;

#[test]
fn progress_ends_with_all_rows_and_values() {
    let folder = Folder::new().with_rows(50_000);
    let values: usize = (0..50_000).map(|k| k * 7 % 12).sum();
    let ran = ragged(
        folder.path(),
        &["run", "id, ragged_sum(x) AS s", "large.parquet", "-o", "out.jsonl", "--json-progress"],
    )
    .ok();
    let last = ran.errors.lines().last().expect("a line");
    assert!(last.starts_with("{\"rows\":50000,\"total_rows\":50000,\"bytes\":"), "{last}");
    assert!(last.contains(&format!("\"values\":{values},")) && last.ends_with("\"done\":true}"), "{last}");

    let lines = std::fs::metadata(folder.path().join("out.jsonl")).expect("a file").len();
    let ran = ragged(folder.path(), &["run", "s", "out.jsonl", "-o", "again.jsonl", "--json-progress"]).ok();
    let last = ran.errors.lines().last().expect("a line");
    assert!(last.contains("\"total_rows\":null,\"bytes\":"), "{last}");
    assert!(last.contains(&format!("\"total_bytes\":{lines},")), "{last}");
    // Parts of a file are read a little beyond their ends, for whole lines.
    let bytes: u64 =
        last.split_once("\"bytes\":").and_then(|(_, rest)| rest.split(',').next()?.parse().ok()).expect("a number");
    assert!((lines..lines + (1 << 20)).contains(&bytes), "{last}");
}

#[test]
fn pipes_have_no_progress() {
    let folder = Folder::new().with_rows(1000);
    let ran = ragged(folder.path(), &["run", "id", "large.parquet", "-o", "out.jsonl"]).ok();
    assert_eq!((&*ran.errors, ran.out.len()), ("", 0));
}
