//! What users get wrong, and what they are told.

use std::process::Command;
use std::time::Duration;

use crate::setup::{Setup, cluster, program};

/// The standard error of a command that fails.
fn error_of(arguments: &[&str]) -> String {
    let output = Command::new(program()).args(arguments).output().expect("it starts");
    assert!(!output.status.success(), "{arguments:?} succeeds");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn commands_say_what_they_require() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = free.local_addr().expect("an address").to_string();
    for (arguments, says) in [
        (&["run", "SELECT 1", "--scheduler", "here"][..], "HOST:PORT"),
        (&["run", "SELECT 1", "--scheduler", "127.0.0.1:1"], "no scheduler at 127.0.0.1:1"),
        (&["run", "SELECT 1", "--local", "--set", "x"], "--set x: required: NAME=VALUE"),
        (&["run", "SELECT 1", "--local", "--set", "datafusion.no=1"], "\"no\" not found"),
        (&["run", "SELECT 1", "--local", "-t", "t=/nowhere"], "--table t: there is no /nowhere"),
        (&["run", "SELECT 1", "--local", "-o", "rows.csv"], "FILE.parquet, FILE.arrow"),
        (&["run", "SELECT ragged_sum(1, 2, 3, 4)", "--local"], "ragged_reduce_sum"),
        (&["run", "SELECT nothing", "--local"], "nothing"),
        (&["run", "SELECT 1", "--local", "--device", "abacus"], "abacus"),
        (&["executor", "--device", "abacus"], "abacus"),
        (&["executor", "--scheduler", "127.0.0.1:1", "--wait", "0"], "no scheduler at 127.0.0.1:1"),
        (&["executor", "--folder", "/nowhere"], "cannot make a folder in /nowhere"),
        (&["scheduler", "--listen", &taken], "cannot listen on"),
        (&["scheduler", "--listen", "0.0.0.0:0"], "--advertise"),
    ] {
        let error = error_of(arguments);
        assert!(error.starts_with("error: ") && error.contains(says), "{arguments:?}: {error}");
    }
}

/// Errors of executors arrive at the client.
#[tokio::test(flavor = "multi_thread")]
async fn errors_of_rows_are_those_of_the_query() {
    let setup = Setup::new();
    let cluster = cluster(&[], &[setup.executor("cpu")]).await;
    let address = cluster.address.to_string();
    let sql = "SELECT ragged_string_to_number(tags, 'Int32') FROM users";
    let error = setup.run(sql, &["--scheduler", &address]).error_within(Duration::from_secs(120));
    assert!(error.contains("ragged_string_to_number"), "{error}");
}
