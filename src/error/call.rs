//! The line of the user's call.
//!
//! A function that can fail, or that records a check for the device, takes a `graph::Recorder`, which has the line, or has
//! `#[track_caller]`. Closures lose their caller's location: without a recorder, a closure that can fail is followed by
//! [`here`], and one that records operations runs in [`on_behalf`].

use std::cell::Cell;
use std::panic::Location;

use super::Error;

thread_local! {
    /// The user's call that the library's closures on this thread run for.
    static CALL: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
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
    CALL.get().filter(|_| is_internal(direct)).unwrap_or(direct)
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
    /// Puts the outer call back, after a panic too.
    struct Restore(Option<&'static Location<'static>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CALL.set(self.0);
        }
    }
    let _outer = Restore(CALL.replace(Some(caller())));
    run()
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
}
