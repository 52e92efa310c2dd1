//! Dense tensors with as many rows as another tensor.

use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::extent::Extent;
use crate::graph::size::RecordedSize;
use crate::integer::{Integer, non_negative};
use crate::ops::operations;
use crate::tensor::{BytesBound, Fill, Pick, Tensor, Values};

operations! {
    /// Dense tensors with as many rows as another tensor.
    const OPERATIONS: family "Construction" on RaggedTensor<T> where T: Element;

    /// A dense tensor of shape `[nrows, width]` filled with `value`, with as many rows as this tensor.
    ///
    /// The number of rows may be known on the device only. The dtype is the value's.
    ///
    /// # Errors
    /// A negative width; `nrows * width` is 2^32 or more; the tensor is a scalar.
    ///
    /// # Cost
    /// Nothing by itself: the value is computed where it is read. No wait.
    ///
    /// # Source
    /// `tf.fill([x.nrows(), width], value)`.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// let x = HostTensor::dense(&[2], HostValues::I32(vec![7, 8])).to_device(&Device::cpu())?;
    /// assert_eq!(x.fill_rows(1, "#")?.to_host()?.values, HostValues::Str(vec![b"#".to_vec(); 2]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn fill_rows(&self, width: impl Integer, value: impl Into<Fill>) -> Tensor;
    tensorflow "tf.fill";
    gradient none "constant almost everywhere";
    typed hand;
    row none "it makes a tensor";
}

#[track_caller]
fn fill_rows(x: &Tensor, width: impl Integer, value: impl Into<Fill>) -> Result<Tensor> {
    const OP: &str = "fill_rows";
    if x.rank() == 0 {
        return Err(Error::argument(OP, "a scalar has no rows"));
    }
    let width = Extent::known_u64(OP, non_negative(OP, "the width", width)?)?.capacity();
    let rows = x.nrows_extent();
    let extent = rows.times(OP, u64::from(width))?;
    let pick = Pick::Fill(value.into());
    let values = Values::rearranged(x.backend(), OP, &extent, &pick, BytesBound::Unknown, &[])?;
    Tensor::new(x.backend(), Vec::new(), Some(rows), vec![width], values)
}
