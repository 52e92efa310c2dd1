//! Persistent pipeline cache: the driver's compiled kernels, kept in a file across processes.
//!
//! The file contains a checksum and wgpu's data. wgpu compares the adapter and driver version in the data with the
//! device's, and starts with an empty cache if they differ. The checksum detects truncated or damaged data, which must
//! not reach the driver.

use std::{
    fs,
    hash::{DefaultHasher, Hasher},
    io,
    path::{Path, PathBuf},
    sync::Mutex,
};

use super::shared::{Shared, lock};

/// The driver's pipeline cache, and the file that it is loaded from and saved to.
#[derive(Debug)]
pub(super) struct PipelineCache {
    wgpu: wgpu::PipelineCache,
    path: PathBuf,
    /// Checksum of the file's data, if known.
    saved: Mutex<Option<u64>>,
}

/// Bytes of the checksum, which precedes the data.
const HEAD: usize = 8;

impl PipelineCache {
    /// Opens the cache in a folder, with the data that an earlier process saved. `None` if the adapter does not support
    /// pipeline caches.
    pub(super) fn open(shared: &Shared, folder: &Path) -> Option<Self> {
        let device = &shared.device;
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let path = folder.join(wgpu::util::pipeline_cache_key(&device.adapter_info())?);
        let (sum, data) = fs::read(&path).ok().and_then(|file| verified(&file)).unzip();
        let descriptor = wgpu::PipelineCacheDescriptor { label: Some("ragged"), data: data.as_deref(), fallback: true };
        // SAFETY: the data must come from `get_data` for this driver. Its checksum shows that `save` wrote it; wgpu
        // checks that the driver is this one. The option's documentation asks for a folder that nobody else writes to.
        let made = shared.scoped(|| unsafe { device.create_pipeline_cache(&descriptor) });
        Some(Self { wgpu: made.ok()?, path, saved: Mutex::new(sum) })
    }

    /// The cache to compile pipelines with.
    pub(super) fn as_wgpu(&self) -> &wgpu::PipelineCache {
        &self.wgpu
    }

    /// Writes the cache's data, unless the file contains it already. The file is replaced atomically.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub(super) fn save(&self) -> io::Result<()> {
        let Some(data) = self.wgpu.get_data() else { return Ok(()) };
        let sum = checksum(&data);
        let mut saved = lock(&self.saved);
        if *saved == Some(sum) {
            return Ok(());
        }
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        // The name of the temporary file is unique per process and device.
        let unique = format!("{}-{:x}.tmp", std::process::id(), std::ptr::from_ref(self).addr());
        let temporary = self.path.with_extension(unique);
        let written = fs::write(&temporary, [&sum.to_le_bytes(), data.as_slice()].concat())
            .and_then(|()| fs::rename(&temporary, &self.path));
        if written.is_err() {
            // Best effort: the first error is reported.
            let _ = fs::remove_file(&temporary);
        }
        written?;
        *saved = Some(sum);
        Ok(())
    }
}

fn checksum(data: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(data);
    hasher.finish()
}

/// The checksum and data of a file, if they match.
fn verified(file: &[u8]) -> Option<(u64, Vec<u8>)> {
    let (head, data) = file.split_first_chunk::<HEAD>()?;
    let sum = u64::from_le_bytes(*head);
    (checksum(data) == sum).then(|| (sum, data.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_no_cache() {
        let data = b"what the driver wrote".as_slice();
        let file = [&checksum(data).to_le_bytes(), data].concat();
        assert_eq!(verified(&file).map(|(_, data)| data).as_deref(), Some(data));
        for k in 0..file.len() {
            assert_eq!(verified(&file[..k]), None, "cut short at {k}");
            let mut flipped = file.clone();
            flipped[k] ^= 1;
            assert_eq!(verified(&flipped), None, "byte {k}");
        }
    }
}
