//! npy and npz files: NumPy's, round trips, memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ragged::{DType, Device, HostTensor, HostValues, RaggedTensor, Result, Tensor};
use ragged_data::npy;

use crate::allocations::peak_of;
use crate::devices::{devices, fails, own_cpu};

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A file that is removed after the test.
pub struct Temporary(pub PathBuf);

impl Temporary {
    pub fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("ragged-data-{}-{name}", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn files_of_numpy_are_read() -> Result<()> {
    for device in devices() {
        for (name, want) in [
            ("i32", "tensor([[0, 1, 2], [3, 4, 5]], shape=(2, 3), dtype=i32)"),
            ("big_endian", "tensor([1, -2, 300], shape=(3,), dtype=i16)"),
            ("bools", "tensor([True, False, True], shape=(3,), dtype=bool)"),
            ("half", "tensor([0.5, -1.5], shape=(2,), dtype=f16)"),
            ("bytes", "tensor([[b'a', b'bcd']], shape=(1, 2), dtype=str)"),
            ("dates", "tensor([20455, 0], shape=(2,), dtype=i64)"),
            ("scalar", "tensor(2.5, shape=(), dtype=f32)"),
            ("version2", "tensor([7], shape=(1,), dtype=u8)"),
        ] {
            let x = npy::read(fixture(&format!("{name}.npy")), &device)?;
            assert_eq!(x.to_string(), want, "{device:?}");
        }
        if let Ok(x) = npy::read(fixture("fortran.npy"), &device) {
            assert_eq!(x.to_string(), "tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], shape=(2, 3), dtype=f64)");
        }
        let text = RaggedTensor::<ragged::Str>::try_from(npy::read(fixture("text.npy"), &device)?)?;
        assert_eq!(text.to_strings()?, ["to", "", "日本語"], "{device:?}");
        let several = npy::read_npz(fixture("several.npz"), &device)?;
        assert_eq!(several.keys().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(several["b"].to_string(), "tensor([[1.0, 1.0], [1.0, 1.0]], shape=(2, 2), dtype=f32)");
        let packed = npy::read_npz(fixture("compressed.npz"), &device)?;
        assert_eq!(packed["zeros"].reduce_sum(..)?.to_string(), "tensor(0, shape=(), dtype=i64)");
        let ragged = npy::read_npz(fixture("ragged.npz"), &device)?;
        assert_eq!(ragged["x"].to_string(), "<ragged.RaggedTensor [[1.5, 2.5], [], [3.5]]>");
    }
    Ok(())
}

#[test]
fn other_types_of_numpy_are_errors() {
    let cpu = Device::cpu();
    fails(npy::read(fixture("objects.npy"), &cpu), "objects.npy: an array of Python objects is not read; save numbers");
    fails(npy::read(fixture("complex.npy"), &cpu), "complex.npy: no dtype holds NumPy's type \"<c16\"");
    fails(npy::read(fixture("records.npy"), &cpu), "records.npy: byte 20: an array of records");
    fails(npy::read(fixture("several.npz"), &cpu), "several.npz: this is no npy file");
    fails(npy::read_npz(fixture("i32.npy"), &cpu), "npy::read_npz: ");
    fails(npy::read(fixture("no such file"), &cpu), "npy::read: ");
}

/// Tensors of every form, of a device.
pub fn tensors(device: &Device) -> Result<Vec<(String, Tensor)>> {
    let mut out: Vec<(String, Tensor)> = vec![
        ("rows".into(), RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], device)?.into()),
        ("deep".into(), RaggedTensor::from_nested([vec![vec![1u8], vec![]], vec![]], device)?.into()),
        ("inner".into(), RaggedTensor::from_nested([vec![[1f32, 2.0]], vec![]], device)?.into()),
        ("uniform".into(), RaggedTensor::from_uniform_row_length([1i64, 2, 3, 4], 2, device)?.into()),
        ("words".into(), RaggedTensor::from_nested([vec!["to", ""], vec![], vec!["be"]], device)?.into()),
        ("matrix of words".into(), RaggedTensor::from_nested([["a", "b"], ["", "c"]], device)?.into()),
        ("one word".into(), RaggedTensor::<ragged::Str>::from_bytes(b"word", device)?.into()),
        ("empty".into(), RaggedTensor::from_nested([] as [Vec<f32>; 0], device)?.into()),
    ];
    for dtype in DType::ALL {
        let ints = HostTensor::dense(&[2, 3], HostValues::I32(vec![0, 1, 1, 0, 1, 0])).to_device(&Device::cpu())?;
        if let Some(dense) = ints.cast(dtype).ok().and_then(|x| x.to_device(device).ok()) {
            out.push((format!("dense {dtype}"), dense));
        }
    }
    Ok(out)
}

#[test]
fn tensors_come_back_from_npz() -> Result<()> {
    for device in devices() {
        let all: Vec<_> = tensors(&device)?.into_iter().filter(|(_, x)| x.dtype() != DType::BF16).collect();
        let bytes = npy::npz_to_bytes(all.iter().map(|(name, x)| (name.as_str(), x)))?;
        let read = npy::npz_from_bytes(bytes, &device)?;
        assert_eq!(read.len(), all.len());
        for (name, x) in &all {
            let back = &read[name];
            assert_eq!((back.to_host()?, back.shape()), (x.to_host()?, x.shape()), "{device:?} {name}");
        }
    }
    Ok(())
}

#[test]
fn tensors_come_back_from_npy() -> Result<()> {
    for device in devices() {
        for (name, x) in tensors(&device)? {
            let is_dense = x.ragged_rank() == 0 && x.dtype() != DType::Str && x.dtype() != DType::BF16;
            match npy::to_bytes(&x) {
                Ok(bytes) => assert_eq!(npy::from_bytes(bytes, &device)?.to_host()?, x.to_host()?, "{name}"),
                Err(e) => assert!(!is_dense, "{name}: {e}"),
            }
        }
    }
    Ok(())
}

#[test]
fn a_mapped_file_is_not_copied() -> Result<()> {
    let file = Temporary::new("mapped.npy");
    let n = 1 << 20;
    npy::write(&file.0, &RaggedTensor::dense(vec![1.0f32; n], &[n / 4, 4], &Device::cpu())?)?;
    let device = own_cpu();
    // SAFETY: no one else has the file.
    let (x, peak) = peak_of(|| unsafe { npy::map(&file.0, &device) });
    let x = x?;
    assert!(peak < 32 << 10, "{peak} bytes");
    assert_eq!(device.stats().buffer_bytes, 0);
    assert_eq!(x.reduce_sum(..)?.to_string(), "tensor(1048576.0, shape=(), dtype=f32)");
    // A read holds the file once.
    let (x, peak) = peak_of(|| npy::read(&file.0, &device));
    assert!(peak < 4 * n + (64 << 10) && device.stats().buffer_bytes == 0, "{peak} bytes");
    drop(x);
    Ok(())
}

/// What an error leaves: the file of before.
#[test]
fn a_failed_write_leaves_the_file_as_it_was() -> Result<()> {
    let device = Device::cpu();
    let file = Temporary::new("kept.npz");
    let x = RaggedTensor::from_nested([1, 2], &device)?.into_erased();
    npy::write_npz(&file.0, [("x", &x)])?;
    let before = std::fs::read(&file.0).expect("written");
    let failing = x.floordiv(&x.zeros_like()?)?;
    // The line that recorded the division.
    fails(npy::write_npz(&file.0, [("x", &x), ("y", &failing)]), "floordiv: integer division by zero");
    assert_eq!(std::fs::read(&file.0).expect("still there"), before);
    let mut part = file.0.clone().into_os_string();
    part.push(".part");
    assert!(!Path::new(&part).exists());
    fails(npy::write_npz("no/such/folder/x.npz", [("x", &x)]), "npy::write_npz: no/such/folder/x.npz: ");
    Ok(())
}

#[test]
fn names_and_parts_are_checked() -> Result<()> {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([1, 2], &device)?.into_erased();
    fails(npy::npz_to_bytes([("x", &x), ("x", &x)]), "npy::npz_to_bytes: the name \"x\" is given twice");
    fails(
        npy::npz_to_bytes([("x.row_splits.0", &x)]),
        "npy::npz_to_bytes: a tensor cannot be named \"x.row_splits.0\"",
    );
    let narrow = x.cast(DType::BF16)?;
    fails(npy::to_bytes(&narrow), "npy::to_bytes: NumPy has no type for bf16; cast it to f32");
    // The second split of the two becomes 9.
    let pairs = RaggedTensor::from_nested([vec![1, 2]], &device)?.into_erased();
    let mut broken = npy::npz_to_bytes([("x", &pairs)])?;
    let splits = [0u8, 0, 0, 0, 2, 0, 0, 0];
    let at = broken.windows(8).position(|w| w == splits).expect("the splits");
    broken[at + 4] = 9;
    fails(npy::npz_from_bytes(broken, &device), "npy::npz_from_bytes: entry \"x.row_splits.0.npy\": ");
    fails(npy::from_bytes(Arc::<[u8]>::from(&b"PK"[..]), &device), "npy::from_bytes: this is no npy file");
    Ok(())
}
