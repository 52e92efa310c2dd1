//! The sizes of a run of a traced program.

use super::{ArrayDef, Program, SizeDef, SizeId};
use crate::graph::extent::upper_bound;
use crate::graph::scalar::Scalar;
use crate::graph::size::{RunInput, RunSize, RunTable, SizeOp};

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
        let mut filling = Filling {
            program: self,
            inputs: &inputs,
            given,
            bounds,
            values: vec![None; self.sizes.len()],
            saturates: false,
        };
        (0..self.sizes.len() as u32).for_each(|k| filling.fill(SizeId(k)));
        let size = |value: Option<u32>| RunSize { bound: value.expect("bug: a size without a value"), exact: None };
        let (values, saturates) = (filling.values, filling.saturates);
        RunTable { sizes: values.into_iter().map(size).collect(), inputs, scalars, saturates }
    }
}

struct Filling<'a> {
    program: &'a Program,
    inputs: &'a [Option<RunInput>],
    given: &'a [Option<u32>],
    bounds: &'a [(SizeId, SizeId)],
    values: Vec<Option<u32>>,
    /// See [`RunTable::saturates`].
    saturates: bool,
}

/// The value of a size, or the sizes of which it is a function.
enum Step {
    Value(u32),
    /// The value of that size.
    Same(SizeId),
    Op(SizeOp, SizeId, SizeId),
}

impl Filling<'_> {
    /// Evaluates a size after those of which it is a function. Without recursion: a chain of sizes has any length.
    fn fill(&mut self, size: SizeId) {
        let mut stack = vec![size];
        while let Some(&size) = stack.last() {
            let known = |operand: SizeId| self.values[operand.index()];
            let value = match self.step(size) {
                _ if known(size).is_some() => known(size),
                Step::Value(value) => Some(value),
                Step::Same(other) => known(other).or_else(|| {
                    stack.push(other);
                    None
                }),
                Step::Op(op, a, b) => match (known(a), known(b)) {
                    (Some(a), Some(b)) => Some(op.apply_noting(a, b, &mut self.saturates)),
                    (x, y) => {
                        stack.extend([(x, a), (y, b)].into_iter().filter(|(x, _)| x.is_none()).map(|(_, id)| id));
                        None
                    }
                },
            };
            if value.is_some() {
                self.values[size.index()] = value;
                stack.pop();
            }
        }
    }

    fn step(&self, size: SizeId) -> Step {
        match &self.program.sizes[size.index()] {
            SizeDef::Const(n) => Step::Value(*n),
            SizeDef::Input => Step::Value(self.given[size.index()].expect("bug: a size that is not given")),
            SizeDef::Len(array) => match (self.inputs[array.index()], &self.program.arrays[array.index()]) {
                (Some(input), _) => Step::Value(input.len),
                (None, ArrayDef::Computed { extent, .. }) => Step::Same(extent.size),
                (None, ArrayDef::Input(_)) => unreachable!("bug: an input that is not given"),
            },
            SizeDef::Count { .. } => match self.bounds.binary_search_by_key(&size, |(count, _)| *count) {
                Ok(k) => Step::Same(self.bounds[k].1),
                Err(_) => Step::Value(self.given[size.index()].unwrap_or(upper_bound(u64::MAX))),
            },
            SizeDef::Op(op, a, b) => Step::Op(*op, *a, *b),
        }
    }
}
