//! Environment variables that the library reads.
//!
//! A variable is either not set or has an allowed value; any other value, such as a blank one, is an error of the first
//! call that depends on it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::error::{Error, Result, caller, here};

/// Name of the default device.
pub(crate) const DEVICE: &str = "RAGGED_DEVICE";
/// Folder for generated kernels.
pub(crate) const DUMP_WGSL: &str = "RAGGED_DUMP_WGSL";
/// Whether kernels keep all of wgpu's checks.
pub(crate) const CHECKED_SHADERS: &str = "RAGGED_CHECKED_SHADERS";

#[track_caller]
fn refused(name: &'static str, value: &OsString, allowed: &str) -> Error {
    let what = format!("the environment variable is {value:?}, but must be {allowed}, or not be set");
    Error::Argument { op: name, what, location: caller() }
}

/// Parses the value of a variable, if it is set.
///
/// # Errors
/// `parse` refuses the value, or the value is blank. `allowed` describes the allowed ones.
#[track_caller]
fn parsed<T>(
    name: &'static str,
    value: Option<OsString>,
    allowed: &str,
    parse: impl FnOnce(&OsString) -> Option<T>,
) -> Result<Option<T>> {
    let Some(value) = value else { return Ok(None) };
    let is_blank = value.to_string_lossy().trim().is_empty();
    match parse(&value).filter(|_| !is_blank) {
        Some(parsed) => Ok(Some(parsed)),
        None => Err(refused(name, &value, allowed)),
    }
}

/// The text of a variable, if it is set.
///
/// # Errors
/// A value that is blank or not UTF-8.
#[track_caller]
pub(crate) fn text(name: &'static str, allowed: &str) -> Result<Option<String>> {
    parsed(name, std::env::var_os(name), allowed, |value| value.to_str().map(str::to_owned))
}

/// The path in a variable, if it is set.
///
/// # Errors
/// A blank value.
#[track_caller]
pub(crate) fn path(name: &'static str) -> Result<Option<PathBuf>> {
    parsed(name, std::env::var_os(name), "a path", |value| Some(value.into()))
}

/// Whether a variable is 1; false if it is 0 or not set.
///
/// # Errors
/// Any other value.
#[track_caller]
pub(crate) fn flag(name: &'static str) -> Result<bool> {
    let parse = |value: &OsString| match value.to_str() {
        Some("0") => Some(false),
        Some("1") => Some(true),
        _ => None,
    };
    Ok(parsed(name, std::env::var_os(name), "0 or 1", parse)?.unwrap_or(false))
}

/// Whether `RAGGED_PORTABLE` turns processor-specific loops of the CPU backend off. Read once per process.
///
/// # Errors
/// A value other than 0 and 1.
#[track_caller]
pub(crate) fn is_portable() -> Result<bool> {
    static PORTABLE: OnceLock<Result<bool>> = OnceLock::new();
    PORTABLE.get_or_init(|| flag("RAGGED_PORTABLE")).clone().map_err(here())
}
