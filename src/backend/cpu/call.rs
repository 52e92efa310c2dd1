//! Calls of the user's functions, one per block.

use std::sync::OnceLock;

use super::arithmetic::cast;
use super::encoding::{Dense, Encoded, Value};
use super::segments::{align, lens, segments};
use crate::dtype::DType;
use crate::error::Error;
use crate::graph::function::Function;

/// The function's results at `n` positions. If all arguments are constant, or constant in the same segments, the function
/// is called once per segment. The first panic is recorded in `panic`; results are 0 then.
pub(super) fn call<'x>(
    function: &Function,
    n: usize,
    arguments: &[Encoded<'_>],
    panic: &OnceLock<Error>,
) -> Encoded<'x> {
    if arguments.iter().all(|a| matches!(a, Encoded::Constant(_))) {
        return Encoded::Constant(dense(function, 1, arguments, panic).get(0));
    }
    if let Some((ends, aligned)) = align(arguments.iter())
        // The value of an empty segment is arbitrary and no argument of the function.
        && aligned.iter().all(|a| a.step == 0) && lens(&ends).all(|len| len > 0)
    {
        let firsts: Vec<Encoded<'_>> = aligned.into_iter().map(|a| a.first).collect();
        return segments(ends.clone(), 0, dense(function, ends.len(), &firsts, panic));
    }
    dense(function, n, arguments, panic)
}

/// The results for `n` values of each argument.
fn dense<'x>(function: &Function, n: usize, arguments: &[Encoded<'_>], panic: &OnceLock<Error>) -> Encoded<'x> {
    let arguments: Vec<Dense<'_, u32>> = arguments.iter().map(|a| words(n, a)).collect();
    let words: Vec<&[u32]> = arguments.iter().map(|words| &words[..n]).collect();
    let mut results = vec![0; n];
    if let Err(e) = function.apply(&words, &mut results) {
        results.fill(0);
        // Another block may have panicked first.
        let _ = panic.set(e);
    }
    let results = u32::wrap(results.into());
    match function.result() {
        DType::Bool => cast(DType::Bool, n, &results),
        dtype => results.bitcast(dtype),
    }
}

/// One word per position. Bools are no words in memory.
fn words<'a>(n: usize, argument: &Encoded<'a>) -> Dense<'a, u32> {
    let is_bool = argument.dtype() == DType::Bool;
    u32::expanded(n, &if is_bool { cast(DType::U32, n, argument) } else { argument.clone() })
}

#[cfg(test)]
mod tests {
    use super::super::random_encodings::segments_of;
    use super::*;
    use crate::graph::scalar::Scalar;

    fn of_runs(ends: &[u32], values: Vec<u32>) -> Encoded<'static> {
        segments_of(ends, 0, u32::wrap(values.into()))
    }

    /// The results, and whether there is one per run.
    fn called(n: usize, arguments: &[Encoded<'_>]) -> (Vec<u32>, bool) {
        let (f, panic) = (Function::for_tests(), OnceLock::new());
        let results = call(&f, n, arguments, &panic);
        assert!(panic.get().is_none());
        let is_compressed = matches!(results, Encoded::Segments(..) | Encoded::Constant(_));
        (u32::expanded(n, &results).to_vec(), is_compressed)
    }

    #[test]
    fn common_runs_are_called_once_per_run() {
        let (x, y) = (of_runs(&[2, 5], vec![10, 20]), Encoded::Constant(Scalar::U32(3)));
        assert_eq!(called(5, &[x.clone(), y.clone()]), (vec![16, 16, 26, 26, 26], true));
        assert_eq!(called(5, &[x.clone(), of_runs(&[2, 5], vec![1, 2])]), (vec![12, 12, 24, 24, 24], true));
        assert!(called(6, &[of_runs(&[2, 6], vec![10, 20]), of_runs(&[4, 6], vec![1, 2])]).1);
        let dense = u32::wrap(vec![0, 1, 2, 3, 4].into());
        assert_eq!(called(5, &[x, dense]), (vec![10, 12, 24, 26, 28], false));
        assert_eq!(called(5, &[y.clone(), y]), (vec![9; 5], true));
    }

    #[test]
    fn values_of_empty_runs_are_no_arguments() {
        let (x, one) = (of_runs(&[0, 2, 2, 3], vec![7, 10, 8, 20]), Encoded::Constant(Scalar::U32(1)));
        assert_eq!(called(3, &[x, one]), (vec![12, 12, 22], false));
    }
}
