//! What a scan of rows runs along, and its states.

use std::sync::Arc;

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::primitive::ScanRows as Recurrence;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::ops::Row;
use crate::record::recurrence::MOST_NUMBERS;
use crate::shape::{Dims, RowPartition};
use crate::tensor::{Tensor, Values};

/// Rows of elements: the innermost partition of a tensor.
pub(super) struct Scanned<'a> {
    pub(super) rec: Recorder<'a>,
    /// The tensor, with a partition.
    pub(super) of: Tensor,
    pub(super) rows: RowPartition,
    pub(super) call: Arc<()>,
}

/// One state.
pub(super) struct State {
    pub(super) dims: Dims,
    pub(super) width: u32,
    /// Its first column among those of all states.
    pub(super) offset: u32,
}

impl<'a> Scanned<'a> {
    pub(super) fn new(rec: Recorder<'a>, x: &Tensor) -> Result<Self> {
        let of = match x.ragged_rank() {
            0 if x.rank() < 2 => return Err(rec.argument(format!("a tensor of shape {} has no rows", x.shape_text()))),
            0 => x.inner_to_partitions(1)?,
            _ => x.clone(),
        };
        rec.at(of.numbers(rec.op))?;
        let Some(rows) = of.partitions().last().cloned() else { return Err(rec.argument("a tensor without rows")) };
        Ok(Self { rec, of, rows, call: Arc::new(()) })
    }

    /// The elements of all rows.
    pub(super) fn elements(&self, of: &Tensor) -> Result<Tensor> {
        let outer = Some(self.rows.nvals_extent().clone());
        self.rec.tensor(Vec::new(), outer, of.inner().clone(), of.values_ref().clone())
    }

    /// The condition that the tensors have equal rows.
    pub(super) fn condition_of_rows(&self, other: &Self) -> Result<Vec<Node>> {
        let (rec, mut out) = (self.rec, Vec::new());
        if self.of.ragged_rank() != other.of.ragged_rank() {
            return Err(self.differ(other));
        }
        for (a, b) in self.of.partitions().iter().zip(other.of.partitions()) {
            let check = || Check::at(rec.op, "the tensors have different rows".into(), rec.location);
            let rows = a.nrows_extent().agrees(b.nrows_extent());
            out.extend(rows.condition(rec, check(), |_| self.differ(other))?);
            out.extend(a.agrees(b).condition(rec, check(), |_| self.differ(other))?);
        }
        Ok(out)
    }

    pub(super) fn differ(&self, other: &Self) -> Error {
        let what = "the tensors have different rows".to_string();
        self.rec.shape(self.of.shape_text(), other.of.shape_text(), what)
    }

    /// The states, and the initial ones as an expression in `row * inner + column`.
    pub(super) fn initial(&self, initial: &[Tensor], asserts: &mut Vec<Node>) -> Result<(Vec<State>, Expr)> {
        let rec = self.rec;
        let Some(first) = initial.first() else { return Err(rec.argument("there must be at least one state")) };
        let (mut states, mut parts, mut inner) = (Vec::new(), Vec::new(), 0u32);
        for (k, x) in initial.iter().enumerate() {
            rec.at(Device::check_same(rec.op, rec.backend, x.backend()))?;
            let dtype = x.dtype();
            if dtype.computes_in() != dtype || matches!(dtype, DType::Bool | DType::Str) {
                let what =
                    format!("state {k} is of {dtype}; states hold numbers of 32 or 64 bits, to which casts lead");
                return Err(rec.argument(what));
            }
            if x.dtype() != first.dtype() {
                return Err(rec.argument(format!("state {k} is of {}, but state 0 of {}", x.dtype(), first.dtype())));
            }
            let Some(outer) = x.outer() else {
                let what =
                    format!("initial state {k} is a scalar; it needs a dimension of one entry per row, or of size 1");
                return Err(rec.argument(what));
            };
            let one = outer.as_known() == Some(1);
            if !one {
                let nrows = self.rows.nrows_extent();
                let check = rec.check(format!("initial state {k} has not as many entries as there are rows"));
                let differs = |(rows, entries): (u32, u32)| {
                    rec.argument(format!("initial state {k} has {entries} entries for {rows} rows"))
                };
                asserts.extend(nrows.agrees(outer).condition(rec, check, differs)?);
            }
            let width = x.width_size().as_known();
            let Some(width) = width.filter(|&width| width > 0) else {
                return Err(rec.argument(format!("state {k} of shape {} has no fixed size", x.shape_text())));
            };
            if width > MOST_NUMBERS {
                return Err(
                    rec.argument(format!("state {k} has {width} numbers, but {MOST_NUMBERS} at most are possible"))
                );
            }
            parts.push((rec.at(x.numbers(rec.op))?, one, width));
            states.push(State { dims: x.inner().clone(), width, offset: inner });
            inner = inner.checked_add(width).ok_or_else(|| rec.argument("the states are too large"))?;
        }
        let (row, column) = (Expr::index().div(Expr::u32(inner)), Expr::index().rem(Expr::u32(inner)));
        let mut start: Option<Expr> = None;
        for ((node, one, width), state) in parts.into_iter().zip(&states).rev() {
            let within = column.clone().sub(Expr::u32(state.offset));
            let at = if one { within } else { row.clone().mul(Expr::u32(width)).add(within) };
            let value = Expr::load(node, at);
            start = Some(match start {
                None => value,
                Some(rest) => column.clone().lt(Expr::u32(state.offset + width)).select(value, rest),
            });
        }
        let Some(start) = start else { return Err(rec.argument("there must be at least one state")) };
        Ok((states, start))
    }

    /// A state of all elements, from its numbers.
    pub(super) fn state(&self, state: &State, node: &Node) -> Result<Row> {
        let outer = Some(self.rows.nvals_extent().clone());
        let values = Values::Numbers(node.clone());
        Ok(Row::new(self.rec.tensor(Vec::new(), outer, state.dims.clone(), values)?, &self.call))
    }

    /// The numbers of the states that a step gives.
    pub(super) fn states_after(&self, after: Vec<Row>, states: &[State], initial: &[Tensor]) -> Result<Vec<Node>> {
        let rec = self.rec;
        if after.len() != states.len() {
            return Err(rec.argument(format!("the step gives {} states of {}", after.len(), states.len())));
        }
        let mut out = Vec::with_capacity(states.len());
        for (k, ((row, state), before)) in after.into_iter().zip(states).zip(initial).enumerate() {
            let x = row.of_call(rec.op, &self.call)?;
            if x.dtype() != before.dtype() {
                return Err(rec.argument(format!(
                    "state {k} is of {}, but of {} after the step",
                    before.dtype(),
                    x.dtype()
                )));
            }
            if x.ragged_rank() > 0 || !x.inner().iter().eq(state.dims.iter()) {
                let what = format!(
                    "state {k} has the initial shape {}, but another one after the step: ",
                    before.shape_text()
                );
                return Err(rec.argument(what + &x.shape_text()));
            }
            out.push(rec.at(x.numbers(rec.op))?.clone());
        }
        Ok(out)
    }

    /// The numbers and the dimensions of outputs.
    pub(super) fn outputs(&self, outputs: Vec<Row>) -> Result<(Vec<Node>, Vec<Dims>)> {
        let rec = self.rec;
        let mut out = (Vec::new(), Vec::new());
        for (k, row) in outputs.into_iter().enumerate() {
            let x = row.of_call(rec.op, &self.call)?;
            if x.ragged_rank() > 0 || x.width_size().as_known() == Some(0) {
                return Err(rec.argument(format!("output {k} of shape {} is not dense", x.shape_text())));
            }
            out.0.push(rec.at(x.numbers(rec.op))?.clone());
            out.1.push(x.inner().clone());
        }
        Ok(out)
    }

    /// The states and outputs where there are no elements.
    pub(super) fn without_elements(
        &self,
        states: &[State],
        start: Expr,
        outputs: Vec<Node>,
        shapes: Vec<Dims>,
    ) -> Result<(Vec<Tensor>, Vec<Tensor>)> {
        let rec = self.rec;
        let inner = Expr::u32(states.iter().map(|state| state.width).sum());
        let output = |(node, dims): (Node, Dims)| {
            let zero = Expr::scalar(Scalar::from_i64(node.dtype(), 0));
            self.under_rows(&rec.map(Extent::known(0), zero, &[]), dims)
        };
        let state = |state: &State| {
            let width = Expr::u32(state.width);
            let row = Expr::index().div(width.clone()).mul(inner.clone());
            let at = row.add(Expr::index().rem(width)).add(Expr::u32(state.offset));
            let nrows: &Extent = self.rows.nrows_extent();
            let node = rec.map(rec.times(nrows, state.width)?, start.at(&at), &[]);
            self.of_rows(state, node)
        };
        let outputs = outputs.into_iter().zip(shapes).map(output).collect::<Result<_>>()?;
        Ok((states.iter().map(state).collect::<Result<_>>()?, outputs))
    }

    /// Numbers of all elements, in the rows.
    pub(super) fn under_rows(&self, node: &Node, dims: Dims) -> Result<Tensor> {
        let outer = Some(self.rows.nvals_extent().clone());
        let values = Values::Numbers(node.clone());
        self.rec.tensor(self.of.partitions().to_vec(), outer, dims, values)
    }

    /// A state after the last element of each row.
    pub(super) fn last(&self, state: &State, scan: &Recurrence, result: &Node) -> Result<Tensor> {
        let rec = self.rec;
        let (width, stored) = (Expr::u32(state.width), Expr::u32(scan.on.inner));
        let row = Expr::index().div(width.clone());
        let column = Expr::index().rem(width).add(Expr::u32(state.offset));
        let (rows, length) = (&scan.on.rows, scan.on.rows.length(row.clone()));
        let offset = if scan.reversed { Expr::u32(0) } else { length.clone().sub(Expr::u32(1)) };
        let last = Expr::load(result, rows.within(row.clone(), offset).mul(stored).add(column.clone()));
        let initial = scan.initial.at(&row.mul(Expr::u32(scan.state_numbers())).add(column));
        let value = length.eq(Expr::u32(0)).select(initial, last);
        let nrows: &Extent = self.rows.nrows_extent();
        let node = rec.map(rec.times(nrows, state.width)?, value, &[]);
        self.of_rows(state, node)
    }

    /// A state of each row, from its numbers.
    pub(super) fn of_rows(&self, state: &State, node: Node) -> Result<Tensor> {
        let (rec, nrows) = (self.rec, self.rows.nrows_extent());
        let above = self.of.partitions().split_last().map_or(&[][..], |(_, above)| above);
        rec.tensor(above.to_vec(), Some(nrows.clone()), state.dims.clone(), Values::Numbers(node))
    }
}
