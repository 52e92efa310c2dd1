//! Devices without a history, and comparisons of their results.

use ragged::{CpuOptions, Device, Error};

use super::outcome::Outcome;

/// A CPU device that has seen nothing.
pub fn fresh() -> Device {
    Device::cpu_with(&CpuOptions::default())
}

/// How a result of a tensor of device-known size differs from the one of an uploaded tensor: the values of equal layouts must be
/// equal, and small results are not refused for their upper bounds.
pub fn differs(isolated: &Outcome, got: &Outcome) -> Option<String> {
    match (isolated, got) {
        (Outcome::Read(a), Outcome::Read(b)) if a.shape.len() == b.shape.len() && a.ragged_rank == b.ragged_rank => {
            (a.digest != b.digest).then(|| format!("[isolated] {got}, not the isolated {isolated}"))
        }
        (Outcome::Read(_), Outcome::Refused(Error::Limit { .. })) => {
            Some(format!("[refused by a bound] {got}, though the result is small: {isolated}"))
        }
        _ => None,
    }
}
