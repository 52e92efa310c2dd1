//! Host steps: operations that no kernel computes.
//!
//! A host step evaluates its input, reads it, computes on the host and uploads the result. It waits where it is
//! recorded; under [`record_async`](crate::record_async) the read is awaited instead. The CPU backend runs host steps
//! like any operation. A GPU runs them only if its options allow it, and counts them.

use std::hash::Hash;
use std::ops::Range;

use rayon::prelude::*;

use crate::error::{Error, Result, here};
use crate::graph::backend::Part;
use crate::graph::digest::Digest;
use crate::graph::extent::Extent;
use crate::graph::node::Rows;
use crate::graph::recording::{made_once, read_now};
use crate::tensor::{Assembly, HostTensor, HostValues, Tensor, Values};

/// Strings per task.
const TASK: usize = 1 << 14;

/// Byte strings on the host: string `i` is `bytes[splits[i]..splits[i + 1]]`.
#[derive(Debug, Default)]
pub(crate) struct HostStrings {
    splits: Vec<u32>,
    bytes: Vec<u8>,
}

/// Result of a host step: as many values as its input has.
pub(crate) enum HostFlat {
    Strings(HostStrings),
    Numbers(HostValues),
}

impl HostStrings {
    #[track_caller]
    fn of(strings: &[Vec<u8>]) -> Result<Self> {
        joined(vec![(strings.iter().map(Vec::len).collect(), strings.concat())])
    }

    /// Number of strings.
    fn len(&self) -> usize {
        self.splits.len().saturating_sub(1)
    }

    fn get(&self, i: usize) -> &[u8] {
        &self.bytes[self.splits[i] as usize..self.splits[i + 1] as usize]
    }

    /// The strings that `f` appends to its second argument for each string, computed on all cores.
    #[track_caller]
    pub(crate) fn map(&self, f: impl Fn(&[u8], &mut Vec<u8>) -> Result<()> + Sync) -> Result<HostFlat> {
        strings_of(self.len(), |i, out| f(self.get(i), out))
    }

    /// The value of `f` for each string, computed on all cores.
    #[track_caller]
    pub(crate) fn numbers<T: Send>(&self, f: impl Fn(&[u8]) -> Result<T> + Sync) -> Result<Vec<T>> {
        (0..self.len()).into_par_iter().with_min_len(TASK).map(|i| f(self.get(i))).collect()
    }
}

/// `count` strings, of which `f` appends number `i` to its second argument, computed on all cores.
#[track_caller]
pub(crate) fn strings_of(count: usize, f: impl Fn(usize, &mut Vec<u8>) -> Result<()> + Sync) -> Result<HostFlat> {
    let task = |range: Range<usize>| -> Result<(Vec<usize>, Vec<u8>)> {
        let (mut lengths, mut bytes) = (Vec::with_capacity(range.len()), Vec::new());
        for i in range {
            let before = bytes.len();
            f(i, &mut bytes)?;
            lengths.push(bytes.len() - before);
        }
        Ok((lengths, bytes))
    };
    let tasks = (0..count.div_ceil(TASK)).into_par_iter();
    let parts = tasks.map(|k| task(k * TASK..count.min((k + 1) * TASK))).collect::<Result<Vec<_>>>()?;
    Ok(HostFlat::Strings(joined(parts)?))
}

/// All strings, from the lengths and bytes of consecutive parts.
///
/// # Errors
/// 2^32 - 1 bytes or more.
#[track_caller]
fn joined(parts: Vec<(Vec<usize>, Vec<u8>)>) -> Result<HostStrings> {
    let total: usize = parts.iter().map(|(_, bytes)| bytes.len()).sum();
    Extent::known_u64("a string tensor", total as u64)?;
    let count: usize = parts.iter().map(|(lengths, _)| lengths.len()).sum();
    let mut out = HostStrings { splits: Vec::with_capacity(count + 1), bytes: Vec::with_capacity(total) };
    let mut end = 0usize;
    out.splits.push(0);
    for (lengths, bytes) in parts {
        for n in lengths {
            end += n;
            out.splits.push(end as u32);
        }
        out.bytes.extend_from_slice(&bytes);
    }
    Ok(out)
}

/// Refuses a host step that the device's options do not allow.
#[track_caller]
fn allow(op: &'static str, x: &Tensor) -> Result<()> {
    if x.backend().allows_host_steps() {
        return Ok(());
    }
    let what = format!(
        "it runs on the host, which the options of {} do not allow; open the device with \
         DeviceOptions::host_steps(true), or copy the tensor to Device::cpu() first",
        x.backend().name()
    );
    Err(Error::argument(op, what))
}

/// Computes the strings or numbers of the result from the strings of `x`. `arguments` are the other arguments of the
/// operation.
///
/// # Errors
/// `x` does not hold strings; the device does not allow host steps; those of the read, of `step` and of the upload.
#[track_caller]
pub(crate) fn host_strings(
    op: &'static str,
    x: &Tensor,
    arguments: &impl Hash,
    step: impl FnOnce(&HostStrings) -> Result<HostFlat>,
) -> Result<Tensor> {
    x.strings(op)?;
    run(op, x, arguments, |flat| match flat {
        HostFlat::Strings(strings) => step(strings),
        HostFlat::Numbers(_) => unreachable!("bug: numbers of a tensor of strings"),
    })
}

/// Computes the strings or numbers of the result from the numbers of `x`, as [`host_strings`].
#[track_caller]
pub(crate) fn host_numbers(
    op: &'static str,
    x: &Tensor,
    arguments: &impl Hash,
    step: impl FnOnce(&HostValues) -> Result<HostFlat>,
) -> Result<Tensor> {
    x.numbers(op)?;
    run(op, x, arguments, |flat| match flat {
        HostFlat::Numbers(numbers) => step(numbers),
        HostFlat::Strings(_) => unreachable!("bug: strings of a tensor of numbers"),
    })
}

/// Computes a scalar from the whole tensor.
#[track_caller]
pub(crate) fn host_scalar(
    op: &'static str,
    x: &Tensor,
    arguments: &impl Hash,
    step: impl FnOnce(&HostTensor) -> Result<HostValues>,
) -> Result<Tensor> {
    allow(op, x)?;
    let key = Digest::of(op, (x.identity(), arguments));
    made_once(key, || {
        let read = read_whole(op, x)?;
        x.backend().count_host_step();
        HostTensor::dense(&[], step(&read)?).to_device(&x.device())
    })
}

/// Reads the tensor: one wait.
#[track_caller]
fn read_whole(op: &'static str, x: &Tensor) -> Result<HostTensor> {
    let parts = x.parts_to_read();
    let asked: Vec<bool> = parts.iter().map(Option::is_some).collect();
    let mut read = read_now(x.backend(), op, parts.into_iter().flatten().collect())?.into_iter();
    let mut arrays = asked.into_iter().map(|asked| if asked { read.next() } else { None });
    x.of_bytes(&mut arrays, &mut Assembly::new(op, x.backend())).map_err(here())
}

#[track_caller]
fn run(
    op: &'static str,
    x: &Tensor,
    arguments: &impl Hash,
    step: impl FnOnce(&HostFlat) -> Result<HostFlat>,
) -> Result<Tensor> {
    allow(op, x)?;
    if x.count()?.as_known().is_none() {
        return run_whole(op, x, arguments, step);
    }
    let (backend, device) = (x.backend(), x.device());
    let nodes = x.values_ref().nodes(backend)?;
    let key = Digest::of(op, (nodes.iter().map(|n| n.digest()).collect::<Vec<_>>(), arguments));
    let values = made_once(key, || {
        let mut read = read_now(backend, op, nodes.iter().cloned().map(Part::whole).collect())?.into_iter();
        let mut next = || read.next().unwrap_or_default();
        let mut assembly = Assembly::new(op, backend);
        let flat = match x.values_ref() {
            Values::Numbers(n) => HostFlat::Numbers(assembly.numbers(n.dtype(), &next())?),
            Values::Strings { .. } => {
                HostFlat::Strings(HostStrings { splits: assembly.splits(&next())?, bytes: assembly.bytes(&next())? })
            }
        };
        backend.count_host_step();
        match step(&flat)? {
            HostFlat::Strings(HostStrings { splits, bytes }) => Values::upload_strings(&device, splits, &bytes),
            HostFlat::Numbers(numbers) => numbers.upload(&device),
        }
    })?;
    x.holding(values)
}

/// As [`run`], for a tensor with sizes that only the device knows: uploads the layout too.
#[track_caller]
fn run_whole(
    op: &'static str,
    x: &Tensor,
    arguments: &impl Hash,
    step: impl FnOnce(&HostFlat) -> Result<HostFlat>,
) -> Result<Tensor> {
    let key = Digest::of(op, (x.identity(), arguments));
    made_once(key, || {
        let mut whole = read_whole(op, x)?;
        x.backend().count_host_step();
        let flat = match std::mem::replace(&mut whole.values, HostValues::Bool(Vec::new())) {
            HostValues::Str(strings) => HostFlat::Strings(HostStrings::of(&strings)?),
            numbers => HostFlat::Numbers(numbers),
        };
        whole.values = match step(&flat)? {
            HostFlat::Strings(s) => HostValues::Str((0..s.len()).map(|i| s.get(i).to_vec()).collect()),
            HostFlat::Numbers(numbers) => numbers,
        };
        whole.to_device(&x.device())
    })
}

impl Tensor {
    /// Identity of the values and of the layout.
    fn identity(&self) -> Digest {
        let arrays: Vec<Digest> = self.parts_to_read().into_iter().flatten().map(|part| part.node.digest()).collect();
        let rows: Vec<&Rows> = self.partitions().iter().map(|p| p.rows()).collect();
        Digest::of("tensor", (arrays, rows, self.inner()))
    }
}
