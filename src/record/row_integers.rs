//! One integer for each row, as an argument: from the host or a device.

use crate::device::Device;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::shape::RowPartition;
use crate::tensor::{HostTensor, HostValues, Integers, Source, Tensor};

/// One integer for each row of a partition.
pub(crate) struct RowIntegers<'a> {
    /// The integers, where they came from the host.
    host: Option<Vec<i64>>,
    node: Node,
    /// The condition that there are as many integers as rows, where only the device can decide.
    pub(crate) condition: Option<Node>,
    rows: &'a RowPartition,
}

impl<'a> RowIntegers<'a> {
    /// The argument `name` of an operation on `x`, whose rows are those of `rows`.
    ///
    /// # Errors
    /// Another device; no integers; not one per row.
    pub(crate) fn new(
        rec: Recorder<'_>,
        name: &str,
        given: Integers<'_>,
        x: &Tensor,
        rows: &'a RowPartition,
    ) -> Result<Self> {
        let (tensor, host) = match given.0 {
            Source::Device(t) => (t.clone(), None),
            Source::Host(all) => {
                let values = HostValues::I64(all.to_vec());
                (rec.at(HostTensor::dense(&[all.len()], values).to_device(&x.device()))?, Some(all.into_owned()))
            }
        };
        rec.at(Device::check_same(rec.op, rec.backend, tensor.backend()))?;
        let node = rec.index_node(&tensor, name)?;
        let misfit = |what: String| rec.shape(x.shape_text(), tensor.shape_text(), what);
        // A column of integers counts as a vector.
        let (0, Some(count), 1) = (tensor.ragged_rank(), tensor.outer(), tensor.width()) else {
            return Err(misfit(format!("{name} must be a vector of one integer per row")));
        };
        let check = rec.check(format!("{name} must have one integer per row"));
        let differ = |(n, m)| misfit(format!("there are {n} rows, but {m} {name}"));
        let condition = rows.nrows_extent().agrees(count).condition(rec, check, differ)?;
        Ok(Self { host, node, condition, rows })
    }

    /// The integer of a row, of 32 or 64 bits.
    pub(crate) fn of(&self, row: Expr) -> Expr {
        Expr::load(&self.node, row)
    }

    /// The integer of a row, where the host has it.
    pub(crate) fn known(&self, row: usize) -> Option<i64> {
        self.host.as_ref()?.get(row).copied()
    }

    /// The length of a row, where the host has it.
    pub(crate) fn known_length(&self, row: usize) -> Option<u32> {
        match (self.rows.uniform_length(), self.rows.host_splits()) {
            (Some(length), _) => Some(length),
            (None, Some(splits)) => Some(splits.get(row + 1)? - splits.get(row)?),
            (None, None) => None,
        }
    }

    /// The number of integers from the host; 0 for those of a device.
    pub(crate) fn known_count(&self) -> usize {
        self.host.as_ref().map_or(0, Vec::len)
    }
}
