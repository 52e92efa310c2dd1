//! Elementwise binary operations on byte strings: concatenation and comparison.

use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::{Extent, upper_bound};
use crate::graph::node::Node;
use crate::graph::opcode::{BinaryOp, ReduceOp};
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::record::elementwise::Together;
use crate::record::operand::Operand;
use crate::shape::{Place, RowPartition};
use crate::tensor::{BytesBound, Pick, Tensor, Values};

/// Capacities up to this many bytes are used in full, even if few of the bytes are needed.
const SMALL: u64 = 1 << 16;

/// The strings of one operand, and the position in it of each string of the result's layout.
pub(in crate::ops) struct Side {
    values: Values,
    pub(in crate::ops) place: Place,
}

impl Side {
    #[track_caller]
    pub(in crate::ops) fn new(
        op: &'static str,
        operand: &Operand<'_>,
        together: &Together<'_>,
        k: usize,
    ) -> Result<Self> {
        let rec = Recorder::new(together.backend, op);
        let values = match operand {
            Operand::Tensor(t) => t.values_ref().clone(),
            Operand::Value(fill) => {
                let pick = Pick::Fill(fill.clone());
                let bound = BytesBound::at_most(0);
                rec.rearranged(&Extent::known(1), &pick, bound, &[])?
            }
        };
        Ok(Self { values, place: together.places[k].clone() })
    }

    #[track_caller]
    pub(in crate::ops) fn parts(&self, op: &'static str) -> Result<(&RowPartition, &Node)> {
        match &self.values {
            Values::Strings { strings, bytes } => Ok((strings, bytes)),
            Values::Numbers(n) => Err(crate::Error::unsupported(op, n.dtype(), "it needs byte strings")),
        }
    }

    /// Bound on the bytes that the operand contributes to `count` strings of the result.
    pub(in crate::ops) fn bound(&self, count: &Extent) -> BytesBound {
        let own = self.values.bytes_capacity();
        if self.place == Place::Same {
            return BytesBound::AtMost(self.values.bytes_size());
        }
        let longest = match &self.values {
            Values::Strings { strings, .. } => strings.known_lengths().map(|(_, longest)| u64::from(longest)),
            Values::Numbers(_) => None,
        };
        match longest.map(|l| l * u64::from(count.capacity())) {
            Some(all) if all <= SMALL.max(2 * own) => BytesBound::at_most(all),
            _ => BytesBound::Unknown,
        }
    }
}

/// Concatenates each string of `a` with that of `b`. One prefix sum and one map.
#[track_caller]
pub(crate) fn join(op: &'static str, a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
    let operands = [a, b];
    let together = Together::new(op, &operands)?;
    let (a, b) = (Side::new(op, &operands[0], &together, 0)?, Side::new(op, &operands[1], &together, 1)?);
    let ((a_strings, a_bytes), (b_strings, b_bytes)) = (a.parts(op)?, b.parts(op)?);
    let (backend, count) = (together.backend, &together.count);
    let rec = Recorder::new(backend, op);
    let mut length = a_strings.length(a.place.expr()).add(b_strings.length(b.place.expr()));
    if !together.asserts.is_empty() {
        // The lengths carry the conditions, since everything else depends on them.
        length = Expr::load(&rec.map(count.clone(), length, &together.asserts), Expr::index());
    }
    let capacity = match (a.bound(count), b.bound(count)) {
        (BytesBound::AtMost(a), BytesBound::AtMost(b)) => a.add(&b),
        _ => upper_bound(u64::MAX).into(),
    };
    let strings = rec.rows_of_lengths(count, length, capacity)?;
    let (row, offset) = (strings.row_of(Expr::index()), strings.offset_of(Expr::index()));
    let (in_a, in_b) = (a.place.expr().at(&row), b.place.expr().at(&row));
    let head = a_strings.length(in_a.clone());
    let of_a = Expr::load(a_bytes, a_strings.within(in_a, offset.clone()));
    let of_b = Expr::load(b_bytes, b_strings.within(in_b, offset.clone().sub(head.clone())));
    let byte = offset.lt(head).select(of_a, of_b);
    let bytes = rec.map(strings.nvals_extent().clone(), byte, &[]);
    together.with(Values::Strings { strings, bytes })
}

/// Whether the strings are equal. One reduction over the bytes of `a`.
#[track_caller]
pub(crate) fn equal(op: &'static str, a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
    compare(op, [a, b], |equal| equal)
}

/// Whether the strings differ. One reduction over the bytes of `a`.
#[track_caller]
pub(crate) fn not_equal(op: &'static str, a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
    compare(op, [a, b], Expr::not)
}

#[track_caller]
fn compare(op: &'static str, operands: [Operand<'_>; 2], answer: fn(Expr) -> Expr) -> Result<Tensor> {
    let together = Together::new(op, &operands)?;
    let (backend, count) = (together.backend, &together.count);
    let rec = Recorder::new(backend, op);
    let (mut a, b) = (Side::new(op, &operands[0], &together, 0)?, Side::new(op, &operands[1], &together, 1)?);
    if a.place != Place::Same {
        let pick = Pick::From(&a.values, a.place.expr());
        a.values = rec.rearranged(count, &pick, a.bound(count), &[])?;
    }
    let ((a_strings, a_bytes), (b_strings, b_bytes)) = (a.parts(op)?, b.parts(op)?);
    let (row, offset) = (a_strings.row_of(Expr::index()), a_strings.offset_of(Expr::index()));
    let in_b = b.place.expr().at(&row);
    let of_b = Expr::load(b_bytes, b_strings.within(in_b.clone(), offset.clone()));
    let differs = Expr::load(a_bytes, Expr::index()).binary(BinaryOp::Ne, of_b);
    let differs = offset.lt(b_strings.length(in_b)).select(differs, Expr::scalar(false)).cast(crate::DType::U32);
    let rows = (a_strings.rows().clone(), count.clone());
    let any = Node::reduce(rec.backend, rec.op, ReduceOp::Max, rows, a_strings.nvals_extent().clone(), 1, differs)?;
    let same_length = a_strings.length(Expr::index()).eq(b_strings.length(b.place.expr()));
    let equal = same_length.and(Expr::load(&any, Expr::index()).eq(Expr::u32(0)));
    let node = rec.map(count.clone(), answer(equal), &together.asserts);
    together.with(Values::Numbers(node))
}
