//! Reductions of the numbers of one element: stages that combine them in the canonical order of row reductions, whose bits
//! they have but for the sums of softmax and of variances, which take several passes.
//!
//! Stages are short, so that derivatives of them are: those of an expression grow with the square of its terms.

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

/// Most numbers that one stage combines.
const COMBINED_AT_ONCE: usize = 8;

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
                let exps = self.factor(node, greatest.eq(none).select(one, exp), all)?;
                self.combined(node, of, ReduceOp::Sum, exps)?
            }
            Reducer::Deviations => {
                // From the first value of the row: no sum of finite numbers overflows unless the variance does.
                let [row, _, column] = of.place();
                let first = values.at(&of.value(&[row, column], Expr::u32(0)));
                let from_first = self.factor(node, values.sub(first), all)?;
                let from_mean = self.less_mean(node, of, from_first)?;
                // The mean is rounded: the deviations have one of their own.
                let from_mean = self.less_mean(node, of, from_mean)?;
                let squares = self.factor(node, from_mean.clone().mul(from_mean), all)?;
                self.combined(node, of, ReduceOp::Sum, squares)?
            }
        };
        self.push(node, of.width, StageValue::Map(value))
    }

    /// The values minus the mean of their row. Both are registers.
    fn less_mean(&mut self, node: &Node, of: Terms, values: Expr) -> Result<Expr> {
        let all = of.width * of.terms;
        let part = Expr::scalar(Scalar::from_f64(values.dtype(), 1.0 / f64::from(of.terms)));
        let parts = self.factor(node, values.clone().mul(part), all)?;
        let mean = self.combined(node, of, ReduceOp::Sum, parts)?;
        let mean = self.factor(node, mean, of.width)?.at(&of.result());
        self.factor(node, values.sub(mean), all)
    }

    /// The values of each row, combined: an expression in the result. `values` is a register.
    fn combined(&mut self, node: &Node, of: Terms, op: ReduceOp, values: Expr) -> Result<Expr> {
        let inner = of.inner as usize;
        let longest = if inner == 1 { reduction::FOLD_LEN } else { reduction::COLUMNS_FOLD_LEN };
        if of.terms as usize <= longest {
            let row = of.row();
            let terms = (0..of.terms).map(|term| values.at(&of.value(&row, Expr::u32(term)))).collect();
            return self.folded(node, op, terms, of.width);
        }
        let (block, lanes) = match inner {
            1 => (reduction::block_len(1), reduction::LANES),
            _ => (reduction::block_len(inner), reduction::wide_lanes(inner)),
        };
        let partials = self.blocks(node, of, op, [block as u32, lanes as u32], values)?;
        let of_partials = Terms { terms: of.terms.div_ceil(block as u32), ..of };
        if of_partials.terms == 1 {
            return Ok(partials);
        }
        self.blocks(node, of_partials, op, [of_partials.terms, reduction::level2_lanes(inner) as u32], partials)
    }

    /// The values of each block of each row, combined in lanes. Values and results are registers.
    fn blocks(&mut self, node: &Node, of: Terms, op: ReduceOp, [block, lanes]: [u32; 2], values: Expr) -> Result<Expr> {
        let (blocks, used) = (of.terms.div_ceil(block), lanes.min(of.terms));
        let in_lanes = Terms { terms: used, width: of.width * blocks, ..of };
        let Some(all) = in_lanes.width.checked_mul(used).filter(|&all| all <= MOST_NUMBERS) else {
            let why = format!("combines so many numbers that there are more than {MOST_NUMBERS} partial results");
            return Err(self.refused(node, &why));
        };
        let [block_of_row, lane, column] = in_lanes.place();
        let (row, number) = (block_of_row.clone().div(Expr::u32(blocks)), block_of_row.rem(Expr::u32(blocks)));
        let (first, place) = (number.mul(Expr::u32(block)).add(lane), [row, column]);
        let length = of.terms.min(block).div_ceil(lanes);
        let is_whole = of.terms.is_multiple_of(block) && block.is_multiple_of(lanes);
        let terms = (0..length).map(|k| {
            let term = first.clone().add(Expr::u32(k * lanes));
            let value = values.at(&of.value(&place, term.clone()));
            match is_whole {
                true => value,
                false => or_identity(term.lt(Expr::u32(of.terms)), value, op),
            }
        });
        let partials = self.folded(node, op, terms.collect(), all)?;
        let partials = self.factor(node, partials, all)?;
        self.halved(node, in_lanes, (op, lanes), partials)
    }

    /// The values of the lanes of each row, combined in a halving tree; there are at most `lanes`. Both are registers.
    fn halved(&mut self, node: &Node, of: Terms, (op, lanes): (ReduceOp, u32), mut values: Expr) -> Result<Expr> {
        let (mut of, mut half) = (of, lanes / 2);
        while half > 0 {
            if half < of.terms {
                let next = Terms { terms: half, ..of };
                let [row, lane, column] = next.place();
                let place = [row, column];
                let upper = values.at(&of.value(&place, lane.clone().add(Expr::u32(half))));
                let upper = match of.terms == 2 * half {
                    true => upper,
                    false => or_identity(lane.clone().lt(Expr::u32(of.terms - half)), upper, op),
                };
                let both = values.at(&of.value(&place, lane)).binary(binary(op), upper);
                values = self.factor(node, both, half * of.width)?;
                of = next;
            }
            half /= 2;
        }
        Ok(values)
    }

    /// The values combined from left to right, some per stage of `width` numbers.
    fn folded(&mut self, node: &Node, op: ReduceOp, values: Vec<Expr>, width: u32) -> Result<Expr> {
        let mut values = values.into_iter();
        let first = match op {
            ReduceOp::Sum | ReduceOp::Prod => None,
            // Of equal extremes the identity element is none.
            ReduceOp::Min | ReduceOp::Max => values.next(),
        };
        let dtype = values.as_slice().first().or(first.as_ref()).map_or(DType::F32, Expr::dtype);
        let mut out = first.unwrap_or_else(|| Expr::scalar(op.identity(dtype)));
        for (k, value) in values.enumerate() {
            if k > 0 && k.is_multiple_of(COMBINED_AT_ONCE) {
                out = self.factor(node, out, width)?;
            }
            out = out.binary(binary(op), value);
        }
        Ok(out)
    }
}

impl Terms {
    /// The row and the column of each result.
    fn row(self) -> [Expr; 2] {
        let inner = Expr::u32(self.inner);
        [Expr::index().div(inner.clone()), Expr::index().rem(inner)]
    }

    /// The row, the term and the column of each value.
    fn place(self) -> [Expr; 3] {
        let [inner, terms, all] = [self.inner, self.terms, self.inner * self.terms].map(Expr::u32);
        [Expr::index().div(all), Expr::index().div(inner.clone()).rem(terms), Expr::index().rem(inner)]
    }

    /// The value of a row and a column.
    fn value(self, [row, column]: &[Expr; 2], term: Expr) -> Expr {
        row.clone().mul(Expr::u32(self.terms)).add(term).mul(Expr::u32(self.inner)).add(column.clone())
    }

    /// The result of each value.
    fn result(self) -> Expr {
        let [row, _, column] = self.place();
        row.mul(Expr::u32(self.inner)).add(column)
    }
}

/// The value where the condition holds, else the identity element, which changes no partial result.
fn or_identity(condition: Expr, value: Expr, op: ReduceOp) -> Expr {
    let identity = Expr::scalar(op.identity(value.dtype()));
    condition.select(value, identity)
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
