//! A function of your own along each row, with states.

use std::sync::Arc;

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, RowDomain};
use crate::graph::primitive::ScanRows as Recurrence;
use crate::graph::recorder::Recorder;
use crate::ops::{InitialStates, Row};
use crate::record::recurrence::{Placeholders, Step, flat, states_before};
use crate::shape::{Dims, RowPartition};
use crate::tensor::{RaggedTensor, Tensor, Values};

const OP: &str = "scan_rows";

/// Results of [`Tensor::scan_rows`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ScannedRows {
    /// The states after the last element of each row; of an empty row, its initial states.
    pub states: Vec<Tensor>,
    /// The outputs of all elements, in the rows of the tensor.
    pub outputs: Vec<Tensor>,
}

/// Functions of your own, along rows.
impl Tensor {
    /// Runs a function along each row: it takes the states before an element, and gives the states after it and outputs.
    ///
    /// Rows are those of the innermost ragged dimension, or of dimension 1 of a dense tensor. `step` is called once, on
    /// [`Row`]s that stand for the states and for the element of every row at every position: what it does is recorded,
    /// and runs along all rows at once. Each state is a number or a dense array of numbers, of one dtype. Initial states
    /// are one per row, or one for all rows, of shape `[1, …]`; [`backwards`](crate::opt::backwards) starts at the ends of
    /// rows. Tensors from outside may be used in the step: every
    /// element meets the whole of them, as the weights of a cell.
    ///
    /// The outputs have the rows of the tensor. Empty rows have no outputs, and their initial states at the end. What a
    /// step computes without a state is computed for all elements at once beforehand, and what it computes from states
    /// for its outputs alone, afterwards. A row has the same bits on every backend and in every batch.
    ///
    /// # Errors
    /// A tensor without rows; strings; no state, states of different dtypes, or of another shape or dtype after the
    /// step; the errors of `step`; operations on states other than element-wise ones, slices, concatenations and
    /// products with matrices; a state that is read in the step.
    ///
    /// # Cost
    /// Time proportional to the number of elements, and to the longest row where there are few rows. The states of all
    /// elements are stored. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0, 3.0], vec![], vec![4.0]], &device)?;
    /// let start = RaggedTensor::from_nested([0.0f32], &device)?;
    /// // A running balance that never falls below -1, after a fee of a half.
    /// let balances = x.erased().scan_rows([&start], |states, x| {
    ///     let balance = (&(&states[0] + x)? - 2.5)?.maximum(-1.0)?;
    ///     Ok((vec![balance.clone()], vec![balance]))
    /// })?;
    /// assert_eq!(balances.outputs[0].to_string(), "<ragged.RaggedTensor [[-1.0, -1.0, -0.5], [], [1.5]]>");
    /// assert_eq!(balances.states[0].to_string(), "tensor([-0.5, 0.0, 1.5], shape=(3,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Source: `jax.lax.scan`, of one sequence; `tf.scan`.
    #[track_caller]
    pub fn scan_rows(
        &self,
        initial: impl Into<InitialStates>,
        step: impl FnOnce(&[Row], &Row) -> Result<(Vec<Row>, Vec<Row>)>,
    ) -> Result<ScannedRows> {
        scanned(OP, &[self], initial.into(), |states, elements| step(states, &elements[0]))
    }

    /// Runs a function along the rows of several tensors of equal rows.
    ///
    /// As [`scan_rows`](Self::scan_rows), with an element of each tensor.
    ///
    /// # Errors
    /// Besides those of `scan_rows`: no tensors; tensors on different devices, or of different rows, at the read where
    /// only the device knows them.
    ///
    /// # Cost
    /// That of `scan_rows`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![3.0]], &device)?;
    /// let decay = RaggedTensor::from_nested([vec![0.5f32, 0.5], vec![1.0]], &device)?;
    /// let zero = RaggedTensor::from_nested([0.0f32], &device)?;
    /// let sums = Tensor::scan_rows_of(&[&x, &decay], [&zero], |states, of| {
    ///     let sum = (&(&states[0] * &of[1])? + &of[0])?;
    ///     Ok((vec![sum.clone()], vec![sum]))
    /// })?;
    /// assert_eq!(sums.outputs[0].to_string(), "<ragged.RaggedTensor [[1.0, 2.5], [3.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn scan_rows_of(
        tensors: &[impl AsRef<Self>],
        initial: impl Into<InitialStates>,
        step: impl FnOnce(&[Row], &[Row]) -> Result<(Vec<Row>, Vec<Row>)>,
    ) -> Result<ScannedRows> {
        let tensors: Vec<&Self> = tensors.iter().map(AsRef::as_ref).collect();
        scanned("scan_rows_of", &tensors, initial.into(), step)
    }
}

/// Functions of your own, along rows.
impl<T: Element> RaggedTensor<T> {
    /// Runs a function along each row: it takes the states before an element, and gives the states after it and outputs.
    ///
    /// See [`Tensor::scan_rows`].
    ///
    /// # Errors
    /// Those of [`Tensor::scan_rows`].
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![3.0]], &device)?;
    /// let zero = RaggedTensor::from_nested([0.0f32], &device)?;
    /// let halves = x.scan_rows([&zero], |states, x| {
    ///     let mean = (&(&states[0] + x)? * 0.5)?;
    ///     Ok((vec![mean.clone()], vec![mean]))
    /// })?;
    /// assert_eq!(halves.outputs[0].to_string(), "<ragged.RaggedTensor [[0.5, 1.25], [1.5]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn scan_rows(
        &self,
        initial: impl Into<InitialStates>,
        step: impl FnOnce(&[Row], &Row) -> Result<(Vec<Row>, Vec<Row>)>,
    ) -> Result<ScannedRows> {
        self.erased().scan_rows(initial, step)
    }
}

/// Rows of elements: the innermost partition of a tensor.
struct Scanned<'a> {
    rec: Recorder<'a>,
    /// The tensor, with a partition.
    of: Tensor,
    rows: RowPartition,
    call: Arc<()>,
}

/// One state.
struct State {
    dims: Dims,
    width: u32,
    /// Its first column among those of all states.
    offset: u32,
}

#[track_caller]
fn scanned(
    op: &'static str,
    tensors: &[&Tensor],
    InitialStates { tensors: initial, reversed }: InitialStates,
    step: impl FnOnce(&[Row], &[Row]) -> Result<(Vec<Row>, Vec<Row>)>,
) -> Result<ScannedRows> {
    let Some((first, others)) = tensors.split_first() else {
        return Err(Error::argument(op, "there must be at least one tensor"));
    };
    let rec = Recorder::new(first.backend(), op);
    let mut asserts = Vec::new();
    let all = Scanned::new(rec, first)?;
    let mut elements = vec![all.elements(&all.of)?];
    for other in others {
        rec.at(Device::check_same(op, first.backend(), other.backend()))?;
        let other = Scanned::new(rec, other)?;
        asserts.extend(all.condition_of_rows(&other)?);
        elements.push(all.elements(&other.of)?);
    }
    let (states, start) = all.initial(&initial, &mut asserts)?;
    let dtype = initial[0].dtype();
    let widths: Vec<u32> = states.iter().map(|state| state.width).collect();
    let inner = widths.iter().sum::<u32>();
    let nvals = all.rows.nvals_extent().clone();
    let placeholders = Placeholders::new(rec, dtype, &nvals, &widths)?;
    let rows: Vec<Row> = elements.into_iter().map(|of| Row::new(of, &all.call)).collect();
    let before = states.iter().zip(&placeholders.nodes).map(|(state, node)| all.state(state, node));
    let (after, outputs) = step(&before.collect::<Result<Vec<Row>>>()?, &rows)?;
    let after = all.states_after(after, &states, &initial)?;
    let (outputs, shapes) = all.outputs(outputs)?;

    let next = Step::of(rec, &placeholders, (&nvals, &widths), &after)?;
    asserts.extend(next.asserts);
    let on = RowDomain {
        rows: all.rows.rows().clone(),
        nrows: all.rows.nrows_extent().clone(),
        nvals: nvals.clone(),
        inner,
    };
    let scan = Recurrence {
        on,
        reversed,
        initial: start,
        states: widths.clone().into(),
        stages: next.stages.into(),
        next: next.results.into(),
    };
    let result = rec.scan_rows(scan.clone(), &asserts)?;

    // Outputs, from the states before and after each element.
    let results: Vec<Node> = after.into_iter().chain(outputs).collect();
    let with_outputs = Step::of(rec, &placeholders, (&nvals, &widths), &results)?;
    let at_state = |state: &State, of: &Expr| {
        let width = Expr::u32(state.width);
        let at = Expr::index().div(width.clone()).mul(Expr::u32(inner)).add(Expr::u32(state.offset));
        Ok(rec.map(rec.times(&nvals, state.width)?, of.at(&at.add(Expr::index().rem(width))), &[]))
    };
    let before = states_before(&scan, |at| Expr::load(&result, at));
    let before: Vec<Node> = states.iter().map(|state| at_state(state, &before)).collect::<Result<_>>()?;
    let after = Expr::load(&result, Expr::index());
    let after = states.iter().map(|state| at_state(state, &after)).collect::<Result<Vec<_>>>()?;
    let given: Vec<(u32, Node)> = with_outputs.results.iter().copied().zip(after).collect();
    let registers = flat(rec, &nvals, &with_outputs.stages, before, &given)?;
    let outputs = with_outputs.results[states.len()..].iter().map(|&k| &registers[k as usize]);
    let outputs = outputs.zip(shapes).map(|(node, dims)| all.under_rows(node, dims)).collect::<Result<_>>()?;
    let states = states.iter().map(|state| all.last(state, &scan, &result)).collect::<Result<_>>()?;
    Ok(ScannedRows { states, outputs })
}

impl<'a> Scanned<'a> {
    fn new(rec: Recorder<'a>, x: &Tensor) -> Result<Self> {
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
    fn elements(&self, of: &Tensor) -> Result<Tensor> {
        let outer = Some(self.rows.nvals_extent().clone());
        self.rec.tensor(Vec::new(), outer, of.inner().clone(), of.values_ref().clone())
    }

    /// The condition that the tensors have equal rows.
    fn condition_of_rows(&self, other: &Self) -> Result<Vec<Node>> {
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

    fn differ(&self, other: &Self) -> Error {
        let what = "the tensors have different rows".to_string();
        self.rec.shape(self.of.shape_text(), other.of.shape_text(), what)
    }

    /// The states, and the initial ones as an expression in `row * inner + column`.
    fn initial(&self, initial: &[Tensor], asserts: &mut Vec<Node>) -> Result<(Vec<State>, Expr)> {
        let rec = self.rec;
        let Some(first) = initial.first() else { return Err(rec.argument("there must be at least one state")) };
        let (mut states, mut parts, mut inner) = (Vec::new(), Vec::new(), 0u32);
        for (k, x) in initial.iter().enumerate() {
            rec.at(Device::check_same(rec.op, rec.backend, x.backend()))?;
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
    fn state(&self, state: &State, node: &Node) -> Result<Row> {
        let outer = Some(self.rows.nvals_extent().clone());
        let values = Values::Numbers(node.clone());
        Ok(Row::new(self.rec.tensor(Vec::new(), outer, state.dims.clone(), values)?, &self.call))
    }

    /// The numbers of the states that a step gives.
    fn states_after(&self, after: Vec<Row>, states: &[State], initial: &[Tensor]) -> Result<Vec<Node>> {
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
    fn outputs(&self, outputs: Vec<Row>) -> Result<(Vec<Node>, Vec<Dims>)> {
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

    /// Numbers of all elements, in the rows.
    fn under_rows(&self, node: &Node, dims: Dims) -> Result<Tensor> {
        let outer = Some(self.rows.nvals_extent().clone());
        let values = Values::Numbers(node.clone());
        self.rec.tensor(self.of.partitions().to_vec(), outer, dims, values)
    }

    /// A state after the last element of each row.
    fn last(&self, state: &State, scan: &Recurrence, result: &Node) -> Result<Tensor> {
        let rec = self.rec;
        let (width, inner) = (Expr::u32(state.width), Expr::u32(scan.on.inner));
        let row = Expr::index().div(width.clone());
        let column = Expr::index().rem(width).add(Expr::u32(state.offset));
        let (rows, length) = (&scan.on.rows, scan.on.rows.length(row.clone()));
        let offset = if scan.reversed { Expr::u32(0) } else { length.clone().sub(Expr::u32(1)) };
        let last = Expr::load(result, rows.within(row.clone(), offset).mul(inner.clone()).add(column.clone()));
        let initial = scan.initial.at(&row.mul(inner).add(column));
        let value = length.eq(Expr::u32(0)).select(initial, last);
        let nrows: &Extent = self.rows.nrows_extent();
        let node = rec.map(rec.times(nrows, state.width)?, value, &[]);
        let above = self.of.partitions().split_last().map_or(&[][..], |(_, above)| above);
        rec.tensor(above.to_vec(), Some(nrows.clone()), state.dims.clone(), Values::Numbers(node))
    }
}
