//! Errors of functions of another crate that are computed by operations of this one: their name, and the user's line.

use ragged::operation::named;
use ragged::opt::batched;
use ragged::{Error, Result, Tensor};

use crate::{Subjects, common};

#[track_caller]
fn last_of_two(x: &Tensor, at: &Tensor) -> Result<Tensor> {
    named("last_of_two", || {
        let own = x.gather_nd(batched(&at.expand_dims(-1)?, 1))?;
        named("inner", || own.reduce_sum(1)?.gather(at))
    })
}

#[test]
fn errors_have_the_name_and_the_line_of_the_composed_call() {
    let fails = |result: Result<Tensor>, line: u32| {
        let error = result.and_then(|t| t.to_host()).expect_err("a misuse");
        assert!(error.to_string().starts_with("last_of_two"), "{error}");
        let location = error.location().expect("a line");
        assert_eq!((location.file(), location.line()), (file!(), line), "{error}");
        error
    };
    for (_, device) in common::devices() {
        let s = Subjects::new(&device).expect("valid tensors");
        let x = Tensor::from(s.ints.clone());
        // At the call: indices that are no integers.
        let floats = x.cast(ragged::DType::F32).expect("recorded");
        fails(last_of_two(&x, &floats), line!());
        // At the read: an index beyond its row.
        let far = x.zeros_like().and_then(|zeros| zeros.add(1000)).expect("recorded");
        let error = fails(last_of_two(&x, &far), line!());
        assert!(matches!(error, Error::Check { .. }), "{error}");
        // Outside of the call, operations have their own names.
        let at = floats.expand_dims(-1).expect("recorded");
        let error = x.gather_nd(batched(&at, 1)).expect_err("indices of floats");
        assert!(error.to_string().starts_with("gather_nd"), "{error}");
    }
}
