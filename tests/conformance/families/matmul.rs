//! The `matmul` family.

use ragged::opt::Factor;
use ragged::{Device, Result};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let all = case.tensors(device)?;
    let [a, b] = &all[..] else { panic!("{} inputs", all.len()) };
    match case.op.as_str() {
        "matmul" => {
            let factor = |tensor, flag| Factor::from(tensor).transposed(case.attr_bool(flag));
            factor(a, "transpose_a").matmul(factor(b, "transpose_b")).map(Got::from)
        }
        op => Got::unsupported(op),
    }
}
