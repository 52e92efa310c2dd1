//! Parts of tests that run in a process of their own: under limits of the system, or to measure its memory.

use std::process::Command;

/// Environment variable that marks the child process.
const CHILD: &str = "RAGGED_MEMORY_CHILD";

/// Whether this is the child process of a test, which then does its part.
pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs the test `name` of this binary in a child process, after the shell command `limit`, and returns its output.
///
/// # Panics
/// If the child fails or is killed.
pub fn output(name: &str, limit: &str) -> String {
    let binary = std::env::current_exe().expect("this process has a binary");
    let script = format!("{limit} && exec \"$0\" \"$@\"");
    let mut child = Command::new("sh");
    child.args(["-c", &script]).arg(binary).args(["--exact", name, "--nocapture", "--test-threads=1"]);
    // Few threads and one heap need little address space, so that limits are the same on all machines.
    child.envs([(CHILD, "1"), ("RAYON_NUM_THREADS", "2"), ("MALLOC_ARENA_MAX", "1")]);
    let done = child.output().expect("the shell runs");
    let output = String::from_utf8_lossy(&done.stdout).into_owned();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{name} in a child process: {}\n{output}\n{errors}", done.status);
    output
}

/// Runs the test `name` of this binary in a child process without further limits. Whether this is the parent, which is
/// then done.
pub fn ran_in_child(name: &str) -> bool {
    if !is_child() {
        output(name, "true");
    }
    !is_child()
}

/// Fails unless the outcome is an error of a limit that names the line of the call, and unless the peak of this
/// process's memory grew by at most `most` bytes meanwhile.
#[track_caller]
pub fn refused_within<T>(what: &str, most: u64, work: impl FnOnce() -> ragged::Result<T>) -> ragged::Error {
    let before = status("VmHWM");
    let outcome = work();
    let grown = status("VmHWM") - before;
    let error = match outcome {
        Err(error @ ragged::Error::Limit { .. }) => error,
        Err(other) => panic!("{what}: {other}"),
        Ok(_) => panic!("{what}: no error"),
    };
    println!("{what}: {error}; the peak grew by {grown} bytes");
    assert!(grown <= most, "{what}: the peak grew by {grown} bytes; {error}");
    assert!(error.location().is_some_and(|at| at.file().contains("tests")), "{what}: {error}");
    error
}

/// A line of `/proc/self/status`, in bytes.
pub fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has this file");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kibibytes.expect("a size in kB") << 10
}
