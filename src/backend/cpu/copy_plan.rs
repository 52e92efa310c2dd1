//! Selections of copy sources: trees of `select`s, flattened to a list of sources per run.

use std::rc::Rc;

use super::array::ArrayElement;
use super::common_runs;
use super::copy_sources::{CopyPart, CopySource, Forward, Repeat};
use super::encoding::{Direction, Ends};
use super::output_writer::{OutputWriter, STEP};
use super::run_arithmetic::RunPrefixes;
use super::simd::{self, Loop};

/// A copy source, or a selection between two.
pub(super) enum CopyTree<'a, S> {
    Leaf(CopySource<'a, S>),
    /// The first subtree in the prefix of each run, the second one in the rest.
    Split(RunPrefixes, Box<[Self; 2]>),
}

/// A flattened selection: each run takes positions from several sources, one source after the other.
pub(super) struct CopyPlan<'a, S> {
    ends: Ends,
    /// For each source but the last, and for each run, the offset in the run at which the next source begins.
    cuts: Vec<Rc<Vec<u32>>>,
    /// The sources. Those that are runs end at `ends`.
    sources: Vec<CopySource<'a, S>>,
}

impl<S> CopyTree<'_, S> {
    /// Common refinement of the runs of all sources and prefixes. `None` if there are none.
    fn common_ends(&self, known: Option<Ends>) -> Option<Ends> {
        let with = |known: Option<Ends>, ends: &Ends| match known {
            Some(known) => Some(common_runs::common_ends(&known, ends)),
            None => Some(ends.clone()),
        };
        match self {
            Self::Leaf(CopySource::Runs(runs)) => with(known, &runs.ends),
            Self::Leaf(_) => known,
            Self::Split(prefixes, sources) => {
                sources.iter().fold(with(known, &prefixes.ends), |known, side| side.common_ends(known))
            }
        }
    }
}

/// Clamps numbers to optional lower and upper bounds, element by element.
struct Clamp<'l>(&'l mut [u32], Option<&'l [u32]>, Option<&'l [u32]>);

impl Loop for Clamp<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(numbers, low, high) = self;
        for (number, &low) in numbers.iter_mut().zip(low.unwrap_or_default()) {
            *number = low.max(*number);
        }
        for (number, &high) in numbers.iter_mut().zip(high.unwrap_or_default()) {
            *number = high.min(*number);
        }
    }
}

impl<'a, S: ArrayElement> CopyPlan<'a, S> {
    /// Flattens a selection between more than one source.
    pub(super) fn new(tree: CopyTree<'a, S>) -> Self {
        let ends = tree.common_ends(None).expect("bug: a plan without runs");
        let mut out = Self { ends, cuts: Vec::new(), sources: Vec::new() };
        out.add(tree, [None, None]);
        out
    }

    /// Adds the sources for the positions of each run between the cuts `from` and `to`.
    fn add(&mut self, tree: CopyTree<'a, S>, [from, to]: [Option<&[u32]>; 2]) {
        match tree {
            CopyTree::Leaf(source) => {
                self.sources.push(match source {
                    CopySource::Runs(runs) => CopySource::Runs(runs.refined(&self.ends)),
                    same => same,
                });
            }
            CopyTree::Split(RunPrefixes { ends, mut lens, .. }, sources) => {
                if ends != self.ends {
                    let parts = common_runs::containing_runs(&ends, &self.ends);
                    lens = parts.map(|(run, skipped)| lens[run].saturating_sub(skipped)).collect();
                }
                simd::run(Clamp(&mut lens, from, to));
                let ([prefix, rest], cut) = (*sources, Rc::new(lens));
                self.add(prefix, [from, Some(&cut)]);
                self.cuts.push(cut.clone());
                self.add(rest, [Some(&cut), to]);
            }
        }
    }

    /// Stores all values.
    pub(super) fn copy(&self, out: OutputWriter<&mut [S]>) {
        debug_assert_eq!(self.ends.last().map(|&n| n as usize), Some(out.room()), "a block of another length");
        let Self { ends, cuts, sources } = self;
        // Loops specialized for concatenations and paddings avoid a match on the source per run.
        match (&cuts[..], &sources[..]) {
            ([prefixes], [CopySource::Runs(prefix), CopySource::Runs(rest)])
                if [prefix.direction, rest.direction] == [Direction::Ascending; 2] =>
            {
                // Where runs have at most two steps on average, few are longer.
                if ends.last().is_some_and(|&n| n as usize <= 2 * ends.len() * STEP) {
                    let (prefix, rest) = (&Forward::<_, 2>(prefix), &Forward::<_, 2>(rest));
                    simd::run(CopyTwo { ends, prefixes, prefix, rest, out });
                } else {
                    let (prefix, rest) = (&Forward::<_, 4>(prefix), &Forward::<_, 4>(rest));
                    simd::run(CopyTwo { ends, prefixes, prefix, rest, out });
                }
            }
            ([prefixes], [CopySource::Runs(prefix), CopySource::Constant(rest)])
                if prefix.direction == Direction::Ascending =>
            {
                simd::run(CopyTwo { ends, prefixes, prefix: &Forward::<_, 4>(prefix), rest: &Repeat(*rest), out });
            }
            ([prefixes], [prefix, rest]) => simd::run(CopyTwo { ends, prefixes, prefix, rest, out }),
            _ => simd::run(CopyMany { ends, cuts, sources, out }),
        }
    }

    /// Whether all sources are run-length encoded.
    pub(super) fn is_in_runs(&self) -> bool {
        self.sources.iter().all(CopySource::is_in_runs)
    }
}

/// Copies a selection between two sources, for all runs.
struct CopyTwo<'l, 'o, S, A, B> {
    ends: &'l [u32],
    prefixes: &'l [u32],
    prefix: &'l A,
    rest: &'l B,
    out: OutputWriter<&'o mut [S]>,
}

impl<S: ArrayElement, A: CopyPart<S>, B: CopyPart<S>> Loop for CopyTwo<'_, '_, S, A, B> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { ends, prefixes, prefix, rest, mut out } = self;
        let mut start = 0;
        for (run, (&end, &len)) in ends.iter().zip(prefixes).enumerate() {
            let len = len.min(end - start);
            prefix.take(run, 0, start, start + len, &mut out);
            rest.take(run, len, start + len, end, &mut out);
            start = end;
        }
    }
}

/// Copies a selection between any number of sources, for all runs.
struct CopyMany<'l, 'a, 'o, S> {
    ends: &'l [u32],
    cuts: &'l [Rc<Vec<u32>>],
    sources: &'l [CopySource<'a, S>],
    out: OutputWriter<&'o mut [S]>,
}

impl<S: ArrayElement> Loop for CopyMany<'_, '_, '_, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { ends, cuts, sources, mut out } = self;
        let Some((last, sources)) = sources.split_last() else { return };
        let mut start = 0;
        for (run, &end) in ends.iter().enumerate() {
            let mut at = start;
            for (side, cuts) in sources.iter().zip(cuts) {
                let to = end.min(start + cuts[run]);
                if to > at {
                    side.take(run, at - start, at, to, &mut out);
                    at = to;
                }
            }
            if end > at {
                last.take(run, at - start, at, end, &mut out);
            }
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::copy_sources::ElementRuns;
    use super::super::random_encodings::Random;
    use super::*;

    /// A random source and its values at `n` positions.
    fn source<'a>(random: &mut Random, n: u32, from: &'a [u16]) -> (CopySource<'a, u16>, Vec<u16>) {
        let near = |random: &mut Random| match random.below(8) {
            0 => u32::MAX - random.below(50),
            1 => from.len() as u32 - random.below(50),
            _ => random.below(from.len() as u32),
        };
        let value = |at: u32| from[(at as usize).min(from.len() - 1)];
        match random.below(4) {
            0 => {
                let value = random.below(1000) as u16;
                (CopySource::Constant(value), vec![value; n as usize])
            }
            1 => {
                let at: Vec<u32> = (0..n).map(|_| near(random)).collect();
                let values = at.iter().map(|&at| value(at)).collect();
                (CopySource::Gather { from, at: at.into() }, values)
            }
            _ => {
                let ends = random.ends(n);
                let firsts: Vec<u32> = ends.iter().map(|_| near(random)).collect();
                let (mut values, mut start, direction) =
                    (Vec::new(), 0, [Direction::Ascending, Direction::Descending][random.below(2) as usize]);
                for (&end, first) in ends.iter().zip(&firsts) {
                    values.extend((0..end - start).map(|k| value(direction.after(*first, k))));
                    start = end;
                }
                let scattered = random.below(2) == 0;
                (CopySource::Runs(ElementRuns { from, ends, firsts: firsts.into(), direction, scattered }), values)
            }
        }
    }

    /// A random selection of sources and its values at `n` positions.
    fn random_tree<'a>(random: &mut Random, n: u32, depth: u32, from: &'a [u16]) -> (CopyTree<'a, u16>, Vec<u16>) {
        if depth == 0 {
            let (source, values) = source(random, n, from);
            return (CopyTree::Leaf(source), values);
        }
        let [a, b] = [(); 2].map(|()| random.below(depth));
        let ((a, in_a), (b, in_b)) = (random_tree(random, n, a, from), random_tree(random, n, b, from));
        let ends = match &a {
            CopyTree::Leaf(CopySource::Runs(runs)) if random.below(2) == 0 => runs.ends.clone(),
            _ => random.ends(n),
        };
        let (mut lens, mut values, mut start) = (Vec::new(), Vec::new(), 0);
        for &end in ends.iter() {
            // Often the whole run, or nothing.
            lens.push(random.below(2 * (end - start) + 2).saturating_sub((end - start) / 2).min(end - start));
            let cut = (start + lens[lens.len() - 1]) as usize;
            values.extend_from_slice(&in_a[start as usize..cut]);
            values.extend_from_slice(&in_b[cut..end as usize]);
            start = end;
        }
        (CopyTree::Split(RunPrefixes { ends, lens, hold: true }, Box::new([a, b])), values)
    }

    #[test]
    fn every_position_has_the_value_of_its_source() {
        let mut random = Random(5);
        let from: Vec<u16> = (0..400).map(|k| 1000 + k).collect();
        for turn in 0..6000 {
            let n = 1 + random.below(300);
            let mut out = vec![0; n as usize];
            match random_tree(&mut random, n, turn % 4, &from) {
                (CopyTree::Leaf(source), expected) => {
                    source.copy(n, OutputWriter::of(&mut out));
                    assert_eq!(out, expected);
                }
                (tree, expected) => {
                    CopyPlan::new(tree).copy(OutputWriter::of(&mut out));
                    assert_eq!(out, expected);
                }
            }
        }
    }
}
