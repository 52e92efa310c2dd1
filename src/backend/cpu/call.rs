//! Calls of the user's functions, one per block.

use std::rc::Rc;
use std::sync::OnceLock;

use super::encoding::{Encoded, Ends, word};
use super::operand::Operand;
use super::run_encoding;
use crate::dtype::DType;
use crate::error::Error;
use crate::graph::function::Function;

/// The function's results at `n` positions. If all arguments are constant, or constant in the same runs, the function
/// is called once per run. The first panic is recorded in `panic`; results are 0 then.
pub(super) fn call<'x>(
    function: &Function,
    n: usize,
    arguments: &[Encoded<'_>],
    panic: &OnceLock<Error>,
) -> Encoded<'x> {
    if arguments.iter().all(|a| matches!(a, Encoded::Constant(_))) {
        return Encoded::Constant(dense(function, 1, arguments, panic).get(0));
    }
    match common_runs(arguments) {
        Some(ends) => {
            let of_runs: Vec<Encoded<'_>> = arguments.iter().map(of_runs).collect();
            run_encoding::runs(ends.clone(), dense(function, ends.len(), &of_runs, panic))
        }
        None => dense(function, n, arguments, panic),
    }
}

/// The ends of the runs, if every argument is constant in each of the same runs. The value of an empty run is arbitrary
/// and no argument of the function, so that no run may be empty.
fn common_runs<'e>(arguments: &'e [Encoded<'_>]) -> Option<&'e Ends> {
    let ends = |a: &'e Encoded<'_>| if let Encoded::Runs(ends, _) = a { Some(ends) } else { None };
    let first = arguments.iter().find_map(ends)?;
    let is_common = |a| matches!(a, &Encoded::Constant(_)) || ends(a).is_some_and(|ends| Rc::ptr_eq(ends, first));
    let has_empty = run_encoding::lens(first).contains(&0);
    (arguments.iter().all(is_common) && !has_empty).then_some(first)
}

/// One value per run.
fn of_runs<'e>(argument: &Encoded<'e>) -> Encoded<'e> {
    match argument {
        Encoded::Runs(_, values) => (**values).clone(),
        other => other.clone(),
    }
}

/// The results for one value per position.
fn dense<'x>(function: &Function, n: usize, arguments: &[Encoded<'_>], panic: &OnceLock<Error>) -> Encoded<'x> {
    let arguments: Vec<Encoded<'_>> = arguments.iter().map(Encoded::dense).collect();
    let owned: Vec<Option<Vec<u32>>> = arguments.iter().map(|a| converted(n, a)).collect();
    let words = |(a, owned)| match (owned, a) {
        (Some(words), _) => words,
        (None, a) => borrowed(a),
    };
    let words: Vec<&[u32]> =
        arguments.iter().zip(owned.iter().map(Option::as_deref)).map(words).map(|words: &[u32]| &words[..n]).collect();
    let mut results = vec![0; n];
    if let Err(e) = function.apply(&words, &mut results) {
        results.fill(0);
        // Another block may have panicked first.
        let _ = panic.set(e);
    }
    match function.result() {
        DType::Bool => Encoded::Bool(results.into_iter().map(|w| w != 0).collect::<Vec<_>>().into()),
        dtype => Encoded::of_words(dtype, results),
    }
}

/// The words of a constant or of bools, which are no words in memory.
fn converted(n: usize, argument: &Encoded<'_>) -> Option<Vec<u32>> {
    match argument {
        Encoded::Constant(s) if s.dtype() == DType::Bool => Some(vec![u32::from(word::<u8>(*s)); n]),
        Encoded::Constant(s) => Some(vec![word(*s); n]),
        Encoded::Bool(flags) => Some(flags.iter().map(|&flag| u32::from(flag)).collect()),
        _ => None,
    }
}

/// The words of dense values of 32 bits.
fn borrowed<'e>(argument: &'e Encoded<'_>) -> &'e [u32] {
    match argument.words() {
        Operand::Dense(words) => words,
        Operand::Constant(_) => unreachable!("bug: a constant is converted"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::encoding::Value;
    use super::*;
    use crate::graph::scalar::Scalar;

    fn of_runs(ends: &Ends, values: Vec<u32>) -> Encoded<'static> {
        Encoded::Runs(ends.clone(), Rc::new(u32::wrap(values.into())))
    }

    /// The results, and whether there is one per run.
    fn called(n: usize, arguments: &[Encoded<'_>]) -> (Vec<u32>, bool) {
        let (f, panic) = (Function::for_tests(), OnceLock::new());
        let results = call(&f, n, arguments, &panic);
        assert!(panic.get().is_none());
        let is_compressed = matches!(results, Encoded::Runs(..) | Encoded::Constant(_));
        (u32::expanded(n, &results.dense()).to_vec(), is_compressed)
    }

    #[test]
    fn common_runs_are_called_once_per_run() {
        let (ends, same_ends): (Ends, Ends) = (vec![2, 5].into(), vec![2, 5].into());
        let (x, y) = (of_runs(&ends, vec![10, 20]), Encoded::Constant(Scalar::U32(3)));
        assert_eq!(called(5, &[x.clone(), y.clone()]), (vec![16, 16, 26, 26, 26], true));
        assert_eq!(called(5, &[x.clone(), of_runs(&ends, vec![1, 2])]), (vec![12, 12, 24, 24, 24], true));
        assert_eq!(called(5, &[x.clone(), of_runs(&same_ends, vec![1, 2])]), (vec![12, 12, 24, 24, 24], false));
        let dense = u32::wrap(vec![0, 1, 2, 3, 4].into());
        assert_eq!(called(5, &[x, dense]), (vec![10, 12, 24, 26, 28], false));
        assert_eq!(called(5, &[y.clone(), y]), (vec![9; 5], true));
    }

    #[test]
    fn values_of_empty_runs_are_no_arguments() {
        let ends: Ends = vec![0, 2, 2, 3].into();
        let (x, one) = (of_runs(&ends, vec![7, 10, 8, 20]), Encoded::Constant(Scalar::U32(1)));
        assert_eq!(called(3, &[x, one]), (vec![12, 12, 22], false));
    }
}
