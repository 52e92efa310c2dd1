//! Fields of lines of JSON keep their order.

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
