//! Alignment of two operands to common runs: within each run, an operand is one value or one sequence.

use super::encoding::{Direction, Encoded, Ends, Value};
use super::operand::Operand;
use crate::graph::scalar::Scalar;

/// Ends of the common runs: each run lies within one run of `a` and one of `b`.
pub(super) fn common_ends(a: &Ends, b: &Ends) -> Ends {
    if a == b {
        return a.clone();
    }
    let mut ends = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let end = a[i].min(b[j]);
        ends.push(end);
        i += usize::from(a[i] == end);
        j += usize::from(b[j] == end);
    }
    // Shares a list that already contains all ends: later comparisons of `Rc`s of the same list take constant time.
    if ends == a[..] {
        a.clone()
    } else if ends == b[..] {
        b.clone()
    } else {
        ends.into()
    }
}

/// For each run of `ends`, which refine the runs that end at `around`: the containing run of `around`, and the offset
/// in that run.
pub(super) fn containing_runs<'e>(around: &'e [u32], ends: &'e [u32]) -> impl Iterator<Item = (usize, u32)> + 'e {
    let (mut run, mut start, mut run_start) = (0, 0, 0);
    ends.iter().map(move |&end| {
        while around[run] <= start && run + 1 < around.len() {
            run_start = around[run];
            run += 1;
        }
        let skipped = start - run_start;
        start = end;
        (run, skipped)
    })
}

/// One operand over common runs.
pub(super) struct RunOperand<'a> {
    /// One value per run, or one for all. For sequences, the first value.
    pub(super) values: Encoded<'a>,
    /// Direction of sequences; `None` for constant runs.
    pub(super) direction: Option<Direction>,
}

impl<'a> RunOperand<'a> {
    fn new(encoded: &Encoded<'a>) -> Option<(Option<Ends>, Self)> {
        let (ends, values, direction) = match encoded {
            Encoded::Constant(s) => (None, Encoded::Constant(*s), None),
            Encoded::Runs(ends, values) => (Some(ends.clone()), (**values).clone(), None),
            Encoded::Sequences(direction, ends, first) => {
                (Some(ends.clone()), u32::wrap(first.clone()), Some(*direction))
            }
            _ => return None,
        };
        Some((ends, Self { values, direction }))
    }

    /// Refines the operand from the runs `before` to the runs `ends`.
    pub(super) fn refined(self, before: &Ends, ends: &Ends) -> Self {
        if before == ends {
            return self;
        }
        let parts = containing_runs(before, ends);
        let values = match self.direction {
            Some(direction) => {
                let values = self.values.dense();
                let first = u32::operand(&values);
                u32::wrap(
                    parts.map(|(run, skipped)| direction.after(first.get(run), skipped)).collect::<Vec<_>>().into(),
                )
            }
            None => self.values.gather(&parts.map(|(run, _)| run as u32).collect::<Vec<_>>()),
        };
        Self { values, ..self }
    }

    /// Splits an operand of one run into the runs `ends`.
    fn split(self, ends: &[u32]) -> Self {
        match (self.values.get(0), self.direction) {
            (Scalar::U32(first), Some(direction)) => {
                let mut values = Vec::with_capacity(ends.len());
                values.push(first);
                values.extend(ends[..ends.len() - 1].iter().map(|&start| direction.after(first, start)));
                Self { values: u32::wrap(values.into()), ..self }
            }
            (same, _) => Self { values: Encoded::Constant(same), direction: None },
        }
    }

    /// Makes the values dense: one per run, or one for all.
    pub(super) fn dense(self) -> Self {
        Self { values: self.values.dense(), ..self }
    }

    pub(super) fn numbers(&self) -> Operand<'_, u32> {
        u32::operand(&self.values)
    }
}

/// Both operands over common runs, if neither is dense and at least one has runs.
pub(super) fn align<'a>(a: &Encoded<'a>, b: &Encoded<'a>) -> Option<(Ends, RunOperand<'a>, RunOperand<'a>)> {
    let ((e, a), (f, b)) = (RunOperand::new(a)?, RunOperand::new(b)?);
    Some(match (e, f) {
        (None, None) => return None,
        (Some(ends), None) | (None, Some(ends)) => (ends, a, b),
        // One operand is a single run, such as consecutive positions; the other has a run per row.
        (Some(e), Some(f)) if e.len() == 1 => (f.clone(), a.split(&f), b),
        (Some(e), Some(f)) if f.len() == 1 => (e.clone(), a, b.split(&e)),
        (Some(e), Some(f)) => {
            let ends = common_ends(&e, &f);
            let (a, b) = (a.refined(&e, &ends), b.refined(&f, &ends));
            (ends, a, b)
        }
    })
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn common_runs_end_where_either_does() {
        let common = |a: &[u32], b: &[u32]| common_ends(&a.to_vec().into(), &b.to_vec().into()).to_vec();
        assert_eq!(common(&[3, 5], &[2, 3, 5]), [2, 3, 5]);
        assert_eq!(common(&[1, 3, 5], &[2, 5]), [1, 2, 3, 5]);
        // The result has as many runs as the first list, but without its empty last run.
        assert_eq!(common(&[3, 5, 5], &[2, 3, 5]), [2, 3, 5]);
        assert_eq!(common(&[3, 3, 5], &[3, 5]), [3, 3, 5]);
    }

    #[test]
    fn the_finer_list_of_ends_is_shared() {
        let (fine, coarse): (Ends, Ends) = (vec![2, 3, 5].into(), vec![3, 5].into());
        for common in [common_ends(&fine, &coarse), common_ends(&coarse, &fine)] {
            assert!(Rc::ptr_eq(&common, &fine));
        }
    }
}
