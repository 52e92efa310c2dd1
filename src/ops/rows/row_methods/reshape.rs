//! Reshape of each row.

use crate::error::{Error, Result, caller};
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::graph::size::{RecordedSize, Size};
use crate::ops::reshaping::reshape::Sizes;
use crate::ops::{NewShape, Row};
use crate::shape::RowPartition;

use super::value_rows;

const OP: &str = "reshape";

/// Reshaping.
impl Row {
    /// The same elements, in the same order, under another shape of the row, which is a list of sizes.
    ///
    /// One size may be -1: it follows from the number of elements of each row, and is a ragged dimension if the rows
    /// differ. Without -1 the result is dense. Any dtype, which stays.
    ///
    /// # Errors
    /// A row with another number of elements, at the read where only the device knows it; a negative size other than one
    /// -1, or a -1 beside a size of 0; a [`RaggedShape`](crate::RaggedShape), which would be that of all rows.
    ///
    /// # Cost
    /// No pass where the host knows that all rows have that many elements; a map otherwise, and a prefix sum for a
    /// ragged dimension. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3, 4], vec![], vec![5, 6]], &Device::cpu())?;
    /// let pairs: RaggedTensor<i32> = x.map_rows(|row| row.reshape([-1, 2]))?;
    /// assert_eq!(pairs.to_string(), "<ragged.RaggedTensor [[[1, 2], [3, 4]], [], [[5, 6]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.reshape`.
    ///
    /// Polars: `Expr.reshape`.
    #[track_caller]
    pub fn reshape<'a>(&self, shape: impl Into<NewShape<'a>>) -> Result<Self> {
        let NewShape::Sizes(sizes) = shape.into() else {
            return Err(Error::argument(OP, "a row takes a list of sizes, not the shape of a tensor"));
        };
        let Sizes { mut dims, open, by } = Sizes::new(OP, &sizes)?;
        let (backend, nrows) = (self.all.backend(), self.all.nrows_extent());
        let rec = Recorder::new(backend, OP);
        let rows = value_rows(OP, &self.all)?;
        let fits = |n: u32| if open.is_some() { n.is_multiple_of(by) } else { n == by };
        let location = caller();
        let misfit = |n: u32| Error::Shape {
            op: OP,
            lhs: self.all.shape_text(),
            rhs: format!("{sizes:?}"),
            what: format!("a row has {n} values, which do not fit into {sizes:?}"),
            location,
        };
        if let Some(n) = rows.uniform_length() {
            if !fits(n) {
                return Err(misfit(n));
            }
            if let Some(open) = open {
                dims[open] = Size::given(n / by);
            }
            return Ok(self.with(self.all.laid_out(rec, Vec::new(), Some(nrows), dims, &[])?));
        }
        let mut asserts = Vec::new();
        match rows.host_splits() {
            Some(splits) => {
                if let Some(n) = splits.windows(2).map(|w| w[1] - w[0]).find(|&n| !fits(n)) {
                    return Err(misfit(n));
                }
            }
            None => {
                let n = rows.length(Expr::index());
                let ok = if open.is_some() { n.rem(Expr::u32(by)).eq(Expr::u32(0)) } else { n.eq(Expr::u32(by)) };
                let check = rec.check(format!("the values of a row do not fit into {sizes:?}"));
                asserts.push(rec.assert(nrows.clone(), ok, check));
            }
        }
        let Some(open) = open else {
            return Ok(self.with(self.all.laid_out(rec, Vec::new(), Some(nrows), dims, &asserts)?));
        };
        let (mut parts, mut extent, mut copies) = (Vec::with_capacity(open + 1), nrows, 1u32);
        for size in &dims[..open] {
            let level = RowPartition::uniform(size.clone(), extent)?;
            extent = level.nvals_extent().clone();
            copies = copies.saturating_mul(size.capacity());
            parts.push(level);
        }
        let length = rows.length(Expr::index().div(Expr::u32(copies))).div(Expr::u32(by));
        let level = rec.rows_of_lengths(&extent, length, rows.nvals_extent().size().clone())?;
        let count = level.nvals_extent().clone();
        parts.push(level);
        Ok(self.with(self.all.laid_out(rec, parts, Some(count), dims.split_off(open + 1), &asserts)?))
    }
}
