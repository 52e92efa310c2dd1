//! Arithmetic on runs of positions: what depends on the row alone is worked out once a row, and positions that follow
//! each other are known by where they begin.
//!
//! The results are those of the loops in `operations` at every position, since these loops are what computes them: here
//! is decided only for how many lanes.

use std::ops::Range;
use std::rc::Rc;

use super::lanes::{Ends, Lane, Lanes, Many, Operand};
use super::number::Number;
use super::operations;
use crate::graph::opcode::BinaryOp;
use crate::graph::scalar::Scalar;

/// Runs shorter than this on average cost more than the lanes in them.
pub(super) const WORTHWHILE: usize = 2;

/// Runs longer than this on average are worth a loop each.
const LONG: usize = 48;

/// Runs with a value each, which are dense or one ramp afterwards; dense where the runs are too short to help.
pub(crate) fn runs<'a>(ends: Ends, values: Lanes<'a>) -> Lanes<'a> {
    let values = match values {
        Lanes::One(same) => return Lanes::One(same),
        Lanes::Bool(flags) if flags.iter().all(|&f| f == flags[0]) => return Lanes::One(Scalar::Bool(flags[0])),
        Lanes::Ramps(ref ends, _) if ends.len() == 1 => values,
        _ => values.dense(),
    };
    let short = are_short(&ends);
    let out = Lanes::Runs(ends, Rc::new(values));
    if short { out.dense() } else { out }
}

/// Ramps; dense where they are too short to help.
pub(super) fn ramps<'a>(ends: Ends, first: Many<'a, u32>) -> Lanes<'a> {
    let short = are_short(&ends);
    let out = Lanes::Ramps(ends, first);
    if short { out.dense() } else { out }
}

/// Ramps downwards, likewise.
pub(super) fn falls<'a>(ends: Ends, first: Many<'a, u32>) -> Lanes<'a> {
    let short = are_short(&ends);
    let out = Lanes::Falls(ends, first);
    if short { out.dense() } else { out }
}

/// Whether the lanes in the runs cost less than these.
fn are_short(ends: &[u32]) -> bool {
    ends.last().is_some_and(|&n| (n as usize) < WORTHWHILE * ends.len())
}

/// The runs in which both are simple.
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
    ends.into()
}

/// For each of the runs that end at `ends`, each of which lies in one of those that end at `around`: which, and how
/// many positions of that one come before.
pub(super) fn parts<'e>(around: &'e [u32], ends: &'e [u32]) -> impl Iterator<Item = (usize, u32)> + 'e {
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

/// How values go from position to position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slope {
    /// They stay.
    Flat,
    /// They grow by one.
    Up,
    /// They shrink by one.
    Down,
}

impl Slope {
    /// The value so many positions after one.
    fn after(self, value: u32, skipped: u32) -> u32 {
        match self {
            Self::Flat => value,
            Self::Up => value.wrapping_add(skipped),
            Self::Down => value.wrapping_sub(skipped),
        }
    }

    /// Of the difference to a number that stays, subtracted from it.
    fn negated(self) -> Self {
        match self {
            Self::Flat => Self::Flat,
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }

    /// Lanes of runs that begin with these values.
    pub(super) fn over<'a>(self, ends: Ends, first: Lanes<'a>) -> Lanes<'a> {
        let firsts = |first: &Lanes<'a>| u32::many(ends.len(), &first.dense());
        match self {
            Self::Flat => runs(ends, first),
            Self::Up => ramps(ends.clone(), firsts(&first)),
            Self::Down => falls(ends.clone(), firsts(&first)),
        }
    }
}

/// One operand over common runs.
pub(super) struct Side<'a> {
    /// A value a run, or one for all; where they change the first.
    pub(super) values: Lanes<'a>,
    pub(super) slope: Slope,
}

impl<'a> Side<'a> {
    fn new(lanes: &Lanes<'a>) -> Option<(Option<Ends>, Self)> {
        Some(match lanes {
            Lanes::One(s) => (None, Self { values: Lanes::One(*s), slope: Slope::Flat }),
            Lanes::Runs(ends, values) => (Some(ends.clone()), Self { values: (**values).clone(), slope: Slope::Flat }),
            Lanes::Ramps(ends, first) => {
                (Some(ends.clone()), Self { values: u32::wrap(first.clone()), slope: Slope::Up })
            }
            Lanes::Falls(ends, first) => {
                (Some(ends.clone()), Self { values: u32::wrap(first.clone()), slope: Slope::Down })
            }
            _ => return None,
        })
    }

    /// Over smaller runs.
    pub(super) fn refined(self, before: &Ends, ends: &Ends) -> Self {
        if before == ends {
            return self;
        }
        let (of, skipped): (Vec<u32>, Vec<u32>) =
            parts(before, ends).map(|(run, skipped)| (run as u32, skipped)).unzip();
        let mut values = self.values.pick(&of);
        if self.slope != Slope::Flat {
            let first = u32::operand(&values);
            let moved = skipped.iter().enumerate().map(|(k, &skipped)| self.slope.after(first.get(k), skipped));
            values = u32::wrap(moved.collect::<Vec<_>>().into());
        }
        Self { values, slope: self.slope }
    }

    /// One run that is now these ones.
    fn cut(self, ends: &[u32]) -> Self {
        let value = self.values.get(0);
        match value {
            Scalar::U32(first) if self.slope != Slope::Flat => {
                let mut values = Vec::with_capacity(ends.len());
                values.push(first);
                values.extend(ends[..ends.len() - 1].iter().map(|&start| self.slope.after(first, start)));
                Self { values: u32::wrap(values.into()), slope: self.slope }
            }
            same => Self { values: Lanes::One(same), slope: Slope::Flat },
        }
    }

    /// With a value a run that can be looked at, or one for all.
    pub(super) fn dense(self) -> Self {
        Self { values: self.values.dense(), ..self }
    }

    fn numbers(&self) -> Operand<'_, u32> {
        u32::operand(&self.values)
    }
}

/// Both operands over common runs, if both are simple and one has runs at all.
pub(super) fn common<'a>(a: &Lanes<'a>, b: &Lanes<'a>) -> Option<(Ends, Side<'a>, Side<'a>)> {
    let ((e, a), (f, b)) = (Side::new(a)?, Side::new(b)?);
    Some(match (e, f) {
        (None, None) => return None,
        (Some(ends), None) | (None, Some(ends)) => (ends, a, b),
        // A block of positions that follow each other, beside what is known row by row.
        (Some(e), Some(f)) if e.len() == 1 => (f.clone(), a.cut(&f), b),
        (Some(e), Some(f)) if f.len() == 1 => (e.clone(), a, b.cut(&e)),
        (Some(e), Some(f)) => {
            let ends = common_ends(&e, &f);
            let (a, b) = (a.refined(&e, &ends), b.refined(&f, &ends));
            (ends, a, b)
        }
    })
}

/// How many positions each run has.
pub(super) fn lens(ends: &[u32]) -> Vec<u32> {
    let Some((first, rest)) = ends.split_first() else { return Vec::new() };
    let mut lens = Vec::with_capacity(ends.len());
    lens.push(*first);
    lens.extend(ends.iter().zip(rest).map(|(start, end)| end - start));
    lens
}

/// Whether no ramp passes the greatest u32.
pub(super) fn rises(ends: &[u32], first: Operand<'_, u32>) -> bool {
    let rises = |first: u32, len: u32| first.checked_add(len.saturating_sub(1)).is_some();
    match (first, ends) {
        (_, &[n]) => rises(first.get(0), n),
        (Operand::One(first), _) => lens(ends).iter().all(|&len| rises(first, len)),
        // All are looked at: a loop that may end early is not turned into vector code.
        (Operand::Many(first), _) => {
            first.iter().zip(&lens(ends)).fold(true, |all, (&first, &len)| all & rises(first, len))
        }
    }
}

/// `a op b` at `n` positions.
pub(crate) fn binary<'a>(op: BinaryOp, n: usize, a: &Lanes<'a>, b: &Lanes<'a>) -> Lanes<'a> {
    if let (Lanes::One(_), Lanes::One(_)) = (a, b) {
        return Lanes::One(operations::binary(op, 1, a, b).get(0));
    }
    if let Some((ends, a, b)) = common(a, b) {
        if (a.slope, b.slope) == (Slope::Flat, Slope::Flat) {
            let values = binary(op, ends.len(), &a.values, &b.values);
            return runs(ends, values);
        }
        if let Some(done) = ramp(op, &ends, &a.dense(), &b.dense()) {
            return done;
        }
    }
    operations::binary(op, n, &a.dense(), &b.dense())
}

/// Stores `a op b` at as many positions as there is room for. Returns false, and does nothing, if the operation is not
/// arithmetic, or if there is no operand with a value a position.
pub(crate) fn store<T: Number>(op: BinaryOp, a: &Lanes<'_>, b: &Lanes<'_>, out: &mut [T]) -> bool {
    let is_simple =
        |lanes: &Lanes<'_>| matches!(lanes, Lanes::One(_) | Lanes::Runs(..) | Lanes::Ramps(..) | Lanes::Falls(..));
    match (a, b) {
        _ if is_simple(a) && is_simple(b) => false,
        (many, Lanes::Runs(ends, values)) if are_long(ends) => {
            let values = values.dense();
            let (many, values) = (T::operand(many), T::operand(&values));
            by_runs(ends, out, |k, range, out| operations::store_arithmetic(op, many.part(range), values.one(k), out))
        }
        (Lanes::Runs(ends, values), many) if are_long(ends) => {
            let values = values.dense();
            let (many, values) = (T::operand(many), T::operand(&values));
            by_runs(ends, out, |k, range, out| operations::store_arithmetic(op, values.one(k), many.part(range), out))
        }
        _ => {
            let (a, b) = (a.dense(), b.dense());
            operations::store_arithmetic(op, T::operand(&a), T::operand(&b), out)
        }
    }
}

/// Whether a loop a run costs less than a value a position.
fn are_long(ends: &[u32]) -> bool {
    ends.last().is_some_and(|&n| n as usize >= LONG * ends.len())
}

/// Stores run by run, while `f` does.
fn by_runs<T>(ends: &[u32], out: &mut [T], f: impl Fn(usize, Range<usize>, &mut [T]) -> bool) -> bool {
    let mut start = 0;
    ends.iter().enumerate().all(|(k, &end)| {
        let range = start..end as usize;
        start = end as usize;
        f(k, range.clone(), &mut out[range])
    })
}

/// What is still simple of a ramp, upwards or downwards, and another operand.
fn ramp<'a>(op: BinaryOp, ends: &Ends, a: &Side<'a>, b: &Side<'a>) -> Option<Lanes<'a>> {
    let (x, y) = (a.numbers(), b.numbers());
    let each = |slope: Slope| Some(slope.over(ends.clone(), operations::binary(op, ends.len(), &a.values, &b.values)));
    match (op, a.slope, b.slope) {
        (BinaryOp::Add, slope, Slope::Flat) | (BinaryOp::Add, Slope::Flat, slope) => each(slope),
        (BinaryOp::Sub, slope, Slope::Flat) => each(slope),
        (BinaryOp::Sub, Slope::Flat, slope) => each(slope.negated()),
        (BinaryOp::Sub, a, b) if a == b => each(Slope::Flat),
        (BinaryOp::Min, Slope::Up, Slope::Flat) if rises(ends, x) => {
            let within = |(k, &len): (usize, &u32)| len == 0 || x.get(k) + (len - 1) <= y.get(k);
            lens(ends).iter().enumerate().all(within).then(|| Slope::Up.over(ends.clone(), a.values.clone()))
        }
        (_, Slope::Down, _) | (_, _, Slope::Down) => None,
        (BinaryOp::Lt | BinaryOp::Le, up_a, up_b) => {
            if up_a == Slope::Up && !rises(ends, x) || up_b == Slope::Up && !rises(ends, y) {
                return None;
            }
            if up_a == up_b { each(Slope::Flat) } else { Some(compare(op, ends, a, b).flags()) }
        }
        (BinaryOp::IndexDiv | BinaryOp::IndexRem, Slope::Up, _) if rises(ends, x) => match b.values {
            Lanes::One(Scalar::U32(by)) if by > 0 => Some(divide(op, ends, x, by)),
            _ => None,
        },
        _ => None,
    }
}

/// Runs in which a condition changes at most once.
pub(super) struct Fronts {
    pub(super) ends: Ends,
    /// For each run at how many of its positions, from its start on, the condition is what it is in the front.
    pub(super) lens: Vec<u32>,
    /// Whether it holds there, and not in the rest; or the other way round.
    pub(super) hold: bool,
}

/// Where `a op b` holds, if that is a comparison of a ramp with a number a run.
pub(super) fn fronts<'a>(op: BinaryOp, a: &Lanes<'a>, b: &Lanes<'a>) -> Option<Fronts> {
    let is_order = matches!(op, BinaryOp::Lt | BinaryOp::Le);
    let (ends, a, b) = is_order.then(|| common(a, b))??;
    let (a, b) = (a.dense(), b.dense());
    let ramp = match (a.slope, b.slope) {
        (Slope::Up, Slope::Flat) => &a,
        (Slope::Flat, Slope::Up) => &b,
        _ => return None,
    };
    rises(&ends, ramp.numbers()).then(|| compare(op, &ends, &a, &b))
}

/// A comparison of a ramp that does not wrap with a number a run.
fn compare(op: BinaryOp, ends: &Ends, a: &Side<'_>, b: &Side<'_>) -> Fronts {
    let is_left = a.slope == Slope::Up;
    let (ramp, bound) = if is_left { (a, b) } else { (b, a) };
    // Of `first, first + 1, …` so many are below the bound, or at most the bound.
    let at_most = is_left == (op == BinaryOp::Le);
    let below = |first: u32, bound: u32| bound.saturating_sub(first).saturating_add((at_most && first <= bound).into());
    let mut fronts: Vec<u32> = match (ramp.numbers(), bound.numbers()) {
        (Operand::Many(first), Operand::Many(bound)) => first.iter().zip(bound).map(|(&f, &b)| below(f, b)).collect(),
        (first, bound) => (0..ends.len()).map(|k| below(first.get(k), bound.get(k))).collect(),
    };
    for (front, &len) in fronts.iter_mut().zip(&lens(ends)) {
        *front = len.min(*front);
    }
    Fronts { lens: fronts, hold: is_left, ends: ends.clone() }
}

impl Fronts {
    /// Of a condition with a value a run.
    pub(super) fn of_flags(ends: Ends, flags: Operand<'_, bool>) -> Self {
        let front = |(k, len)| if flags.get(k) { len } else { 0 };
        Self { lens: lens(&ends).into_iter().enumerate().map(front).collect(), hold: true, ends }
    }

    /// The condition, in runs of their own.
    fn flags<'a>(&self) -> Lanes<'a> {
        let most = 2 * self.ends.len();
        let (mut cuts, mut flags) = (Vec::with_capacity(most), Vec::with_capacity(most));
        let mut start = 0;
        for (&end, &len) in self.ends.iter().zip(&self.lens) {
            for (cut, flag) in [(start + len, self.hold), (end, !self.hold)] {
                if cut > start {
                    if flags.last() == Some(&flag) {
                        cuts.pop();
                        flags.pop();
                    }
                    cuts.push(cut);
                    flags.push(flag);
                    start = cut;
                }
            }
        }
        runs(cuts.into(), bool::wrap(flags.into()))
    }
}

/// Quotients and remainders of ramps that do not wrap: runs and ramps between the multiples of `by`.
fn divide<'a>(op: BinaryOp, ends: &[u32], first: Operand<'_, u32>, by: u32) -> Lanes<'a> {
    let n = ends.last().map_or(0, |&n| n as usize);
    if (by as usize) < WORTHWHILE {
        let first: Vec<u32> = (0..ends.len()).map(|k| first.get(k)).collect();
        let dense = Lanes::Ramps(ends.to_vec().into(), first.into()).dense();
        return operations::binary(op, n, &dense, &Lanes::One(Scalar::U32(by)));
    }
    let (mut cuts, mut values): (Vec<u32>, Vec<u32>);
    if ends.len() == 1 {
        let (quotient, rest) = (first.get(0) / by, first.get(0) % by);
        let pieces = (u64::from(rest) + n as u64).div_ceil(by.into()) as u32;
        let cut = |piece: u32| (u64::from(piece) * u64::from(by) - u64::from(rest)).min(n as u64) as u32;
        cuts = (1..=pieces).map(cut).collect();
        values = (0..pieces).map(|piece| if op == BinaryOp::IndexDiv { quotient + piece } else { 0 }).collect();
        if op == BinaryOp::IndexRem {
            values[0] = rest;
        }
    } else {
        (cuts, values) = (Vec::with_capacity(n / by as usize + 2), Vec::with_capacity(n / by as usize + 2));
        let mut start = 0;
        for (k, &end) in ends.iter().enumerate() {
            let (mut quotient, mut rest) = (first.get(k) / by, first.get(k) % by);
            while start < end {
                start = end.min(start.saturating_add(by - rest));
                cuts.push(start);
                values.push(if op == BinaryOp::IndexDiv { quotient } else { rest });
                (quotient, rest) = (quotient + 1, 0);
            }
        }
    }
    if op == BinaryOp::IndexDiv {
        runs(cuts.into(), u32::wrap(values.into()))
    } else {
        ramps(cuts.into(), values.into())
    }
}

/// An operation on each value: once a run where there are runs.
pub(crate) fn each<'a>(n: usize, a: &Lanes<'a>, f: impl Fn(usize, &Lanes<'a>) -> Lanes<'a>) -> Lanes<'a> {
    match a {
        Lanes::One(_) => Lanes::One(f(1, a).get(0)),
        Lanes::Runs(ends, values) => runs(ends.clone(), f(ends.len(), &values.dense())),
        Lanes::Ramps(..) | Lanes::Falls(..) => f(n, &a.dense()),
        dense => f(n, dense),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Numbers that look random, the same in every run.
    pub(in super::super) struct Numbers(pub(in super::super) u64);

    impl Numbers {
        pub(in super::super) fn below(&mut self, n: u32) -> u32 {
            self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            ((self.0 >> 33) % u64::from(n)) as u32
        }

        pub(in super::super) fn ends(&mut self, n: u32) -> Ends {
            let longest = [2, 5, 40, 300][self.below(4) as usize];
            let least = self.below(2);
            let mut ends = vec![0];
            while ends[ends.len() - 1] < n {
                ends.push(n.min(ends[ends.len() - 1] + least + self.below(longest)));
            }
            ends.remove(0);
            ends.into()
        }

        /// u32 of any form.
        pub(in super::super) fn lanes(&mut self, n: u32) -> Lanes<'static> {
            let ends = self.ends(n);
            let base = [0, 0, 0, u32::MAX - 100][self.below(4) as usize];
            let mut values = |n: usize| (0..n).map(|_| base.wrapping_add(self.below(200))).collect::<Vec<_>>();
            let (each, all) = (values(ends.len()), values(n as usize));
            match self.below(6) {
                0 => Lanes::One(Scalar::U32(each[0])),
                1 => Lanes::Runs(ends, Rc::new(u32::wrap(each.into()))),
                2 => Lanes::Ramps(ends, each.into()),
                4 => Lanes::Falls(ends, each.into()),
                3 => Lanes::Runs(
                    ends.clone(),
                    Rc::new(Lanes::Ramps(vec![ends.len() as u32].into(), vec![each[0]].into())),
                ),
                _ => u32::wrap(all.into()),
            }
        }
    }

    pub(in super::super) fn dense(n: u32, lanes: &Lanes<'_>) -> Vec<u32> {
        match lanes.dtype() {
            crate::dtype::DType::Bool => bool::many(n as usize, &lanes.dense()).iter().map(|&b| b.into()).collect(),
            _ => u32::many(n as usize, &lanes.dense()).to_vec(),
        }
    }

    #[test]
    fn every_operation_gives_the_values_of_its_dense_loop() {
        use BinaryOp as B;
        let mut numbers = Numbers(1);
        for round in 0..4000 {
            let n = 1 + numbers.below(300);
            let (a, mut b) = (numbers.lanes(n), numbers.lanes(n));
            if round % 3 == 0 {
                b = Lanes::One(Scalar::U32(numbers.below(20)));
            }
            for op in [B::Add, B::Sub, B::Mul, B::IndexDiv, B::IndexRem, B::Div, B::Min, B::Max, B::Lt, B::Le, B::Eq] {
                for (a, b) in [(&a, &b), (&b, &a)] {
                    let got = dense(n, &binary(op, n as usize, a, b));
                    let expected = dense(n, &operations::binary(op, n as usize, &a.dense(), &b.dense()));
                    assert_eq!(got, expected, "{op:?} of {a:?} and {b:?}");
                }
            }
        }
    }
}
