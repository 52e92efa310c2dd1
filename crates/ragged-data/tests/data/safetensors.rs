//! safetensors files: round trips, memory, misuse.

use ragged::{Device, RaggedTensor, Result};
use ragged_data::safetensors;

use crate::allocations::peak_of;
use crate::devices::{devices, fails, own_cpu};
use crate::npy::{Temporary, tensors};

#[test]
fn tensors_come_back() -> Result<()> {
    for device in devices() {
        let all = tensors(&device)?;
        let bytes = safetensors::to_bytes(all.iter().map(|(name, x)| (name.as_str(), x)))?;
        let read = safetensors::from_bytes(bytes, &device)?;
        assert_eq!(read.len(), all.len());
        for (name, x) in &all {
            let back = &read[name];
            assert_eq!((back.to_host()?, back.shape()), (x.to_host()?, x.shape()), "{device:?} {name}");
        }
    }
    Ok(())
}

#[test]
fn a_mapped_file_is_not_copied() -> Result<()> {
    let file = Temporary::new("mapped.safetensors");
    let n = 1 << 20;
    let cpu = Device::cpu();
    let splits: Vec<i64> = (0..=n as i64 / 4).map(|row| 4 * row).collect();
    let x = RaggedTensor::from_row_splits(vec![1.0f32; n], &splits, &cpu)?.into_erased();
    safetensors::write(&file.0, [("x", &x)])?;
    let device = own_cpu();
    // SAFETY: no one else has the file.
    let (read, peak) = peak_of(|| unsafe { safetensors::map(&file.0, &device) });
    let read = read?;
    assert!(peak < 32 << 10, "{peak} bytes");
    assert_eq!(device.stats().buffer_bytes, 0);
    assert_eq!(read["x"].reduce_sum(..)?.to_string(), "tensor(1048576.0, shape=(), dtype=f32)");
    assert_eq!(safetensors::read(&file.0, &cpu)?["x"].to_host()?, x.to_host()?);
    Ok(())
}

#[test]
fn misuse_is_an_error() -> Result<()> {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([1, 2], &device)?.into_erased();
    fails(safetensors::to_bytes([("", &x)]), "safetensors::to_bytes: a tensor cannot be named \"\" in a file");
    fails(safetensors::write("no/such/folder/x", [("x", &x)]), "safetensors::write: no/such/folder/x: ");
    fails(
        safetensors::from_bytes(b"12345678".to_vec(), &device),
        "safetensors::from_bytes: this is no safetensors file",
    );
    fails(safetensors::read("no/such/file", &device), "safetensors::read: no/such/file: ");
    let failing = x.floordiv(&x.zeros_like()?)?;
    fails(safetensors::to_bytes([("x", &failing)]), "");
    let mut small = br#"{"x":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}"#.to_vec();
    let mut file = (small.len() as u64).to_le_bytes().to_vec();
    file.append(&mut small);
    file.push(0);
    fails(safetensors::from_bytes(file, &device), "tensor \"x\": no dtype here holds");
    let alone = br#"{"x.row_splits.0":{"dtype":"U32","shape":[1],"data_offsets":[0,4]}}"#;
    let mut file = (alone.len() as u64).to_le_bytes().to_vec();
    file.extend(alone);
    file.extend([0; 4]);
    fails(safetensors::from_bytes(file, &device), "there is no tensor \"x\" of values; there are x.row_splits.0");
    Ok(())
}
