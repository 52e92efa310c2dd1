//! Sizes: known on the host, or a bound on the host with a count on the device.

use super::digest::Digest;
use super::expr::Expr;
use super::node::{Node, for_each_node};
use crate::error::{Error, Result};

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

    /// Adds the arrays that the count is computed from.
    pub(crate) fn nodes(&self, to: &mut Vec<Node>) {
        if let Some(live) = &self.live {
            for_each_node(live, &mut |n| to.push(n.clone()));
        }
    }

    /// The count, given what arrays hold at fixed positions.
    pub(crate) fn evaluate(&self, read: &mut dyn FnMut(&Node, u32) -> u32) -> u32 {
        match &self.live {
            None => self.capacity,
            Some(live) => live.evaluate_u32(read).min(self.capacity),
        }
    }

    pub(crate) fn digest(&self) -> Digest {
        Digest::of("extent", self)
    }
}
