//! Files of lines: compressed ones, and those with faults.

use std::fs;
use std::io::Write as _;

use crate::files::Folder;
use crate::process::ragged;

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("writes");
    encoder.finish().expect("writes")
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("writes")
}

/// The lines of the result, in order.
fn rows(folder: &Folder, arguments: &[&str]) -> Vec<String> {
    let ran = ragged(folder.path(), &[&["run"], arguments, &["--format", "jsonl"]].concat()).ok().text();
    let mut lines: Vec<String> = ran.lines().map(String::from).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn faults_of_lines_have_a_file_and_a_line() {
    let folder = Folder::new();
    let file = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).expect("writes");
    let good = |k: usize| format!("{{\"id\":{k},\"x\":[{k},1]}}\n");
    let lines =
        |bad: &str| -> String { (0..3000).map(|k| if k == 2500 { format!("{bad}\n") } else { good(k) }).collect() };
    file("cut.jsonl", format!("{}{{\"id\":1,\"x\":[1,", good(0)).as_bytes());
    file("mixed.jsonl", lines("{\"id\":1,\"x\":2}").as_bytes());
    file("array.jsonl", lines("[1]").as_bytes());
    file("object.jsonl", format!("{}\n{{\"id\":1,\"x\":{{\"y\":1}}}}\n", good(0)).as_bytes());
    file("wide.csv", b"id,name\n1,ann\n2,bob,3\n");
    file("bytes.csv", b"id,name\n1,ann\n2,\xff\n");
    file("logs/0.jsonl", good(0).as_bytes());
    file("logs/1.jsonl", lines("{\"id\":1,\"x\":2}").as_bytes());
    file("cut.jsonl.gz", &gz(format!("{}{{\"id\":1,\"x\":[1,", good(0)).as_bytes()));
    file("mixed.jsonl.zst", &zst(lines("{\"id\":1,\"x\":2}").as_bytes()));
    file("wide.csv.gz", &gz(b"id,name\n1,ann\n2,bob,3\n"));
    file("named.csv", &gz(b"id,name\n1,ann\n"));
    let whole = gz(lines("").as_bytes());
    file("half.jsonl.gz", &whole[..whole.len() / 2]);
    for (name, says) in [
        ("cut.jsonl", "cut.jsonl: line 2: Not valid JSON: EOF while parsing a value at column 15"),
        ("mixed.jsonl", "mixed.jsonl: line 2501: "),
        ("array.jsonl", "array.jsonl: line 2501: Expected JSON record to be an object"),
        ("object.jsonl", "object.jsonl: line 3: "),
        (
            "wide.csv",
            "wide.csv: Encountered unequal lengths between records on CSV file. Expected 2 records, found 3 records at line 3",
        ),
        ("bytes.csv", "bytes.csv: Encountered UTF-8 error"),
        ("logs/*.jsonl", "logs/1.jsonl: line 2501: "),
        ("cut.jsonl.gz", "cut.jsonl.gz: line 2: Not valid JSON"),
        ("mixed.jsonl.zst", "mixed.jsonl.zst: line 2501: "),
        ("wide.csv.gz", "wide.csv.gz: Encountered unequal lengths between records"),
        ("named.csv", "named.csv: the file is compressed; its name must end in .gz or .zst"),
        ("half.jsonl.gz", "half.jsonl.gz: "),
    ] {
        let before = folder.names();
        for arguments in [&["run", "*", name, "-o", "out.parquet"][..], &["inspect", name]] {
            if arguments[0] == "inspect" && name.contains('*') {
                continue;
            }
            let ran = ragged(folder.path(), arguments);
            assert_eq!(ran.code, Some(1), "{arguments:?}: {}", ran.errors);
            assert!(
                ran.errors.starts_with(&format!("error: {says}")),
                "{arguments:?}:\n{}\nis not\n{says}",
                ran.errors
            );
            assert_eq!(folder.names(), before);
        }
    }
}

/// Faults of the values of a query are no faults of lines.
#[test]
fn faults_of_casts_have_the_row() {
    let folder = Folder::new().with_users();
    let ran = ragged(folder.path(), &["run", "CAST(name AS INT)", "users.csv", "-o", "out.parquet"]);
    assert_eq!(ran.code, Some(1), "{}", ran.errors);
    assert!(ran.errors.starts_with("error: users.csv: row 0 (the first is 0): "), "{}", ran.errors);
    assert!(ran.errors.contains("'ann'"), "{}", ran.errors);
}

#[test]
fn compressed_lines_are_their_rows() {
    let folder = Folder::new().with_events().with_users();
    let path = |name: &str| folder.path().join(name);
    for (plain, select) in [("events.jsonl", "user, ragged_sum(scores) AS s"), ("users.csv", "id, name")] {
        let bytes = fs::read(path(plain)).expect("reads");
        fs::write(path(&format!("{plain}.gz")), gz(&bytes)).expect("writes");
        fs::write(path(&format!("{plain}.zst")), zst(&bytes)).expect("writes");
        // Two members, as `cat a.gz b.gz` has them.
        let (head, tail) = bytes.split_at(bytes.len() / 2);
        fs::write(path(&format!("two.{plain}.gz")), [gz(head), gz(tail)].concat()).expect("writes");
        let want = rows(&folder, &[select, plain]);
        assert!(want.len() > 1);
        for name in [format!("{plain}.gz"), format!("{plain}.zst"), format!("two.{plain}.gz")] {
            assert_eq!(rows(&folder, &[select, &name]), want, "{name}");
        }
        let described = |name: &str| {
            let text = ragged(folder.path(), &["inspect", name]).ok().text();
            text.split_once('\n').expect("lines").1.to_owned()
        };
        assert_eq!(described(&format!("{plain}.gz")), described(plain));
    }
    let names = rows(&folder, &["name", "users.csv.gz", "--where", "id > 7"]);
    assert_eq!(names, [r#"{"name":"ann"}"#]);
}

/// The types are those of all rows of all files.
#[test]
fn several_compressed_files_are_one_table() {
    let folder = Folder::new();
    let path = |name: &str| folder.path().join("logs").join(name);
    fs::write(path("a.jsonl.gz"), gz(b"{\"id\":1,\"x\":[1]}")).expect("writes");
    fs::write(path("b.jsonl.gz"), gz(b"{\"id\":2,\"x\":[2.5]}\n")).expect("writes");
    fs::write(path("a.csv.zst"), zst(b"id,x\n1,1\n2,\n")).expect("writes");
    fs::write(path("b.csv.zst"), zst(b"id,x\n3,1.5\n")).expect("writes");
    assert_eq!(
        rows(&folder, &["id, ragged_sum(x) AS s", "logs/*.jsonl.gz"]),
        [r#"{"id":1,"s":1.0}"#, r#"{"id":2,"s":2.5}"#]
    );
    let all = [r#"{"id":1,"x":1.0}"#, r#"{"id":2,"x":null}"#, r#"{"id":3,"x":1.5}"#];
    assert_eq!(rows(&folder, &["*", "logs/*.csv.zst"]), all);
    assert_eq!(rows(&folder, &["*", "logs/a.csv.zst", "logs/b.csv.zst"]), all);
    fs::write(path("c.csv.zst"), zst(b"id,y\n3,1.5\n")).expect("writes");
    for (inputs, says) in [
        (&["logs/*.csv.zst"][..], "error: logs/a.csv.zst and logs/c.csv.zst have other columns\n"),
        (&["logs/no*.csv.gz"], "error: logs/no*.csv.gz: no file matches\n"),
        (&["logs/a.jsonl.gz", "logs/a.csv.zst"], "error: logs/a.jsonl.gz and logs/a.csv.zst are files of two kinds"),
        (&["logs/*.parquet.gz"], "error: logs/*.parquet.gz: of compressed files, .csv and .jsonl are read\n"),
    ] {
        let ran = ragged(folder.path(), &[&["run", "*"], inputs].concat());
        assert!(ran.errors.starts_with(says), "{}\nis not\n{says}", ran.errors);
    }
}
