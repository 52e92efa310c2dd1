//! Zero-copy interop with wgpu: tensors over the program's own buffers, and the buffers of tensors.

use super::both::methods_of_both;
use std::sync::Arc;

use super::{RaggedTensor, Tensor, Values};
use crate::backend::gpu::GpuBackend;
use crate::backend::gpu::runtime::Buffer;
use crate::device::Device;
use crate::dtype::DType;
use crate::element::{Element, Number};
use crate::error::{Result, here};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::shape::RowPartition;

/// An array of a tensor, as the wgpu buffer on the device that holds it.
///
/// The buffer is not reused while a `DeviceBuffer` of it exists, even if all tensors that use it are dropped. Two rules
/// apply:
/// - Keep the `DeviceBuffer` until the last command that uses the buffer is *submitted*. Later submissions run after
///   that command, so no wait is needed.
/// - Only read the buffer. Tensors are immutable and may share the array: a write would be visible in results that are
///   not computed yet, and not in the others. Nothing enforces this rule.
///
/// The commands that compute the array are already submitted, so commands that the program submits now run after them.
/// The device-side checks that the array depends on are reported by [`Tensor::check`].
///
/// ```no_run
/// use ragged::{DType, Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![], vec![3.0]], &Device::gpu()?)?;
/// let values = x.values_buffer()?;
/// assert_eq!((values.dtype(), values.len(), values.capacity()), (DType::F32, Some(3), 3));
/// assert_eq!((values.offset(), values.size(), values.is_empty()), (0, 12, false));
/// // A binding of the program's own kernel, or the buffer for a copy.
/// let (binding, buffer) = (values.binding(), values.buffer());
/// # let _ = (binding, buffer);
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DeviceBuffer {
    array: Buffer,
    dtype: DType,
    extent: Extent,
}

/// Buffer, place and sizes.
impl DeviceBuffer {
    fn of(rec: Recorder<'_>, node: &Node) -> Result<Self> {
        let array = gpu(rec)?.array(node)?;
        Ok(Self { array, dtype: node.dtype(), extent: node.extent().clone() })
    }

    /// The wgpu buffer. Usage: `STORAGE | COPY_SRC | COPY_DST`, unless the program created it.
    pub fn buffer(&self) -> &wgpu::Buffer {
        self.array.expose()
    }
    /// Byte offset of the array in the buffer.
    pub fn offset(&self) -> u64 {
        0
    }
    /// Bytes of the array at its capacity. The buffer may be larger; its remaining bytes are unspecified.
    pub fn size(&self) -> u64 {
        u64::from(self.capacity()) * self.dtype.size() as u64
    }
    /// Element type. Types of 8 and 16 bits are packed into words, the first element in the low bits. A bool is a byte,
    /// 0 or not; f16 and bf16 are stored as their bits.
    pub fn dtype(&self) -> DType {
        self.dtype
    }
    /// Number of elements, if the host knows it. Otherwise the array has room for [`DeviceBuffer::capacity`] elements,
    /// and the last entry of the splits above is the number of elements.
    pub fn len(&self) -> Option<u32> {
        self.extent.host_value()
    }
    /// Whether the array is known on the host to have no elements.
    pub fn is_empty(&self) -> bool {
        self.capacity() == 0
    }
    /// Upper bound of the number of elements. Entries beyond the actual elements are unspecified; in splits they repeat
    /// the last split.
    pub fn capacity(&self) -> u32 {
        self.extent.capacity()
    }

    /// The array as a binding of whole words; at least one word, even without elements.
    pub fn binding(&self) -> wgpu::BindingResource<'_> {
        let size = wgpu::BufferSize::new(self.size().next_multiple_of(4).max(4));
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: self.buffer(), offset: self.offset(), size })
    }
}

/// The GPU backend of a device.
fn gpu<'a>(rec: Recorder<'a>) -> Result<&'a GpuBackend> {
    let gpu = rec.backend.as_any().downcast_ref();
    gpu.ok_or_else(|| rec.argument("the CPU backend has no wgpu buffers; use a GPU device"))
}

/// Buffers shared with wgpu.
impl Tensor {
    /// Wraps the first values of a wgpu buffer as a dense tensor of the given shape, row-major, without a copy. To make
    /// it ragged, pass the tensor to a factory such as [`Tensor::from_row_splits`]. Row splits come from the host or
    /// from an i32, u32 or i64 tensor, which may wrap a buffer too.
    ///
    /// Row splits on the device are validated by device-side checks that a read reports. They are also copied into the
    /// tensor's own splits (4 bytes per row), so that invalid ones cannot cause accesses out of bounds. Their buffer is
    /// read when the tensor is computed.
    ///
    /// # Requirements on the program
    /// - The buffer belongs to the wgpu device of [`Device::as_wgpu`]. wgpu reports a buffer of another device of the
    ///   same instance as an error; a buffer of another instance is not always detected.
    /// - The buffer has usage `STORAGE`, and `COPY_SRC` if this tensor itself is read rather than results computed from
    ///   it. Its size is a multiple of 4; values that fill a multiple of 16 bytes can be loaded four at a time.
    /// - Commands that fill the buffer are submitted before the tensor is first computed.
    /// - Nothing writes to, maps or destroys the buffer while the tensor, or anything still to be computed from it,
    ///   exists. Computed results ([`Tensor::eval`]) no longer need the buffer once their work is submitted: later
    ///   submissions of the program run after it.
    ///
    /// The buffer is kept alive as long as the tensor, its clones and recorded operations on it, at most until the
    /// submission after that. It never enters this crate's pool and does not count towards the memory budget.
    ///
    /// # Errors
    /// The CPU backend; strings (make them of a u8 tensor), or a dtype that the device lacks; more values than the
    /// buffer holds, or than a buffer of this device may hold; a usage or size that cannot be bound; a buffer of
    /// another device.
    ///
    /// # Cost
    /// No pass, no copy, no wait.
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
    /// println!("{}", rows.reduce_sum(1)?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_wgpu_buffer(buffer: &wgpu::Buffer, dtype: DType, shape: &[usize], device: &Device) -> Result<Self> {
        const OP: &str = "from_wgpu_buffer";
        let backend = device.backend();
        let rec = Recorder::new(backend, OP);
        let gpu = gpu(rec)?;
        if dtype == DType::Str {
            return Err(rec.unsupported(dtype, "its bytes are a tensor of u8"));
        }
        let size = |&d: &usize| Ok(rec.known(d as u64)?.capacity());
        let dims: Vec<u32> = shape.iter().map(size).collect::<Result<_>>().map_err(here())?;
        let count = dims.iter().try_fold(Extent::known(1), |n, &d| rec.times(&n, d)).map_err(here())?.capacity();
        let bytes = u64::from(count) * dtype.size() as u64;
        let values = Values::Numbers(match count {
            // An empty buffer cannot be bound.
            0 => rec.uploaded(dtype, &[])?,
            _ => Node::borrowed_source(
                backend,
                dtype,
                count,
                Arc::new(gpu.runtime().adopt(OP, buffer, bytes).map_err(here())?),
            ),
        });
        let outer = dims.first().map(|&d| Extent::known(d));
        Self::new(backend, Vec::new(), outer, dims.into_iter().skip(1).collect::<Vec<u32>>(), values)
    }
}

/// Buffers shared with wgpu.
impl<T: Element + Number> RaggedTensor<T> {
    /// A dense tensor whose values are those of a buffer of the program's own wgpu device, without a copy.
    ///
    /// The shape is given, row-major; the dtype is the type's. The buffer has usage `STORAGE`, and `COPY_SRC` if this
    /// tensor itself is read. Commands that fill it are submitted before the tensor is first computed, and nothing
    /// writes to, maps or destroys it while the tensor, or anything still to be computed from it, exists.
    /// [`Tensor::from_wgpu_buffer`] says more of these rules.
    ///
    /// # Errors
    /// The CPU backend; a dtype that the device lacks; more values than the buffer holds, or than a buffer of this
    /// device may hold; a usage or size that cannot be bound; a buffer of another device.
    ///
    /// # Cost
    /// No pass, no copy, no wait.
    ///
    /// ```no_run
    /// use ragged::{Device, RaggedTensor, wgpu};
    /// let device = Device::gpu()?;
    /// let (gpu, _queue) = device.as_wgpu().expect("a GPU");
    /// let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
    /// let descriptor = wgpu::BufferDescriptor { label: None, size: 5 * 4, usage, mapped_at_creation: false };
    /// let buffer = gpu.create_buffer(&descriptor);
    /// // ... a kernel of the program's own fills it ...
    /// let values = RaggedTensor::<f32>::from_wgpu_buffer(&buffer, &[5], &device)?;
    /// println!("{}", values.reduce_sum(..)?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_wgpu_buffer(buffer: &wgpu::Buffer, shape: &[usize], device: &Device) -> Result<Self> {
        Tensor::from_wgpu_buffer(buffer, T::DTYPE, shape, device)?.try_into()
    }
}

/// Buffers shared with wgpu.
impl RowPartition {
    /// The wgpu buffer that holds the row splits, `nrows + 1` entries of u32. Computes them if they are pending or if
    /// the rows are uniform. See [`DeviceBuffer`] for the rules of use, and [`Tensor::values_buffer`] for an example.
    ///
    /// # Errors
    /// The CPU backend; another device than the partition's; a request that the device rejects.
    ///
    /// ```no_run
    /// use ragged::{Device, RowPartition};
    /// let device = Device::gpu()?;
    /// let rows = RowPartition::from_row_lengths(&[2, 0, 1], &device)?;
    /// assert_eq!(rows.splits_buffer(&device)?.len(), Some(4));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn splits_buffer(&self, device: &Device) -> Result<DeviceBuffer> {
        let backend = device.backend();
        let rec = Recorder::new(backend, "RowPartition::splits_buffer");
        self.check_device(backend)?;
        DeviceBuffer::of(rec, &self.splits_node(backend)?)
    }
}

methods_of_both! {
    /// Buffers shared with wgpu.
    impl;

    /// The wgpu buffer that holds the flat values, row-major. Submits pending work, without a wait or a copy. See
    /// [`DeviceBuffer`] for the rules of use.
    ///
    /// # Errors
    /// The CPU backend; strings; a request that the device rejects.
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
    #[track_caller]
    pub fn values_buffer(&self) -> Result<DeviceBuffer> {
        let rec = self.recorder("values_buffer");
        DeviceBuffer::of(rec, rec.numbers(self)?)
    }
}
