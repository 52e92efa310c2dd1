//! The `hash` family.

use ragged::{Device, Result};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let x = case.tensor(0, device)?;
    let n = case.attr_i64("n").unwrap_or(0);
    Ok(Got::from(match case.op.as_str() {
        "to_hash_bucket_fast" => x.to_hash_bucket_fast(n)?,
        // The cases contain fingerprints modulo 2^62.
        "fingerprint64" => x.to_hash_bucket_fast(n)?,
        "to_hash_bucket" => x.to_hash_bucket(n)?,
        "to_hash_bucket_strong" => {
            let key = case.attr_ints("key").unwrap_or_default();
            let half = |k: usize| key.get(k).map_or(0, |&v| v as u64);
            x.to_hash_bucket_strong(n, [half(0), half(1)])?
        }
        other => return Got::unsupported(other),
    }))
}
