//! Means of values some of which a mask excludes.

use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::{ReduceOp, UnaryOp};
use crate::graph::recorder::Recorder;
use crate::ops::options::ReduceAxes;
use crate::ops::reduce::truth::truth;
use crate::record::elementwise::number;
use crate::tensor::{Tensor, Values};

/// The products of matrices of `weights` and of `values`, which have `width` columns. A weight below 0 stands for a value
/// that is excluded: it has no influence.
///
/// A product with a weight of 0 would be NaN for a value that is not finite. Such values count as 0, and a second
/// product counts for each result those that are not excluded. It skips matrices whose values are all finite.
pub(super) fn means(rec: Recorder<'_>, weights: &Tensor, values: &Tensor, width: u32) -> Result<Tensor> {
    let dtype = values.dtype();
    let (zero, one) = (number(dtype, 0.0), number(dtype, 1.0));
    let [rows] = values.partitions() else {
        return Err(rec.argument("bug: values without rows"));
    };
    let is_finite = |v: Expr| v.unary(UnaryOp::IsFinite);
    let finite = values.map_numbers(rec, |v| is_finite(v.clone()).select(v, zero.clone()))?;
    let own = weights.map_numbers(rec, |w| w.clone().lt(zero.clone()).select(zero.clone(), w))?;
    let means = own.product(rec, false, &finite, false)?;

    let is_odd = values.map_numbers(rec, |v| is_finite(v).not())?;
    let is_odd = truth(rec, &is_odd, ReduceOp::Max, &ReduceAxes::from([1, 2]))?;
    // Whether a value is +inf or NaN, and whether it is -inf or NaN: two columns per column of values.
    let count = rec.times(&rec.times(rows.nvals_extent(), width)?, 2)?;
    let both = width.saturating_mul(2);
    let (half, pair, at) = (Expr::u32(width.max(1)), Expr::u32(both.max(1)), Expr::index());
    let (element, column) = (at.clone().div(pair.clone()), at.rem(pair.clone()));
    let is_first = column.clone().lt(half.clone());
    let v = Expr::load(rec.numbers(values)?, element.mul(half.clone()).add(column.rem(half.clone())));
    let bound = is_first.select(number(dtype, f64::INFINITY), number(dtype, f64::NEG_INFINITY));
    let is_counted = v.clone().eq(bound).or(v.unary(UnaryOp::IsNan));
    let counted = rec.map(count, is_counted.select(one.clone(), zero.clone()), &[]);
    let outer = Some(rows.nvals_extent().clone());
    let counted = rec.tensor(vec![rows.clone()], outer, vec![both], Values::Numbers(counted))?;
    let attended = weights.map_numbers(rec, |w| w.lt(zero.clone()).select(zero.clone(), one))?;
    let counts = attended.product_where(rec, &counted, rec.numbers(&is_odd)?)?;

    let (vector, column) = (Expr::index().div(half.clone()), Expr::index().rem(half.clone()));
    let first = vector.mul(pair).add(column);
    let counts = rec.numbers(&counts)?;
    let has = |at: Expr| zero.clone().lt(Expr::load(counts, at));
    let (up, down) = (has(first.clone()), has(first.add(half)));
    means.map_numbers(rec, |mean| {
        let n = |v: f64| number(dtype, v);
        let odd = up.clone().select(down.clone().select(n(f64::NAN), n(f64::INFINITY)), n(f64::NEG_INFINITY));
        up.or(down).select(mean.clone().add(odd), mean)
    })
}
