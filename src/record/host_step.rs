//! Host steps: operations that no kernel computes.
//!
//! A host step evaluates its input, reads it, computes on the host and uploads the result. It waits where it is
//! recorded; under [`record_async`](crate::record_async) the read is awaited instead. The CPU backend runs host steps
//! like any operation. A GPU runs them only if its options allow it, and counts them.

use std::hash::Hash;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::backend::host_memory::{GrowingBytes, counted_vec};
use crate::error::Result;
use crate::graph::backend::{CountedMemory, Part};
use crate::graph::digest::Digest;
use crate::graph::extent::Extent;
use crate::graph::node::Rows;
use crate::graph::recorder::Recorder;
use crate::graph::run::recording::made_once;
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
    /// Number of strings.
    fn len(&self) -> usize {
        self.splits.len().saturating_sub(1)
    }

    fn get(&self, i: usize) -> &[u8] {
        &self.bytes[self.splits[i] as usize..self.splits[i + 1] as usize]
    }
}

/// Host memory of the results of a host step. The device counts it before it is written, until the step is dropped:
/// after the upload.
pub(crate) struct StepMemory<'a> {
    rec: Recorder<'a>,
    counted: Mutex<Vec<CountedMemory>>,
}

impl<'a> StepMemory<'a> {
    fn new(rec: Recorder<'a>) -> Self {
        Self { rec, counted: Mutex::default() }
    }

    fn hold(&self, counted: impl IntoIterator<Item = CountedMemory>) {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).extend(counted);
    }

    fn vec<T>(&self, n: usize) -> Result<Vec<T>> {
        let (out, counted) = counted_vec(self.rec.backend, self.rec.op, n)?;
        self.hold([counted]);
        Ok(out)
    }

    /// The strings that `f` appends to its second argument for each string, computed on all cores.
    ///
    /// # Errors
    /// As [`Self::strings`].
    #[track_caller]
    pub(crate) fn map(
        &self,
        strings: &HostStrings,
        f: impl Fn(&[u8], &mut GrowingBytes<'_>) -> Result<()> + Sync,
    ) -> Result<HostFlat> {
        self.strings(strings.len(), |i, out| f(strings.get(i), out))
    }

    /// The value of `f` for the index of each string and its bytes, computed on all cores.
    ///
    /// # Errors
    /// The first one of `f`; no memory for the values.
    #[track_caller]
    pub(crate) fn numbers<T: Clone + Default + Send>(
        &self,
        strings: &HostStrings,
        f: impl Fn(usize, &[u8]) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let mut out = self.vec(strings.len())?;
        out.resize(strings.len(), T::default());
        let failure = out.par_chunks_mut(TASK).enumerate().find_map_first(|(task, values)| {
            let mut values = values.iter_mut().zip(task * TASK..);
            values.try_for_each(|(value, i)| f(i, strings.get(i)).map(|found| *value = found)).err()
        });
        failure.map_or(Ok(out), Err)
    }

    /// `count` strings, of which `f` appends number `i` to its second argument, computed on all cores.
    ///
    /// # Errors
    /// Those of `f`; 2^32 - 1 bytes or more; no memory for them.
    #[track_caller]
    pub(crate) fn strings(
        &self,
        count: usize,
        f: impl Fn(usize, &mut GrowingBytes<'_>) -> Result<()> + Sync,
    ) -> Result<HostFlat> {
        let total = AtomicU64::new(0);
        let task = |range: Range<usize>| {
            let (mut lengths, counted) = counted_vec::<u32>(self.rec.backend, self.rec.op, range.len())?;
            let mut bytes = GrowingBytes::new(self.rec.op, self.rec.backend, &total);
            for i in range {
                let before = bytes.len();
                f(i, &mut bytes)?;
                lengths.push((bytes.len() - before) as u32);
            }
            Ok((lengths, bytes, counted))
        };
        let tasks = (0..count.div_ceil(TASK)).into_par_iter();
        let parts = tasks.map(|k| task(k * TASK..count.min((k + 1) * TASK))).collect::<Result<Vec<_>>>()?;
        Ok(HostFlat::Strings(self.joined(count, parts)?))
    }

    /// `count` strings, from the lengths and bytes of consecutive parts.
    ///
    /// # Errors
    /// 2^32 - 1 bytes or more; no memory for them.
    #[track_caller]
    fn joined(&self, count: usize, mut parts: Vec<(Vec<u32>, GrowingBytes<'_>, CountedMemory)>) -> Result<HostStrings> {
        let total: usize = parts.iter().map(|(_, bytes, _)| bytes.len()).sum();
        Extent::known_u64(self.rec.op, total as u64)?;
        let mut splits = self.vec(count + 1)?;
        let mut end = 0;
        splits.push(end);
        splits.extend(parts.iter().flat_map(|(lengths, ..)| lengths).map(|len| {
            end += len;
            end
        }));
        let bytes = if let [_] = parts.as_slice()
            && let Some((_, bytes, _)) = parts.pop()
        {
            let (bytes, counted) = bytes.into_parts();
            self.hold(counted);
            bytes
        } else {
            let mut out = self.vec(total)?;
            // Each part is freed once it is copied.
            parts.into_iter().for_each(|(_, bytes, _)| out.extend_from_slice(&bytes.into_parts().0));
            out
        };
        Ok(HostStrings { splits, bytes })
    }

    /// The strings of a read.
    #[track_caller]
    fn flat(&self, strings: &[Vec<u8>]) -> Result<HostStrings> {
        let total: usize = strings.iter().map(Vec::len).sum();
        Extent::known_u64(self.rec.op, total as u64)?;
        let (mut splits, mut bytes) = (self.vec(strings.len() + 1)?, self.vec(total)?);
        splits.push(0);
        for string in strings {
            bytes.extend_from_slice(string);
            splits.push(bytes.len() as u32);
        }
        Ok(HostStrings { splits, bytes })
    }
}

/// Refuses a host step that the device's options do not allow.
fn allow(rec: Recorder<'_>, x: &Tensor) -> Result<()> {
    if x.backend().allows_host_steps() {
        return Ok(());
    }
    let what = format!(
        "it runs on the host, which the options of {} do not allow; open the device with \
         DeviceOptions::host_steps(true), or copy the tensor to Device::cpu() first",
        x.backend().name()
    );
    Err(rec.argument(what))
}

/// Computes the strings or numbers of the result from the strings of `x`. `arguments` are the other arguments of the
/// operation.
///
/// # Errors
/// `x` does not hold strings; the device does not allow host steps; those of the read, of `step` and of the upload.
pub(crate) fn host_strings(
    rec: Recorder<'_>,
    x: &Tensor,
    arguments: &impl Hash,
    step: impl FnOnce(&StepMemory<'_>, &HostStrings) -> Result<HostFlat>,
) -> Result<Tensor> {
    rec.strings(x)?;
    run(rec, x, arguments, |memory, flat| match flat {
        HostFlat::Strings(strings) => step(memory, strings),
        HostFlat::Numbers(_) => unreachable!("bug: numbers of a tensor of strings"),
    })
}

/// Computes the strings or numbers of the result from the numbers of `x`, as [`host_strings`].
pub(crate) fn host_numbers(
    rec: Recorder<'_>,
    x: &Tensor,
    arguments: &impl Hash,
    step: impl FnOnce(&StepMemory<'_>, &HostValues) -> Result<HostFlat>,
) -> Result<Tensor> {
    rec.numbers(x)?;
    run(rec, x, arguments, |memory, flat| match flat {
        HostFlat::Numbers(numbers) => step(memory, numbers),
        HostFlat::Strings(_) => unreachable!("bug: strings of a tensor of numbers"),
    })
}

/// Computes one string, which `step` appends to its second argument, from the whole tensor.
pub(crate) fn host_string(
    rec: Recorder<'_>,
    x: &Tensor,
    arguments: &impl Hash,
    step: impl FnOnce(&HostTensor, &mut GrowingBytes<'_>) -> Result<()>,
) -> Result<Tensor> {
    allow(rec, x)?;
    let key = Digest::of(rec.op, (x.identity(), arguments));
    let made = made_once(key, || {
        let mut assembly = Assembly::new(rec);
        let read = read_whole(rec, x, &mut assembly)?;
        x.backend().count_host_step();
        let total = AtomicU64::new(0);
        let mut text = GrowingBytes::new(rec.op, x.backend(), &total);
        step(&read, &mut text)?;
        let (bytes, _counted) = text.into_parts();
        HostTensor::dense(&[], HostValues::Str(vec![bytes])).to_device(&x.device())
    });
    rec.at(made)
}

/// Reads the tensor: one wait.
fn read_whole(rec: Recorder<'_>, x: &Tensor, assembly: &mut Assembly<'_>) -> Result<HostTensor> {
    let parts = x.parts_to_read();
    let asked: Vec<bool> = parts.iter().map(Option::is_some).collect();
    let mut read = rec.read_parts(parts.into_iter().flatten().collect())?.into_iter();
    let mut arrays = asked.into_iter().map(|asked| if asked { read.next() } else { None });
    rec.at(x.of_bytes(&mut arrays, assembly))
}

fn run(
    rec: Recorder<'_>,
    x: &Tensor,
    arguments: &impl Hash,
    step: impl FnOnce(&StepMemory<'_>, &HostFlat) -> Result<HostFlat>,
) -> Result<Tensor> {
    allow(rec, x)?;
    if rec.count(x)?.as_known().is_none() {
        return run_whole(rec, x, arguments, step);
    }
    let (backend, device) = (x.backend(), x.device());
    let nodes = rec.at(x.values_ref().nodes(backend))?;
    let key = Digest::of(rec.op, (nodes.iter().map(|n| n.digest()).collect::<Vec<_>>(), arguments));
    let made = made_once(key, || {
        let mut read = rec.read_parts(nodes.iter().cloned().map(Part::whole).collect())?.into_iter();
        let mut next = || read.next().unwrap_or_default();
        let mut assembly = Assembly::new(rec);
        let flat = match x.values_ref() {
            Values::Numbers(n) => HostFlat::Numbers(assembly.numbers(n.dtype(), &next())?),
            Values::Strings { .. } => {
                HostFlat::Strings(HostStrings { splits: assembly.splits(&next())?, bytes: assembly.bytes(&next())? })
            }
        };
        backend.count_host_step();
        let memory = StepMemory::new(rec);
        match step(&memory, &flat)? {
            HostFlat::Strings(HostStrings { splits, bytes }) => Values::upload_strings(rec.op, &device, splits, &bytes),
            HostFlat::Numbers(numbers) => numbers.upload(rec.op, &device),
        }
    });
    rec.at(x.holding(rec.at(made)?))
}

/// As [`run`], for a tensor with sizes that only the device knows: uploads the layout too.
fn run_whole(
    rec: Recorder<'_>,
    x: &Tensor,
    arguments: &impl Hash,
    step: impl FnOnce(&StepMemory<'_>, &HostFlat) -> Result<HostFlat>,
) -> Result<Tensor> {
    let key = Digest::of(rec.op, (x.identity(), arguments));
    let made = made_once(key, || {
        let (mut read, memory) = (Assembly::new(rec), StepMemory::new(rec));
        let mut whole = read_whole(rec, x, &mut read)?;
        x.backend().count_host_step();
        let flat = match std::mem::replace(&mut whole.values, HostValues::Bool(Vec::new())) {
            HostValues::Str(strings) => HostFlat::Strings(memory.flat(&strings)?),
            numbers => HostFlat::Numbers(numbers),
        };
        whole.values = match step(&memory, &flat)? {
            HostFlat::Strings(HostStrings { splits, bytes }) => read.strings(&splits, &bytes.into())?,
            HostFlat::Numbers(numbers) => numbers,
        };
        whole.to_device(&x.device())
    });
    rec.at(made)
}

impl Tensor {
    /// Identity of the values and of the layout.
    fn identity(&self) -> Digest {
        let arrays: Vec<Digest> = self.parts_to_read().into_iter().flatten().map(|part| part.node.digest()).collect();
        let rows: Vec<&Rows> = self.partitions().iter().map(|p| p.rows()).collect();
        Digest::of("tensor", (arrays, rows, self.inner().sizes()))
    }
}
