//! The line of the user's call.
//!
//! A function that can fail, or that records a check for the device, takes a `graph::Recorder`, which has the line, or has
//! `#[track_caller]`. Closures lose their caller's location: without a recorder, a closure that can fail is followed by
//! [`here`], and one that records operations runs in [`on_behalf`]. An operation of another crate runs in [`named`].

use std::cell::Cell;
use std::panic::Location;

use super::{Error, Result};

/// A call of the user.
#[derive(Debug, Clone, Copy)]
struct Call {
    location: &'static Location<'static>,
    /// The operation of another crate, whose own lines are not those of the user.
    named: Option<&'static str>,
}

thread_local! {
    /// The user's call that closures on this thread run for.
    static CALL: Cell<Option<Call>> = const { Cell::new(None) };
}

/// The folder of this crate's sources, as in the locations of its lines.
const SOURCES: &str = file!().split_at(file!().len() - "error/call.rs".len()).0;

/// The start of the paths of the standard library, which calls functions that are passed to it by name.
const STANDARD_LIBRARY: &str = "/rustc/";

/// Whether the location is a line of this crate or of the standard library.
pub(super) fn is_internal(location: &Location<'_>) -> bool {
    [SOURCES, STANDARD_LIBRARY].iter().any(|path| location.file().starts_with(path))
}

/// Where the user called the operation: the caller of the outermost function with `#[track_caller]`.
#[track_caller]
pub(crate) fn caller() -> &'static Location<'static> {
    let direct = Location::caller();
    let call = CALL.get().filter(|call| call.named.is_some() || is_internal(direct));
    call.map_or(direct, |call| call.location)
}

/// The operation that the user called: `op`, unless an operation of another crate is computed by it.
pub(crate) fn called(op: &'static str) -> &'static str {
    CALL.get().and_then(|call| call.named).unwrap_or(op)
}

/// Function that gives an error, made in a closure, the line of the user's call. Use as `.map_err(here())`.
#[track_caller]
pub(crate) fn here() -> impl FnOnce(Error) -> Error {
    let call = caller();
    move |error| error.at(call)
}

/// Runs a closure whose operations, and the checks that they record, are of the user's call.
#[track_caller]
pub(crate) fn on_behalf<T>(run: impl FnOnce() -> T) -> T {
    run_for(Call { location: caller(), named: CALL.get().and_then(|call| call.named) }, run)
}

fn run_for<T>(call: Call, run: impl FnOnce() -> T) -> T {
    /// Puts the outer call back, after a panic too.
    struct Restore(Option<Call>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CALL.set(self.0);
        }
    }
    let _outer = Restore(CALL.replace(Some(call)));
    run()
}

/// Runs `record`, a function of your own that is computed by operations of this crate, under the name `op`.
///
/// Errors of these operations begin with `op` and have the line of the caller, those of device-side checks at a read
/// included: a function with `#[track_caller]` so reports the line that called it. [`Explain`](crate::Explain) and plans
/// name the kernels by it too. Of nested calls, the outermost gives the name. Shapes, dtypes and bits of the results do
/// not change.
///
/// # Errors
/// Those of `record`.
///
/// # Cost
/// None besides that of `record`.
///
/// ```
/// use ragged::operation::named;
/// use ragged::{Device, RaggedTensor, Result, Tensor};
/// #[track_caller]
/// fn first_word(table: &impl AsRef<Tensor>, ids: &impl AsRef<Tensor>) -> Result<Tensor> {
///     named("first_word", || table.as_ref().gather(&ids.as_ref().nth(0)?))
/// }
/// let device = Device::cpu();
/// let table = RaggedTensor::from_nested([0.5f32, 1.5], &device)?;
/// let ids = RaggedTensor::from_nested([vec![1, 0], vec![7]], &device)?;
/// let error = first_word(&table, &ids)?.to_host().unwrap_err();
/// assert!(error.to_string().starts_with("first_word: an index is out of range"));
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn named<T>(op: &'static str, record: impl FnOnce() -> Result<T>) -> Result<T> {
    let (location, op) = (caller(), called(op));
    run_for(Call { location, named: Some(op) }, record).map_err(|error| error.of(op).at(location))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closures_on_behalf_of_a_call_know_its_line() {
        let outside = "elsewhere/main.rs";
        assert!(file!().starts_with(SOURCES) && !outside.starts_with(SOURCES), "{SOURCES}");
        let (line, inside) = (line!(), on_behalf(|| on_behalf(caller)));
        assert_eq!((inside.file(), inside.line()), (file!(), line));
        let (line, after) = (line!(), caller());
        assert_eq!(after.line(), line, "the call is over");
    }

    #[test]
    fn the_outermost_name_is_that_of_the_call() {
        let names = named("outer", || Ok((called("inner"), named("middle", || Ok(called("inner"))))));
        assert_eq!(names, Ok(("outer", Ok("outer"))));
        let (line, inside) = (line!(), named("outer", || Ok(on_behalf(caller))));
        assert_eq!(inside.map(Location::line), Ok(line));
        assert_eq!(called("inner"), "inner", "the call is over");
    }
}
