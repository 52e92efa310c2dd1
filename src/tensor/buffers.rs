//! Tensors in the user's own wgpu buffers, and the wgpu buffers of tensors; neither way copies values.

use std::sync::Arc;

use super::{RaggedTensor, Tensor, Values};
use crate::backend::gpu::GpuBackend;
use crate::backend::gpu::runtime::Buffer;
use crate::device::Device;
use crate::dtype::DType;
use crate::element::{Element, Number};
use crate::error::{Error, Result};
use crate::graph::backend::BackendRef;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::shape::RowPartition;

/// An array of a tensor, in the wgpu buffer on the device that holds it.
///
/// The buffer stays as it is while a `DeviceBuffer` of it exists: dropped by all tensors, it is still not used for
/// anything else. Two rules go with it:
/// - Keep the `DeviceBuffer` until the last command that uses the buffer is *submitted*. What is submitted after that
///   runs after it, so nothing has to be waited for.
/// - Only read it. Tensors are immutable, and others may share the array: they would read what was written, or not,
///   depending on what has been computed of them by then. Nothing enforces it.
///
/// What the array holds is computed by commands that are submitted already: commands of the program's own that are
/// submitted now run after them. That the conditions hold which it depends on is for [`Tensor::check`] to say.
#[derive(Debug, Clone)]
pub struct DeviceBuffer {
    array: Buffer,
    dtype: DType,
    extent: Extent,
}

impl DeviceBuffer {
    fn of(op: &'static str, backend: &BackendRef, node: &Node) -> Result<Self> {
        let array = gpu(op, backend)?.array(node)?;
        Ok(Self { array, dtype: node.dtype(), extent: node.extent().clone() })
    }

    /// The wgpu buffer: usage `STORAGE | COPY_SRC | COPY_DST`, unless the program made it.
    pub fn buffer(&self) -> &wgpu::Buffer {
        self.array.as_wgpu()
    }
    /// The byte of the buffer at which the array starts.
    pub fn offset(&self) -> u64 {
        0
    }
    /// Bytes of the array at its capacity. The buffer may be larger; what lies behind is unspecified.
    pub fn size(&self) -> u64 {
        u64::from(self.capacity()) * self.dtype.size() as u64
    }
    /// The type of an element. Types of 8 and 16 bits are packed in words, the first in the low bits; a bool is a byte,
    /// 0 or not; f16 and bf16 are their bits.
    pub fn dtype(&self) -> DType {
        self.dtype
    }
    /// How many elements, if the host knows; else the array has room for [`DeviceBuffer::capacity`], and as many
    /// elements as the last of the splits above them says.
    pub fn len(&self) -> Option<u32> {
        self.extent.as_known()
    }
    /// Whether the host knows that there are no elements.
    pub fn is_empty(&self) -> bool {
        self.capacity() == 0
    }
    /// The most elements there can be. Beyond those there are, values are unspecified, and splits repeat the last.
    pub fn capacity(&self) -> u32 {
        self.extent.capacity()
    }

    /// The array as a binding of whole words: at least one, though there be no elements.
    pub fn binding(&self) -> wgpu::BindingResource<'_> {
        let size = wgpu::BufferSize::new(self.size().next_multiple_of(4).max(4));
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: self.buffer(), offset: self.offset(), size })
    }
}

/// The GPU behind a device.
fn gpu<'a>(op: &'static str, backend: &'a BackendRef) -> Result<&'a GpuBackend> {
    let gpu = backend.as_any().downcast_ref();
    gpu.ok_or_else(|| Error::argument(op, "the CPU backend has no wgpu buffers; use a GPU device"))
}

impl Tensor {
    /// The dense tensor of that shape, row-major, whose values are the first ones of a wgpu buffer of the program's
    /// own. The buffer is not copied; to make it ragged, hand the tensor to a factory such as
    /// [`Tensor::from_row_splits`], with row splits from the host, or in an i32, u32 or i64 tensor that may be made of
    /// a buffer too.
    ///
    /// Row splits on the device are checked there, by conditions that a read looks at, and brought into the tensor's
    /// own splits (4 bytes a row), so that bad ones cannot lead anywhere: their buffer is read when the tensor is
    /// computed.
    ///
    /// # What the program keeps to
    /// - The buffer belongs to the wgpu device of [`Device::as_wgpu`]. wgpu can tell another device of the same
    ///   instance, which is an error; of another instance it cannot always.
    /// - Usage `STORAGE`; `COPY_SRC` too if this tensor itself is read, rather than what is computed of it. The size is
    ///   a multiple of 4; values of a multiple of 16 bytes can be loaded four at a time.
    /// - What fills the buffer is submitted before the tensor is first computed.
    /// - Nothing writes to the buffer, maps or destroys it while the tensor, or anything that is still to be computed
    ///   of it, exists. Results that were computed ([`Tensor::eval`]) need it no more once that work is submitted: what
    ///   the program submits then runs after it.
    ///
    /// The buffer is held as long as the tensor, its clones, and what is recorded of it, at most until the submission
    /// after that. It never enters this crate's pool, and does not count towards its budget.
    ///
    /// # Errors
    /// The CPU backend; strings (make them of a u8 tensor), or a dtype that the device lacks; more values than the
    /// buffer holds, or than a buffer of this device may; a usage or size that cannot be bound; a buffer of another
    /// device.
    ///
    /// ```no_run
    /// use ragged::{DType, Device, Tensor, wgpu};
    /// let device = Device::gpu()?;
    /// let (gpu, _queue) = device.as_wgpu().expect("a GPU");
    /// let buffer = gpu.create_buffer(&wgpu::BufferDescriptor {
    ///     label: None,
    ///     size: 5 * 4,
    ///     usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
    ///     mapped_at_creation: false,
    /// });
    /// // ... a kernel of the program's own fills it ...
    /// let values = Tensor::from_wgpu_buffer(&buffer, DType::F32, &[5], &device)?;
    /// let rows = Tensor::from_row_splits(&values, &[0, 3, 3, 5])?;
    /// println!("{}", rows.reduce_sum(1, false)?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn from_wgpu_buffer(buffer: &wgpu::Buffer, dtype: DType, shape: &[usize], device: &Device) -> Result<Self> {
        const OP: &str = "from_wgpu_buffer";
        let backend = device.backend();
        let gpu = gpu(OP, backend)?;
        if dtype == DType::Str {
            return Err(Error::unsupported(OP, dtype, "its bytes are a tensor of u8"));
        }
        let size = |&d: &usize| Ok(Extent::known_u64(OP, d as u64)?.capacity());
        let dims: Vec<u32> = shape.iter().map(size).collect::<Result<_>>()?;
        let count = dims.iter().try_fold(Extent::known(1), |n, &d| n.times(OP, d.into()))?.capacity();
        let bytes = u64::from(count) * dtype.size() as u64;
        let values = Values::Numbers(match count {
            // Nothing can be bound of an empty buffer.
            0 => Node::source(backend, dtype, 0, backend.upload(dtype, &[])?),
            _ => Node::source_lent(backend, dtype, count, Arc::new(gpu.runtime().adopt(OP, buffer, bytes)?)),
        });
        let outer = dims.first().map(|&d| Extent::known(d));
        Self::new(backend, Vec::new(), outer, dims.into_iter().skip(1).collect(), values)
    }

    /// The flat values in the wgpu buffer that holds them, row-major; computed now if they are pending, without a wait
    /// or a copy. See [`DeviceBuffer`] for what goes with it.
    ///
    /// # Errors
    /// The CPU backend; strings; as [`Tensor::eval`].
    ///
    /// ```no_run
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1f32, 2.0], vec![], vec![3.0]], &Device::gpu()?)?;
    /// let doubled = (&x * 2.0)?;
    /// let (values, splits) = (doubled.values_buffer()?, doubled.partitions()[0].splits_buffer(&doubled.device())?);
    /// // ... `values.binding()` and `splits.binding()` go into a bind group of the program's own ...
    /// assert_eq!((values.len(), splits.len()), (Some(3), Some(4)));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn values_buffer(&self) -> Result<DeviceBuffer> {
        const OP: &str = "values_buffer";
        DeviceBuffer::of(OP, self.backend(), self.numbers(OP)?)
    }
}

impl<T: Element + Number> RaggedTensor<T> {
    /// As [`Tensor::from_wgpu_buffer`].
    ///
    /// # Errors
    /// As [`Tensor::from_wgpu_buffer`].
    pub fn from_wgpu_buffer(buffer: &wgpu::Buffer, shape: &[usize], device: &Device) -> Result<Self> {
        Tensor::from_wgpu_buffer(buffer, T::DTYPE, shape, device)?.try_into()
    }
}

impl RowPartition {
    /// The row splits, `nrows + 1` entries of u32, in the wgpu buffer that holds them; computed now if they are pending
    /// or if the rows are uniform. See [`DeviceBuffer`] for what goes with it, and [`Tensor::values_buffer`] for an
    /// example.
    ///
    /// # Errors
    /// The CPU backend; another device than the partition's; as [`Tensor::eval`].
    pub fn splits_buffer(&self, device: &Device) -> Result<DeviceBuffer> {
        let backend = device.backend();
        self.check_device(backend)?;
        DeviceBuffer::of("splits_buffer", backend, &self.splits_node(backend)?)
    }
}
