//! The file that measurements go to.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, Result};

/// A file that is replaced as a whole when everything succeeded, and else stays as it was.
#[derive(Debug)]
pub struct Target {
    file: File,
    path: PathBuf,
    /// What becomes the file; none where there is nothing to replace, as with a pipe.
    temporary: Option<PathBuf>,
}

impl Target {
    /// Makes sure that the file can be written, and leaves it as it is.
    ///
    /// # Errors
    /// The file, or one beside it, cannot be written.
    pub fn new(path: &Path) -> io::Result<Self> {
        // A link stays one: what it leads to is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let permissions = match OpenOptions::new().write(true).open(&path) {
            Ok(file) => {
                let metadata = file.metadata()?;
                if !metadata.is_file() {
                    return Ok(Self { file, path, temporary: None });
                }
                Some(metadata.permissions())
            }
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        let mut name = path.file_name().ok_or(ErrorKind::InvalidFilename)?.to_owned();
        name.push(format!(".{}.tmp", process::id()));
        let temporary = path.with_file_name(name);
        let target = Self { file: File::create_new(&temporary)?, path, temporary: Some(temporary) };
        if let Some(permissions) = permissions {
            target.file.set_permissions(permissions)?;
        }
        Ok(target)
    }

    /// The file of `--json`.
    ///
    /// # Errors
    /// As [`Target::new`].
    pub fn for_json(path: &Path) -> Result<Self> {
        Self::new(path).with_context(|| format!("--json {}", path.display()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts what `write` writes in the place of the file.
    ///
    /// # Errors
    /// Those of `write`; the file cannot be written to its end, or not be replaced.
    pub fn replace<E: From<io::Error>>(mut self, write: impl FnOnce(&mut dyn Write) -> Result<(), E>) -> Result<(), E> {
        let mut buffered = BufWriter::new(&self.file);
        write(&mut buffered)?;
        buffered.flush()?;
        drop(buffered);
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Best effort: whoever drops it has an error to tell already.
            let _ = fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty folder that goes away with the test.
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

        drop(Target::new(&path)?);
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
