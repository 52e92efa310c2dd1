//! Peak memory of the process: a read or an upload holds one copy besides the array.

use ragged::{Device, DeviceOptions, RaggedShape, RaggedTensor, Result};

use crate::child::{is_child, output, status};
use crate::common::gpu_with;

const MIB: u64 = 1 << 20;
/// Elements of an i32 array of 64 MiB.
const LEN: usize = 1 << 24;

/// Growth of the peak over the memory in use before `work`, in bytes. `work` must exceed the peak so far.
fn growth<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, u64)> {
    let before = status("VmRSS");
    let done = work()?;
    Ok((done, status("VmHWM").saturating_sub(before)))
}

fn ones(device: &Device) -> Result<RaggedTensor<i32>> {
    RaggedTensor::fill(&RaggedShape::dense(&[LEN], device)?, 1)
}

#[test]
fn a_read_holds_one_copy() -> Result<()> {
    if !is_child() {
        output("peak::a_read_holds_one_copy", "true");
        return Ok(());
    }
    let x = ones(&Device::cpu())?;
    x.eval()?;
    let (read, bytes) = growth(|| x.to_vec())?;
    assert!(read.iter().all(|&one| one == 1));
    assert!((64 * MIB..72 * MIB).contains(&bytes), "a read of 64 MiB took {bytes} bytes");
    Ok(())
}

#[test]
fn an_upload_holds_one_copy() -> Result<()> {
    if !is_child() {
        output("peak::an_upload_holds_one_copy", "true");
        return Ok(());
    }
    let values = vec![1i32; LEN];
    let (x, bytes) = growth(|| RaggedTensor::dense(&values, &[LEN], &Device::cpu()))?;
    assert!((64 * MIB..72 * MIB).contains(&bytes), "an upload of 64 MiB took {bytes} bytes");
    assert_eq!(x.reduce_sum(0)?.item()?, LEN as i32);
    Ok(())
}

#[test]
fn a_read_from_a_gpu_holds_the_staging_buffer_and_one_copy() -> Result<()> {
    if !is_child() {
        output("peak::a_read_from_a_gpu_holds_the_staging_buffer_and_one_copy", "true");
        return Ok(());
    }
    let Some(device) = gpu_with(&DeviceOptions::default()) else { return Ok(()) };
    let x = ones(&device)?;
    // Compiles the kernels first.
    x.eval()?;
    device.wait()?;
    let (read, bytes) = growth(|| x.to_vec())?;
    assert!(read.iter().all(|&one| one == 1));
    assert!(bytes < 160 * MIB, "a read of 64 MiB took {bytes} bytes");
    Ok(())
}
