//! The columns of a row kernel: an accumulator and the source of its values.

use std::any::Any;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use super::super::accumulate::Reducible;
use super::super::array::Array;
use super::super::compiled_expr::{Inputs, OpId};
use super::super::eval::Block;
use super::super::row_reduce::{ChainStep, Columns, RowFold, RowMonoid};
use super::super::work_items::RowStarts;
use super::states::{States, StatesOf};
use crate::graph::canonical_order::reduction::block_len;

/// Where the values of a column come from.
pub(super) enum ColumnSource<A> {
    /// An expression of the element's index.
    Elements(OpId),
    /// Rows of a table, by operations of the value's index: the first element of a row, and the steps of the chain.
    Table { array: A, first: OpId, chain: Arc<[ChainStep<OpId>]> },
}

impl ColumnSource<usize> {
    /// The source in a run, where a table is one of the step's arrays.
    pub(super) fn in_run<'a>(&self, inputs: &'a Inputs) -> ColumnSource<&'a Array> {
        match self {
            Self::Elements(id) => ColumnSource::Elements(*id),
            Self::Table { array, first, chain } => {
                ColumnSource::Table { array: &inputs.arrays[*array], first: *first, chain: chain.clone() }
            }
        }
    }
}

/// Consecutive values.
pub(super) struct Source<'b> {
    /// The block of their elements.
    pub(super) elements: Block<'b>,
    /// The block of their indices, if a column reads rows of a table.
    pub(super) values: Option<Block<'b>>,
    /// The first value.
    pub(super) from: usize,
    /// Numbers per value.
    pub(super) inner: usize,
}

impl<'b> Source<'b> {
    fn indices(&mut self) -> &mut Block<'b> {
        self.values.as_mut().expect("bug: a table without indices")
    }
}

/// An accumulator and the source of its values.
pub(super) trait Column: Sync {
    /// The states of rows, whose values are those of `source`.
    fn rows(&self, source: &mut Source<'_>, starts: RowStarts<'_>, rows: Range<usize>) -> Box<dyn States>;
    /// The states of the blocks of a row, of which `source` contains `len` values.
    fn blocks(&self, source: &mut Source<'_>, len: usize) -> Box<dyn States>;
    /// The states of a row of `len` values, from those of its blocks in order.
    fn fold(&self, inner: usize, len: usize, partials: Vec<Box<dyn States>>) -> Box<dyn States>;
}

/// A monoid and the source of its values, of type `T`.
pub(super) struct ColumnOf<'a, T, M> {
    monoid: M,
    source: ColumnSource<&'a Array>,
    values: PhantomData<fn(T)>,
}

impl<'a, T, M> ColumnOf<'a, T, M> {
    pub(super) fn new(monoid: M, source: ColumnSource<&'a Array>) -> Self {
        Self { monoid, source, values: PhantomData }
    }
}

impl<T, M> ColumnOf<'_, T, M>
where
    T: Reducible,
    M: RowMonoid<T>,
{
    fn states(&self, states: Vec<M::State>) -> Box<dyn States> {
        Box::new(StatesOf { monoid: self.monoid, states })
    }
}

impl<T, M> Column for ColumnOf<'_, T, M>
where
    T: Reducible,
    M: RowMonoid<T>,
{
    fn rows(&self, source: &mut Source<'_>, starts: RowStarts<'_>, rows: Range<usize>) -> Box<dyn States> {
        let (from, inner) = (source.from, source.inner);
        let mut states = vec![self.monoid.identity(); rows.len() * inner];
        let start = |row: usize| starts.at(rows.start + row) - from;
        match &self.source {
            ColumnSource::Elements(id) => {
                let values = source.elements.values::<T>(*id);
                match inner {
                    1 => self.monoid.rows(&values, start, &mut states),
                    _ => Columns::consecutive(&values, inner).rows(self.monoid, start, &mut states),
                }
            }
            ColumnSource::Table { array, first, chain } => {
                let columns = Columns::<T>::of_table(array.slice(), inner, source.indices(), *first, chain);
                columns.rows(self.monoid, start, &mut states);
            }
        }
        self.states(states)
    }

    fn blocks(&self, source: &mut Source<'_>, len: usize) -> Box<dyn States> {
        let inner = source.inner;
        let mut states = vec![self.monoid.identity(); len.div_ceil(block_len(inner)) * inner];
        match &self.source {
            ColumnSource::Elements(id) => {
                let values = source.elements.values::<T>(*id);
                if inner == 1 {
                    let blocks = values.chunks(block_len(1));
                    states.iter_mut().zip(blocks).for_each(|(state, block)| *state = self.monoid.block(block));
                } else {
                    Columns::consecutive(&values, inner).blocks(self.monoid, &mut states);
                }
            }
            ColumnSource::Table { array, first, chain } => {
                let columns = Columns::<T>::of_table(array.slice(), inner, source.indices(), *first, chain);
                columns.blocks(self.monoid, &mut states);
            }
        }
        self.states(states)
    }

    fn fold(&self, inner: usize, len: usize, partials: Vec<Box<dyn States>>) -> Box<dyn States> {
        let mut fold = RowFold::new(len, inner, self.monoid);
        for partials in partials {
            let partials: Box<dyn Any> = partials;
            let of: &StatesOf<T, M> = partials.downcast_ref().expect("bug: states of another accumulator");
            of.states.chunks_exact(inner).for_each(|partial| fold.push(partial));
        }
        let mut states = vec![self.monoid.identity(); inner];
        fold.finish(&mut states);
        self.states(states)
    }
}
