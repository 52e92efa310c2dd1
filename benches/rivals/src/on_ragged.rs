//! `ragged`.

use anyhow::{Result, bail};
use ragged::opt::exclusive;
use ragged::{Device, HostTensor, HostValues, Tensor};

use crate::inputs::Inputs;
use crate::workloads;
use crate::{Contender, Read};

/// The name in records.
pub const PEER: &str = "ragged-gpu";

/// An operation: records, computes and waits.
fn contender<'a>(
    device: &'a Device,
    op: &'static str,
    record: impl Fn() -> ragged::Result<Tensor> + 'a,
) -> Contender<'a> {
    let run = move || -> Result<Read<'a>> {
        let result = record()?;
        result.eval()?;
        device.wait()?;
        Ok(Box::new(move || values(&result)))
    };
    Contender { peer: PEER, op, run: Box::new(run) }
}

/// The operations on rows, as `ragged-bench` has them.
pub fn rows<'a>(device: &'a Device, inputs: &'a Inputs) -> Vec<Contender<'a>> {
    workloads::ALL.into_iter().map(|w| contender(device, w.name, move || (w.record)(inputs))).collect()
}

/// Unsigned numbers on the device.
///
/// # Errors
/// The numbers exceed the device's memory or limits.
pub fn words(device: &Device, words: &[u32]) -> Result<Tensor> {
    let words = HostTensor::dense(&[words.len()], HostValues::U32(words.to_vec())).to_device(device)?;
    words.eval()?;
    device.wait()?;
    Ok(words)
}

/// The operations on one long list of unsigned numbers.
pub fn flat<'a>(device: &'a Device, x: &'a Tensor) -> Vec<Contender<'a>> {
    vec![
        contender(device, "flat_sum", || x.reduce_sum(0)),
        contender(device, "flat_scan", || x.cumsum(exclusive(0))),
        contender(device, "flat_select", || x.boolean_mask(&x.greater(511u32)?)),
        contender(device, "flat_sort", || x.sort(0)),
    ]
}

/// All numbers of a result, row after row.
fn values(result: &Tensor) -> Result<Vec<f32>> {
    match result.to_host()?.values {
        HostValues::F32(values) => Ok(values),
        HostValues::U32(values) => Ok(values.into_iter().map(|v| v as f32).collect()),
        other => bail!("a result of {:?}", other.dtype()),
    }
}
