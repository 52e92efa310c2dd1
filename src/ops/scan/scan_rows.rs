//! A function of your own along each row, with states.

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::node::{Node, RowDomain};
use crate::graph::primitive::ScanRows as Recurrence;
use crate::ops::{InitialStates, Row};
use crate::record::recurrence::{Known, Placeholders, Step, StoredNumbers, flat};
use crate::shape::Dims;
use crate::tensor::{RaggedTensor, Tensor};

use super::scanned::Scanned;

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
    /// Runs a function along each row: it takes the states before an element, and gives the states after it and
    /// outputs.
    ///
    /// Rows are those of the innermost ragged dimension, or of dimension 1 of a dense tensor. `step` is called once, on
    /// [`Row`]s that stand for the states and for the element of every row at every position: what it does is recorded,
    /// and runs along all rows at once. Each state is a number or a dense array of numbers, of one dtype. Initial
    /// states are one per row, or one for all rows, of shape `[1, …]`; [`backwards`](crate::opt::backwards) starts at
    /// the ends of rows. Tensors from outside may be used in the step: every element meets the whole of them, as the
    /// weights of a cell.
    ///
    /// The outputs have the rows of the tensor. Empty rows have no outputs, and their initial states at the end. What a
    /// step computes without a state is computed for all elements at once beforehand, and what it computes from states
    /// for its outputs alone, afterwards. A row has the same bits on every backend and in every batch.
    ///
    /// # Errors
    /// A tensor without rows; strings; no state, states of different dtypes, of bools or of fewer than 32 bits, or of
    /// another shape or dtype after the step; the errors of `step`; operations on states other than element-wise ones,
    /// slices, concatenations, reductions and products with matrices; a state that is read in the step.
    ///
    /// # Cost
    /// Time proportional to the number of elements, and to the longest row where there are few rows. The states of all
    /// elements are stored. No wait. On a GPU a workgroup runs its rows from the first element to the last in one
    /// dispatch. The states and intermediate numbers of a step, together up to 3,072 words of 32 bits, stay in its memory,
    /// more of them in scratch memory of the device. There are several dispatches where one would run longer than drivers
    /// allow, as for long rows of wide states and on software adapters, and where steps in scratch memory take more than
    /// 1,024 workgroups.
    ///
    /// The gradient is a recurrence in the other direction, which only multiplies and adds. It stores what it reads and
    /// gives for all elements: the products of the states, the elementary functions in the derivative of the step, each
    /// evaluated once, and the derivatives by the states; of an LSTM cell about 20 numbers per unit. Of equal extremes
    /// that a step reduces, one has the gradient. A step that joins more than 32 pieces of a state may have no gradient,
    /// which is an error.
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
    /// Rows are those of the innermost ragged dimension, or of dimension 1 of a dense tensor. `step` is called once, on
    /// [`Row`]s that stand for the states and for the element of every row at every position. Each state is a number or
    /// a dense array of numbers, of one dtype; initial states are one per row, or one for all rows, of shape `[1, …]`.
    /// [`backwards`](crate::opt::backwards) starts at the ends of rows. The outputs have the rows of the tensor; empty
    /// rows have none, and their initial states at the end. A row has the same bits on every backend and in every
    /// batch. [`Tensor::scan_rows`] says more of steps.
    ///
    /// # Errors
    /// A tensor without rows; strings; no state, states of different dtypes, of bools or of fewer than 32 bits, or of
    /// another shape or dtype after the step; the errors of `step`; operations on states other than element-wise ones,
    /// slices, concatenations, reductions and products with matrices; a state that is read in the step.
    ///
    /// # Cost
    /// Time proportional to the number of elements, and to the longest row where there are few rows. The states of all
    /// elements are stored. No wait.
    ///
    /// The gradient is a recurrence in the other direction, which only multiplies and adds. It stores what it reads and
    /// gives for all elements: the products of the states, the elementary functions in the derivative of the step, each
    /// evaluated once, and the derivatives by the states; of an LSTM cell about 20 numbers per unit. Of equal extremes
    /// that a step reduces, one has the gradient. A step that joins more than 32 pieces of a state may have no gradient,
    /// which is an error.
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
    let rec = first.recorder(op);
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
    if nvals.as_known() == Some(0) {
        let (states, outputs) = all.without_elements(&states, start, outputs, shapes)?;
        return Ok(ScannedRows { states, outputs });
    }

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
        kept: Box::default(),
    }
    .keeping_for_gradient();
    let result = rec.scan_rows(scan.clone(), &asserts)?;

    // Outputs, from the states before and after each element.
    let results: Vec<Node> = after.into_iter().chain(outputs).collect();
    let with_outputs = Step::of(rec, &placeholders, (&nvals, &widths), &results)?;
    let stored = StoredNumbers { rec, scan: &scan, array: &result };
    let before = (0..states.len()).map(|k| stored.state_before(k)).collect::<Result<Vec<Node>>>()?;
    let after = (0..states.len()).map(|k| stored.nth(k)).collect::<Result<Vec<Node>>>()?;
    let given: Vec<(u32, Node)> = with_outputs.results.iter().copied().zip(after).collect();
    let known = Known { given: &given, ..Known::default() };
    let registers = flat(rec, &nvals, &with_outputs.stages, before, known)?.computed;
    // Outputs that depend on no state have the conditions of the call too.
    asserts.extend(with_outputs.asserts);
    let output = |(&k, dims): (&u32, Dims)| {
        let node = &registers[k as usize];
        all.under_rows(&rec.map(node.extent().clone(), Expr::load(node, Expr::index()), &asserts), dims)
    };
    let outputs = with_outputs.results[states.len()..].iter().zip(shapes).map(output).collect::<Result<_>>()?;
    let states = states.iter().map(|state| all.last(state, &scan, &result)).collect::<Result<_>>()?;
    Ok(ScannedRows { states, outputs })
}
