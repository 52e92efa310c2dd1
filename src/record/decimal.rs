//! Integers as decimal text.

use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::opcode::UnaryOp;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::tensor::Values;

/// The integers of an array as decimal text, with a minus sign where they are negative. Records a map and a prefix sum
/// over the integers, and a map over the bytes.
pub(crate) fn text(rec: Recorder<'_>, numbers: &Node, count: &Extent) -> Result<Values> {
    let (at, one, zero) = (Expr::index(), Expr::u32(1), Expr::u32(0));
    let (value, dtype) = (Expr::load(numbers, at.clone()), numbers.dtype());
    // The magnitude of the least integer wraps to itself, which is right in the unsigned type.
    let (wide, unsigned) = if dtype.size() == 8 { (DType::I64, DType::U64) } else { (DType::I32, DType::U32) };
    let (negative, magnitude) = if dtype.is_signed() {
        let value = value.cast(wide);
        let negative = value.clone().lt(Expr::scalar(Scalar::from_i64(wide, 0)));
        (negative, value.unary(UnaryOp::Abs).bitcast(unsigned))
    } else {
        (Expr::scalar(false), value.cast(unsigned))
    };
    let powers: Vec<u64> = (0..if unsigned == DType::U64 { 20 } else { 10 }).map(|k| 10u64.pow(k)).collect();
    let narrow: Vec<u32> = powers.iter().map(|&p| p as u32).collect();
    let bytes = if unsigned == DType::U64 { bytemuck::cast_slice(&powers) } else { bytemuck::cast_slice(&narrow) };
    let table = rec.uploaded(unsigned, bytes)?;
    let number = |n: u64| if unsigned == DType::U64 { Expr::scalar(n) } else { Expr::u32(n as u32) };
    let reached = powers[1..].iter().map(|&p| number(p).le(magnitude.clone()).select(one.clone(), zero.clone()));
    let digits = reached.fold(one.clone(), Expr::add);
    let sign = negative.select(one.clone(), zero.clone());
    let length = rec.map(count.clone(), digits.add(sign.clone()), &[]);
    let capacity = count.size().mul(powers.len() as u32 + 1);
    let strings = rec.rows_of_lengths(count, Expr::load(&length, at.clone()), capacity)?;
    let (row, offset) = (strings.row_of(at.clone()), strings.offset_of(at));
    let place = Expr::load(&length, row.clone()).sub(one).sub(offset.clone());
    let digit = magnitude.at(&row).quotient(Expr::load(&table, place)).remainder(number(10));
    let digit = digit.cast(DType::U32).add(Expr::u32('0'.into())).cast(DType::U8);
    let byte = offset.lt(sign.at(&row)).select(Expr::scalar(b'-'), digit);
    let bytes = rec.map(strings.nvals_extent().clone(), byte, &[]);
    Ok(Values::Strings { strings, bytes })
}
