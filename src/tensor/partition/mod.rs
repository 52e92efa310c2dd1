//! Conversion of encodings to row partitions, and of row partitions to encodings.

mod device_ints;
mod encoded;
mod factories;
mod readers;
mod rowids;
mod uniform;

use crate::error::{Error, Result};
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::shape::Agreement;

pub(crate) use encoded::encoded;
pub(crate) use readers::positions;
pub(crate) use rowids::{counts_below, from_rowids};
pub(crate) use uniform::uniform;

/// Whether the caller's integers are validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// All rules are checked: on the host for host data, on the device for the rest.
    Check,
    /// The caller guarantees validity. Invalid integers still give some valid partition.
    Vouched,
}

/// Context of the construction of a partition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Making<'a> {
    pub(crate) rec: Recorder<'a>,
    pub(crate) trust: Trust,
}

impl<'a> Making<'a> {
    /// The context of a factory, with the location of its caller.
    #[track_caller]
    pub(crate) fn new(backend: &'a BackendRef, op: &'static str, trust: Trust) -> Self {
        Self { rec: Recorder::new(backend, op), trust }
    }

    /// A device-side check that `ok` holds at all of `count` positions.
    pub(crate) fn condition(self, count: Extent, ok: Expr, what: String) -> Node {
        self.rec.assert(count, ok, self.rec.check(what))
    }

    /// Fails if an array of `bytes` bytes exceeds the limit of the device.
    pub(crate) fn fits(self, bytes: u64) -> Result<()> {
        if bytes <= self.rec.backend.max_bytes() {
            return Ok(());
        }
        Err(Error::Limit {
            what: self.rec.op.into(),
            requested: bytes,
            unit: "bytes",
            limit: self.rec.backend.max_bytes(),
            whose: self.rec.backend.name().into(),
            location: self.rec.location,
        })
    }

    /// The device-side check that values have at least one row. An unchecked partition needs it too: without a row no
    /// kernel would write these values. None where the host knows that it holds, and for a checked partition, whose
    /// checks include it.
    ///
    /// # Errors
    /// The host knows that the check fails.
    pub(crate) fn rows_for(self, nvals: &Extent, nrows: &Extent) -> Result<Option<Node>> {
        let is_known = nrows.as_known().is_some();
        let holds = nvals.capacity() == 0 || (is_known && nrows.capacity() > 0);
        if holds || self.trust == Trust::Check {
            return Ok(None);
        }
        if is_known && nvals.as_known().is_some() {
            let what = format!("there are {} values, but no rows", nvals.capacity());
            return Err(self.rec.partition(what));
        }
        let ok = nvals.expr().eq(Expr::u32(0)).or(Expr::u32(0).lt(nrows.expr()));
        Ok(Some(self.condition(Extent::known(1), ok, "there are values, but no rows".into())))
    }

    /// The device-side check that a partition has as many values as there are; none where the host can decide.
    pub(crate) fn same_count(self, nvals: &Extent, there: &Extent) -> Result<Vec<Node>> {
        match nvals.agrees(there) {
            Agreement::Yes => Ok(Vec::new()),
            Agreement::No((a, b)) => {
                Err(self.rec.partition(format!("the partition has {a} values, but there are {b}")))
            }
            Agreement::If(count, ok) => {
                let what = "the partition has some number of values, and as many must be given";
                Ok(vec![self.condition(count, ok, what.into())])
            }
        }
    }
}
