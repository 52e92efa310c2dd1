//! Environment variables: an allowed value has its effect, and any other one is an error.
#![cfg(unix)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use ragged::{Device, Error, RaggedTensor, Result};

mod common;

/// Environment variable that marks the child process, and names what it does.
const CHILD: &str = "RAGGED_ENVIRONMENT_CHILD";

/// What the child process does.
fn in_child(what: &str) -> Result<String> {
    let cpu = || Device::cpu();
    match what {
        "best" => Device::best().map(|device| device.name().to_owned()),
        "gpu" => {
            let device = Device::named("gpu")?;
            RaggedTensor::from_nested(vec![1, 2], &device)?.add(1)?.to_vec()?;
            Ok(device.name().to_owned())
        }
        _ => RaggedTensor::from_nested(vec![1, 2], &cpu())?.add(1)?.to_vec().map(|sums| format!("{sums:?}")),
    }
}

/// Runs [`in_child`] with a variable, in the folder `folder`. The outcome's text, after `ok` or `error`.
fn outcome(what: &str, name: &str, value: &[u8], folder: &Path) -> String {
    let mut child = Command::new(std::env::current_exe().expect("this process has a binary"));
    child.args(["--exact", "the_library_takes_allowed_values_only", "--nocapture", "--test-threads=1"]);
    for own in ["RAGGED_DEVICE", "RAGGED_DUMP_WGSL", "RAGGED_CHECKED_SHADERS", "RAGGED_PORTABLE"] {
        child.env_remove(own);
    }
    child.env(CHILD, what).env(name, OsStr::from_bytes(value)).current_dir(folder);
    let done = child.output().expect("runs");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{text}{}", String::from_utf8_lossy(&done.stderr));
    let line = text.lines().find_map(|line| line.split_once("outcome: "));
    line.map(|(_, outcome)| outcome.to_owned()).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn the_library_takes_allowed_values_only() {
    if let Ok(what) = std::env::var(CHILD) {
        match in_child(&what) {
            Ok(text) => println!("outcome: ok {text}"),
            Err(error @ (Error::Argument { .. } | Error::NoDevice { .. })) => println!("outcome: error {error}"),
            Err(other) => panic!("{other}"),
        }
        return;
    }
    let folder = std::env::temp_dir().join(format!("ragged-environment-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let ok = |what, name, value: &[u8], wanted: &str| {
        let got = outcome(what, name, value, &folder);
        assert!(got.starts_with("ok") && got.contains(wanted), "{name}={value:?}: {got}");
    };
    let refused = |what, name: &str, value: &[u8], allowed: &str| {
        let got = outcome(what, name, value, &folder);
        assert!(got.starts_with("error") && got.contains(name), "{name}={value:?}: {got}");
        assert!(got.contains(allowed), "{got:?} lacks {allowed:?}");
    };
    let blank: [&[u8]; 3] = [b"", b" ", b"\t \n"];
    for value in blank.into_iter().chain([&b"\xff"[..], b"cpu\xff"]) {
        refused("best", "RAGGED_DEVICE", value, "cpu");
    }
    ok("best", "RAGGED_DEVICE", b"cpu", "cpu");
    assert!(outcome("best", "RAGGED_DEVICE", b"no such device", &folder).starts_with("error no device"));
    #[cfg(not(feature = "gpu"))]
    refused_without_gpu(&outcome("best", "RAGGED_DEVICE", b"gpu", &folder));
    for value in blank.into_iter().chain([&b"\xff"[..], b"yes", b"2"]) {
        refused("cpu", "RAGGED_PORTABLE", value, "0 or 1");
    }
    ok("cpu", "RAGGED_PORTABLE", b"0", "[2, 3]");
    ok("cpu", "RAGGED_PORTABLE", b"1", "[2, 3]");
    if common::gpus().is_empty() {
        return;
    }
    for value in blank.into_iter().chain([&b"\xff"[..], b"true"]) {
        refused("gpu", "RAGGED_CHECKED_SHADERS", value, "0 or 1");
    }
    ok("gpu", "RAGGED_CHECKED_SHADERS", b"1", "");
    for value in blank {
        refused("gpu", "RAGGED_DUMP_WGSL", value, "a path");
    }
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 0, "nothing is written to the current folder");
    // A path need not be UTF-8.
    ok("gpu", "RAGGED_DUMP_WGSL", b"kernels\xff", "");
    let kernels = folder.join(OsStr::from_bytes(b"kernels\xff"));
    assert!(std::fs::read_dir(kernels).expect("a folder of kernels").count() > 0);
    std::fs::remove_dir_all(&folder).expect("removed");
}

/// Checks the error of a device that a build without the GPU backend cannot have.
#[cfg(not(feature = "gpu"))]
fn refused_without_gpu(got: &str) {
    assert!(got.starts_with("error no device \"gpu\"; available: cpu"), "{got}");
    assert!(got.contains("enable the feature `gpu`"), "{got}");
}

#[test]
fn a_blank_name_names_no_device() {
    for name in ["", " ", "\t"] {
        assert!(matches!(Device::named(name), Err(Error::NoDevice { .. })), "{name:?}");
    }
}
