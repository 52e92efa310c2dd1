//! Dense tensors with as many rows as another tensor.

use crate::element::Element;
use crate::error::Result;
use crate::graph::extent::Extent;
use crate::graph::size::RecordedSize;
use crate::integer::{Integer, non_negative};
use crate::ops::operations;
use crate::tensor::{BytesBound, Fill, Pick, Tensor};

operations! {
    /// Columns of one value.
    const OPERATIONS: family "Construction" on RaggedTensor<T> where T: Element;

    /// A dense tensor of one value, with as many rows as this tensor.
    ///
    /// The shape is `[nrows, width]`, where the number of rows may be known on the device only. The dtype is the
    /// value's. Empty rows count as rows.
    ///
    /// # Errors
    /// A negative width; `nrows * width` is 2^32 or more; the tensor is a scalar.
    ///
    /// # Cost
    /// Nothing by itself: the value is computed where it is read. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![7, 8], vec![]], &Device::cpu())?.into_erased();
    /// assert_eq!(x.fill_rows(1, 0.5f32)?.to_string(), "tensor([[0.5], [0.5]], shape=(2, 1), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn fill_rows(&self, width: impl Integer as integer, value: impl Into<Fill> as Fill) -> {value};
    alias "full";
    tensorflow "tf.fill";
    gradient none "the result does not depend on the values";
    row none "it makes a tensor";
}

#[track_caller]
fn fill_rows(x: &Tensor, width: impl Integer, value: impl Into<Fill>) -> Result<Tensor> {
    const OP: &str = "fill_rows";
    let rec = x.recorder(OP);
    if x.rank() == 0 {
        return Err(rec.argument("a scalar has no rows"));
    }
    let width = Extent::known_u64(OP, non_negative(OP, "the width", width)?)?.capacity();
    let rows = x.nrows_extent();
    let extent = rows.times(OP, u64::from(width))?;
    let pick = Pick::Fill(value.into());
    let values = rec.rearranged(&extent, &pick, BytesBound::Unknown, &[])?;
    rec.tensor(Vec::new(), Some(rows), vec![width], values)
}
