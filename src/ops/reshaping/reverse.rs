//! Reversal of dimensions.

use crate::element::Element;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::ops::IntoAxes;
use crate::ops::operations;
use crate::record::rows::Repeats;
use crate::shape::width_of;
use crate::tensor::{BytesBound, Pick, Tensor};

operations! {
    /// Reversal of dimensions.
    const OPERATIONS: family "Along an axis" on RaggedTensor<T> where T: Element;

    /// The same values in reverse order along the axes; a ragged axis is reversed row by row.
    ///
    /// Any dtype. Rows keep their index and length unless an axis above them is reversed. Empty rows stay empty.
    ///
    /// # Errors
    /// An axis out of range or repeated.
    ///
    /// # Cost
    /// Index arithmetic: one map over the values per axis, which fuses into its consumer, and one prefix sum per ragged
    /// dimension below. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3, 4, 5]], &Device::cpu())?;
    /// assert_eq!(x.reverse(1)?.to_string(), "<ragged.RaggedTensor [[2, 1], [], [5, 4, 3]]>");
    /// assert_eq!(x.reverse(0)?.to_string(), "<ragged.RaggedTensor [[3, 4, 5], [], [1, 2]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reverse(&self, axes: impl IntoAxes as axes) -> T;
    alias "flip";
    tensorflow "tf.reverse";
    polars "list.reverse";
    gradient yes;
}

#[track_caller]
fn reverse(tensor: &Tensor, axes: impl IntoAxes) -> Result<Tensor> {
    let rec = tensor.recorder("reverse");
    let axes = rec.axes(tensor, &axes.into())?;
    axes.into_iter().try_fold(tensor.clone(), |x, axis| x.reverse_axis(rec, axis))
}

impl Tensor {
    fn reverse_axis(&self, rec: Recorder<'_>, axis: usize) -> Result<Self> {
        let one = Expr::u32(1);
        let Some(above) = axis.checked_sub(1) else {
            let rows = self.nrows_extent();
            let from = rows.expr().sub(one).sub(Expr::index());
            return self.take_rows(rec, rows, from, Repeats::Never, &[]);
        };
        if above >= self.ragged_rank() {
            let (len, below) =
                self.inner().sizes()[above - self.ragged_rank()..].split_first().expect("bug: an inner axis");
            let width = Expr::size(&width_of(below).max(1));
            let (element, number) = (Expr::index().div(width.clone()), Expr::index().rem(width.clone()));
            let place = element.clone().rem(Expr::size(&len.max(1)));
            let mirrored = element.sub(place.clone()).add(Expr::size(&len.sub(1)).sub(place));
            let pick = Pick::From(self.values_ref(), mirrored.mul(width).add(number));
            let bound = BytesBound::AtMost(self.values_ref().bytes_size());
            let values = rec.rearranged(&rec.count(self)?, &pick, bound, &[])?;
            return rec.at(self.holding(values));
        }
        let (outer, inner) = (self.outer().cloned(), self.inner().clone());
        let (kept, below) = self.partitions().split_at(axis);
        let rows = rec.tensor(below.to_vec(), outer, inner, self.values_ref().clone())?;
        let part = &self.partitions()[above];
        let (row, place) = (part.row_of(Expr::index()), part.offset_of(Expr::index()));
        let from = part.within(row.clone(), part.length(row).sub(one).sub(place));
        let rows = rows.take_rows(rec, part.nvals_extent().clone(), from, Repeats::Never, &[])?;
        let parts = kept.iter().chain(rows.partitions()).cloned().collect();
        rec.tensor(parts, rows.outer().cloned(), rows.inner().clone(), rows.values_ref().clone())
    }
}
