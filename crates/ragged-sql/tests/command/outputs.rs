//! Formats of outputs.

use std::fs::File;

use arrow::ipc::reader::FileReader;
use ragged::{DType, Device};
use ragged_data::npy;

use crate::files::Folder;
use crate::process::ragged;

#[test]
fn each_format_has_the_rows() {
    let folder = Folder::new().with_table();
    let run = |select: &str, to: &str| ragged(folder.path(), &["run", select, "in.parquet", "-o", to]);
    run("id, tokens", "out.arrow").ok();
    let reader =
        FileReader::try_new(File::open(folder.path().join("out.arrow")).expect("opens"), None).expect("a file");
    assert_eq!(reader.map(|batch| batch.expect("reads").num_rows()).sum::<usize>(), 6);

    run("id, tokens", "out.jsonl").ok();
    let lines = std::fs::read_to_string(folder.path().join("out.jsonl")).expect("reads");
    assert_eq!(lines.lines().nth(2), Some(r#"{"id":2,"tokens":[1,2]}"#));

    let padded = "ragged_slice_rows(ragged_pad_rows(tokens, 4, -1), 0, 4)";
    run(&format!("arrow_cast({padded}, 'FixedSizeList(4, Int32)') AS x"), "out.npy").ok();
    let x = npy::read(folder.path().join("out.npy"), &Device::cpu()).expect("reads");
    assert_eq!((x.dtype(), x.shape()), (DType::I32, vec![Some(6), Some(4)]));
    assert!(x.to_string().contains("[[-1, -1, -1, -1], [0, -1, -1, -1]"), "{x}");

    let ran = run("tokens", "ragged.npy");
    assert_eq!(ran.code, Some(2), "{}", ran.errors);
    assert!(ran.errors.starts_with("error: tokens is of lists of any length, List(Int32), "), "{}", ran.errors);
    let ran = run("CASE WHEN id = 3 THEN NULL ELSE id END AS n", "null.npy");
    assert_eq!(ran.code, Some(1), "{}", ran.errors);
    assert!(ran.errors.starts_with("error: n is NULL, or contains it, in row 3 of the result"), "{}", ran.errors);
    let ran = run("arrow_cast(tokens, 'FixedSizeList(4, Int32)') AS x", "short.npy");
    assert_eq!(ran.code, Some(1), "{}", ran.errors);
    assert!(ran.errors.starts_with("error: in.parquet: row 0 (the first is 0): "), "{}", ran.errors);
    assert_eq!(folder.names(), ["in.parquet", "logs", "out.arrow", "out.jsonl", "out.npy"]);
}

/// What one command writes, another reads.
#[test]
fn outputs_are_inputs() {
    let folder = Folder::new().with_table();
    for to in ["copy.parquet", "copy.arrow", "copy.jsonl"] {
        ragged(folder.path(), &["run", "id, tokens, words", "in.parquet", "-o", to]).ok();
        let ran = ragged(folder.path(), &["run", "id, ragged_sum(tokens) AS s", to, "--format", "jsonl"]).ok();
        let text = ran.text();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines.last(), Some(&r#"{"id":5,"s":6}"#), "{to}");
        assert_eq!(lines.len(), 6);
    }
}

/// What is no file keeps its place, and so does a link.
#[cfg(unix)]
#[test]
fn pipes_with_names_and_links_are_written_through() {
    use std::process::{Command, Stdio};
    let folder = Folder::new().with_table();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().expect("cat");
    ragged(folder.path(), &["run", "id", "in.parquet", "-o", "pipe", "--format", "jsonl"]).ok();
    let read = reader.wait_with_output().expect("it ends").stdout;
    assert_eq!(String::from_utf8_lossy(&read).lines().count(), 6);
    assert!(!pipe.metadata().expect("it is there").is_file());

    std::fs::write(folder.path().join("real.jsonl"), "old").expect("writes");
    std::os::unix::fs::symlink("real.jsonl", folder.path().join("link.jsonl")).expect("links");
    ragged(folder.path(), &["run", "id", "in.parquet", "-o", "link.jsonl"]).ok();
    assert_eq!(std::fs::read_to_string(folder.path().join("real.jsonl")).expect("reads").lines().count(), 6);
    assert!(folder.path().join("link.jsonl").is_symlink());
}

#[test]
fn tables_are_cut() {
    let folder = Folder::new().with_rows(1000);
    let ran = ragged(folder.path(), &["run", "id, x", "large.parquet", "--format", "table"]).ok().text();
    assert!(ran.contains("| 5  | [") && ran.ends_with("the first 100 rows; -o FILE writes all\n"), "{ran}");
    assert_eq!(ran.lines().count(), 105);
}

#[test]
fn files_are_replaced_when_the_new_one_is_whole() {
    let folder = Folder::new().with_table();
    std::fs::write(folder.path().join("out.jsonl"), "old").expect("writes");
    let failed = ragged(folder.path(), &["run", "1 / (id - 5)", "in.parquet", "-o", "out.jsonl"]);
    assert_eq!(failed.code, Some(1), "{}", failed.errors);
    assert_eq!(std::fs::read(folder.path().join("out.jsonl")).expect("reads"), b"old");
    ragged(folder.path(), &["run", "id", "in.parquet", "-o", "out.jsonl"]).ok();
    assert_eq!(std::fs::read_to_string(folder.path().join("out.jsonl")).expect("reads").lines().count(), 6);
    assert_eq!(folder.names(), ["in.parquet", "logs", "out.jsonl"]);
}
