//! Faults of data have the file and the place within.

use std::fs;

use crate::files::Folder;
use crate::process::ragged;

fn with_arrow() -> (Folder, Vec<u8>) {
    let folder = Folder::new().with_rows(1000);
    ragged(folder.path(), &["run", "*", "large.parquet", "-o", "a.arrow"]).ok();
    let bytes = fs::read(folder.path().join("a.arrow")).expect("reads");
    (folder, bytes)
}

#[test]
fn cut_files_of_arrow_are_named() {
    let (folder, bytes) = with_arrow();
    fs::write(folder.path().join("a.arrow"), &bytes[..bytes.len() / 2]).expect("writes");
    for arguments in [&["run", "id", "a.arrow"][..], &["inspect", "a.arrow"]] {
        let ran = ragged(folder.path(), arguments);
        assert_eq!((ran.code, ran.out.len()), (Some(1), 0), "{}", ran.errors);
        assert_eq!(ran.errors, "error: a.arrow: the file is cut: its end lacks the mark of Arrow files\n");
    }
}

/// Lengths that exceed the file are no reason to allocate memory.
#[test]
fn footers_of_arrow_that_exceed_the_file_have_a_place() {
    let (folder, mut bytes) = with_arrow();
    let end = bytes.len() - 10;
    bytes[end..end + 4].copy_from_slice(&i32::MAX.to_le_bytes());
    fs::write(folder.path().join("a.arrow"), &bytes).expect("writes");
    let ran = ragged(folder.path(), &["run", "id", "a.arrow"]);
    let want = format!(
        "error: a.arrow: the footer, at byte {end}: its length is 2147483647 bytes, of a file of {}\n",
        bytes.len()
    );
    assert_eq!((ran.code, ran.out.len(), ran.errors), (Some(1), 0, want));
}

/// The values of the first batch, whose offsets are damaged.
#[test]
fn batches_of_arrow_have_a_place() {
    let (folder, mut bytes) = with_arrow();
    let offsets: Vec<u8> = [0i32, 0, 7, 9].into_iter().flat_map(i32::to_le_bytes).collect();
    let at = bytes.windows(16).position(|bytes| bytes == offsets).expect("offsets of x");
    bytes[at + 8] = 200;
    fs::write(folder.path().join("a.arrow"), &bytes).expect("writes");
    for arguments in [&["run", "ragged_sum(x)", "a.arrow", "-o", "out.parquet"][..], &["inspect", "a.arrow"]] {
        let ran = ragged(folder.path(), arguments);
        assert_eq!(ran.code, Some(1), "{}", ran.errors);
        assert!(ran.errors.starts_with("error: a.arrow: message 1, at byte "), "{}", ran.errors);
    }
    assert_eq!(ragged(folder.path(), &["run", "id", "a.arrow"]).code, Some(0), "the column is not read");
    assert_eq!(folder.names(), ["a.arrow", "large.parquet", "logs"]);
}

#[test]
fn values_have_the_file_and_the_row() {
    let folder = Folder::new().with_table();
    let write = |name: &str, lines: &str| fs::write(folder.path().join(name), lines).expect("writes");
    write("one.jsonl", "{\"x\":[1]}\n{\"x\":[]}\n");
    write("two.jsonl", "{\"x\":[1]}\n{\"x\":[2,3]}\n{\"x\":[1,null]}\n{\"x\":null}\n");
    let of_null = "ragged_mean: a list of `x` contains NULL; array_compact(x) leaves NULL out";
    let cases: &[(&[&str], String)] = &[
        (&["ragged_mean(x)", "one.jsonl", "two.jsonl"], format!("two.jsonl: row 2 (the first is 0): {of_null}")),
        (
            &["--sql", "SELECT max(ragged_mean(x)) FROM s", "-t", "s=two.jsonl"],
            format!("two.jsonl: row 2 (the first is 0): {of_null}"),
        ),
        (
            &["ragged_mean(x)", "two.jsonl", "--where", "ragged_length(x) > 1"],
            format!("two.jsonl: row 2 (the first is 0): {}", of_null.replace("mean", "length")),
        ),
        (&["1 / (id - 5)", "in.parquet"], "in.parquet: row 5 (the first is 0): Divide by zero error".into()),
        (
            &["--sql", "SELECT ragged_mean(s.x) FROM s, u", "-t", "s=two.jsonl", "-t", "u=one.jsonl"],
            format!("s (two.jsonl), u (one.jsonl): {of_null}"),
        ),
    ];
    let before = folder.names();
    for (arguments, message) in cases {
        let ran = ragged(folder.path(), &[&["run"], *arguments, &["-o", "out.parquet"]].concat());
        assert_eq!((ran.code, ran.errors), (Some(1), format!("error: {message}\n")), "{arguments:?}");
        assert_eq!(folder.names(), before);
    }
}
