//! Reads: transfer of tensors from their device to host memory, blocking or as a future.
//!
//! Each read is one async function with a wait mode. In blocking mode it waits inside its first poll, in the calling
//! thread, and is ready at once; the blocking methods use this mode. In polled mode it is woken once the device has
//! finished.

use super::both::{futures_of_both, methods_of_both};
use std::future::Future;

use super::assembly::Assembly;
use super::{HostTensor, Nested, Tensor, Values};
use crate::device::Device;
use crate::error::{Error, Result, here};
use crate::graph::backend::{BackendRef, Elements, Part, ReadBytes, Wait};
use crate::graph::extent::{Count, Extent};
use crate::graph::node::Rows;
use crate::graph::recorder::Recorder;
use crate::graph::run::diagnosis;
use crate::graph::size::RecordedSize;
use crate::shape::RowPartition;

/// The arrays of a read, in request order; none for a part that the host already knew.
pub(super) type Arrays<'a> = &'a mut dyn Iterator<Item = Option<ReadBytes>>;

pub(super) fn next_array(arrays: Arrays<'_>) -> ReadBytes {
    arrays.next().flatten().expect("bug: a read gives what was asked for")
}

/// The first of the u32 numbers that a read gives.
pub(super) fn first_word(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().copied().map(u32::from_ne_bytes)
}

/// The part to read for a size; none where the host knows it.
fn size_part(size: &Extent, backend: &BackendRef) -> Option<Part> {
    match size.count(backend) {
        Count::Known(_) => None,
        Count::At(node, at, _) => Some(Part::at(node, at)),
    }
}

/// Decodes the size whose [`size_part`] is the next array.
pub(super) fn size_of(size: &Extent, read: Arrays<'_>) -> u32 {
    let Some(n) = read.next().flatten().and_then(|bytes| first_word(&bytes)) else { return size.capacity() };
    let n = n.min(size.capacity());
    // The run that computed the array may not have needed the count.
    size.set_exact(n);
    n
}

/// The part to read for the splits of a partition; none where the host knows them.
fn splits_part(p: &RowPartition, backend: &BackendRef) -> Option<Part> {
    if p.host_splits().is_some() {
        return None;
    }
    p.live_splits(backend).map(Part::whole).or_else(|| size_part(p.nrows_extent(), backend))
}

/// Decodes the splits whose [`splits_part`] is the next array.
#[track_caller]
fn splits_of(p: &RowPartition, read: Arrays<'_>, assembly: &mut Assembly<'_>) -> Result<Vec<u32>> {
    match (p.host_splits(), p.rows()) {
        (Some(splits), _) => {
            read.next();
            assembly.host_splits(splits.iter().copied())
        }
        (None, Rows::Splits(_)) => assembly.splits(&next_array(read)),
        // The product fits in u32, because the partition has as many values.
        (None, Rows::Uniform(len)) => {
            let rows = size_of(p.nrows_extent(), read);
            assembly.host_splits((0..rows as usize + 1).map(|row| row as u32 * len.capacity()))
        }
    }
}

/// Reads the requested parts and yields none for the others.
pub(super) async fn read_parts(
    backend: &BackendRef,
    parts: Vec<Option<Part>>,
    wait: Wait,
) -> Result<impl Iterator<Item = Option<ReadBytes>>> {
    let asked: Vec<bool> = parts.iter().map(Option::is_some).collect();
    let parts: Vec<Part> = parts.into_iter().flatten().collect();
    let mut read = diagnosis::read_parts(backend, parts, wait).await?.into_iter();
    Ok(asked.into_iter().map(move |asked| if asked { read.next() } else { None }))
}

/// Counts the bytes of a result whose sizes the host knows, so that a result that is too large is an error before
/// anything is computed.
pub(super) fn known_bytes<'a>(rec: Recorder<'a>, parts: &[Option<Part>]) -> Result<Assembly<'a>> {
    let bytes = |part: &Part| {
        let extent = part.node.extent();
        match (&part.elements, extent.host_value()) {
            (Elements::All, Some(_)) => {
                let n = extent.size().unsaturated();
                rec.at(Extent::known_u64(part.node.op(), n))?;
                Ok(n * part.node.dtype().size() as u64)
            }
            _ => Ok(0),
        }
    };
    let mut assembly = Assembly::new(rec);
    rec.at(assembly.reserve(parts.iter().flatten().map(bytes).sum::<Result<u64>>()?))?;
    Ok(assembly)
}

/// Copies on other devices.
impl Tensor {
    async fn read(&self, wait: Wait) -> Result<HostTensor> {
        let backend = self.backend();
        let rec = Recorder::new(backend, "a read");
        let parts = self.parts_to_read();
        let known = known_bytes(rec, &parts)?;
        let mut read = read_parts(backend, parts, wait).await?;
        drop(known);
        self.of_bytes(&mut read, &mut Assembly::new(rec))
    }

    /// The parts to read for the tensor, in order; none where the host already knows the contents.
    pub(crate) fn parts_to_read(&self) -> Vec<Option<Part>> {
        let backend = self.backend();
        let mut parts: Vec<Option<Part>> = self.partitions().iter().map(|p| splits_part(p, backend)).collect();
        // The size is read separately: with an inner dimension of 0 there are no values to count.
        parts.extend(self.outer().map(|outer| size_part(outer, backend)));
        match self.values_ref() {
            Values::Numbers(numbers) => parts.push(Some(Part::whole(numbers.clone()))),
            Values::Strings { strings, bytes } => {
                parts.push(splits_part(strings, backend));
                parts.push(Some(Part::whole(bytes.clone())));
            }
        }
        parts
    }

    /// Decodes the tensor whose [`parts_to_read`](Self::parts_to_read) are the next arrays.
    ///
    /// # Errors
    /// The host lacks the memory for the result; arrays of another layout, which only a program from a file can
    /// compute.
    #[track_caller]
    pub(crate) fn of_bytes(&self, read: Arrays<'_>, assembly: &mut Assembly<'_>) -> Result<HostTensor> {
        let splits = self.partitions().iter().map(|p| splits_of(p, read, assembly));
        let nested_row_splits = splits.collect::<Result<_>>()?;
        let outer = self.outer().map(|outer| size_of(outer, read) as usize);
        let inner_shape = outer.into_iter().chain(self.inner().iter().map(|&d| d as usize)).collect();
        let values = match self.values_ref() {
            Values::Numbers(n) => assembly.numbers(n.dtype(), &next_array(read))?,
            Values::Strings { strings: partition, .. } => {
                let splits = splits_of(partition, read, assembly)?;
                assembly.strings(&splits, &next_array(read))?
            }
        };
        let uniform_row_lengths = self.partitions().iter().map(RowPartition::uniform_length).collect();
        let host = HostTensor { nested_row_splits, uniform_row_lengths, inner_shape, values };
        host.check_layout().map_err(|what| Error::partition("a read", what)).map_err(here())?;
        Ok(host)
    }

    /// Reads the results of the device-side checks only, and no elements.
    async fn settle(&self, wait: Wait) -> Result<()> {
        let parts = self.nodes()?.into_iter().map(|node| Part::of(node, 0..0)).collect();
        diagnosis::read_parts(self.backend(), parts, wait).await.map(drop)
    }

    /// Copies the tensor to another device, through host memory.
    ///
    /// A tensor that is on that device already is returned unchanged. Otherwise the call reads the whole tensor, and
    /// waits. Shape, partitions and dtype stay; every value keeps its bits.
    ///
    /// # Errors
    /// The first failed device-side check; a lost device; more memory than is available, or than either device can
    /// hold; a dtype that the other device lacks.
    ///
    /// # Cost
    /// One read of the whole tensor with one wait, and an upload; nothing on the same device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?.into_erased();
    /// let there = x.to_device(&Device::best()?)?;
    /// assert_eq!(there.to_string(), "<ragged.RaggedTensor [[1, 2], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_device(&self, device: &Device) -> Result<Self> {
        if device == &self.device() {
            return Ok(self.clone());
        }
        self.check_constant()?;
        self.to_host()?.to_device(device)
    }

    /// Copies the tensor to another device, through host memory, without blocking on the source device.
    ///
    /// The future may be awaited in any executor, moved between threads, or dropped, which cancels only the read; see
    /// [`Tensor::to_host_async`].
    ///
    /// # Errors
    /// The first failed device-side check; a lost device; more memory than is available, or than either device can
    /// hold; a dtype that the other device lacks.
    ///
    /// # Cost
    /// One read of the whole tensor, and an upload; nothing on the same device. The future is ready once the read is.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let there = pollster::block_on(x.to_device_async(&Device::best()?))?;
    /// assert_eq!(there.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_device_async(&self, device: &Device) -> impl Future<Output = Result<Self>> + Send + use<> {
        let (tensor, device, here) = (self.clone(), device.clone(), here());
        async move {
            if device == tensor.device() {
                return Ok(tensor);
            }
            let read = async {
                tensor.check_constant()?;
                tensor.read(Wait::Polled).await?.to_device(&device)
            };
            read.await.map_err(here)
        }
    }
}

impl Tensor {
    /// # Errors
    /// Derivatives are taken of the values, which a copy to another device does not carry.
    #[track_caller]
    pub(crate) fn check_constant(&self) -> Result<()> {
        match self.values_ref() {
            Values::Numbers(numbers) if numbers.is_differentiable() => {
                let hint = "a copy to another device has no gradient; copy the tensor before the function";
                Err(Error::unsupported("to_device", self.dtype(), hint))
            }
            _ => Ok(()),
        }
    }
}

methods_of_both! {
    /// Reads.
    impl;

    /// Reads the whole tensor: evaluates pending work in one submission, and waits once. Sizes that only the device
    /// knows and whose upper bounds would take much memory are read first, with one extra submission and wait for all
    /// sizes that are ready: see [`Tuning::stage_bytes`](crate::Tuning::stage_bytes) and
    /// [`Tuning::read_at_capacity`](crate::Tuning::read_at_capacity).
    ///
    /// Holds one copy: the result, besides the array. Its bytes are counted before they are written, and before
    /// anything is computed if the host knows the sizes.
    ///
    /// # Errors
    /// The first failed device-side check; a lost device; more memory than is available, or than the device's budget
    /// ([`CpuOptions::max_memory`](crate::CpuOptions::max_memory)).
    ///
    /// ```
    /// use ragged::{Device, HostValues, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let host = x.multiply(2)?.to_host()?;
    /// assert_eq!((host.nested_row_splits, host.values), (vec![vec![0, 2, 2, 3]], HostValues::I32(vec![2, 4, 6])));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_host(&self) -> Result<HostTensor> {
        pollster::block_on(self.read(Wait::Blocking)).map_err(here())
    }

    /// Runs the device-side checks that the tensor depends on (indices in range, rows that broadcast, splits that do
    /// not decrease) and reads none of its elements. Evaluates pending work; waits once, if there are any checks.
    ///
    /// # Errors
    /// The first failed device-side check; a lost device.
    ///
    /// ```
    /// use ragged::{Device, Error, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested(vec![6, 5, 4], &device)?;
    /// let quotient = x.truncatediv(&RaggedTensor::from_nested(vec![3, 0, 1], &device)?)?;
    /// assert!(matches!(quotient.check(), Err(Error::Check { at: 1, .. })));
    /// x.check()
    /// # ;Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn check(&self) -> Result<()> {
        pollster::block_on(self.settle(Wait::Blocking)).map_err(here())
    }
}

futures_of_both! {
    /// Reads.
    impl;

    /// Reads the whole tensor without blocking: the future is pending until the device has finished.
    ///
    /// The future may be awaited in any executor, moved between threads, or dropped, which cancels only the read. It
    /// keeps its tensor alive. Computation starts at its first poll; [`Tensor::eval`] starts the device at once. On a
    /// GPU, one thread per device, shared by all reads, waits for the device and wakes the futures; the CPU backend
    /// computes in the first poll.
    ///
    /// # Errors
    /// The first failed device-side check; a lost device; more memory than is available, or than the device's budget.
    ///
    /// ```
    /// use ragged::{Device, HostValues, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let (sums, longest) = (x.reduce_sum(1)?, x.row_lengths(1)?.reduce_max(..)?);
    /// let read = async { Ok::<_, ragged::Error>((sums.to_host_async().await?, longest.to_host_async().await?)) };
    /// // Any executor will do.
    /// let (sums, longest) = pollster::block_on(read)?;
    /// assert_eq!((sums.values, longest.values), (HostValues::I32(vec![3, 0, 3]), HostValues::I64(vec![2])));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_host_async(&self) -> Result<HostTensor> {
        let (tensor, here) = (self.clone(), here());
        async move { tensor.read(Wait::Polled).await.map_err(here) }
    }

    /// Runs the device-side checks that the tensor depends on, without blocking, and reads none of its elements.
    ///
    /// The future may be awaited in any executor, moved between threads, or dropped, which cancels only the read; see
    /// [`Tensor::to_host_async`].
    ///
    /// # Errors
    /// The first failed device-side check; a lost device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// pollster::block_on(x.multiply(2)?.check_async())?;
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn check_async(&self) -> Result<()> {
        let (tensor, here) = (self.clone(), here());
        async move { tensor.settle(Wait::Polled).await.map_err(here) }
    }

    /// Reads the tensor as nested lists, without blocking.
    ///
    /// The future may be awaited in any executor, moved between threads, or dropped, which cancels only the read; see
    /// [`Tensor::to_host_async`].
    ///
    /// # Errors
    /// The first failed device-side check; a lost device; more memory than is available, or than the device's budget.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(pollster::block_on(x.to_nested_async())?.to_string(), "[[1, 2], [], [3]]");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_nested_async(&self) -> Result<Nested> {
        let (tensor, read, here) = (self.clone(), self.to_host_async(), here());
        async move { tensor.nested_from(&read.await?).map_err(here) }
    }
}
