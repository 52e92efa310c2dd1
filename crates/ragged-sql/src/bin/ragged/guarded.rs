//! Panics of readers as errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Panics are not printed, since they become errors of the command. With `RUST_BACKTRACE` they are printed as well.
pub fn keep_panics() {
    let print = std::panic::take_hook();
    let is_printed = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    std::panic::set_hook(Box::new(move |info| {
        if is_printed {
            print(info);
        }
    }));
}

/// The result, or the message of a panic. The readers of Arrow and Parquet panic on some damaged files.
pub fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(read)).map_err(|panic| of_panic(&*panic))
}

/// The message of a panic of a reader.
pub fn of_panic(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    format!("damaged: {}", text.unwrap_or("the reader panics"))
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn panics_are_errors() {
        assert_eq!(guarded(|| 3), Ok(3));
        let of = |k: usize| guarded(move || [1, 2][..k].len());
        assert!(of(3).is_err_and(|why| why.starts_with("damaged: range end index 3")));
    }
}
