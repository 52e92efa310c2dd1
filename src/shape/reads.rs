//! Reads of row partitions, which know their device by their arrays.

use super::RowPartition;
use crate::error::Result;
use crate::graph::backend::Part;
use crate::graph::node::{Node, Rows};
use crate::graph::run::recording::read_now;
use crate::graph::size::{RecordedSize, Size};

const OP: &str = "a row partition";

impl RowPartition {
    /// An array of the partition: its splits, or one that its number of rows is in. None for uniform rows whose number
    /// the host knows.
    pub(super) fn any_node(&self) -> Option<Node> {
        match self.rows() {
            Rows::Splits(node) => Some(node.clone()),
            Rows::Uniform(_) => self.nrows_extent().size().counts().into_iter().find_map(Size::count_node),
        }
    }

    /// The number of rows; waits once if only the device knows it.
    #[track_caller]
    pub(super) fn nrows_on_host(&self) -> Result<u32> {
        match (self.nrows_extent().host_value(), self.any_node()) {
            (Some(nrows), _) => Ok(nrows),
            (None, Some(node)) => self.nrows_extent().on_host(node.backend(), OP),
            (None, None) => Ok(0),
        }
    }

    /// The splits of ragged rows; waits once if only the device knows them.
    #[track_caller]
    pub(super) fn splits_on_host(&self) -> Result<Vec<u32>> {
        if let Some(splits) = self.host_splits() {
            return Ok(splits.to_vec());
        }
        let Some((node, splits)) =
            self.any_node().and_then(|node| Some((node.clone(), self.live_splits(node.backend())?)))
        else {
            return Ok(Vec::new());
        };
        let read = read_now(node.backend(), OP, vec![Part::whole(splits)])?;
        Ok(read.first().map(|bytes| bytemuck::pod_collect_to_vec(bytes)).unwrap_or_default())
    }
}
