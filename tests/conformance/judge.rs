//! Runs one case and determines its outcome.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ragged::{DType, Device, Error};

use crate::case::{Case, Expected};
use crate::compare::{compare, short};
use crate::got::{Got, Read};
use crate::{common, quirk};

/// The outcome of a case.
pub enum Outcome {
    Passed { on_device: bool },
    Failed(String),
    Unsupported(String),
}

/// Runs a case and compares its result with the expected one.
pub fn judge(case: &Case, run: fn(&Case, &Device) -> ragged::Result<Got>, device: &Device) -> Outcome {
    let attempt = || -> ragged::Result<(Read, bool)> {
        let got = run(case, device)?;
        let on_device = got.is_on(device);
        if device.is_cpu() {
            got.assert_replayed()?;
        }
        Ok((got.read()?, on_device))
    };
    let answer = match catch_unwind(AssertUnwindSafe(attempt)) {
        Ok(answer) => answer,
        Err(cause) => {
            let text = cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
            return Outcome::Failed(format!("panicked: {}", text.unwrap_or("(no message)")));
        }
    };
    match (&case.expected, answer) {
        (_, Ok((Read::Unsupported(why), _))) => Outcome::Unsupported(why),
        (Expected::Error(want), Err(e)) if is_refusal(case, want, &e) => Outcome::Passed { on_device: true },
        (Expected::Error(want), Err(e)) => {
            Outcome::Failed(format!("wanted the error {}, got the error {e}", short(want)))
        }
        (Expected::Error(_), Ok((_, on_device))) if case.limitation => Outcome::Passed { on_device },
        (Expected::Error(want), Ok((got, _))) => {
            Outcome::Failed(format!("wanted the error {}, got {}", short(want), short(&got)))
        }
        (Expected::Value(_), answer) if quirk::reads_another_row(case) => match answer {
            Err(Error::Check { what, .. }) if what.contains("an index is out of range") => {
                Outcome::Passed { on_device: true }
            }
            Err(e) => Outcome::Failed(format!("wanted an index out of range, got the error {e}")),
            Ok((got, _)) => Outcome::Failed(format!("wanted an index out of range, got {}", short(&got))),
        },
        (Expected::Value(want), Err(e)) if quirk::is_no_tensor(want) && is_about_arguments(&e) => {
            Outcome::Passed { on_device: true }
        }
        (Expected::Value(want), Err(e)) => Outcome::Failed(format!("wanted {}, got the error {e}", short(want))),
        (Expected::Value(_), Ok((_, on_device))) if case.unspecified => Outcome::Passed { on_device },
        (Expected::Value(want), Ok((got, on_device))) => match compare(case, want, &got) {
            Ok(()) => Outcome::Passed { on_device },
            Err(e) => Outcome::Failed(e),
        },
    }
}

/// Whether the error is acceptable for a case whose origin fails with the message `want`. `Error::Unsupported` is
/// acceptable only if the origin's error is about a dtype or a limitation of the origin.
fn is_refusal(case: &Case, want: &str, e: &Error) -> bool {
    match e {
        Error::Unsupported { .. } => case.limitation || is_about_dtypes(want),
        e => is_about_arguments(e),
    }
}

/// Whether the origin's error, `<type>: <message>`, is about a dtype: it contains `type`, or is a kernel's
/// `expected to be a bool tensor but is a int32 tensor`.
fn is_about_dtypes(want: &str) -> bool {
    let message = want.split_once(": ").map_or(want, |(_, message)| message).to_lowercase();
    message.contains("type") || message.contains("tensor but is a")
}

/// Whether the error is about the arguments, not about the device or the test.
fn is_about_arguments(e: &Error) -> bool {
    matches!(
        e,
        Error::Partition { .. }
            | Error::Nesting { .. }
            | Error::Shape { .. }
            | Error::Argument { .. }
            | Error::Axis { .. }
            | Error::Index { .. }
            | Error::DTypes { .. }
            | Error::Check { .. }
            | Error::Record { .. }
            | Error::Limit { .. }
    )
}

/// The dtypes that the device lacks.
pub fn lacking(device: &Device) -> Vec<DType> {
    DType::ALL.into_iter().filter(|&dtype| !common::has(device, dtype)).collect()
}

/// The reason for which a case cannot run: a dtype that the crate or the adapter lacks.
pub fn impossible(case: &Case, lacking: &[DType]) -> Option<String> {
    if let Some(dtype) = case.missing_dtype() {
        return Some(format!("no dtype {dtype}"));
    }
    let dtype = lacking.iter().find(|&&dtype| case.uses(dtype))?;
    Some(format!("the adapter has no {dtype}"))
}
