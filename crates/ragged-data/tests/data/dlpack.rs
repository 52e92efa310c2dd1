//! DLPack: shared memory, released once.

use ragged::{DType, Device, HostTensor, HostValues, RaggedTensor, Result};
use ragged_data::dlpack::dlpark::ffi::{DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned};
use ragged_data::dlpack::dlpark::metadata::Dynamic;
use ragged_data::dlpack::{from_dlpack, to_dlpack};

use crate::allocations::peak_of;
use crate::devices::{devices, fails, own_cpu};

#[test]
fn every_dtype_is_shared() -> Result<()> {
    for device in devices() {
        for dtype in DType::ALL.into_iter().filter(|dtype| *dtype != DType::Str) {
            let ints = HostTensor::dense(&[2, 3], HostValues::I32(vec![0, 1, 1, 0, 1, 0])).to_device(&Device::cpu())?;
            let Ok(x) = ints.cast(dtype)?.to_device(&device) else { continue };
            // SAFETY: the memory of a tensor never changes.
            let back = unsafe { from_dlpack(to_dlpack(&x)?, &device)? };
            assert_eq!(back.to_host()?, x.to_host()?, "{device:?} {dtype}");
        }
        let empty = RaggedTensor::<f32>::dense(vec![], &[0, 3], &device)?;
        // SAFETY: as above.
        assert_eq!(unsafe { from_dlpack(to_dlpack(&empty)?, &device)? }.shape(), [Some(0), Some(3)]);
    }
    Ok(())
}

#[test]
fn memory_is_shared_and_released_once() -> Result<()> {
    let n = 1 << 20;
    let device = own_cpu();
    let x = RaggedTensor::dense(vec![1.0f32; n], &[n], &device)?;
    let address = x.to_shared()?.values.as_ptr();
    let held = device.stats().buffer_bytes;
    // SAFETY: the memory of a tensor never changes.
    let (y, peak) = peak_of(|| unsafe { from_dlpack(to_dlpack(&x)?, &device) });
    let y = y?;
    assert!(peak < 16 << 10, "{peak} bytes");
    assert_eq!((y.to_shared()?.values.as_ptr(), device.stats().buffer_bytes), (address, held));
    drop(x);
    assert_eq!(device.stats().buffer_bytes, held, "the memory of the first tensor is that of the second");
    assert_eq!(y.reduce_sum(..)?.to_string(), "tensor(1048576.0, shape=(), dtype=f32)");
    drop(y);
    assert!(device.stats().buffer_bytes < held);
    Ok(())
}

#[test]
fn foreign_memory_is_adopted_and_misfits_are_errors() -> Result<()> {
    let device = Device::cpu();
    // Of the ABI before versions.
    let mut values = vec![1i32, 2, 3, 4, 5, 6];
    let data = values.as_mut_ptr();
    let legacy = |shape: Vec<i64>, values: Vec<i32>| {
        let mut tensor = Dynamic::compact(shape).initialize_as::<DLManagedTensor>(Box::new(values)).expect("a shape");
        tensor
            .set_data(data.cast())
            .set_dtype(DLDataType::scalar(DLDataType::of::<i32>().code, 32))
            .set_device(DLDevice::CPU);
        // SAFETY: the vector is the context, and has as many numbers.
        unsafe { tensor.finish() }
    };
    // SAFETY: as above.
    let x = unsafe { from_dlpack(legacy(vec![2, 3], values), &device)? };
    assert_eq!(x.to_string(), "tensor([[1, 2, 3], [4, 5, 6]], shape=(2, 3), dtype=i32)");
    assert_eq!(x.to_shared()?.values.as_ptr(), data.cast());
    let described = |shape: Vec<i64>, strides: Vec<i64>, of: DLDataType, on: DLDevice| {
        let mut numbers = Box::new([0u64; 8]);
        let data = numbers.as_mut_ptr();
        let tensor = Dynamic::new(shape, strides).initialize_as::<DLManagedTensorVersioned>(numbers);
        let mut tensor = tensor.expect("a shape");
        tensor.set_data(data.cast()).set_dtype(of).set_device(on);
        // SAFETY: 64 bytes are enough for all that is described here.
        unsafe { tensor.finish() }
    };
    let f32 = DLDataType::of::<f32>();
    let strided = described(vec![2, 2], vec![1, 2], f32, DLDevice::CPU);
    // SAFETY: as above.
    fails(
        unsafe { from_dlpack(strided, &device) },
        "from_dlpack: the strides Some([1, 2]) are not those of a row-major",
    );
    let vectors = described(vec![2], vec![1], DLDataType { lanes: 4, ..f32 }, DLDevice::CPU);
    // SAFETY: as above.
    fails(unsafe { from_dlpack(vectors, &device) }, "from_dlpack: no dtype holds DLPack's ");
    let mut cuda = DLDevice::CPU;
    cuda.device_type.0 = 2;
    let elsewhere = described(vec![2], vec![1], f32, cuda);
    // SAFETY: as above.
    fails(unsafe { from_dlpack(elsewhere, &device) }, "from_dlpack: the memory is on the device ");
    let words = RaggedTensor::from_nested(["a"], &device)?;
    fails(to_dlpack(&words), "to_dlpack: DLPack has no strings");
    Ok(())
}
