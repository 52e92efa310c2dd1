//! What the driver made of the kernels, kept in a file from one process to the next.
//!
//! The file holds a checksum and wgpu's data. wgpu looks at the adapter and the driver's version that the data names,
//! and starts with nothing where they are others; the checksum keeps a file that was cut short or damaged from the
//! driver.

use std::{
    fs,
    hash::{DefaultHasher, Hasher},
    io,
    path::{Path, PathBuf},
    sync::Mutex,
};

use super::link::{Link, lock};

/// The driver's cache, and the file that it is loaded from and saved to.
#[derive(Debug)]
pub(super) struct PipelineCache {
    wgpu: wgpu::PipelineCache,
    path: PathBuf,
    /// The checksum of what the file holds, as far as known.
    saved: Mutex<Option<u64>>,
}

/// Bytes of the checksum, which the data follows.
const HEAD: usize = 8;

impl PipelineCache {
    /// The cache in a folder, with what an earlier process left there. None where the adapter has no such caches, or
    /// will not make one: kernels are compiled then, as without.
    pub(super) fn open(link: &Link, folder: &Path) -> Option<Self> {
        let device = &link.device;
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let path = folder.join(wgpu::util::pipeline_cache_key(&device.adapter_info())?);
        let (sum, data) = fs::read(&path).ok().and_then(|file| checked(&file)).unzip();
        let descriptor = wgpu::PipelineCacheDescriptor { label: Some("ragged"), data: data.as_deref(), fallback: true };
        // SAFETY: the data must be what `get_data` gave for this driver. It is what `save` wrote, or else no eight
        // bytes before it would be its checksum; that it is this driver's is for wgpu to look at. The option's
        // documentation asks for a folder that nobody else writes to.
        let made = link.scoped(|| unsafe { device.create_pipeline_cache(&descriptor) });
        Some(Self { wgpu: made.ok()?, path, saved: Mutex::new(sum) })
    }

    /// What pipelines are compiled with.
    pub(super) fn as_wgpu(&self) -> &wgpu::PipelineCache {
        &self.wgpu
    }

    /// Writes what there is, unless the file holds it already. Another process sees the old file or the new one, whole.
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
        // Two processes, and two devices of one, each have a file of their own until it is whole.
        let unique = format!("{}-{:x}.tmp", std::process::id(), std::ptr::from_ref(self).addr());
        let temporary = self.path.with_extension(unique);
        let written = fs::write(&temporary, [&sum.to_le_bytes(), data.as_slice()].concat())
            .and_then(|()| fs::rename(&temporary, &self.path));
        if written.is_err() {
            // Best effort: the first error is the one to tell.
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

/// The checksum and the data of a file, if they belong together.
fn checked(file: &[u8]) -> Option<(u64, Vec<u8>)> {
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
        assert_eq!(checked(&file).map(|(_, data)| data).as_deref(), Some(data));
        for k in 0..file.len() {
            assert_eq!(checked(&file[..k]), None, "cut short at {k}");
            let mut flipped = file.clone();
            flipped[k] ^= 1;
            assert_eq!(checked(&flipped), None, "byte {k}");
        }
    }
}
