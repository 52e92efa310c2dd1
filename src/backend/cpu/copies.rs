//! Direct copies: expressions whose values are array elements are copied to the output without an intermediate block.
//!
//! Slices, gathers, concatenations and paddings are such expressions: a load, or nested `select`s of loads and scalars.
//! The indices of every source are evaluated at all positions of a block, including positions that select another
//! source: a few numbers per row, where restricting each source to its own positions would split and merge them.

use super::arithmetic::{self, Prefixes};
use super::array::Array;
use super::compiled_expr::{Op, OpId};
use super::copier::{NO_CUTS, Source, copy};
use super::encoding::{Encoded, Ends, Step, Value};
use super::eval::Block;
use super::load;
use super::operand::AnyOperand;
use super::segments::{common_ends, refined};
use crate::dtype::DType;
use crate::graph::opcode::BinaryOp;
use crate::graph::scalar::Scalar;

/// Values at the positions of a block: each segment takes values from several sources, one source after the other.
struct CopyPlan<'a> {
    /// `None` if there is only a constant.
    ends: Option<Ends>,
    sources: Vec<Source<'a>>,
}

impl<'a> CopyPlan<'a> {
    fn constant(value: Scalar) -> Self {
        let first = Encoded::Constant(Scalar::U32(0));
        Self { ends: None, sources: vec![Source { from: AnyOperand::Constant(value), step: 0, first, cuts: NO_CUTS }] }
    }

    fn elements(array: &'a Array, ends: Ends, step: Step, first: Encoded<'a>) -> Self {
        let source = Source { from: AnyOperand::Dense(array.bytes()), step, first, cuts: NO_CUTS };
        Self { ends: Some(ends), sources: vec![source] }
    }

    /// The values of `prefix` in the prefix of each segment, and those of `rest` in the rest.
    fn select(Prefixes { ends: own, cuts, .. }: Prefixes, mut prefix: Self, mut rest: Self) -> Self {
        let ends = [&prefix.ends, &rest.ends].into_iter().flatten().fold(own.clone(), |all, e| common_ends(&all, e));
        prefix.refine(&ends);
        rest.refine(&ends);
        let cuts = refined(&own, 0, &u32::wrap(cuts), &ends);
        for source in &mut prefix.sources {
            source.cuts = arithmetic::binary(BinaryOp::Min, ends.len(), &source.cuts, &cuts);
        }
        prefix.sources.append(&mut rest.sources);
        Self { ends: Some(ends), sources: prefix.sources }
    }

    fn refine(&mut self, ends: &Ends) {
        let Some(own) = &self.ends else { return };
        for source in &mut self.sources {
            source.first = refined(own, source.step, &source.first, ends);
            source.cuts = refined(own, 0, &source.cuts, ends);
        }
    }
}

impl<'a> Block<'a> {
    /// Fills `out` with the block's values. Returns whether all indices consist of segments. Returns `None` and writes
    /// nothing if the values are not copies of array elements.
    pub(super) fn copy(&mut self, dtype: DType, out: &mut [u8]) -> Option<bool> {
        let root = self.expr().root();
        let plan = match self.expr().ops()[root] {
            Op::Load(array, _, at) if self.array(array).len() > 0 => match self.element_plan(self.array(array), at) {
                None if let at @ Encoded::Dense(..) = self.eval(at) => {
                    load::store(self.array(array), dtype, &at, out);
                    return Some(false);
                }
                plan => plan?,
            },
            Op::Select([_, a, b], _) if self.is_copied(a) && self.is_copied(b) => self.copy_plan(root)?,
            _ => return None,
        };
        copy(dtype.size(), &plan.ends?, &plan.sources, out);
        Some(true)
    }

    fn array(&self, number: usize) -> &'a Array {
        &self.expr().inputs().arrays[number]
    }

    /// Whether operation `id` is a load, a scalar or a `select` of these, without checks and calls of functions.
    /// (Both apply only to the positions that use the result.)
    fn is_copied(&self, id: OpId) -> bool {
        match &self.expr().ops()[id] {
            Op::Scalar(_) | Op::Param(_) | Op::Size(_) => true,
            Op::Load(array, ..) => self.array(*array).len() > 0 && !self.expr().has_conditions(id),
            Op::Select([_, a, b], _) => !self.expr().has_conditions(id) && self.is_copied(*a) && self.is_copied(*b),
            _ => false,
        }
    }

    /// Sources of the values of operation `id`, if it is a load, a scalar or a `select` of these with a condition per
    /// segment.
    fn copy_plan(&mut self, id: OpId) -> Option<CopyPlan<'a>> {
        match self.expr().ops()[id] {
            Op::Select([c, a, b], _) => self.select_plan(c, [a, b], &mut |block, side| block.copy_plan(side)),
            Op::Load(array, _, at) => self.element_plan(self.array(array), at),
            _ => self.expr().constant(id).map(CopyPlan::constant),
        }
    }

    /// Sources of the elements of `array` at the indices that operation `id` computes. A `select` of indices per segment
    /// gives a source per branch.
    fn element_plan(&mut self, array: &'a Array, id: OpId) -> Option<CopyPlan<'a>> {
        if let Op::Select([c, a, b], _) = self.expr().ops()[id]
            && !self.expr().has_conditions(id)
            && let Some(plan) = self.select_plan(c, [a, b], &mut |block, side| block.element_plan(array, side))
        {
            return Some(plan);
        }
        match self.eval(id) {
            Encoded::Constant(Scalar::U32(at)) => Some(CopyPlan::constant(load::element(array, array.dtype(), at))),
            Encoded::Segments(ends, step, first) => Some(CopyPlan::elements(array, ends, step, first.dense())),
            _ => None,
        }
    }

    /// Selection per segment between the sources that `of` gives for the two branches.
    fn select_plan(
        &mut self,
        condition: OpId,
        [yes, no]: [OpId; 2],
        of: &mut dyn FnMut(&mut Self, OpId) -> Option<CopyPlan<'a>>,
    ) -> Option<CopyPlan<'a>> {
        let prefixes = match self.compared_prefixes(condition) {
            Some(prefixes) => prefixes,
            None => match self.eval(condition) {
                Encoded::Constant(Scalar::Bool(holds)) => return of(self, if holds { yes } else { no }),
                Encoded::Segments(ends, _, flags) => Prefixes::of_flags(&ends, u8::operand(&flags)),
                _ => return None,
            },
        };
        let [prefix, rest] = if prefixes.hold { [yes, no] } else { [no, yes] };
        let starts = [0].into_iter().chain(prefixes.ends.iter().copied());
        if prefixes.cuts == prefixes.ends {
            of(self, prefix)
        } else if prefixes.cuts.iter().copied().eq(starts.take(prefixes.ends.len())) {
            of(self, rest)
        } else {
            Some(CopyPlan::select(prefixes, of(self, prefix)?, of(self, rest)?))
        }
    }

    /// Positions at which condition `id` holds, if it compares a sequence with one number per segment. A left operand of
    /// `and` that holds everywhere is skipped.
    fn compared_prefixes(&mut self, id: OpId) -> Option<Prefixes> {
        let Op::Binary(op, a, b) = self.expr().ops()[id] else { return None };
        let first = self.eval(a);
        match (op, first) {
            (BinaryOp::And, Encoded::Constant(Scalar::Bool(true))) => self.compared_prefixes(b),
            (_, first) => arithmetic::prefixes(op, &first, &self.eval(b)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pool::Pool;
    use super::super::random_encodings::Random;
    use super::*;
    use std::sync::Arc;

    /// A random source and its values at `n` positions.
    fn source<'a>(random: &mut Random, n: u32, from: &'a Array) -> (CopyPlan<'a>, Vec<u16>) {
        if random.below(4) == 0 {
            let value = random.below(1000) as u16;
            return (CopyPlan::constant(Scalar::U16(value)), vec![value; n as usize]);
        }
        let (ends, step, len) = (random.ends(n), random.below(3) as i32 - 1, from.len() as u32);
        let first: Vec<u32> = ends
            .iter()
            .map(|_| match random.below(8) {
                0 => u32::MAX - random.below(50),
                1 => len - random.below(50),
                _ => random.below(len),
            })
            .collect();
        let at = Encoded::Segments(ends.clone(), step, u32::wrap(first.into()).into());
        let value = |&at: &u32| from.slice::<u16>()[at.min(len - 1) as usize];
        let values = u32::expanded(n as usize, &at).iter().map(value).collect();
        let Encoded::Segments(_, _, first) = at else { panic!("not segments") };
        (CopyPlan::elements(from, ends, step, (*first).clone()), values)
    }

    /// A random selection of sources and its values at `n` positions.
    fn selection<'a>(random: &mut Random, n: u32, depth: u32, from: &'a Array) -> (CopyPlan<'a>, Vec<u16>) {
        if depth == 0 {
            return source(random, n, from);
        }
        let [a, b] = [(); 2].map(|()| random.below(depth));
        let ((a, in_a), (b, in_b)) = (selection(random, n, a, from), selection(random, n, b, from));
        let ends = a.ends.clone().filter(|_| random.below(2) == 0).unwrap_or_else(|| random.ends(n));
        let (mut cuts, mut values, mut start) = (Vec::new(), Vec::new(), 0);
        for &end in ends.iter() {
            // Often the whole segment, or nothing.
            let len = random.below(2 * (end - start) + 2).saturating_sub((end - start) / 2).min(end - start);
            cuts.push(start + len);
            values.extend_from_slice(&in_a[start as usize..(start + len) as usize]);
            values.extend_from_slice(&in_b[(start + len) as usize..end as usize]);
            start = end;
        }
        (CopyPlan::select(Prefixes { ends, cuts: cuts.into(), hold: true }, a, b), values)
    }

    #[test]
    fn every_position_has_the_value_of_its_source() {
        let mut random = Random(5);
        let elements: Vec<u16> = (0..400).map(|k| 1000 + k).collect();
        let pool = Arc::new(Pool::default());
        let from = Array::from_bytes(&pool, DType::U16, bytemuck::cast_slice(&elements)).expect("a small array");
        for round in 0..6000 {
            let n = 1 + random.below(300);
            let (plan, expected) = selection(&mut random, n, round % 4, &from);
            let mut out = vec![0u16; n as usize];
            let ends = plan.ends.clone().unwrap_or_else(|| vec![n].into());
            copy(2, &ends, &plan.sources, bytemuck::cast_slice_mut(&mut out));
            assert_eq!(out, expected);
        }
    }
}
