//! Sizes: known on the host, or a bound on the host with a count on the device.

use super::backend::{BackendRef, Part, Wait};
use super::expr::{Expr, ExprKind};
use super::node::Node;
use crate::error::{Error, Result};

/// Where a count is to be had.
#[derive(Debug, Clone)]
pub(crate) enum Count {
    /// On the host.
    Known(u32),
    /// On the device: that element of that array, but no more than the capacity.
    At(Node, u32, u32),
}

impl Count {
    /// The array to evaluate for it.
    pub(crate) fn node(&self) -> Option<&Node> {
        match self {
            Self::Known(_) => None,
            Self::At(node, ..) => Some(node),
        }
    }
}

/// How many elements an array has.
///
/// Either known on the host, or at most `capacity` with the live count an expression over arrays of the device. What
/// depends on data (the words of a text, the values a slice keeps) is of the second kind, so that nothing waits for
/// it: buffers and grids come from the capacity, kernels stop at the count.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Extent {
    capacity: u32,
    live: Option<Expr>,
}

impl Extent {
    /// Exactly `n` elements.
    pub(crate) fn known(n: u32) -> Self {
        Self { capacity: n, live: None }
    }

    /// `n` elements, or the error that says what needs so many.
    pub(crate) fn known_u64(what: &str, n: u64) -> Result<Self> {
        match u32::try_from(n) {
            Ok(n) if n < u32::MAX => Ok(Self::known(n)),
            _ => Err(Error::Limit {
                what: what.into(),
                requested: n,
                unit: "elements",
                limit: u64::from(u32::MAX) - 1,
                whose: "a tensor".into(),
            }),
        }
    }

    /// `live` elements (a u32 expression without `Index`), `capacity` at most.
    pub(crate) fn bounded(capacity: u32, live: Expr) -> Self {
        debug_assert!(!live.has_index(), "bug: a count cannot depend on a position");
        match live.as_u32() {
            Some(n) => Self::known(n.min(capacity)),
            None if capacity == 0 => Self::known(0),
            None => Self { capacity, live: Some(live) },
        }
    }

    /// The most elements there can be.
    pub(crate) fn capacity(&self) -> u32 {
        self.capacity
    }

    /// The count, if the host knows it.
    pub(crate) fn as_known(&self) -> Option<u32> {
        if self.live.is_none() { Some(self.capacity) } else { None }
    }

    /// The count on the device, if only the device knows it.
    pub(crate) fn live(&self) -> Option<&Expr> {
        self.live.as_ref()
    }

    /// The count as an expression, whoever knows it.
    pub(crate) fn expr(&self) -> Expr {
        self.live.clone().unwrap_or_else(|| Expr::u32(self.capacity))
    }

    /// `k` times as many.
    pub(crate) fn times(&self, what: &str, k: u64) -> Result<Self> {
        let cap = Self::known_u64(what, u64::from(self.capacity).saturating_mul(k))?;
        Ok(match &self.live {
            None => cap,
            Some(live) => Self::bounded(cap.capacity, live.clone().mul(Expr::u32(k as u32))),
        })
    }

    /// As many as both together.
    pub(crate) fn plus(&self, what: &str, other: &Self) -> Result<Self> {
        let cap = Self::known_u64(what, u64::from(self.capacity) + u64::from(other.capacity))?;
        Ok(if self.live.is_none() && other.live.is_none() {
            cap
        } else {
            Self::bounded(cap.capacity, self.expr().add(other.expr()))
        })
    }

    /// Where the count can be read.
    pub(crate) fn count(&self, backend: &BackendRef) -> Count {
        match &self.live {
            None => Count::Known(self.capacity),
            Some(live) => match live.kind() {
                ExprKind::Load(node, at) if at.as_u32().is_some() => {
                    Count::At(node.clone(), at.as_u32().unwrap_or(0), self.capacity)
                }
                // Anything else is worked out on the device: a kernel of one element.
                _ => Count::At(Node::map(backend, "count", Self::known(1), live.clone(), &[]), 0, self.capacity),
            },
        }
    }
    /// The count on the host: one wait where only the device knows it.
    pub(crate) fn on_host(&self, backend: &BackendRef, op: &'static str) -> Result<u32> {
        self.live.as_ref().map_or(Ok(self.capacity), |live| read_u32(backend, op, live.clone()))
    }
}

/// A number on the device, read now: one wait.
pub(crate) fn read_u32(backend: &BackendRef, op: &'static str, e: Expr) -> Result<u32> {
    read_u32_if(backend, op, e, &[])
}

/// A number on the device that stands on conditions, read now: one wait.
pub(crate) fn read_u32_if(backend: &BackendRef, op: &'static str, e: Expr, asserts: &[Node]) -> Result<u32> {
    let part = match e.kind() {
        // An element of an array is read where it lies.
        ExprKind::Load(node, at) if asserts.is_empty() && at.as_u32().is_some() => {
            let at = at.as_u32().unwrap_or(0);
            Part::of(node.clone(), at..at + 1)
        }
        _ => Part::whole(Node::map(backend, op, Extent::known(1), e, asserts)),
    };
    let read = pollster::block_on(backend.read_parts(vec![part], Wait::Blocking))?;
    Ok(bytemuck::pod_read_unaligned(&read[0]))
}
