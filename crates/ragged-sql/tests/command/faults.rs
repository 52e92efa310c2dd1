//! Faults: their messages, and their exit codes.

use crate::files::Folder;
use crate::process::ragged;

/// The arguments after `run`, the code, and what the message is.
type Case<'c> = (&'c [&'c str], i32, &'c str);

#[test]
fn faults_of_queries_show_the_place_before_anything_is_read() {
    let folder = Folder::new().with_table().with_users();
    let before = folder.names();
    let cases: &[Case] = &[
        (
            &["ragged_mean(token)", "in.parquet", "-o", "out.parquet"],
            2,
            "error: no column `token` in in.parquet
  ragged_mean(token)
              ^^^^^  did you mean `tokens` (List(Int32))? others: id, words
",
        ),
        (
            &["id, x", "in.parquet", "-o", "out.parquet"],
            2,
            "error: no column `x` in in.parquet
  id, x
      ^  the columns are id, tokens, words
",
        ),
        (
            &["id", "in.parquet", "--where", "lenght > 2 AND ids = 1", "-o", "out.parquet"],
            2,
            "error: no column `lenght` in in.parquet
  lenght > 2 AND ids = 1
  ^^^^^^  the columns are id, tokens, words
",
        ),
        (
            &["ragged_maen(tokens)", "in.parquet", "-o", "out.parquet"],
            2,
            "error: no function `ragged_maen`
  ragged_maen(tokens)
  ^^^^^^^^^^^  did you mean `ragged_mean`? `ragged functions` lists all
",
        ),
        (
            &["id, ragged_sum(tokens, 0)", "in.parquet", "-o", "out.parquet"],
            2,
            "error: ragged_sum: `axis` is the axis of the table's rows, which a function of one row cannot combine
  id, ragged_sum(tokens, 0)
      ^^^^^^^^^^
",
        ),
        (
            &["id,, tokens", "in.parquet", "-o", "out.parquet"],
            2,
            "error: Expected: an expression, found: ,
  id,, tokens
     ^
",
        ),
        (
            &["--sql", "SELECT logit FROM s", "-t", "s=scores.parquet", "-o", "out.parquet"],
            2,
            "error: no column `logit` in s (scores.parquet)
  SELECT logit FROM s
         ^^^^^  did you mean `logits` (List(Float32))? others: id
",
        ),
        (
            &["id", "nowhere.parquet", "-o", "out.parquet"],
            2,
            "error: nowhere.parquet: there is no such file
",
        ),
        (
            &["id", "in.parquet", "-o", "out.xyz"],
            2,
            "error: -o out.xyz: the name must end in .parquet, .arrow, .jsonl or .npy, or --format must say what it is
",
        ),
        (
            &["id", "in.parquet", "-o", "no/such/folder/out.parquet"],
            2,
            "error: -o no/such/folder/out.parquet: No such file or directory (os error 2)
",
        ),
        (
            &["id, tokens", "in.parquet", "-o", "out.npy"],
            2,
            "error: an npy file holds one column, not 2: id, tokens
",
        ),
        (
            &["id", "in.parquet", "users.csv", "-o", "out.parquet"],
            2,
            "error: in.parquet and users.csv are files of two kinds; a table has files of one
",
        ),
        (&["id", "in.parquet", "--device", "abacus", "-o", "out.parquet"], 2, "error: --device abacus: "),
        (&["id FROM x", "in.parquet", "-o", "out.parquet"], 2, "error: the select list has clauses of a query: "),
        (&["  ", "in.parquet", "-o", "out.parquet"], 2, "error: the select list is empty; `*` has all columns\n"),
        (&["id", "nope*.parquet", "-o", "out.parquet"], 2, "error: nope*.parquet: no file matches\n"),
        (
            &["id", "in.parquet", "scores.parquet", "-o", "out.parquet"],
            2,
            "error: in.parquet and scores.parquet have other columns\n",
        ),
        (
            &["id, length(words)", "in.parquet", "-o", "out.parquet"],
            2,
            "error: `length` is a function of DataFusion, which does not compute on the values of lists
  id, length(words)
      ^^^^^^  did you mean `ragged_length`?
",
        ),
        (
            &["sum(tokens)", "in.parquet", "-o", "out.parquet"],
            2,
            "error: `sum` is a function of DataFusion, which does not compute on the values of lists
  sum(tokens)
  ^^^  did you mean `ragged_sum`?
",
        ),
        (
            &["ragged_quantile(tokens, id)", "in.parquet", "-o", "out.parquet"],
            2,
            "error: ragged_quantile: `q` must be a literal: a number, or a list as a text such as '[1, 2]'",
        ),
        (&["id", "in.parquet", "--device", "other", "--memory", "1GB"], 2, "error: --device other: "),
        (
            &["--sql", "DROP TABLE s", "-t", "s=scores.parquet", "-o", "out.parquet"],
            2,
            "error: DDL not supported: DropTable",
        ),
    ];
    for (arguments, code, message) in cases {
        let ran = ragged(folder.path(), &[&["run"], *arguments].concat());
        assert_eq!(ran.code, Some(*code), "{arguments:?}: {}", ran.errors);
        assert!(ran.errors.starts_with(message), "{arguments:?}:\n{}\nis not\n{message}", ran.errors);
        assert!(ran.out.is_empty());
        assert_eq!(folder.names(), before, "{arguments:?}");
    }
}

#[test]
fn damaged_files_are_faults_of_data() {
    let folder = Folder::new().with_rows(100_000);
    let path = folder.path().join("large.parquet");
    let mut bytes = std::fs::read(&path).expect("reads");
    let middle = bytes.len() / 2;
    for part in 1..8 {
        let at = bytes.len() * part / 8;
        bytes[at - 64..at + 64].fill(0xa5);
    }
    std::fs::write(&path, &bytes).expect("writes");
    let ran = ragged(folder.path(), &["run", "id, ragged_sum(x)", "large.parquet", "-o", "out.parquet"]);
    assert_eq!(ran.code, Some(1), "{}", ran.errors);
    assert!(ran.errors.starts_with("error: large.parquet: row group 0, column "), "{}", ran.errors);
    std::fs::write(&path, &bytes[..middle]).expect("writes");
    let ran = ragged(folder.path(), &["run", "id, ragged_sum(x)", "large.parquet", "-o", "out.parquet"]);
    assert_eq!(ran.code, Some(1), "{}", ran.errors);
    assert!(ran.errors.starts_with("error: large.parquet: "), "{}", ran.errors);
    std::fs::write(folder.path().join("bad.jsonl"), "{\"x\":[1,2]}\n{\"x\":[1,").expect("writes");
    let ran = ragged(folder.path(), &["run", "ragged_sum(x)", "bad.jsonl", "-o", "out.parquet"]);
    assert_eq!(ran.code, Some(1), "{}", ran.errors);
    assert_eq!(folder.names(), ["bad.jsonl", "large.parquet", "logs"]);
}

#[test]
fn limits_of_memory_have_a_code_of_their_own() {
    let folder = Folder::new().with_rows(1000);
    // One row of 4 MB.
    let line = format!("{{\"x\":[{}]}}\n", vec!["1.5"; 500_000].join(","));
    std::fs::write(folder.path().join("long.jsonl"), line).expect("writes");
    let arguments = ["run", "ragged_sum(ragged_sort(x))", "long.jsonl", "--memory", "1MB", "-o", "out.parquet"];
    let ran = ragged(folder.path(), &arguments);
    assert_eq!(ran.code, Some(3), "{}", ran.errors);
    assert!(ran.errors.contains("limit"), "{}", ran.errors);
    assert!(!folder.names().contains(&"out.parquet".into()));
}

#[test]
fn usage_is_shown_for_wrong_commands() {
    let folder = Folder::new();
    for arguments in [&["run"][..], &["walk"], &["run", "x", "--memory", "much"], &["run", "id", "-o", "-"]] {
        let ran = ragged(folder.path(), arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.errors);
        assert!(ran.errors.starts_with("error: "), "{}", ran.errors);
    }
}
