//! Fields of lines of JSON and rows keep their order.

use std::fs;
use std::process::{Command, Stdio};

use crate::files::Folder;
use crate::process::ragged;

const LINES: &str = "{\"z\":1,\"b\":{\"y\":[1],\"x\":2}}\n{\"a\":\"t\",\"b\":{\"w\":[{\"q\":1,\"p\":2}]},\"z\":null}\n";

#[test]
fn fields_are_in_the_order_in_which_they_first_occur() {
    let folder = Folder::new();
    fs::write(folder.path().join("in.jsonl"), LINES).expect("writes");
    let mut gzip =
        Command::new("gzip").args(["-k", "in.jsonl"]).current_dir(folder.path()).stdin(Stdio::null()).spawn();
    assert!(gzip.as_mut().expect("gzip").wait().expect("it ends").success());
    let want = "{\"z\":1,\"b\":{\"y\":[1],\"x\":2,\"w\":null},\"a\":null}\n\
                {\"z\":null,\"b\":{\"y\":null,\"x\":null,\"w\":[{\"q\":1,\"p\":2}]},\"a\":\"t\"}\n";
    for input in ["in.jsonl", "in.jsonl.gz"] {
        let ran = ragged(folder.path(), &["run", "*", input, "--format", "jsonl"]).ok();
        assert_eq!(ran.text(), want, "{input}");
    }
    // Files of one table: the fields of the first come first.
    fs::write(folder.path().join("more.jsonl"), "{\"m\":1,\"z\":2}\n").expect("writes");
    let ran = ragged(folder.path(), &["run", "*", "in.jsonl", "more.jsonl", "--format", "jsonl"]).ok();
    assert_eq!(ran.text().lines().last(), Some("{\"z\":2,\"b\":null,\"a\":null,\"m\":1}"));
}

/// The numbers of a column of whole numbers, of a table of one.
#[track_caller]
fn ids(folder: &Folder, arguments: &[&str]) -> Vec<u32> {
    let ran = ragged(folder.path(), &[&["run"], arguments, &["--format", "jsonl"]].concat()).ok();
    let id = |line: &str| line["{\"id\":".len()..line.len() - 1].parse().expect("a number");
    ran.text().lines().map(id).collect()
}

#[test]
fn rows_are_in_the_order_of_the_inputs() {
    let folder = Folder::new();
    // Larger than what DataFusion cuts into ranges.
    const ROWS: u32 = 200_000;
    let lines: String = (0..ROWS).map(|id| format!("{id}\n")).collect();
    fs::write(folder.path().join("large.csv"), format!("id\n{lines}")).expect("writes");
    for name in ["large.parquet", "large.arrow"] {
        ragged(folder.path(), &["run", "*", "large.csv", "-o", name]).ok();
    }
    for input in ["large.csv", "large.parquet", "large.arrow"] {
        for threads in ["1", "2", "5"] {
            let found = ids(&folder, &["id", input, "--threads", threads]);
            assert!(found.iter().copied().eq(0..ROWS), "{input}, {threads} threads: {:?}", &found[..10]);
        }
    }
    let chosen = ids(&folder, &["id * 2 AS id", "large.csv", "--where", "id % 3 = 0", "--threads", "2"]);
    assert!(chosen.into_iter().eq((0..ROWS).step_by(3).map(|id| 2 * id)));
    // Files as they are named, those of a pattern by name.
    let names: Vec<String> = (0..9).map(|k| format!("{}.csv", (b'a' + (k * 5 % 9)) as char)).collect();
    for (k, name) in names.iter().enumerate() {
        fs::write(folder.path().join(name), format!("id\n{}\n{}\n", 2 * k, 2 * k + 1)).expect("writes");
    }
    let files: Vec<&str> = names.iter().map(String::as_str).collect();
    assert!(ids(&folder, &[&["id", "--threads", "3"][..], &files].concat()).into_iter().eq(0..18));
    let (b, c) = (names.iter().position(|name| name == "b.csv"), names.iter().position(|name| name == "c.csv"));
    let of = |k: Option<usize>| [2 * k.expect("a name") as u32, 2 * k.expect("a name") as u32 + 1];
    let twice: Vec<u32> = [c, b].into_iter().flat_map(of).flat_map(|id| [id, id]).collect();
    assert_eq!(ids(&folder, &["unnest([id, id]) AS id", "c.csv", "b.csv"]), twice);
    let pattern = ids(&folder, &["id", "?.csv", "--threads", "4"]);
    let mut by_name: Vec<(&String, usize)> = names.iter().zip(0..).collect();
    by_name.sort_unstable();
    let want: Vec<u32> = by_name.iter().flat_map(|(_, k)| [2 * *k as u32, 2 * *k as u32 + 1]).collect();
    assert_eq!(pattern, want);
    // A file that is named twice is read once, in its first place.
    let overlapping = ids(&folder, &["id", "c.csv", "[bc].csv", "--threads", "2"]);
    assert_eq!(overlapping, [c, b].into_iter().flat_map(of).collect::<Vec<u32>>());
}

/// Queries whose rows depend on other rows are computed over all files, whatever the number of threads.
#[test]
fn rows_of_several_files_are_one_table() {
    let folder = Folder::new();
    for (name, rows) in [("a.csv", "1\n2\n"), ("b.csv", "2\n3\n"), ("c.csv", "3\n1\n")] {
        fs::write(folder.path().join(name), format!("id\n{rows}")).expect("writes");
    }
    let files = ["a.csv", "b.csv", "c.csv"];
    for threads in ["1", "2", "7"] {
        let sorted = |arguments: &[&str]| {
            let mut found = ids(&folder, &[arguments, &files, &["--threads", threads]].concat());
            found.sort_unstable();
            found
        };
        assert_eq!(sorted(&["row_number() OVER () AS id"]), [1, 2, 3, 4, 5, 6], "{threads} threads");
        assert_eq!(sorted(&["count(*) OVER () AS id"]), [6; 6], "{threads} threads");
        assert_eq!(sorted(&["DISTINCT id"]), [1, 2, 3], "{threads} threads");
        assert_eq!(sorted(&["DISTINCT id", "--where", "id = 1"]), [1], "{threads} threads");
        assert_eq!(sorted(&["sum(id) AS id"]), [12], "{threads} threads");
    }
}

/// Files of CSV with line breaks within quotes are not cut at them.
#[test]
fn lines_within_quotes_are_no_rows() {
    let folder = Folder::new();
    const ROWS: u32 = 20_000;
    let rows: String = (0..ROWS).map(|id| format!("{id},\"{}\"\n", "1,2\n3,\"\"4\n".repeat(8))).collect();
    fs::write(folder.path().join("quoted.csv"), format!("id,text\n{rows}")).expect("writes");
    for threads in ["1", "5"] {
        let found = ids(&folder, &["id", "quoted.csv", "--threads", threads]);
        assert!(found.into_iter().eq(0..ROWS), "{threads} threads");
    }
}
