//! Commands that are ended half-way: nothing of the output is there.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::files::Folder;
use crate::process::BINARY;

/// A query that would take long, and reports what it has read.
const QUERY: &str =
    "SELECT ragged_sum(ragged_sort(ragged_concat(a.x, b.x))) AS s FROM t a JOIN t b ON a.id % 20 = b.id % 20";

#[test]
fn nothing_remains_of_commands_that_are_ended() {
    for (signal, code) in [("INT", Some(130)), ("TERM", None), ("KILL", None)] {
        let folder = Folder::new().with_rows(20_000);
        let before = folder.names();
        let mut child = Command::new(BINARY)
            .current_dir(folder.path())
            .args(["run", "--sql", QUERY, "-t", "t=large.parquet", "-o", "out.parquet", "--json-progress"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let errors = BufReader::new(child.stderr.take().expect("a pipe"));
        // Rows are computed from the first line on that says so.
        let mut lines = errors.lines().map(|line| line.expect("UTF-8"));
        let is_computing = |line: &String| !line.contains("\"values\":0,");
        assert!(lines.any(|line| is_computing(&line)), "it ends by itself");
        let kill = format!("kill -{signal} {}", child.id());
        let killed = Command::new("sh").args(["-c", &kill]).status().expect("a shell");
        assert!(killed.success());
        let rest: Vec<String> = lines.collect();
        assert_eq!(child.wait().expect("it ended").code(), code, "{signal}: {rest:?}");
        assert_eq!(folder.names(), before, "{signal}");
        if signal == "INT" {
            assert_eq!(rest.last().map(String::as_str), Some("error: interrupted"));
        }
    }
}
