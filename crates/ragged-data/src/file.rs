//! Files: read into memory, mapped, and written whole.

use std::fs::File;
use std::io::{Read, Write};
use std::panic::Location;
use std::path::Path;
use std::sync::Arc;

use ragged::{Error, Result};

use crate::memory::room;

/// Memory that tensors adopt.
pub(crate) type Memory = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A part of shared memory.
pub(crate) struct Part {
    pub(crate) memory: Memory,
    pub(crate) range: std::ops::Range<usize>,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        (*self.memory).as_ref().get(self.range.clone()).unwrap_or_default()
    }
}

/// The range of the memory, which it must have, as memory of its own.
pub(crate) fn part(memory: &Memory, range: std::ops::Range<usize>) -> Memory {
    Arc::new(Part { memory: memory.clone(), range })
}

/// A file that cannot be read or written, or that is damaged. `named` gives it the function and the line.
pub(crate) fn unreadable(what: impl Into<String>) -> Error {
    Error::Io { op: "ragged-data", what: what.into(), location: Location::caller() }
}

/// The same error with the file in front.
pub(crate) fn in_file(path: &Path) -> impl Fn(Error) -> Error {
    let path = path.display().to_string();
    move |error| match error {
        Error::Io { op, what, location } => Error::Io { op, what: format!("{path}: {what}"), location },
        Error::Argument { op, what, location } => Error::Argument { op, what: format!("{path}: {what}"), location },
        Error::Partition { op, what, location } => Error::Partition { op, what: format!("{path}: {what}"), location },
        Error::Limit { what, requested, unit, limit, whose, location } => {
            let whose = format!("{whose} (in {path})");
            Error::Limit { what, requested, unit, limit, whose, location }
        }
        other => other,
    }
}

/// The reason of an error, for the message of another one: without the function and the line.
#[cfg(any(feature = "npy", feature = "safetensors"))]
pub(crate) fn reason(error: &Error) -> String {
    let text = match error {
        Error::Io { what, .. } | Error::Argument { what, .. } | Error::Partition { what, .. } => what.clone(),
        Error::Limit { requested, unit, limit, whose, .. } => {
            format!("{requested} {unit} are needed, but {limit} is the limit of {whose}")
        }
        other => other.to_string(),
    };
    text.chars().take(300).collect()
}

/// The content of a file.
pub(crate) fn read(path: &Path) -> Result<Memory> {
    let failed = |e: std::io::Error| unreadable(e.to_string());
    let file = File::open(path).map_err(failed)?;
    let len = file.metadata().map_err(failed)?.len();
    let mut bytes: Vec<u8> = room("the content of a file", usize::try_from(len).unwrap_or(usize::MAX))?;
    // A file that grows meanwhile is read up to its former end.
    file.take(len).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Arc::new(bytes))
}

/// The content of a file in mapped memory.
///
/// # Safety
/// Nothing changes or shortens the file while the memory exists.
#[cfg(any(feature = "npy", feature = "safetensors"))]
pub(crate) unsafe fn map(path: &Path) -> Result<Memory> {
    let failed = |e: std::io::Error| unreadable(e.to_string());
    let file = File::open(path).map_err(failed)?;
    // SAFETY: as the caller guarantees.
    let map = unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?;
    Ok(Arc::new(map))
}

/// Writes a file as a whole: one of the name with `.part` behind it, which is then renamed. After an error neither is there,
/// and a file that was there before is as it was.
pub(crate) fn write(path: &Path, content: impl FnOnce(&mut std::io::BufWriter<File>) -> Result<()>) -> Result<()> {
    let failed = |e: std::io::Error| unreadable(e.to_string());
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    let part = Path::new(&name);
    let mut out = std::io::BufWriter::new(File::create(part).map_err(failed)?);
    let written = content(&mut out).and_then(|()| out.flush().map_err(failed));
    drop(out);
    let done = written.and_then(|()| std::fs::rename(part, path).map_err(failed));
    if done.is_err() {
        let _ = std::fs::remove_file(part);
    }
    done
}
