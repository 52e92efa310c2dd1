//! The pipeline cache file: reading, writing, and recovery from errors.

use std::fs;
use std::path::PathBuf;

use ragged::{Device, DeviceOptions, RaggedTensor, wgpu};

mod common;

/// A temporary folder, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ragged-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a new folder");
        Self(path)
    }

    /// The files in it.
    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Best effort: the folder is in the system's temporary folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn open(folder: PathBuf) -> Option<Device> {
    if common::gpus().is_empty() {
        return None;
    }
    Some(Device::gpu_with(&DeviceOptions::default().pipeline_cache(folder)).expect("opens"))
}

/// Compiles kernels and runs them.
fn works(device: &Device) {
    let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], device).expect("uploads");
    let sums = x.add(&x).and_then(|y| y.reduce_sum(1)).and_then(|y| y.to_vec());
    assert_eq!(sums.expect("runs"), [6, 0, 6]);
}

fn has_caches(device: &Device) -> bool {
    let (wgpu, _) = device.as_wgpu().expect("a GPU");
    wgpu.features().contains(wgpu::Features::PIPELINE_CACHE)
}

#[test]
fn the_cache_is_written_on_drop_and_on_request() {
    let folder = Folder::new("cache-written");
    let Some(device) = open(folder.0.join("new")) else { return };
    works(&device);
    if !has_caches(&device) {
        device.save_pipeline_cache().expect("nothing to do");
        assert!(folder.files().is_empty());
        return;
    }
    assert!(folder.files().is_empty(), "nothing before it is asked for");
    device.save_pipeline_cache().expect("writes");
    let inner = Folder(folder.0.join("new"));
    let [file] = inner.files().try_into().expect("one file, and no temporary one");
    let first = fs::read(&file).expect("a file");
    assert!(first.len() > 40, "more than a head");

    // Nothing was compiled since the last write: the file is not written.
    fs::remove_file(&file).expect("goes");
    device.save_pipeline_cache().expect("has nothing to do");
    assert!(inner.files().is_empty());
    drop(device);
    assert!(inner.files().is_empty());

    let device = open(inner.0.clone()).expect("as before");
    works(&device);
    drop(device);
    assert_eq!(inner.files(), [file]);
}

#[test]
fn a_damaged_file_is_replaced() {
    let folder = Folder::new("cache-damaged");
    let Some(device) = open(folder.0.clone()) else { return };
    works(&device);
    drop(device);
    let Some(file) = folder.files().pop() else { return };
    let good = fs::read(&file).expect("a file");
    let mut flipped = good.clone();
    let last = flipped.len() - 1;
    flipped[last] ^= 0x40;
    for bad in [Vec::new(), good[..good.len() / 2].to_vec(), flipped, vec![0xff; 4096]] {
        fs::write(&file, &bad).expect("writes");
        let device = open(folder.0.clone()).expect("as before");
        works(&device);
        drop(device);
        assert_ne!(fs::read(&file).expect("a file"), bad, "{} bytes", bad.len());
    }
    // An intact file is read and contains all pipelines of these kernels.
    let device = open(folder.0.clone()).expect("as before");
    works(&device);
    fs::remove_file(&file).expect("goes");
    drop(device);
    assert!(folder.files().is_empty(), "nothing new to write");
}

#[test]
fn an_unwritable_folder_does_not_affect_evaluation() {
    let folder = Folder::new("cache-refused");
    let file = folder.0.join("a file, no folder");
    fs::write(&file, "text").expect("writes");
    let Some(device) = open(file.clone()) else { return };
    works(&device);
    assert_eq!(device.save_pipeline_cache().is_err(), has_caches(&device), "the user who asks is told");
    works(&device);
    drop(device);
    assert_eq!(fs::read_to_string(&file).expect("a file"), "text");
}
