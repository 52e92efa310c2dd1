//! The sizes of a run of a traced program.

use super::{ArrayDef, Program, SizeDef, SizeId};
use crate::graph::extent::upper_bound;
use crate::graph::scalar::Scalar;
use crate::graph::size::{RunInput, RunSize, RunTable};

impl Program {
    /// The table of a run with these inputs, and these sizes that come with them, by number. The bounds are in the order
    /// of the counts.
    pub(crate) fn run_table(
        &self,
        inputs: Vec<Option<RunInput>>,
        given: &[Option<u32>],
        bounds: &[(SizeId, SizeId)],
        scalars: Vec<Scalar>,
    ) -> RunTable {
        let mut filling =
            Filling { program: self, inputs: &inputs, given, bounds, values: vec![None; self.sizes.len()] };
        let sizes =
            (0..self.sizes.len() as u32).map(|k| RunSize { bound: filling.value(SizeId(k)), exact: None }).collect();
        RunTable { sizes, inputs, scalars }
    }
}

struct Filling<'a> {
    program: &'a Program,
    inputs: &'a [Option<RunInput>],
    given: &'a [Option<u32>],
    bounds: &'a [(SizeId, SizeId)],
    values: Vec<Option<u32>>,
}

impl Filling<'_> {
    fn value(&mut self, size: SizeId) -> u32 {
        if let Some(known) = self.values[size.index()] {
            return known;
        }
        let value = match &self.program.sizes[size.index()] {
            SizeDef::Const(n) => *n,
            SizeDef::Input => self.given[size.index()].expect("bug: a size that is not given"),
            SizeDef::Len(array) => match (self.inputs[array.index()], &self.program.arrays[array.index()]) {
                (Some(input), _) => input.len,
                (None, ArrayDef::Computed { extent, .. }) => self.value(extent.size),
                (None, ArrayDef::Input(_)) => unreachable!("bug: an input that is not given"),
            },
            SizeDef::Count { .. } => match self.bounds.binary_search_by_key(&size, |(count, _)| *count) {
                Ok(k) => self.value(self.bounds[k].1),
                Err(_) => upper_bound(u64::MAX),
            },
            SizeDef::Op(op, a, b) => op.apply(self.value(*a), self.value(*b)),
        };
        self.values[size.index()] = Some(value);
        value
    }
}
