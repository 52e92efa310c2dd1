//! Row partitions from their encodings, and the encodings of a row partition.

mod device_ints;
mod encoded;
mod factories;
mod readers;
mod rowids;
mod uniform;

use std::panic::Location;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::graph::backend::BackendRef;
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::Node;

pub(crate) use encoded::encoded;
pub(crate) use readers::positions;
pub(crate) use rowids::{counts_below, from_rowids};
pub(crate) use uniform::uniform;

/// Whether what the caller gives is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Every rule is checked: on the host for what the host has, on the device for the rest.
    Check,
    /// The caller vouches for it. What breaks a rule all the same gives some valid partition.
    Vouched,
}

/// What a partition is made for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Making<'a> {
    pub(crate) backend: &'a BackendRef,
    pub(crate) op: &'static str,
    pub(crate) trust: Trust,
    /// Where the user called the factory.
    location: &'static Location<'static>,
}

impl<'a> Making<'a> {
    /// For a factory that is called where this is.
    #[track_caller]
    pub(crate) fn new(backend: &'a BackendRef, op: &'static str, trust: Trust) -> Self {
        Self { backend, op, trust, location: Location::caller() }
    }

    /// A condition on all of `count` positions.
    pub(crate) fn condition(self, count: Extent, ok: Expr, what: String) -> Node {
        let check = Check { op: self.op, what, location: self.location };
        Node::assert(self.backend, count, ok, Arc::new(check))
    }

    /// The condition that a partition has as many values as there are: none where the host can tell.
    pub(crate) fn same_count(self, nvals: &Extent, there: &Extent) -> Result<Vec<Node>> {
        let rule = |n: &str| format!("the partition has {n} values");
        match (nvals.as_known(), there.as_known()) {
            (Some(a), Some(b)) if a == b => Ok(Vec::new()),
            (Some(a), Some(b)) => {
                Err(Error::partition(self.op, format!("{}, but there are {b}", rule(&a.to_string()))))
            }
            _ if nvals == there => Ok(Vec::new()),
            _ => {
                let what = format!("{}, and as many must be given", rule("some number of"));
                Ok(vec![self.condition(Extent::known(1), nvals.expr().eq(there.expr()), what)])
            }
        }
    }
}
