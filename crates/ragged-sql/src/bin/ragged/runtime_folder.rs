//! The folder `XDG_RUNTIME_DIR`, without which Mesa's drivers print errors.

use std::fs;
use std::path::PathBuf;

const NAME: &str = "XDG_RUNTIME_DIR";

/// A folder of this process, which is removed at the end.
pub struct Folder(PathBuf);

/// Sets the variable to a folder that only this user reads, if it is not set.
///
/// # Safety
/// No other thread may run.
pub unsafe fn set() -> Option<Folder> {
    if !cfg!(unix) || std::env::var_os(NAME).is_some() {
        return None;
    }
    let folder = std::env::temp_dir().join(format!("ragged-{}", std::process::id()));
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    // Without the folder, the driver prints its errors.
    builder.create(&folder).ok()?;
    // SAFETY: as the caller guarantees.
    unsafe { std::env::set_var(NAME, &folder) };
    Some(Folder(folder))
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
