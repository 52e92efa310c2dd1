//! The process and what it prints.

use std::path::Path;
use std::process::{Command, Output};

pub const BINARY: &str = env!("CARGO_BIN_EXE_ragged");

/// What a process printed, and its exit code.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: Vec<u8>,
    pub errors: String,
}

impl Ran {
    pub fn text(&self) -> String {
        String::from_utf8(self.out.clone()).expect("UTF-8")
    }

    /// # Panics
    /// Unless the code is 0.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.errors);
        self
    }
}

/// Runs the binary in a folder.
pub fn ragged(folder: &Path, arguments: &[&str]) -> Ran {
    let Output { status, stdout, stderr } =
        Command::new(BINARY).current_dir(folder).args(arguments).output().expect("it starts");
    Ran { code: status.code(), out: stdout, errors: String::from_utf8(stderr).expect("UTF-8") }
}
