//! Element counts of arrays: known on the host, or an upper bound on the host with the exact count on the device.

pub(crate) use super::Extent;

use super::digest::Digest;
use super::expr::ExprKind;
use super::handles::{Handles, SizeHandle};
use super::size::{RecordedSize, SizeKind, SizeOp};
use super::walk::{for_each_expr, for_each_node};
use super::{BackendRef, Expr, Node, Size};
use crate::error::{Error, Result, caller};

/// Location of a count.
#[derive(Debug, Clone)]
pub(crate) enum Count {
    /// On the host.
    Known(u32),
    /// On the device: the array, the index of the count in it, and the capacity, which the count does not exceed.
    At(Node, Size, u32),
}

impl Count {
    /// The array to evaluate before the count can be read; `None` if the host knows the count.
    pub(crate) fn node(&self) -> Option<&Node> {
        match self {
            Self::Known(_) => None,
            Self::At(node, ..) => Some(node),
        }
    }
}

impl<R: Handles> Extent<R> {
    /// Exactly `n` elements: a constant of the program.
    pub(crate) fn known(n: u32) -> Self {
        Self { size: n.into(), whole: false }
    }

    /// `size` elements.
    pub(crate) fn of(size: R::Size) -> Self {
        Self { size, whole: false }.stored()
    }

    /// `size` elements, all of them live up to the capacity.
    pub(crate) fn whole_of(size: R::Size) -> Self {
        Self { size, whole: true }
    }

    /// The same capacity, with all elements live.
    pub(crate) fn whole(&self) -> Self {
        Self { size: self.size.clone(), whole: true }
    }

    /// The capacity.
    pub(crate) fn size(&self) -> &R::Size {
        &self.size
    }

    /// Whether all elements up to the capacity are live, regardless of the counts.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// The count, if the size contains none that the device computes; independent of what was read. Decides types,
    /// layouts and errors.
    pub(crate) fn as_known(&self) -> Option<u32> {
        self.size.as_known()
    }

    /// Whether both counts are provably equal: equal symbolic sizes, or equal known values.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self == other || self.size.is_same(&other.size)
    }

    /// The count on the device, if only the device knows it.
    pub(crate) fn live(&self) -> Option<Expr<R>> {
        if self.whole { None } else { self.size.exact_expr() }
    }

    /// The count as an expression, host-known or not.
    pub(crate) fn expr(&self) -> Expr<R> {
        self.live().unwrap_or_else(|| Expr::size(&self.size))
    }

    /// The extent multiplied by `k`.
    #[track_caller]
    pub(crate) fn times(&self, what: &str, k: u64) -> Result<Self> {
        if let Some(n) = self.as_known() {
            fits(what, u64::from(n).saturating_mul(k))?;
        }
        // The product of a host-known extent was checked above, so a factor beyond u32 implies 0 elements.
        let k = u32::try_from(k).unwrap_or(u32::MAX);
        Ok(Self { size: R::Size::op(SizeOp::Mul, &self.size, &k.into()), whole: self.whole }.stored())
    }

    /// The extent divided by `k`, rounded down.
    pub(crate) fn part(&self, k: impl Into<R::Size>) -> Self {
        Self { size: R::Size::op(SizeOp::Div, &self.size, &k.into()), whole: self.whole }.stored()
    }

    /// The sum of both extents.
    #[track_caller]
    pub(crate) fn plus(&self, what: &str, other: &Self) -> Result<Self> {
        if let (Some(a), Some(b)) = (self.as_known(), other.as_known()) {
            fits(what, u64::from(a) + u64::from(b))?;
        }
        Ok(Self { size: R::Size::op(SizeOp::Add, &self.size, &other.size), whole: self.whole || other.whole }.stored())
    }

    /// The extent with its count stored in an array of its own: see [`SizeHandle::stored`].
    fn stored(self) -> Self {
        // Nothing reads the count of an array that is live up to its capacity.
        if self.whole { self } else { Self { size: self.size.stored(), whole: false } }
    }
}

impl Extent {
    /// `n` elements: a size that is [given](Size::given) as a number.
    pub(crate) fn given(n: u32) -> Self {
        Self { size: Size::given(n), whole: false }
    }

    /// `n` elements: the size of the input that `identity` identifies.
    pub(crate) fn input(identity: Digest, n: u32) -> Self {
        Self { size: Size::input(identity, n), whole: false }
    }

    /// `n` elements, [given](Size::given) as a number. Fails with an error that names `what` if `n` exceeds the largest
    /// array.
    #[track_caller]
    pub(crate) fn given_u64(what: &str, n: u64) -> Result<Self> {
        fits(what, n)?;
        Ok(Self::given(n as u32))
    }

    /// `n` elements. Fails with an error that names `what` if `n` exceeds the largest array.
    #[track_caller]
    pub(crate) fn known_u64(what: &str, n: u64) -> Result<Self> {
        fits(what, n)?;
        Ok(Self::known(n as u32))
    }

    /// `live` elements, at most `capacity`. `live` is a u32 expression without `Index`.
    pub(crate) fn bounded(capacity: impl Into<Size>, live: Expr) -> Self {
        debug_assert!(!live.has_index(), "bug: a count cannot depend on a position");
        let capacity = capacity.into();
        match (live.as_size(), live.kind()) {
            (Some(n), _) if is_at_most(&n, &capacity) => Self::of(n),
            (Some(n), _) => Self::of(n.min(&capacity)),
            (None, ExprKind::Load(node, at)) if fixed_index(at).is_some() => {
                let at = fixed_index(at).unwrap_or(Size::Const(0));
                Self { size: Size::count(node.clone(), at, capacity), whole: false }
            }
            _ => {
                let mut backend = None;
                for_each_node(&live, &mut |n| backend = backend.take().or_else(|| Some(n.backend().clone())));
                for_each_expr(&live, &mut |e| {
                    if let ExprKind::Size(size) = e.kind() {
                        backend = backend.take().or_else(|| size.traced_on().cloned());
                    }
                });
                let size = match backend {
                    Some(backend) => {
                        let node = Node::map(&backend, "count", Self::known(1), live, &[]);
                        Size::count(node, Size::Const(0), capacity)
                    }
                    // Arithmetic over counts that the host has read.
                    None => {
                        let value = live.with_read_sizes().as_u32().expect("bug: a count of sizes that does not fold");
                        Size::read_count(live.digest(), value.min(capacity.capacity()))
                    }
                };
                Self { size, whole: false }
            }
        }
    }

    /// The extent multiplied by `k`.
    #[track_caller]
    pub(crate) fn times_size(&self, what: &str, k: &Size) -> Result<Self> {
        if let (Some(n), false) = (self.as_known(), k.varies())
            && let Some(k) = k.host_value()
        {
            fits(what, u64::from(n) * u64::from(k))?;
        }
        Ok(Self { size: self.size.mul(k), whole: self.whole }.stored())
    }

    /// The sum of all extents, in pairs: the depth of the size grows with the logarithm of their number.
    #[track_caller]
    pub(crate) fn sum<'a>(what: &str, all: impl Iterator<Item = &'a Self>) -> Result<Self> {
        let (mut known, mut whole, mut sizes) = (0u64, false, Vec::new());
        for extent in all {
            known += u64::from(extent.as_known().unwrap_or(0));
            fits(what, known)?;
            whole |= extent.whole;
            sizes.push(extent.size.clone());
        }
        while sizes.len() > 1 {
            sizes = sizes.chunks(2).map(|pair| pair[1..].iter().fold(pair[0].clone(), |a, b| a.add(b))).collect();
        }
        let size = sizes.pop().unwrap_or(Size::Const(0));
        Ok(Self { size, whole }.stored())
    }

    /// Sets the exact count, which was read from the location [`Self::count`].
    pub(crate) fn set_exact(&self, value: u32) {
        if let Some(SizeKind::Count(count)) = self.size.kind() {
            count.set_exact(value);
        }
    }

    /// Location of the count.
    pub(crate) fn count(&self, backend: &BackendRef) -> Count {
        // A size of a program that is traced has no value: its read fails.
        let traced = || self.size.varies().then(|| Expr::size(&self.size));
        match self.live().or_else(traced) {
            None => Count::Known(self.capacity()),
            Some(live) => match live.kind() {
                ExprKind::Load(node, at) if fixed_index(at).is_some() => {
                    Count::At(node.clone(), fixed_index(at).unwrap_or(Size::Const(0)), self.capacity())
                }
                // A kernel of one element computes any other count.
                _ => {
                    let node = Node::map(backend, "count", Self::known(1), live, &[]);
                    Count::At(node, Size::Const(0), self.capacity())
                }
            },
        }
    }
}

impl Size {
    /// See [`SizeHandle::stored`].
    pub(in crate::graph) fn stored(self) -> Self {
        /// Maximum number of nested operations on a count that each reader recomputes.
        const FEW: u32 = 4;
        if self.is_host_known() {
            return self;
        }
        let counts = self.counts();
        if counts.is_empty() || counts.len() == 1 && self.depth() <= counts[0].depth() + FEW {
            return self;
        }
        let backend = counts.iter().find_map(|size| match size.kind() {
            Some(SizeKind::Count(count)) => Some(count.location()?.0.backend().clone()),
            _ => None,
        });
        let (Some(backend), Some(live)) = (backend, self.exact_expr()) else { return self };
        let node = Node::map(&backend, "count", Extent::known(1), live, &[]);
        Self::count(node, Self::Const(0), self)
    }
}

/// Whether a size is known not to exceed another one. Nothing is known of a size of a traced program.
fn is_at_most(n: &Size, capacity: &Size) -> bool {
    !n.varies() && !capacity.varies() && n.host_value().is_some_and(|n| n <= capacity.capacity())
}

/// The index as a size, if it contains no count: see the first of the [invariants](super::size#invariants).
pub(super) fn fixed_index(at: &Expr) -> Option<Size> {
    at.as_size().filter(|size| !size.contains_count())
}

/// Clamps an upper bound to the largest capacity of an array. A larger count fails the overflow check of the scan that
/// sums the sizes.
pub(crate) fn upper_bound(n: u64) -> u32 {
    n.min(u64::from(u32::MAX) - 1) as u32
}

/// Fails with an error that names `what` if an array cannot have `n` elements.
#[track_caller]
pub(crate) fn check_len(what: &str, n: u64) -> Result<()> {
    fits(what, n).map(|_| ())
}

/// Returns `n` if an array can have `n` elements; otherwise the error names `what`.
#[track_caller]
fn fits(what: &str, n: u64) -> Result<u32> {
    match u32::try_from(n) {
        Ok(n) if n < u32::MAX => Ok(n),
        _ => Err(Error::Limit {
            what: what.into(),
            requested: n,
            unit: "elements",
            limit: u64::from(u32::MAX) - 1,
            whose: "a tensor".into(),
            location: caller(),
        }),
    }
}
