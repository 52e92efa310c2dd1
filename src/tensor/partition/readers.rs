//! Readers of a partition's encodings.

use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Rows;
use crate::graph::recorder::Recorder;
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};

/// A dense rank-1 tensor whose element `i` is the count or position `e`, as i64 like in TensorFlow.
pub(crate) fn positions(rec: Recorder<'_>, count: Extent, e: Expr) -> Result<Tensor> {
    let node = rec.map(count.clone(), e.cast(DType::I64), &[]);
    rec.at(rec.tensor(Vec::new(), Some(count), [], Values::Numbers(node)))
}

/// The encodings of a partition, as dense i64 tensors of rank 1. One map each; no waits.
impl RowPartition {
    #[track_caller]
    pub(crate) fn row_splits_on(&self, backend: &BackendRef) -> Result<Tensor> {
        let rec = Recorder::new(backend, "row_splits");
        let count = rec.plus(&self.nrows_extent(), &Extent::known(1))?;
        positions(rec, count, self.start(Expr::index()))
    }
    #[track_caller]
    pub(crate) fn row_lengths_on(&self, backend: &BackendRef) -> Result<Tensor> {
        let rec = Recorder::new(backend, "row_lengths");
        positions(rec, self.nrows_extent().clone(), self.length(Expr::index()))
    }
    #[track_caller]
    pub(crate) fn row_starts_on(&self, backend: &BackendRef) -> Result<Tensor> {
        let rec = Recorder::new(backend, "row_starts");
        positions(rec, self.nrows_extent().clone(), self.start(Expr::index()))
    }
    #[track_caller]
    pub(crate) fn row_limits_on(&self, backend: &BackendRef) -> Result<Tensor> {
        let rec = Recorder::new(backend, "row_limits");
        let end = self.start(Expr::index().add(Expr::u32(1)));
        positions(rec, self.nrows_extent().clone(), end)
    }
    #[track_caller]
    pub(crate) fn value_rowids_on(&self, backend: &BackendRef) -> Result<Tensor> {
        let rec = Recorder::new(backend, "value_rowids");
        positions(rec, self.nvals_extent().clone(), self.row_of(Expr::index()))
    }
    #[track_caller]
    pub(crate) fn offsets_in_rows_on(&self, backend: &BackendRef) -> Result<Tensor> {
        let rec = Recorder::new(backend, "offsets_in_rows");
        positions(rec, self.nvals_extent().clone(), self.offset_of(Expr::index()))
    }

    /// The backend of `device`, if the partition can be read there.
    #[track_caller]
    fn backend_for<'d>(&self, op: &'static str, device: &'d Device) -> Result<&'d BackendRef> {
        if let Rows::Splits(node) = self.rows() {
            Device::check_same(op, node.backend(), device.backend())?;
        }
        Ok(device.backend())
    }
}

/// Defines the public readers of the encodings.
macro_rules! readers {
    ($($(#[$doc:meta])* $name:ident = $on:ident, $example:literal;)*) => {
        impl RowPartition {
            $(
                $(#[$doc])*
                ///
                /// A dense i64 tensor of rank 1 on the partition's device: one map, no wait.
                ///
                /// # Errors
                /// Another device than the partition's; a device that has no i64.
                ///
                /// ```
                /// use ragged::{Device, HostValues, RowPartition};
                /// let device = Device::cpu();
                /// let rows = RowPartition::from_row_lengths(&[2, 0, 1], &device)?;
                #[doc = concat!("let read = rows.", stringify!($name), "(&device)?.to_host()?;")]
                #[doc = concat!("assert_eq!(read.values, HostValues::I64(vec!", $example, "));")]
                /// # Ok::<(), ragged::Error>(())
                /// ```
                #[track_caller]
                pub fn $name(&self, device: &Device) -> Result<Tensor> {
                    self.$on(self.backend_for(stringify!($name), device)?)
                }
            )*
        }
    };
}

readers! {
    /// The start of each row and the end of the last: `nrows + 1` entries. TensorFlow: `RowPartition.row_splits`.
    row_splits = row_splits_on, "[0, 2, 2, 3]";
    /// The number of values of each row. TensorFlow: `RowPartition.row_lengths`.
    row_lengths = row_lengths_on, "[2, 0, 1]";
    /// The start of each row. TensorFlow: `RowPartition.row_starts`.
    row_starts = row_starts_on, "[0, 2, 2]";
    /// The end of each row. TensorFlow: `RowPartition.row_limits`.
    row_limits = row_limits_on, "[2, 2, 3]";
    /// The row of each value. TensorFlow: `RowPartition.value_rowids`.
    value_rowids = value_rowids_on, "[0, 0, 2]";
    /// The offset of each value in its row. TensorFlow: `RowPartition.offsets_in_rows`.
    offsets_in_rows = offsets_in_rows_on, "[0, 1, 0]";
}
