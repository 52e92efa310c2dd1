//! Dependencies and package: permissive licences, crates of crates.io, one version of each crate, features that leave crates
//! out, and a package without tests and benchmarks.

mod licences;
mod package;
mod tree;

use std::process::Command;

/// Runs cargo on this workspace and returns its standard output. Downloads only what is missing.
fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = |more: &[&str]| {
        let mut command = Command::new(&cargo);
        command.args(arguments).arg("--locked").args(more).current_dir(env!("CARGO_MANIFEST_DIR"));
        command.output().expect("cargo runs")
    };
    let mut done = run(&["--offline"]);
    if !done.status.success() {
        // Crates of other platforms may not have been downloaded.
        done = run(&[]);
    }
    assert!(done.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("UTF-8")
}
