//! Faults of plans show their place.

use crate::files::Folder;
use crate::process::ragged;

/// The arguments after `run`, and the message with the lines of the place.
type Case<'c> = (&'c [&'c str], &'c str);

const CASES: &[Case] = &[
    (
        &["id, ragged_mean(tokens) FILTER (WHERE id > 2)", "in.parquet"],
        "error: ragged_mean: a function that computes each row takes no FILTER: the WHERE of the query leaves out rows
  id, ragged_mean(tokens) FILTER (WHERE id > 2)
      ^^^^^^^^^^^
",
    ),
    (
        &["ragged_sum(tokens) + softmax(tokens) OVER ()", "in.parquet"],
        "error: softmax: a function that computes each row takes no OVER: it is no function of windows
  ragged_sum(tokens) + softmax(tokens) OVER ()
                       ^^^^^^^
",
    ),
    (
        &["id", "in.parquet", "--where", "ragged_sum(DISTINCT tokens) > 0"],
        "error: ragged_sum: a function that computes each row takes no DISTINCT: ragged_unique(x) has each value of a list once
  ragged_sum(DISTINCT tokens) > 0
  ^^^^^^^^^^
",
    ),
    (
        &["ragged_sum(tokens, axes => 1)", "in.parquet"],
        "error: ragged_sum: it has no `axes`; usage: ragged_sum(x, axis?, keep?)
  ragged_sum(tokens, axes => 1)
  ^^^^^^^^^^
",
    ),
    (
        &["ragged_length(words), ragged_sum(words)", "in.parquet"],
        "error: ragged_sum is not defined for str
  ragged_length(words), ragged_sum(words)
                        ^^^^^^^^^^
",
    ),
    (
        &["'ragged_sum(words)', ragged_sum(tokens), ragged_abs(ragged_sum(words))", "in.parquet"],
        "error: ragged_sum is not defined for str
  'ragged_sum(words)', ragged_sum(tokens), ragged_abs(ragged_sum(words))
                                                      ^^^^^^^^^^
",
    ),
    (
        &["id, ragged_ngrams(id, 2)", "in.parquet"],
        "error: ragged_ngrams is not defined for i64: it needs byte strings
  id, ragged_ngrams(id, 2)
      ^^^^^^^^^^^^^
",
    ),
    (
        &["ragged_sum(tokens, 1, true, 7)", "in.parquet"],
        "error: ragged_sum: 4 arguments are given, which are too many; usage: ragged_sum(x, axis?, keep?)
  ragged_sum(tokens, 1, true, 7)
  ^^^^^^^^^^
",
    ),
    (
        &["id", "in.parquet", "--where", "id > 1 AND raged_length(words) > 1"],
        "error: no function `raged_length`
  id > 1 AND raged_length(words) > 1
             ^^^^^^^^^^^^  did you mean `ragged_length`? `ragged functions` lists all
",
    ),
    (
        &["--sql", "SELECT id,\n  ragged_maen(logits)\nFROM s", "-t", "s=scores.parquet"],
        "error: no function `ragged_maen`
    ragged_maen(logits)
    ^^^^^^^^^^^  did you mean `ragged_mean`? `ragged functions` lists all
",
    ),
    (
        &["--sql", "SELECT id,\n\tragged_sum(logits, 0)\nFROM s", "-t", "s=scores.parquet"],
        "error: ragged_sum: `axis` is the axis of the table's rows, which a function of one row cannot combine
  \tragged_sum(logits, 0)
  \t^^^^^^^^^^
",
    ),
    (
        &["--sql", "SELECT *\nFROM scores", "-t", "s=scores.parquet"],
        "error: no table `scores`
  FROM scores
       ^^^^^^  the tables are s
",
    ),
    (
        &["id", "in.parquet", "--where", "id > 1 AND tokens > 3"],
        "error: 
  id > 1 AND tokens > 3
             ^^^^^^
",
    ),
    (
        &["id", "in.parquet", "--where", "id"],
        "error: 
  id
  ^^
",
    ),
    (
        &["id, abs(words)", "in.parquet"],
        "error: `abs` is a function of DataFusion, which does not compute on the values of lists
  id, abs(words)
      ^^^  did you mean `ragged_abs`?
",
    ),
    (
        &["id, words + 1", "in.parquet"],
        "error: 
  id, words + 1
      ^^^^^
",
    ),
    (
        &["id, sum(id)", "in.parquet"],
        "error: 
  id, sum(id)
  ^^
",
    ),
    (
        &["id, substr(id)", "in.parquet"],
        "error: substr: the first character is missing
  id, substr(id)
      ^^^^^^  substr(text, from, count?)
",
    ),
    (
        &["id, upper(id, id)", "in.parquet"],
        "error: 
  id, upper(id, id)
      ^^^^^  candidates: upper(String)
",
    ),
    (
        &["id +", "in.parquet"],
        "error: Expected: an expression, found: the end
  id +
      ^
",
    ),
    (
        &["id", "in.parquet", "--where", "id >"],
        "error: Expected: an expression, found: the end
  id >
      ^
",
    ),
    (
        &["id, (id", "in.parquet", "--where", "id > 1"],
        "error: Expected: ), found: the end
  id, (id
         ^
",
    ),
    (
        &["id +", "in.parquet", "--program", "none.json"],
        "error: Expected: an expression, found: the end
  id +
      ^
",
    ),
    (
        &["ragged_add(arrow_cast(id, 'Timestamp(Second, None)'), 1)", "in.parquet"],
        "error: ragged_add: 
  ragged_add(arrow_cast(id, 'Timestamp(Second, None)'), 1)
  ^^^^^^^^^^
",
    ),
    (
        &["id, ragged_program('none.json', tokens)", "in.parquet"],
        "error: ragged_program: 
  id, ragged_program('none.json', tokens)
      ^^^^^^^^^^^^^^
",
    ),
    (
        &["id, ragged_matmul(tokens, 'none.npy')", "in.parquet"],
        "error: ragged_matmul: 
  id, ragged_matmul(tokens, 'none.npy')
      ^^^^^^^^^^^^^
",
    ),
];

/// An empty rest of a first line stands for any.
#[test]
fn faults_of_plans_have_a_place() {
    let folder = Folder::new().with_table().with_users();
    let before = folder.names();
    let mut wrong = Vec::new();
    for (arguments, message) in CASES {
        let ran = ragged(folder.path(), &[&["run"], *arguments, &["-o", "out.parquet"]].concat());
        let (first, place) = message.split_once('\n').expect("lines");
        let is_it = ran.errors.split_once('\n').is_some_and(|(ran, at)| {
            (ran == first || first.ends_with(": ") && ran.starts_with(first) && ran.len() > first.len()) && at == place
        });
        if ran.code != Some(2) || !is_it {
            wrong.push(format!("{arguments:?}: {:?}\n{}is not\n{message}", ran.code, ran.errors));
        }
        assert_eq!(folder.names(), before, "{arguments:?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
