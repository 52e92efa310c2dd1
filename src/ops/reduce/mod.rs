//! Reductions over any axes: sum, product, minimum, maximum, moments, all and any. Shared rules: see [`Axes`].

pub(super) mod arg_extremes;
pub(super) mod extremes;
pub(super) mod mean_as;
pub(super) mod moments;
pub(super) mod norm;
pub(super) mod quantile;
pub(super) mod softmax;
pub(super) mod sums;
pub(super) mod truth;
mod typed;

use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::graph::reducer::Reducer;
use crate::ops::options::ReduceAxes;
use crate::record::axes::Axes;
use crate::record::levels::{Levels, Stage};
use crate::tensor::Tensor;

pub(super) use extremes::{extreme_float, extreme_integer};
pub(super) use mean_as::mean_in;
pub(super) use moments::{mean_dtype, total};
pub use typed::Averaged;

/// A reduction over a set of axes.
pub(super) struct Reduction<'a> {
    rec: Recorder<'a>,
    /// One stage per run of adjacent axes, innermost first.
    stages: Vec<Stage>,
    /// The dimensions of the result.
    levels: Levels,
}

impl<'a> Reduction<'a> {
    pub(super) fn new(rec: Recorder<'a>, x: &Tensor, ReduceAxes { axes, keep }: &ReduceAxes) -> Result<Self> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for axis in rec.axes(x, axes)? {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == axis => *last = axis,
                _ => runs.push((axis, axis)),
            }
        }
        let mut levels = Levels::of(rec, x)?;
        let mut stages = Vec::new();
        for &run in runs.iter().rev() {
            let (stage, left) = levels.reduce(rec, run, *keep)?;
            levels = left;
            stages.push(stage);
        }
        if *keep && *axes == Axes::All && x.ragged_rank() > 0 {
            // As in TensorFlow, the inner dimensions are kept twice: once more for those of the flat values.
            levels = levels.with_ones(rec, x.inner().len())?;
        }
        Ok(Self { rec, stages, levels })
    }

    /// Reduces `value`, an expression in the input number. Returns an expression in the result number.
    pub(super) fn fold(&self, by: impl Into<Reducer>, value: Expr) -> Result<Expr> {
        let by = by.into();
        self.stages
            .iter()
            .try_fold(value, |value, stage| Ok(Expr::load(&stage.reduce(self.rec, by, value)?, Expr::index())))
    }

    /// Reduces `value`, an expression in the input number, in one stage. Returns an expression in the result number, or
    /// `None` if the axes need several stages. Only plain operators can reduce their own results in further stages.
    pub(super) fn at_once(&self, by: Reducer, value: &Expr) -> Result<Option<Expr>> {
        let [stage] = self.stages.as_slice() else { return Ok(None) };
        Ok(Some(Expr::load(&stage.reduce(self.rec, by, value.clone())?, Expr::index())))
    }

    /// Number of input numbers per result.
    fn count(&self) -> Result<Expr> {
        let Some((first, others)) = self.stages.split_first() else { return Ok(Expr::u32(1)) };
        others.iter().try_fold(first.count(), |count, stage| {
            let count = self.rec.map(stage.numbers().clone(), count, &[]);
            let total = stage.reduce(self.rec, ReduceOp::Sum, Expr::load(&count, Expr::index()))?;
            Ok(Expr::load(&total, Expr::index()))
        })
    }

    /// The result number that input number `Index` contributes to.
    pub(super) fn target(&self) -> Expr {
        self.stages.iter().fold(Expr::index(), |at, stage| stage.target().at(&at))
    }

    /// The array of an expression in the result number. A plain load reuses its array.
    pub(super) fn stored(&self, value: Expr) -> Node {
        match value.own_load() {
            Some(node) => node.clone(),
            None => self.rec.map(self.levels.numbers(), value, &[]),
        }
    }

    pub(super) fn tensor(&self, value: Expr) -> Result<Tensor> {
        self.levels.tensor(self.rec, self.stored(value))
    }
}
