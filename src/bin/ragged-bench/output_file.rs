//! The output file of measurements.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, Result};

/// A file that is replaced as a whole on success, and otherwise stays as it was. Until then no other file lies beside
/// it, however the program ends.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A regular file, which may not exist yet: the file that will replace it, and the permissions to keep.
    Replaced { temporary: PathBuf, permissions: Option<Permissions> },
    /// An output that cannot be replaced, such as a pipe.
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
        // Best effort: on success the file no longer exists, and on failure another error is reported already.
        let _ = fs::remove_file(self.path);
    }
}

impl Target {
    /// Checks that the file can be written, and leaves it as it is.
    ///
    /// # Errors
    /// The file, or one beside it, cannot be written.
    pub fn new(path: &Path) -> io::Result<Self> {
        // A link stays a link: its target is replaced.
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
        // A write that is possible now very likely succeeds later.
        drop(Temporary::new(&temporary, permissions.as_ref())?);
        Ok(Self { path, kind: Kind::Replaced { temporary, permissions } })
    }

    /// The file of `--json`.
    ///
    /// # Errors
    /// As [`Target::new`].
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
    /// Errors of `write`; the file cannot be written to its end, or not be replaced.
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

    /// An empty folder that is removed with the test.
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
    fn the_old_file_stays_until_the_new_one_is_whole() -> io::Result<()> {
        let folder = Folder::new("replace")?;
        let path = folder.0.join("m.json");
        fs::write(&path, "old")?;

        let target = Target::new(&path)?;
        assert_eq!(folder.len()?, 1, "a signal now leaves nothing behind");
        drop(target);
        assert_eq!((fs::read_to_string(&path)?.as_str(), folder.len()?), ("old", 1));

        let fails = Target::new(&path)?.replace(|out| {
            out.write_all(b"ne")?;
            Err(io::Error::from(ErrorKind::Other))
        });
        assert!(fails.is_err());
        assert_eq!((fs::read_to_string(&path)?.as_str(), folder.len()?), ("old", 1));

        Target::new(&path)?.replace(|out| out.write_all(b"new"))?;
        assert_eq!((fs::read_to_string(&path)?.as_str(), folder.len()?), ("new", 1));
        Ok(())
    }

    #[test]
    fn what_cannot_be_written_is_refused_at_once() -> io::Result<()> {
        let folder = Folder::new("refuse")?;
        assert!(Target::new(&folder.0).is_err(), "a folder");
        assert!(Target::new(&folder.0.join("none").join("m.json")).is_err(), "in no folder");
        assert_eq!(folder.len()?, 0);
        Ok(())
    }
}
