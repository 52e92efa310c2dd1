//! Recording without blocking the thread.
//!
//! An operation whose result has a dense dimension that only the device knows reads that size while it is recorded. Under
//! [`record_async`] such a read fails instead, and is awaited outside: recording is run again with its value at hand.
//! What was recorded before is found again by its digest, so that nothing is computed twice.

use std::cell::RefCell;

use super::backend::{BackendRef, Elements, Part, Wait};
use super::digest::Digest;
use crate::error::{Error, Result};

/// Sizes that one recording may await.
const MOST_READS: usize = 256;

/// Parts of arrays that are read together, by digests.
type Key = Vec<(Digest, Digest)>;

/// A read that recording could not do without blocking.
struct Wanted {
    backend: BackendRef,
    parts: Vec<Part>,
}

/// What a recording that must not block knows, and the first read that it wanted besides.
#[derive(Default)]
struct Recording {
    known: Vec<(Key, Result<Vec<Vec<u8>>>)>,
    wanted: Option<Wanted>,
}

thread_local! {
    /// The innermost recording of this thread that must not block.
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

/// Puts the outer recording back, whatever happens.
struct Restore(Option<Recording>);

impl Drop for Restore {
    fn drop(&mut self) {
        RECORDING.set(self.0.take());
    }
}

fn key(parts: &[Part]) -> Key {
    let elements = |part: &Part| match &part.elements {
        Elements::All => Digest::of("all", ()),
        Elements::Range(range) => Digest::of("range", (range.start, range.end)),
        Elements::At(at) => at.digest(),
    };
    parts.iter().map(|part| (part.node.digest(), elements(part))).collect()
}

/// Reads parts of arrays while `op` is recorded: one wait.
///
/// # Errors
/// Those of the read; [`Error::WouldBlock`] under [`record_async`], until the read has been awaited.
pub(crate) fn read_now(backend: &BackendRef, op: &'static str, parts: Vec<Part>) -> Result<Vec<Vec<u8>>> {
    let answer = RECORDING.with_borrow_mut(|recording| {
        let recording = recording.as_mut()?;
        let key = key(&parts);
        if let Some((_, bytes)) = recording.known.iter().find(|(known, _)| *known == key) {
            return Some(bytes.clone());
        }
        let wanted = || Wanted { backend: backend.clone(), parts: parts.clone() };
        recording.wanted.get_or_insert_with(wanted);
        Some(Err(Error::WouldBlock { op }))
    });
    answer.unwrap_or_else(|| pollster::block_on(backend.read_parts(parts, Wait::Blocking)))
}

/// Whether the thread records under [`record_async`].
pub(crate) fn must_not_block() -> bool {
    RECORDING.with_borrow(Option::is_some)
}

/// Records operations without blocking the thread: the async twin of every operation that waits for a size.
///
/// Few operations wait while they are recorded: those whose result has a dense dimension that only the device knows, such
/// as [`Tensor::to_tensor`](crate::Tensor::to_tensor) of rows that the device has filtered; the documentation of each says
/// so. Here the size is awaited instead, and `record` is called again with it, once for each such size. It must record the
/// same each time; uploads belong before it, since each makes a new tensor. Reads inside it ([`Tensor::to_host`]) block
/// as ever.
///
/// [`Tensor::to_host`]: crate::Tensor::to_host
///
/// # Errors
/// Those of `record`; [`Error::Argument`] if it asks for other sizes each time.
///
/// # Cost
/// Recording, once for each size and once more; a wait for each size. Equal operations are recorded once, and arrays
/// computed for a size are kept.
///
/// ```
/// use ragged::{Device, RaggedTensor, record_async};
/// let x = RaggedTensor::from_nested([vec![1, 5], vec![7], vec![2, 8, 9]], &Device::cpu())?;
/// let large = x.boolean_mask(&x.greater(4)?)?;
/// let padded = pollster::block_on(record_async(|| large.to_tensor(0, None)))?;
/// assert_eq!(padded.shape(), [Some(3), Some(2)]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub async fn record_async<T>(mut record: impl FnMut() -> Result<T>) -> Result<T> {
    let mut known = Vec::new();
    // Keeps the arrays of the sizes stored for the next call.
    let mut read: Vec<Part> = Vec::new();
    loop {
        let (result, recording) = {
            let _outer = Restore(RECORDING.replace(Some(Recording { known, wanted: None })));
            let result = record();
            (result, RECORDING.take().unwrap_or_default())
        };
        let Some(Wanted { backend, parts }) = recording.wanted else { return result };
        known = recording.known;
        if known.len() == MOST_READS {
            let what = format!("{MOST_READS} sizes were awaited, and the closure asks for others; upload before it");
            return Err(Error::argument("record_async", what));
        }
        // An error is the operation's: it may mean something to it.
        let bytes = backend.read_parts(parts.clone(), Wait::Polled).await;
        known.push((key(&parts), bytes));
        read.extend(parts);
    }
}
