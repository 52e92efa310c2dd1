//! Recording without blocking the thread.
//!
//! An operation whose result has a device-known dense dimension reads that size while it is recorded. Under
//! [`record_async`] such a read fails instead. The size is then awaited, and recording is repeated with its value.
//! Nodes are hash-consed, so that the repeated recording recomputes nothing.

use std::any::Any;
use std::cell::RefCell;

use crate::dtype::DType;
use crate::error::{Error, Result, here};
use crate::graph::backend::{BackendRef, Elements, Part, ReadBytes, Wait};
use crate::graph::digest::Digest;
use crate::graph::expr::ExprKind;
use crate::graph::extent::fixed_index;
use crate::graph::node::Node;
use crate::graph::run::diagnosis;
use crate::graph::size::RecordedSize;
use crate::graph::{Expr, Extent, Size};

/// Maximum number of sizes that one recording may await.
const MAX_READS: usize = 256;

/// Key of a read: the digests of the arrays and of the elements that are read together.
type Key = Vec<(Digest, Digest)>;

/// A read that must be awaited before recording can proceed.
struct Wanted {
    backend: BackendRef,
    parts: Vec<Part>,
}

/// State of a non-blocking recording: the results of earlier reads, and the first read without a result.
#[derive(Default)]
struct Recording {
    known: Vec<(Key, Result<Vec<ReadBytes>>)>,
    wanted: Option<Wanted>,
    /// Results of host steps, by their arguments.
    made: Vec<(Digest, Box<dyn Any + Send>)>,
}

thread_local! {
    /// The innermost non-blocking recording of this thread.
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

/// Restores the outer recording on drop.
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

/// Reads parts of arrays while `op` is recorded. Costs one wait.
///
/// # Errors
/// Those of the read; [`Error::WouldBlock`] under [`record_async`], until the read has been awaited.
#[track_caller]
pub(crate) fn read_now(backend: &BackendRef, op: &'static str, parts: Vec<Part>) -> Result<Vec<ReadBytes>> {
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
    answer
        .unwrap_or_else(|| pollster::block_on(diagnosis::read_parts(backend, parts, Wait::Blocking)))
        .map_err(|error| if matches!(error, Error::Traced { .. }) { error.of(op) } else { error })
        .map_err(here())
}

/// Reads a number from the device. Costs one wait.
#[track_caller]
pub(crate) fn read_u32(backend: &BackendRef, op: &'static str, e: Expr) -> Result<u32> {
    read_u32_if(backend, op, e, &[])
}

/// As [`read_u32`]; fails if one of the conditions `asserts` does not hold.
#[track_caller]
pub(crate) fn read_u32_if(backend: &BackendRef, op: &'static str, e: Expr, asserts: &[Node]) -> Result<u32> {
    let part = match e.kind() {
        // An element of an array is read in place.
        ExprKind::Load(node, at) if asserts.is_empty() && fixed_index(at).is_some() => {
            Part::at(node.clone(), fixed_index(at).unwrap_or(Size::Const(0)))
        }
        _ => Part::whole(Node::map(backend, op, Extent::known(1), e, asserts)),
    };
    let read = read_now(backend, op, vec![part])?;
    Ok(bytemuck::pod_read_unaligned(&read[0]))
}

impl Extent {
    /// The count on the host; waits once if only the device knows it.
    #[track_caller]
    pub(crate) fn on_host(&self, backend: &BackendRef, op: &'static str) -> Result<u32> {
        let traced = || self.size.varies().then(|| Expr::size(&self.size));
        self.live().or_else(traced).map_or(Ok(self.capacity()), |live| read_u32(backend, op, live)).map_err(here())
    }
}

/// A copy of an array on another backend. Waits for it.
///
/// # Errors
/// A failed condition of the array; no memory for the copy.
pub(crate) fn copied(node: &Node, backend: &BackendRef) -> Result<Node> {
    let read = diagnosis::read_parts(node.backend(), vec![Part::whole(node.clone())], Wait::Blocking);
    let bytes = pollster::block_on(read)?.swap_remove(0);
    let len = (bytes.len() / node.dtype().size()) as u32;
    let data = backend.upload(node.dtype(), &bytes)?;
    Ok(match node.dtype() {
        DType::U32 => Node::source_splits(backend, (len, node.known_lengths()), data),
        dtype => Node::source(backend, dtype, len, data),
    })
}

/// The result of `make`, which uploads data. Under [`record_async`] a repeated recording gets the result of the first one,
/// since each upload is a new array. `key` identifies what is made.
#[track_caller]
pub(crate) fn made_once<T: Clone + Send + 'static>(key: Digest, make: impl FnOnce() -> Result<T>) -> Result<T> {
    let found = RECORDING.with_borrow(|recording| {
        let (_, made) = recording.as_ref()?.made.iter().find(|(of, _)| *of == key)?;
        made.downcast_ref::<T>().cloned()
    });
    if let Some(found) = found {
        return Ok(found);
    }
    let made = make().map_err(here())?;
    RECORDING.with_borrow_mut(|recording| {
        if let Some(recording) = recording {
            recording.made.push((key, Box::new(made.clone())));
        }
    });
    Ok(made)
}

/// Whether the thread records under [`record_async`].
pub(crate) fn must_not_block() -> bool {
    RECORDING.with_borrow(Option::is_some)
}

/// Records operations without blocking the thread: the async counterpart of every operation that waits for a size.
///
/// Few operations wait while they are recorded: those whose result has a dense dimension that only the device knows,
/// such as [`Tensor::to_tensor`](crate::Tensor::to_tensor) of rows that the device has filtered. Their documentation
/// says so. `record_async` awaits such a size and calls `record` again with its value, once per size. `record` must
/// record the same operations each time; upload before it, since each upload makes a new tensor. Reads inside `record`
/// ([`Tensor::to_host`]) still block.
///
/// [`Tensor::to_host`]: crate::Tensor::to_host
///
/// # Errors
/// Those of `record`; [`Error::Argument`] if it requires other sizes each time.
///
/// # Cost
/// Recording once per size and once more; one wait per size. Equal operations are recorded once, and arrays computed
/// for a size are kept.
///
/// ```
/// use ragged::{Device, RaggedTensor, record_async};
/// let x = RaggedTensor::from_nested([vec![1, 5], vec![7], vec![2, 8, 9]], &Device::cpu())?;
/// let large = x.boolean_mask(&x.greater(4)?)?;
/// let padded = pollster::block_on(record_async(|| large.to_tensor(0)))?;
/// assert_eq!(padded.shape(), [Some(3), Some(2)]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub async fn record_async<T>(mut record: impl FnMut() -> Result<T>) -> Result<T> {
    let (mut known, mut made) = (Vec::new(), Vec::new());
    // Keeps the arrays that hold the sizes alive until the next call.
    let mut read: Vec<Part> = Vec::new();
    loop {
        let (result, recording) = {
            let _outer = Restore(RECORDING.replace(Some(Recording { known, wanted: None, made })));
            let result = record();
            (result, RECORDING.take().unwrap_or_default())
        };
        let Some(Wanted { backend, parts }) = recording.wanted else { return result };
        (known, made) = (recording.known, recording.made);
        if known.len() == MAX_READS {
            let what = format!(
                "{MAX_READS} sizes were awaited, and the closure requests another one; upload outside of the closure, \
                 since each upload makes a new tensor"
            );
            return Err(Error::argument("record_async", what));
        }
        // The repeated recording returns an error to the operation, which may handle it.
        let bytes = diagnosis::read_parts(&backend, parts.clone(), Wait::Polled).await;
        known.push((key(&parts), bytes));
        read.extend(parts);
    }
}
