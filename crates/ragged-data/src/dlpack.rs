//! DLPack: dense tensors in CPU memory, shared with other libraries without a copy.
//!
//! ```
//! use ragged::{Device, RaggedTensor};
//! use ragged_data::dlpack::{from_dlpack, to_dlpack};
//! let x = RaggedTensor::from_nested([[1.0f32, 2.0], [3.0, 4.0]], &Device::cpu())?;
//! let shared = to_dlpack(&x)?;
//! // SAFETY: the memory is that of a tensor, which never changes.
//! let y = unsafe { from_dlpack(shared, &Device::cpu())? };
//! assert_eq!(y.to_string(), x.to_string());
//! # Ok::<(), ragged::Error>(())
//! ```

use dlpark::ffi::{DLDataType, DLDataTypeCode, DLDevice};
use dlpark::metadata::Dynamic;
use dlpark::{DlpackFlags, Managed, ManagedTensorBase, versioned};
use ragged::operation::named;
use ragged::{DType, Device, Result, Tensor};

use crate::fault::argument;

/// The version of dlpark whose tensors are exchanged.
pub use dlpark;

/// The type of a dtype.
fn type_of(dtype: DType) -> Option<DLDataType> {
    let code = match dtype {
        DType::Bool => DLDataTypeCode::BOOL,
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => DLDataTypeCode::INT,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => DLDataTypeCode::UINT,
        DType::F16 | DType::F32 | DType::F64 => DLDataTypeCode::FLOAT,
        DType::BF16 => DLDataTypeCode::BFLOAT,
        _ => return None,
    };
    Some(DLDataType::scalar(code, 8 * dtype.size() as u8))
}

/// A dense tensor as a DLPack tensor in CPU memory, read-only.
///
/// On the CPU the memory is that of the tensor, which is kept until the consumer calls the deleter. A tensor of a GPU is read.
/// The flat values and the row splits of a ragged tensor are dense tensors
/// ([`flat_values`](Tensor::flat_values), [`row_splits`](Tensor::row_splits)).
///
/// # Errors
/// Ragged rows; strings; the first failed device-side check.
///
/// # Cost
/// One read, without a copy on the CPU.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// let ragged = RaggedTensor::from_nested([vec![1], vec![]], &Device::cpu())?;
/// let e = ragged_data::dlpack::to_dlpack(&ragged).err().unwrap();
/// assert!(e.to_string().starts_with("to_dlpack: DLPack has dense tensors, but the shape is [2, None]"));
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn to_dlpack(tensor: &impl AsRef<Tensor>) -> Result<versioned::Dlpack> {
    let tensor = tensor.as_ref();
    named("to_dlpack", || {
        if tensor.ragged_rank() > 0 {
            let shape = tensor.shape_text();
            return Err(argument(format!("DLPack has dense tensors, but the shape is {shape}; give the flat values")));
        }
        let strings = || argument("DLPack has no strings; give their bytes, by string_to_bytes");
        let data_type = type_of(tensor.dtype()).ok_or_else(strings)?;
        let shared = tensor.to_shared()?;
        let data = shared.values.as_ptr().cast_mut().cast();
        let shape: Vec<i64> = shared.inner_shape.iter().map(|&d| d as i64).collect();
        let managed = Dynamic::compact(shape).initialize(Box::new(shared.values));
        let mut managed = managed.map_err(|e| argument(e.to_string()))?;
        managed.set_data(data).set_dtype(data_type).set_device(DLDevice::CPU);
        managed.set_flags(DlpackFlags::READ_ONLY).map_err(|e| argument(e.to_string()))?;
        // SAFETY: `data` points to the elements of the compact shape in the type, which the context keeps at their address until
        // the deleter drops it, and which nothing writes to; the flag says so.
        Ok(unsafe { managed.finish() })
    })
}

/// Memory of a DLPack tensor, of which [`from_dlpack`] has checked the descriptor.
struct Foreign<M: ManagedTensorBase>(Managed<M>);

impl<M: ManagedTensorBase> AsRef<[u8]> for Foreign<M> {
    fn as_ref(&self) -> &[u8] {
        let Ok(tensor) = self.0.validate() else { return &[] };
        // SAFETY: the caller of `from_dlpack` guarantees that the memory has the elements of the shape, and that nothing writes
        // to them while this value exists, which outlives the result.
        unsafe { tensor.cpu_bytes() }.unwrap_or_default()
    }
}

/// The tensor of a DLPack tensor in CPU memory, of either form of the ABI.
///
/// On the CPU the memory is adopted, and the deleter is called once, when the tensor and everything that reads it are dropped,
/// in any thread. On a GPU the deleter is called before this call returns.
///
/// # Safety
/// The descriptor says what the memory holds, and nothing writes to the memory until the deleter is called.
///
/// # Errors
/// A descriptor that is invalid; memory of another device; strides that are not those of a compact row-major array; a type that
/// is no dtype; as [`Tensor::from_shared`].
///
/// # Cost
/// As [`Tensor::from_shared`]: no copy of aligned memory on the CPU.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// use ragged_data::dlpack::{from_dlpack, to_dlpack};
/// let x = RaggedTensor::from_nested([true, false], &Device::cpu())?;
/// // SAFETY: the memory is that of a tensor, which never changes.
/// let y = unsafe { from_dlpack(to_dlpack(&x)?, &Device::cpu())? };
/// assert_eq!(y.to_string(), "tensor([True, False], shape=(2,), dtype=bool)");
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub unsafe fn from_dlpack<M: ManagedTensorBase + 'static>(dlpack: Managed<M>, device: &Device) -> Result<Tensor> {
    named("from_dlpack", || {
        let invalid = |e: &dyn std::fmt::Display| argument(format!("the descriptor is invalid: {e}"));
        let tensor = dlpack.validate().map_err(|e| invalid(&e))?;
        let (data_type, on) = (tensor.dtype(), tensor.device());
        let dtype = DType::ALL.into_iter().find(|&dtype| type_of(dtype).is_some_and(|own| own.matches(data_type)));
        let Some(dtype) = dtype else {
            return Err(argument(format!("no dtype holds DLPack's {data_type:?}")));
        };
        if on.device_type != DLDevice::CPU.device_type {
            return Err(argument(format!("the memory is on the device {on:?}; move the tensor to the CPU")));
        }
        if !tensor.is_compact().map_err(|e| invalid(&e))? {
            let what =
                format!("the strides {:?} are not those of a row-major array; make it contiguous", tensor.strides());
            return Err(argument(what));
        }
        let size = |&d: &i64| usize::try_from(d).map_err(|_| argument(format!("a dimension of {d}")));
        let shape: Vec<usize> = tensor.shape().iter().map(size).collect::<Result<_>>()?;
        Tensor::from_shared(std::sync::Arc::new(Foreign(dlpack)), dtype, &shape, device)
    })
}
