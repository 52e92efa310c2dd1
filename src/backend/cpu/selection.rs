//! Selections of a block's positions: restricting values to selected positions, and merging the results of two
//! branches.

use super::common_runs::{align, common_ends};
use super::encoding::{Encoded, Value};
use super::operand::Operand;
use super::run_encoding::{runs, sequences, sequences_or_runs};

/// Subset of a block's positions, in ascending order.
pub(crate) enum Selection {
    /// Half-open ranges of positions.
    Ranges(Vec<(u32, u32)>),
    /// Single positions.
    List(Vec<u32>),
}

impl Selection {
    /// Number of selected positions.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Ranges(r) => r.iter().map(|(from, to)| (to - from) as usize).sum(),
            Self::List(list) => list.len(),
        }
    }

    /// Upper bound on the number of selected parts of runs that end at `ends`.
    fn max_parts(&self, ends: &[u32]) -> usize {
        match self {
            Self::Ranges(ranges) => ranges.len() + ends.len(),
            Self::List(list) => list.len(),
        }
    }

    /// Calls `f` for each selected part of a run, with the run, the part's offset in the run, and the number of
    /// selected positions up to the part's end.
    #[inline(always)]
    fn for_each_part(&self, ends: &[u32], mut f: impl FnMut(usize, u32, u32)) {
        let (mut run, mut start) = (0, 0);
        match self {
            Self::Ranges(ranges) => {
                let mut end = 0;
                for &(mut from, to) in ranges {
                    while from < to {
                        while ends[run] <= from {
                            start = ends[run];
                            run += 1;
                        }
                        let next = ends[run].min(to);
                        end += next - from;
                        f(run, from - start, end);
                        from = next;
                    }
                }
            }
            Self::List(list) => {
                for (&from, end) in list.iter().zip(1..) {
                    while ends[run] <= from {
                        start = ends[run];
                        run += 1;
                    }
                    f(run, from - start, end);
                }
            }
        }
    }
}

/// Restricts values to the selected positions.
pub(crate) fn restrict<'a>(encoded: &Encoded<'a>, chosen: &Selection) -> Encoded<'a> {
    match encoded {
        Encoded::Constant(s) => Encoded::Constant(*s),
        Encoded::Runs(ends, values) => {
            let [mut cuts, mut of] = [(); 2].map(|()| Vec::with_capacity(chosen.max_parts(ends)));
            chosen.for_each_part(ends, |run, _, end| {
                of.push(run as u32);
                cuts.push(end);
            });
            runs(cuts.into(), values.gather(&of))
        }
        Encoded::Sequences(direction, ends, first) => {
            let [mut cuts, mut firsts] = [(); 2].map(|()| Vec::with_capacity(chosen.max_parts(ends)));
            chosen.for_each_part(ends, |run, skipped, end| {
                firsts.push(direction.after(first[run], skipped));
                cuts.push(end);
            });
            sequences(*direction, cuts.into(), firsts.into())
        }
        dense => match chosen {
            Selection::Ranges(ranges) => dense.gather_ranges(ranges),
            Selection::List(list) => dense.gather(list),
        },
    }
}

/// Merges the results of two branches over runs that end at `ends`: `a` where the run's flag is set, else `b`. Each
/// branch holds the values of its own positions only.
pub(crate) fn merge<'x>(ends: &[u32], at_a: Operand<'_, bool>, a: &Encoded<'_>, b: &Encoded<'_>) -> Encoded<'x> {
    let direction = match (a, b) {
        (Encoded::Constant(_) | Encoded::Runs(..), Encoded::Constant(_) | Encoded::Runs(..)) => None,
        (Encoded::Sequences(a, ..), Encoded::Sequences(b, ..)) if a == b => Some(*a),
        _ => return Encoded::merge_runs(ends, at_a, &a.dense(), &b.dense()),
    };
    /// Read position within the values of one branch.
    struct Cursor<'c> {
        ends: Option<&'c [u32]>,
        run: usize,
        at: u32,
        of: Vec<u32>,
        skipped: Vec<u32>,
    }
    let ends_of_runs = ends;
    let mut sides = [b, a].map(|encoded| {
        let ends = match encoded {
            Encoded::Runs(ends, _) | Encoded::Sequences(_, ends, _) => Some(&ends[..]),
            _ => None,
        };
        let most = ends.map_or(0, <[u32]>::len) + ends_of_runs.len();
        Cursor { ends, run: 0, at: 0, of: Vec::with_capacity(most), skipped: Vec::with_capacity(most) }
    });
    let most = sides.iter().map(|side| side.ends.map_or(0, <[u32]>::len)).sum::<usize>() + ends.len();
    let (mut cuts, mut flags) = (Vec::with_capacity(most), Vec::with_capacity(most));
    let mut start = 0;
    for (k, &end) in ends.iter().enumerate() {
        let flag = at_a.get(k);
        let side = &mut sides[usize::from(flag)];
        while start < end {
            let (run_end, run_start) = match side.ends {
                None => (u32::MAX, 0),
                Some(ends) => {
                    while ends[side.run] <= side.at {
                        side.run += 1;
                    }
                    (ends[side.run], side.run.checked_sub(1).map_or(0, |k| ends[k]))
                }
            };
            let len = (run_end - side.at).min(end - start);
            side.of.push(side.run as u32);
            side.skipped.push(side.at - run_start);
            side.at += len;
            start += len;
            cuts.push(start);
            flags.push(flag);
        }
    }
    let [b_side, a_side] = sides;
    let values = |encoded: &Encoded<'_>, side: &Cursor<'_>| -> Encoded<'x> {
        match encoded {
            Encoded::Runs(_, values) => values.gather(&side.of),
            Encoded::Sequences(direction, _, first) => {
                let moved = side.of.iter().zip(&side.skipped).map(|(&r, &s)| direction.after(first[r as usize], s));
                u32::wrap(moved.collect::<Vec<_>>().into())
            }
            same => same.gather(&[]),
        }
    };
    let out = Encoded::merge(cuts.len(), &flags, &values(a, &a_side), &values(b, &b_side));
    sequences_or_runs(direction, cuts.into(), out)
}

/// Blends two branches that were evaluated at all positions: `a` where the condition holds, else `b`. Blends per run if
/// no operand is dense and both branches have sequences of the same direction, or none.
pub(crate) fn blend<'x>(n: usize, condition: &Encoded<'x>, a: &Encoded<'x>, b: &Encoded<'x>) -> Encoded<'x> {
    if let (Some((ends_of_a, flags, a)), Some((ends_of_b, _, b))) = (align(condition, a), align(condition, b))
        && a.direction == b.direction
    {
        let ends = common_ends(&ends_of_a, &ends_of_b);
        let flags = flags.refined(&ends_of_a, &ends).dense();
        let (direction, a, b) =
            (a.direction, a.refined(&ends_of_a, &ends).dense(), b.refined(&ends_of_b, &ends).dense());
        let flags = bool::expanded(ends.len(), &flags.values);
        let values = Encoded::blend(ends.len(), &flags, &a.values, &b.values);
        return sequences_or_runs(direction, ends, values);
    }
    Encoded::blend(n, &bool::expanded(n, &condition.dense()), &a.dense(), &b.dense())
}

#[cfg(test)]
mod tests {
    use super::super::random_encodings::{Random, dense};
    use super::*;

    #[test]
    fn merging_inverts_restricting() {
        let mut random = Random(3);
        for _ in 0..3000 {
            let n = 1 + random.below(300);
            let (a, b) = (random.encoded(n), random.encoded(n));
            let ends = random.ends(n);
            let flags: Vec<bool> = (0..ends.len()).map(|_| random.below(2) == 0).collect();
            let of_lane: Vec<bool> = (0..n).map(|k| flags[ends.partition_point(|&e| e <= k)]).collect();
            let side = |want: bool| {
                let mut start = 0;
                let mut ranges = Vec::new();
                for (&end, &flag) in ends.iter().zip(&flags) {
                    if flag == want {
                        ranges.push((start, end));
                    }
                    start = end;
                }
                let list: Vec<u32> = (0..n).filter(|&k| of_lane[k as usize] == want).collect();
                (Selection::Ranges(ranges), Selection::List(list))
            };
            let ((in_a, list_a), (in_b, list_b)) = (side(true), side(false));
            if in_a.len() == 0 || in_b.len() == 0 {
                continue;
            }
            let (x, y) = (restrict(&a, &in_a), restrict(&b, &in_b));
            assert_eq!(dense(in_a.len() as u32, &x), dense(in_a.len() as u32, &restrict(&a, &list_a)));
            assert_eq!(dense(in_b.len() as u32, &y), dense(in_b.len() as u32, &restrict(&b, &list_b)));
            let expected = Encoded::blend(n as usize, &of_lane, &a.dense(), &b.dense());
            let condition = Encoded::Runs(ends.clone(), bool::wrap(flags.clone().into()).into());
            for got in [merge(&ends, Operand::Dense(&flags), &x, &y), blend(n as usize, &condition, &a, &b)] {
                assert_eq!(dense(n, &got), dense(n, &expected), "{a:?} and {b:?}");
            }
        }
    }
}
