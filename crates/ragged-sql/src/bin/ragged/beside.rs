//! Files that appear once they are whole.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A file that is written beside its name, and gets it at the end. Until then it has no name where the file system can do
/// that (on Linux), so that nothing remains however the process ends; elsewhere it has a temporary one.
pub struct Beside {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
    is_named: bool,
}

impl Beside {
    /// A file for `path`.
    ///
    /// # Errors
    /// A folder that does not exist or cannot be written; a folder of that name.
    pub fn new(path: &Path) -> io::Result<Self> {
        if path.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let unnamed = unnamed(folder(path));
        let is_named = unnamed.is_none();
        let file = match unnamed {
            Some(file) => file,
            None => File::create_new(&temporary)?,
        };
        Ok(Self { path: path.into(), temporary, file, is_named })
    }

    /// The file, to be written.
    ///
    /// # Errors
    /// A handle that cannot be duplicated.
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Gives the file its name, in place of one that had it.
    ///
    /// # Errors
    /// A name that cannot be given; then the file that was there is as it was.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        if !self.is_named {
            name(&self.file, &self.temporary)?;
            self.is_named = true;
        }
        std::fs::rename(&self.temporary, &self.path)?;
        self.is_named = false;
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if self.is_named {
            // Nothing else can be done with what is left.
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file without a name, if the file system has them.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    open(folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::from_raw_mode(0o666)).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<File> {
    None
}

/// Gives a file without a name its first one.
#[cfg(target_os = "linux")]
fn name(file: &File, to: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    use rustix::fs::{AtFlags, CWD, linkat};
    let _ = std::fs::remove_file(to);
    Ok(linkat(CWD, format!("/proc/self/fd/{}", file.as_raw_fd()), CWD, to, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn name(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn files_appear_when_they_are_whole() {
        let folder = std::env::temp_dir().join(format!("ragged-beside-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("x");
        let names = || {
            std::fs::read_dir(&folder)
                .expect("reads")
                .filter(|entry| {
                    entry.as_ref().is_ok_and(|entry| !entry.file_name().to_string_lossy().ends_with(".part"))
                })
                .count()
        };
        std::fs::write(&path, "old").expect("writes");
        let dropped = Beside::new(&path).expect("opens");
        dropped.file().expect("a handle").write_all(b"new").expect("writes");
        drop(dropped);
        assert_eq!(std::fs::read(&path).expect("reads"), b"old");
        let kept = Beside::new(&path).expect("opens");
        kept.file().expect("a handle").write_all(b"new").expect("writes");
        kept.finish().expect("is named");
        assert_eq!(std::fs::read(&path).expect("reads"), b"new");
        assert_eq!(names(), 1);
        std::fs::remove_dir_all(&folder).expect("removes");
    }
}
