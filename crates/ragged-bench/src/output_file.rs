//! Output files that are replaced atomically.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, Result};

/// An output file that is replaced atomically on success, and otherwise stays unchanged. A temporary file exists only
/// while the replacement is written.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A regular file, which may not exist yet: the path of the temporary file, and the permissions to keep.
    Replaced { temporary: PathBuf, permissions: Option<Permissions> },
    /// Another kind of file, such as a pipe, which is written directly.
    Written(File),
}

/// A file that is removed on drop, unless it was renamed.
#[derive(Debug)]
struct Temporary<'a> {
    file: File,
    path: &'a Path,
}

impl<'a> Temporary<'a> {
    fn new(path: &'a Path, permissions: Option<&Permissions>) -> io::Result<Self> {
        let temporary = Self { file: File::create_new(path)?, path };
        if let Some(permissions) = permissions {
            temporary.file.set_permissions(permissions.clone())?;
        }
        Ok(temporary)
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // Best effort: on success the file is renamed, and on failure another error is reported.
        let _ = fs::remove_file(self.path);
    }
}

impl OutputFile {
    /// Checks that the file can be written, without changing it.
    ///
    /// # Errors
    /// The file, or a temporary file in its folder, cannot be written.
    pub fn new(path: &Path) -> io::Result<Self> {
        // Replaces the target of a symbolic link, not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let permissions = match OpenOptions::new().write(true).open(&path) {
            Ok(file) => {
                let metadata = file.metadata()?;
                if !metadata.is_file() {
                    return Ok(Self { path, kind: Kind::Written(file) });
                }
                Some(metadata.permissions())
            }
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        let mut name = path.file_name().ok_or(ErrorKind::InvalidFilename)?.to_owned();
        name.push(format!(".{}.tmp", process::id()));
        let temporary = path.with_file_name(name);
        // Checks that the temporary file can be created.
        drop(Temporary::new(&temporary, permissions.as_ref())?);
        Ok(Self { path, kind: Kind::Replaced { temporary, permissions } })
    }

    /// The file of `--json`.
    ///
    /// # Errors
    /// As [`OutputFile::new`].
    pub fn for_json(path: &Path) -> Result<Self> {
        Self::new(path).with_context(|| format!("--json {}", path.display()))
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the file by the output of `write`.
    ///
    /// # Errors
    /// Errors of `write`; the file cannot be written completely, or cannot be replaced.
    pub fn replace<E: From<io::Error>>(self, write: impl FnOnce(&mut dyn Write) -> Result<(), E>) -> Result<(), E> {
        let written = |file: &File| {
            let mut buffered = BufWriter::new(file);
            write(&mut buffered)?;
            buffered.flush().map_err(E::from)
        };
        match &self.kind {
            Kind::Written(file) => written(file),
            Kind::Replaced { temporary, permissions } => {
                let temporary = Temporary::new(temporary, permissions.as_ref())?;
                written(&temporary.file)?;
                Ok(fs::rename(temporary.path, &self.path)?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A temporary folder, removed on drop.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> io::Result<Self> {
            let path = std::env::temp_dir().join(format!("ragged-bench-{name}-{}", process::id()));
            fs::create_dir(&path)?;
            Ok(Self(path))
        }

        fn len(&self) -> io::Result<usize> {
            Ok(fs::read_dir(&self.0)?.count())
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_old_file_is_kept_until_the_new_one_is_complete() -> io::Result<()> {
        let folder = Folder::new("replace")?;
        let path = folder.0.join("m.json");
        fs::write(&path, "old")?;

        let target = OutputFile::new(&path)?;
        assert_eq!(folder.len()?, 1, "no temporary file yet");
        drop(target);
        assert_eq!((fs::read_to_string(&path)?.as_str(), folder.len()?), ("old", 1));

        let fails = OutputFile::new(&path)?.replace(|out| {
            out.write_all(b"ne")?;
            Err(io::Error::from(ErrorKind::Other))
        });
        assert!(fails.is_err());
        assert_eq!((fs::read_to_string(&path)?.as_str(), folder.len()?), ("old", 1));

        OutputFile::new(&path)?.replace(|out| out.write_all(b"new"))?;
        assert_eq!((fs::read_to_string(&path)?.as_str(), folder.len()?), ("new", 1));
        Ok(())
    }

    #[test]
    fn unwritable_paths_are_errors_at_once() -> io::Result<()> {
        let folder = Folder::new("refuse")?;
        assert!(OutputFile::new(&folder.0).is_err(), "a folder");
        assert!(OutputFile::new(&folder.0.join("none").join("m.json")).is_err(), "in no folder");
        assert_eq!(folder.len()?, 0);
        Ok(())
    }
}
