//! Dense tensors with as many rows as another tensor.

use crate::error::{Error, Result};
use crate::graph::extent::Extent;
use crate::graph::size::RecordedSize;
use crate::integer::{Integer, non_negative};
use crate::tensor::{BytesBound, Fill, Pick, Tensor, Values};

impl Tensor {
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
    #[track_caller]
    pub fn fill_rows(&self, width: impl Integer, value: impl Into<Fill>) -> Result<Self> {
        const OP: &str = "fill_rows";
        if self.rank() == 0 {
            return Err(Error::argument(OP, "a scalar has no rows"));
        }
        let width = Extent::known_u64(OP, non_negative(OP, "the width", width)?)?.capacity();
        let rows = self.nrows_extent();
        let extent = rows.times(OP, u64::from(width))?;
        let pick = Pick::Fill(value.into());
        let values = Values::rearranged(self.backend(), OP, &extent, &pick, BytesBound::Unknown, &[])?;
        Self::new(self.backend(), Vec::new(), Some(rows), vec![width], values)
    }
}
