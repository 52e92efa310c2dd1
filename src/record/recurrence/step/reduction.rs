//! Reductions of the numbers of one element: stages that combine them in the canonical order of row reductions, whose bits
//! they have but for the sums of softmax and of variances, which take two passes.

use super::{MOST_NUMBERS, Recording};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::canonical_order::reduction;
use crate::graph::expr::Expr;
use crate::graph::node::{Node, Rows};
use crate::graph::opcode::{BinaryOp, ReduceOp, UnaryOp};
use crate::graph::primitive::{Reduce, StageValue};
use crate::graph::reducer::Reducer;
use crate::graph::scalar::Scalar;
use crate::math::MathFn;

/// Rows of `terms` numbers of each element, of `inner` columns.
#[derive(Debug, Clone, Copy)]
struct Terms {
    terms: u32,
    inner: u32,
    /// Results of an element.
    width: u32,
}

impl Recording<'_> {
    /// Adds the stages of a reduction of rows of one length that is known.
    pub(super) fn add_reduction(&mut self, node: &Node, reduce: &Reduce) -> Result<()> {
        let Rows::Uniform(terms) = &reduce.on.rows else {
            return Err(self.refused(node, "combines rows of different lengths"));
        };
        let Some(terms) = terms.as_known() else {
            return Err(self.refused(node, "combines as many numbers as is known only when it runs"));
        };
        let of = Terms { terms, inner: reduce.on.inner, width: self.width(node)? };
        let dtype = reduce.value.dtype();
        let Some(all) = of.width.checked_mul(terms).filter(|&all| all <= MOST_NUMBERS) else {
            return Err(self.refused(node, &format!("combines more than {MOST_NUMBERS} numbers of an element")));
        };
        if all == 0 {
            return self.push(node, of.width, StageValue::Map(Expr::scalar(of_none(reduce.reducer, dtype))));
        }
        let values = self.converted(node, &reduce.value, all)?;
        let values = self.factor(node, values, all)?;
        let value = match reduce.reducer {
            Reducer::Op(op) | Reducer::Extreme(op, _) => self.combined(node, of, op, values)?,
            Reducer::Greatest => self.combined(node, of, ReduceOp::Max, values)?,
            Reducer::SumOfExps => {
                let greatest = self.combined(node, of, ReduceOp::Max, values.clone())?;
                let greatest = self.factor(node, greatest, of.width)?.at(&of.result());
                // Where all values are -inf, the exponentials are those of 0.
                let none = Expr::scalar(Scalar::from_f64(dtype, f64::NEG_INFINITY));
                let one = Expr::scalar(Scalar::from_i64(dtype, 1));
                let exp = values.sub(greatest.clone()).unary(UnaryOp::Math(MathFn::Exp));
                let exp = greatest.eq(none).select(one, exp);
                let exps = self.factor(node, exp, all)?;
                self.combined(node, of, ReduceOp::Sum, exps)?
            }
            Reducer::Deviations => {
                let count = Expr::scalar(Scalar::from_i64(dtype, terms.into()));
                let sum = self.combined(node, of, ReduceOp::Sum, values.clone())?;
                let mean = self.factor(node, sum.quotient(count.clone()), of.width)?.at(&of.result());
                let deviations = self.factor(node, values.sub(mean), all)?;
                let squares = self.factor(node, deviations.clone().mul(deviations.clone()), all)?;
                let squares = self.combined(node, of, ReduceOp::Sum, squares)?;
                let squares = self.factor(node, squares, of.width)?;
                // What the rounding of the mean adds.
                let rest = self.combined(node, of, ReduceOp::Sum, deviations)?;
                let rest = self.factor(node, rest, of.width)?;
                squares.sub(rest.clone().mul(rest).quotient(count)).max(Expr::scalar(Scalar::from_i64(dtype, 0)))
            }
        };
        self.push(node, of.width, StageValue::Map(value))
    }

    /// The values of each row, combined: an expression in the result. `values` reads a register.
    fn combined(&mut self, node: &Node, of: Terms, op: ReduceOp, values: Expr) -> Result<Expr> {
        let Terms { terms, inner, width } = of;
        let dtype = values.dtype();
        let identity = Expr::scalar(op.identity(dtype));
        let combine = |a: Expr, b: Expr| a.binary(binary(op), b);
        let longest = if inner == 1 { reduction::FOLD_LEN } else { reduction::COLUMNS_FOLD_LEN };
        if terms as usize <= longest {
            let at = |term: u32| values.at(&of.value(&of.row(), Expr::u32(term)));
            return Ok((0..terms).map(at).fold(identity, combine));
        }
        // Blocks of rows, of which each lane combines some values.
        let block = reduction::block_len(inner as usize) as u32;
        let lanes = if inner == 1 { reduction::LANES } else { reduction::wide_lanes(inner as usize) } as u32;
        let blocks = terms.div_ceil(block);
        let in_blocks = Terms { terms: blocks, inner, width };
        let in_lanes = Terms { terms: lanes, inner, width: width * blocks };
        let Some(partials) = in_lanes.width.checked_mul(lanes).filter(|&n| n <= MOST_NUMBERS) else {
            return Err(self.refused(node, &format!("combines more than {MOST_NUMBERS} numbers of an element")));
        };
        let [column, lane] =
            [Expr::index().rem(Expr::u32(inner)), Expr::index().div(Expr::u32(inner)).rem(Expr::u32(lanes))];
        let block_number = Expr::index().div(Expr::u32(inner * lanes)).rem(Expr::u32(blocks));
        let row = Expr::index().div(Expr::u32(inner * lanes * blocks));
        let first = block_number.mul(Expr::u32(block)).add(lane);
        // The identity element changes no partial result.
        let (none, mut partial) = (identity.clone(), identity);
        for k in 0..terms.min(block).div_ceil(lanes) {
            let term = first.clone().add(Expr::u32(k * lanes));
            let place = row.clone().mul(Expr::u32(terms)).add(term.clone()).mul(Expr::u32(inner)).add(column.clone());
            let value = values.at(&place);
            let value =
                if terms.is_multiple_of(block) { value } else { term.lt(Expr::u32(terms)).select(value, none.clone()) };
            partial = combine(partial, value);
        }
        let partial = self.factor(node, partial, partials)?;
        let lane = |lane: u32| partial.at(&in_lanes.value(&in_lanes.row(), Expr::u32(lane)));
        let of_block = halved((0..lanes).map(lane).collect(), lanes, &combine);
        if blocks == 1 {
            return Ok(of_block);
        }
        let of_block = self.factor(node, of_block, width * blocks)?;
        let at = |block: u32| of_block.at(&in_blocks.value(&in_blocks.row(), Expr::u32(block)));
        let lanes = reduction::level2_lanes(inner as usize) as u32;
        let of_lane = |lane: u32| (lane..blocks).step_by(lanes as usize).map(at).reduce(combine);
        Ok(halved((0..lanes.min(blocks)).filter_map(of_lane).collect(), lanes, &combine))
    }
}

impl Terms {
    /// The row of each result, with its column: `row * inner + column`, in two parts.
    fn row(self) -> [Expr; 2] {
        let inner = Expr::u32(self.inner);
        [Expr::index().div(inner.clone()), Expr::index().rem(inner)]
    }

    /// The place of a value of a row.
    fn value(self, [row, column]: &[Expr; 2], term: Expr) -> Expr {
        row.clone().mul(Expr::u32(self.terms)).add(term).mul(Expr::u32(self.inner)).add(column.clone())
    }

    /// The result of each value.
    fn result(self) -> Expr {
        let [inner, all] = [self.inner, self.inner * self.terms].map(Expr::u32);
        Expr::index().div(all).mul(inner.clone()).add(Expr::index().rem(inner))
    }
}

/// The values of `size` lanes, combined in a halving tree. Lanes without values come last.
fn halved(mut lanes: Vec<Expr>, size: u32, combine: &impl Fn(Expr, Expr) -> Expr) -> Expr {
    let mut half = size as usize / 2;
    while half > 0 {
        for (k, upper) in lanes.split_off(half.min(lanes.len())).into_iter().enumerate() {
            lanes[k] = combine(lanes[k].clone(), upper);
        }
        half /= 2;
    }
    lanes.swap_remove(0)
}

fn binary(op: ReduceOp) -> BinaryOp {
    match op {
        ReduceOp::Sum => BinaryOp::Add,
        ReduceOp::Prod => BinaryOp::Mul,
        ReduceOp::Min => BinaryOp::Min,
        ReduceOp::Max => BinaryOp::Max,
    }
}

/// The result of a row without values.
fn of_none(reducer: Reducer, dtype: DType) -> Scalar {
    match reducer {
        Reducer::Op(op) => op.identity(dtype),
        Reducer::Extreme(op, empty) => empty.value(op, dtype),
        Reducer::Greatest => ReduceOp::Max.identity(dtype),
        Reducer::SumOfExps | Reducer::Deviations => Scalar::from_i64(dtype, 0),
    }
}
