//! The bin of an integer, and the number of bins.

use std::sync::Arc;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::backend::Part;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::graph::size::RecordedSize;
use crate::ops::indexing::gather::in_range;
use crate::ops::options::Bins;
use crate::record::by_key::one_row;
use crate::tensor::Tensor;

/// The number at `Index` as the index of a bin. Numbers beyond u32 give its largest value.
///
/// # Errors
/// Byte strings. At the read: negative numbers; floats that are not whole numbers.
pub(super) fn bin(rec: Recorder<'_>, x: &Tensor) -> Result<Expr> {
    let value = Expr::load(rec.numbers(x)?, Expr::index());
    let value = value.clone().cast(value.dtype().accumulator());
    let negative = Arc::new(rec.check("values must not be negative"));
    let zero = Expr::scalar(Scalar::from_i64(value.dtype(), 0));
    Ok(match value.dtype() {
        DType::U32 => value,
        DType::I32 => value.clone().cast(DType::U32).checked(negative, zero.le(value)),
        wide @ (DType::I64 | DType::U64) => {
            let fits = in_range(&value, Expr::u32(u32::MAX), u32::MAX);
            let bin = fits.select(value.clone().cast(DType::U32), Expr::u32(u32::MAX));
            if wide == DType::U64 { bin } else { bin.checked(negative, zero.le(value)) }
        }
        float => {
            let bin = value.clone().cast(DType::U32);
            // Larger values saturate, and the largest bin rounds to 2^32.
            let whole = bin.clone().cast(float).eq(value).and(bin.clone().lt(Expr::u32(u32::MAX)));
            bin.checked(rec.check("values must be whole numbers from 0 to 2^32 - 2").into(), whole)
        }
    })
}

/// As [`bin`], for counts that need no counter per bin: u64 for 64-bit integers, u32 otherwise.
///
/// # Errors
/// As [`bin`]. At the read: 2^63 - 1 or more, which no dense shape holds.
pub(super) fn sparse_bin(rec: Recorder<'_>, x: &Tensor) -> Result<Expr> {
    if !matches!(x.dtype(), DType::I64 | DType::U64) {
        return bin(rec, x);
    }
    let value = Expr::load(rec.numbers(x)?, Expr::index()).bitcast(DType::U64);
    let most = i64::MAX.unsigned_abs();
    let check = rec.check("values must not be negative, and below 2^63 - 1");
    Ok(value.clone().checked(check.into(), value.lt(Expr::scalar(most))))
}

/// Reads a u64 from the device. Costs one wait.
pub(crate) fn read_u64(rec: Recorder<'_>, number: Expr) -> Result<u64> {
    let number = rec.map(Extent::known(1), number, &[]);
    let read = rec.read_parts(vec![Part::whole(number)])?;
    Ok(bytemuck::pod_read_unaligned(&read[0]))
}

impl Bins {
    /// The number of bins for values whose bin is `bin`. Waits for the largest value unless the number is given.
    #[track_caller]
    pub(super) fn number(&self, rec: Recorder<'_>, x: &Tensor, bin: &Expr) -> Result<u32> {
        let next = bin.clone().min(Expr::u32(u32::MAX - 1)).add(Expr::u32(1));
        let mut number = self.between(rec.op, x, self.least, |needed| Ok(rec.read_if(needed, &[])?.into()), next)?;
        if number == u64::from(u32::MAX) {
            // The error shows the number that the largest value needs.
            number = self.reach(rec, x, &sparse_bin(rec, x)?)?;
        }
        Ok(rec.known(number)?.capacity())
    }

    /// As [`Self::number`], of a sparse result: any number, and at least one bin, as in TensorFlow.
    #[track_caller]
    pub(super) fn reach(&self, rec: Recorder<'_>, x: &Tensor, bin: &Expr) -> Result<u64> {
        let next = bin.clone().cast(DType::U64).add(Expr::scalar(1u64));
        self.between(rec.op, x, self.least.max(1), |needed| Ok(read_u64(rec, needed)? as i64), next)
    }

    /// At least `least` bins, and as many as the largest number of `next` says, which `read` reads, up to the limit.
    #[track_caller]
    fn between(
        &self,
        op: &'static str,
        x: &Tensor,
        least: i64,
        read: impl FnOnce(Expr) -> Result<i64>,
        next: Expr,
    ) -> Result<u64> {
        if let Some(bins) = [Some(self.least), self.most].into_iter().flatten().find(|&bins| bins < 0) {
            return Err(Error::argument(op, format!("the number of bins must not be negative, but is {bins}")));
        }
        let most = self.most.unwrap_or(i64::MAX);
        let count = x.count()?;
        let mut number = least;
        if number < most && count.capacity() > 0 {
            let rec = x.recorder(op);
            let needed = rec.reduce(ReduceOp::Max, one_row(rec, &count)?, next)?;
            number = number.max(read(Expr::load(&needed, Expr::u32(0)))?);
        }
        Ok(number.min(most).unsigned_abs())
    }
}
