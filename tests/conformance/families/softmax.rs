//! The `softmax` family.

use ragged::{Device, Result, Seed};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let all = case.tensors(device)?;
    match (case.op.as_str(), &all[..]) {
        ("softmax", [x]) => x.softmax(case.attr_i64("axis").unwrap_or(-1)).map(Got::from),
        ("sigmoid_cross_entropy_with_logits", [labels, logits]) => {
            logits.sigmoid_cross_entropy_with_logits(labels).map(Got::from)
        }
        ("dropout", [x]) => x.dropout(case.attr_f64("rate").expect("a rate"), Seed(0)).map(Got::from),
        (op, _) => Got::unsupported(op),
    }
}
