//! Row partitions from their encodings, and the encodings of a row partition.

use std::panic::Location;
use std::sync::Arc;

use super::integers::{Integers, Source};
use super::{Tensor, Values};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::backend::BackendRef;
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Rows};
use crate::graph::scalar::Scalar;
use crate::shape::{Encoding, RowPartition, splits_of_rowids, trusted_splits_of_rowids};

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
}

/// A number on the device, read now.
pub(crate) fn read_u32(backend: &BackendRef, op: &'static str, e: Expr) -> Result<u32> {
    let node = Node::map(backend, op, Extent::known(1), e, &[]);
    Ok(bytemuck::pod_read_unaligned(&backend.read(&[node])?[0]))
}

/// The integers of a rank-1 tensor, for arithmetic on positions.
struct DeviceInts<'a> {
    node: &'a Node,
    count: Extent,
    /// The most that an entry may be.
    most: u32,
}

impl<'a> DeviceInts<'a> {
    fn new(m: Making<'_>, name: &'static str, t: &'a Tensor, most: u32) -> Result<Self> {
        Device::check_same(m.op, m.backend, t.backend())?;
        let integers = matches!(t.dtype(), DType::I32 | DType::U32 | DType::I64);
        if !integers {
            return Err(Error::unsupported(m.op, t.dtype(), format!("{name} must be i32, u32 or i64")));
        }
        let (1, 0, Some(count)) = (t.rank(), t.ragged_rank(), t.outer()) else {
            return Err(Error::argument(
                m.op,
                format!("{name} must be dense of rank 1, but its shape is {}", t.shape_text()),
            ));
        };
        Ok(Self { node: t.numbers(m.op)?, count: count.clone(), most })
    }

    /// Entry `at` as it is.
    fn raw(&self, at: Expr) -> Expr {
        Expr::load(self.node, at)
    }

    /// Entry `at`, moved into `0..=most`: a u32.
    fn clamped(&self, at: Expr) -> Expr {
        let (x, most) = (self.raw(at), Expr::u32(self.most));
        match x.dtype() {
            DType::I64 => {
                let limit = Expr::scalar(Scalar::I64(i64::from(self.most)));
                x.max(Expr::scalar(0i64)).min(limit).cast(DType::U32)
            }
            DType::I32 => x.max(Expr::scalar(0i32)).cast(DType::U32).min(most),
            _ => x.min(most),
        }
    }

    /// A count in the type that entries compare in.
    fn count_as_entry(&self, n: Expr) -> Expr {
        if self.node.dtype() == DType::I64 { n.cast(DType::I64) } else { n }
    }

    /// Entry `at` in the type that entries compare in: a negative one is beyond every count, or below 0.
    fn entry(&self, at: Expr) -> Expr {
        let x = self.raw(at);
        if x.dtype() == DType::I64 { x } else { x.cast(DType::U32) }
    }

    /// Whether entry `at` is neither negative nor more than `most`.
    fn in_range(&self, at: Expr) -> Expr {
        let x = self.entry(at);
        let below = x.clone().le(self.count_as_entry(Expr::u32(self.most)));
        if x.dtype() == DType::I64 { below.and(Expr::scalar(0i64).le(x)) } else { below }
    }
}

/// The partition that the integers encode, of `nvals` values; of as many as they say where that is not given.
pub(crate) fn encoded(
    m: Making<'_>,
    encoding: Encoding,
    given: Integers<'_>,
    nvals: Option<&Extent>,
) -> Result<RowPartition> {
    let known = nvals.map(|n| n.as_known().map(u64::from));
    let given = match &given.0 {
        Source::Device(t) => return on_device(m, encoding, t, nvals),
        Source::Host(given) => given,
    };
    if encoding == Encoding::Splits && given.is_empty() {
        return Err(RowPartition::validate_splits(m.op, given, None).unwrap_err());
    }
    if let (Some(nvals), Some(None)) = (nvals, known) {
        if m.trust == Trust::Check {
            encoding.splits(m.op, given, None)?;
        }
        // How many values there are is known on the device: there the last rule is checked.
        let uploaded = super::HostValues::I64(given.to_vec()).upload(&Device::of(m.backend))?;
        let extent = Extent::known_u64(m.op, given.len() as u64)?;
        let t = Tensor::new(m.backend, Vec::new(), Some(extent), Vec::new(), uploaded)?;
        return on_device(m, encoding, &t, Some(nvals));
    }
    let nvals = known.flatten();
    let splits = match m.trust {
        Trust::Check => encoding.splits(m.op, given, nvals)?,
        Trust::Vouched => {
            let total = nvals.unwrap_or_else(|| match encoding {
                Encoding::Lengths => given.iter().fold(0, |sum: u64, &l| sum.saturating_add(l.max(0) as u64)),
                _ => given.last().map_or(0, |&last| last.max(0) as u64),
            });
            Extent::known_u64(m.op, total)?;
            let splits = encoding.trusted_splits(given, total);
            if splits.len() == 1 && total > 0 {
                return Err(Error::partition(m.op, format!("there are {total} values, but no rows")));
            }
            splits
        }
    };
    RowPartition::from_host_splits(m.backend, splits)
}

/// The same for integers on the device. The partition is valid whatever they are: rows that would run backwards are
/// empty, and none runs past the values.
fn on_device(m: Making<'_>, encoding: Encoding, t: &Tensor, nvals: Option<&Extent>) -> Result<RowPartition> {
    let (name, most) = (encoding.name(), nvals.map_or(u32::MAX - 1, Extent::capacity));
    let ints = DeviceInts::new(m, name, t, most)?;
    let (i, one) = (Expr::index(), Expr::u32(1));
    let len = ints.count.expr();
    let nrows = match encoding {
        Encoding::Splits if ints.count.capacity() == 0 => {
            return Err(RowPartition::validate_splits(m.op, &[], None).unwrap_err());
        }
        Encoding::Splits => Extent::bounded(ints.count.capacity() - 1, len.clone().max(one.clone()).sub(one.clone())),
        _ => ints.count.clone(),
    };
    let values = nvals.map_or_else(|| Expr::u32(most), Extent::expr);
    let step = |a: Expr, b: Expr| a.clone().le(b.clone()).select(b.sub(a), Expr::u32(0));
    let length = match encoding {
        Encoding::Lengths => ints.clamped(i.clone()),
        Encoding::Splits => step(ints.clamped(i.clone()), ints.clamped(i.clone().add(one.clone()))),
        Encoding::Starts => {
            let next = i.clone().add(one.clone());
            let end = next.clone().lt(len.clone()).select(ints.clamped(next), values.clone());
            step(ints.clamped(i.clone()), end)
        }
        Encoding::Limits => {
            let first = i.clone().eq(Expr::u32(0));
            let start = first.select(Expr::u32(0), ints.clamped(i.clone().sub(one.clone())));
            step(start, ints.clamped(i.clone()))
        }
    };
    let sums = Node::scan(m.backend, m.op, nrows.clone(), length)?;
    let total = Expr::load(&sums, Expr::u32(nrows.capacity()));
    let mut asserts = Vec::new();
    if m.trust == Trust::Check {
        let all = |count: &Extent, ok, what: &str| m.condition(count.clone(), ok, format!("{name} {what}"));
        let single = Extent::known(1);
        let zero = ints.count_as_entry(Expr::u32(0));
        let empty = len.clone().eq(Expr::u32(0));
        let first_is_zero = ints.entry(Expr::u32(0)).eq(zero);
        let ascends = ints.raw(i.clone()).le(ints.raw(i.clone().add(one.clone())));
        let last = ints.entry(len.clone().sub(one.clone()));
        let end = ints.count_as_entry(values.clone());
        let pairs =
            Extent::bounded(ints.count.capacity().saturating_sub(1), len.clone().max(one.clone()).sub(one.clone()));
        match encoding {
            Encoding::Splits => {
                asserts.push(all(&single, empty.clone().not(), "must have at least one entry"));
                asserts.push(all(&single, empty.clone().or(first_is_zero), "must start at 0"));
            }
            Encoding::Starts => asserts.push(all(&single, empty.clone().or(first_is_zero), "must start at 0")),
            Encoding::Lengths | Encoding::Limits => {
                asserts.push(all(&ints.count, ints.in_range(i), "must neither be negative nor pass the values"));
            }
        }
        if encoding != Encoding::Lengths {
            asserts.push(all(&pairs, ascends, "must not decrease"));
        }
        if nvals.is_some() {
            let no_values = values.clone().eq(Expr::u32(0));
            let at_the_end = match encoding {
                Encoding::Lengths => total.clone().eq(values.clone()),
                Encoding::Starts => empty.select(no_values, last.le(end)),
                Encoding::Splits | Encoding::Limits => empty.select(no_values, last.eq(end)),
            };
            asserts.push(all(&single, at_the_end, "must end at the number of values"));
        } else {
            asserts.push(all(&ints.count, ints.in_range(Expr::index()), "must be below 2^32 - 1"));
        }
    }
    let splits = Expr::load(&sums, Expr::index()).min(values);
    let splits = Node::map(m.backend, m.op, nrows.plus(m.op, &Extent::known(1))?, splits, &asserts);
    let nvals = match nvals {
        Some(n) => n.clone(),
        // Nothing bounds the number of values: one wait for it.
        None => Extent::known(read_u32(m.backend, m.op, Expr::load(&splits, Expr::u32(nrows.capacity())))?),
    };
    Ok(RowPartition::from_splits_node(splits, nrows, nvals.capacity()).with_nvals(nvals))
}

/// The partition whose value `i` is in row `ids[i]`.
pub(crate) fn from_rowids(
    m: Making<'_>,
    ids: Integers<'_>,
    nrows: Option<i64>,
    nvals: Option<&Extent>,
) -> Result<RowPartition> {
    let ids = match &ids.0 {
        Source::Device(t) => return rowids_on_device(m, t, nrows, nvals),
        Source::Host(ids) => ids,
    };
    let given = ids.len() as u64;
    match nvals.map(Extent::as_known) {
        Some(Some(n)) if u64::from(n) != given => {
            return Err(Error::partition(m.op, format!("value_rowids has {given} entries, but there are {n} values")));
        }
        _ => {}
    }
    let splits = match m.trust {
        Trust::Check => splits_of_rowids(m.op, ids, nrows)?,
        Trust::Vouched => trusted_splits_of_rowids(m.op, ids, nrows)?,
    };
    let p = RowPartition::from_host_splits(m.backend, splits)?;
    match nvals {
        Some(n) if n.as_known().is_none() => ending_at(m, p, n, "value_rowids must have one entry for each value"),
        _ => Ok(p),
    }
}

/// The partition, on the condition that it ends at a number of values that only the device knows.
fn ending_at(m: Making<'_>, p: RowPartition, nvals: &Extent, what: &str) -> Result<RowPartition> {
    let count = p.nrows_extent().plus(m.op, &Extent::known(1))?;
    let asserts = match m.trust {
        Trust::Check => {
            vec![m.condition(Extent::known(1), nvals.expr().eq(p.nvals_extent().expr()), what.into())]
        }
        Trust::Vouched => Vec::new(),
    };
    let splits = Node::map(m.backend, m.op, count, p.start(Expr::index()).min(nvals.expr()), &asserts);
    Ok(RowPartition::from_splits_node(splits, p.nrows_extent().clone(), nvals.capacity()).with_nvals(nvals.clone()))
}

/// For sorted keys below u32::MAX - 1, by position: what to search for the number of keys below `r`, which is
/// [`Expr::row_of`] at `r`.
///
/// The keys, each one higher, between a 0 and a u32::MAX: the last entry at or below `r` is found.
pub(crate) fn counts_below(
    backend: &BackendRef,
    op: &'static str,
    count: &Extent,
    key: impl Fn(Expr) -> Expr,
) -> Result<Node> {
    let (i, one) = (Expr::index(), Expr::u32(1));
    let at = i.clone().sub(one.clone());
    let inside = at.clone().lt(count.expr()).select(key(at).add(one), Expr::u32(u32::MAX));
    let fenced = i.eq(Expr::u32(0)).select(Expr::u32(0), inside);
    let places = Extent::known(count.capacity()).plus(op, &Extent::known(2))?;
    Ok(Node::map(backend, op, places, fenced, &[]))
}

fn rowids_on_device(m: Making<'_>, t: &Tensor, nrows: Option<i64>, nvals: Option<&Extent>) -> Result<RowPartition> {
    let name = "value_rowids";
    if let Some(n) = nrows.filter(|&n| n < 0) {
        return Err(Error::partition(m.op, format!("nrows must not be negative, but is {n}")));
    }
    let nrows = nrows.map(|n| Extent::known_u64(m.op, n as u64)).transpose()?;
    // Ids stay below u32::MAX - 1, so that one more than an id is no fence.
    let ints = DeviceInts::new(m, name, t, u32::MAX - 3)?;
    let (i, one, len) = (Expr::index(), Expr::u32(1), ints.count.expr());
    if let (Some(Some(n)), Some(given)) = (nvals.map(Extent::as_known), ints.count.as_known())
        && n != given
    {
        return Err(Error::partition(m.op, format!("{name} has {given} entries, but there are {n} values")));
    }
    let nrows = match nrows {
        Some(n) => n,
        None => {
            let last = ints.clamped(len.clone().sub(one.clone())).add(one.clone());
            // Nothing bounds the ids: one wait for the last.
            Extent::known(match ints.count.capacity() {
                0 => 0,
                _ => read_u32(m.backend, m.op, len.clone().eq(Expr::u32(0)).select(Expr::u32(0), last))?,
            })
        }
    };
    let count = nrows.plus(m.op, &Extent::known(1))?;
    let mut asserts = Vec::new();
    if m.trust == Trust::Check {
        let all = |count: &Extent, ok, what: &str| m.condition(count.clone(), ok, format!("{name} {what}"));
        let pairs =
            Extent::bounded(ints.count.capacity().saturating_sub(1), len.clone().max(one.clone()).sub(one.clone()));
        let ascends = ints.raw(i.clone()).le(ints.raw(i.clone().add(one)));
        asserts.push(all(&ints.count, ints.in_range(i.clone()), "must not be negative"));
        asserts.push(all(&pairs, ascends, "must ascend"));
        asserts.push(all(&ints.count, ints.clamped(i).lt(nrows.expr()), "must be below nrows"));
        if let Some(n) = nvals.filter(|&n| n != &ints.count) {
            let same = n.expr().eq(len);
            asserts.push(all(&Extent::known(1), same, "must have one entry for each value"));
        }
    }
    // A row's values are counted among sorted ids; the sums ascend even if the ids do not.
    let below = counts_below(m.backend, m.op, &ints.count, |at| ints.clamped(at))?;
    let nvals = nvals.unwrap_or(&ints.count).clone();
    let below = Node::map(m.backend, m.op, count.clone(), Expr::row_of(&below, Expr::index()), &[]);
    let (a, b) = (Expr::load(&below, Expr::index()), Expr::load(&below, Expr::index().add(Expr::u32(1))));
    let lengths = a.clone().le(b.clone()).select(b.sub(a), Expr::u32(0));
    let sums = Node::scan(m.backend, m.op, nrows.clone(), lengths)?;
    let splits = Expr::load(&sums, Expr::index()).min(nvals.expr());
    let splits = Node::map(m.backend, m.op, count, splits, &asserts);
    Ok(RowPartition::from_splits_node(splits, nrows, nvals.capacity()).with_nvals(nvals))
}

/// A uniform partition of `nvals` values, and the conditions on the device that it rests on.
pub(crate) fn uniform(
    m: Making<'_>,
    len: i64,
    nrows: Option<i64>,
    nvals: &Extent,
) -> Result<(RowPartition, Vec<Node>)> {
    let wrong = |what: String| Err(Error::partition(m.op, what));
    if len < 0 {
        return wrong(format!("uniform_row_length must not be negative, but is {len}"));
    }
    if let Some(n) = nrows.filter(|&n| n < 0) {
        return wrong(format!("nrows must not be negative, but is {n}"));
    }
    let per_row = Extent::known_u64(m.op, len as u64)?.capacity();
    let given = nrows.map(|n| Extent::known_u64(m.op, n as u64)).transpose()?;
    let rows = match (&given, per_row) {
        (Some(n), _) => n.clone(),
        (None, 0) => Extent::known(0),
        (None, len) => match nvals.as_known() {
            Some(n) => Extent::known(n / len),
            None => Extent::bounded(nvals.capacity() / len, nvals.expr().div(Expr::u32(len))),
        },
    };
    let p = RowPartition::uniform(per_row, rows.clone())?;
    let mut asserts = Vec::new();
    match (p.nvals_extent().as_known(), nvals.as_known()) {
        (Some(a), Some(b)) if a != b => {
            return wrong(format!(
                "{b} values are not {} rows of uniform_row_length = {len}",
                rows.as_known().unwrap_or_default()
            ));
        }
        (Some(_), Some(_)) => {}
        _ => {
            let what = format!("the number of values must be nrows times uniform_row_length = {len}");
            if m.trust == Trust::Check {
                asserts.push(m.condition(Extent::known(1), p.nvals_extent().expr().eq(nvals.expr()), what));
            }
        }
    }
    Ok((p.with_nvals(nvals.clone()), asserts))
}

/// A dense tensor of rank 1 whose element `i` is the count or position `e`, as TensorFlow's i64.
pub(crate) fn positions(backend: &BackendRef, op: &'static str, count: Extent, e: Expr) -> Result<Tensor> {
    let node = Node::map(backend, op, count.clone(), e.cast(DType::I64), &[]);
    Tensor::new(backend, Vec::new(), Some(count), Vec::new(), Values::Numbers(node))
}

/// The encodings of a partition, as dense i64 tensors of rank 1. One map each; no waits.
impl RowPartition {
    pub(crate) fn row_splits_on(&self, backend: &BackendRef) -> Result<Tensor> {
        let count = self.nrows_extent().plus("row_splits", &Extent::known(1))?;
        positions(backend, "row_splits", count, self.start(Expr::index()))
    }
    pub(crate) fn row_lengths_on(&self, backend: &BackendRef) -> Result<Tensor> {
        positions(backend, "row_lengths", self.nrows_extent().clone(), self.length(Expr::index()))
    }
    pub(crate) fn row_starts_on(&self, backend: &BackendRef) -> Result<Tensor> {
        positions(backend, "row_starts", self.nrows_extent().clone(), self.start(Expr::index()))
    }
    pub(crate) fn row_limits_on(&self, backend: &BackendRef) -> Result<Tensor> {
        let end = self.start(Expr::index().add(Expr::u32(1)));
        positions(backend, "row_limits", self.nrows_extent().clone(), end)
    }
    pub(crate) fn value_rowids_on(&self, backend: &BackendRef) -> Result<Tensor> {
        positions(backend, "value_rowids", self.nvals_extent().clone(), self.row_of(Expr::index()))
    }
    pub(crate) fn offsets_in_rows_on(&self, backend: &BackendRef) -> Result<Tensor> {
        positions(backend, "offsets_in_rows", self.nvals_extent().clone(), self.offset_of(Expr::index()))
    }
}

/// What makes each public factory: its documentation, and the encoding.
macro_rules! factories {
    ($($(#[$doc:meta])* $name:ident = $encoding:ident;)*) => {
        impl RowPartition {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name<'a>(given: impl Into<Integers<'a>>, device: &Device) -> Result<Self> {
                    let m = Making::new(device.backend(), stringify!($name), Trust::Check);
                    encoded(m, Encoding::$encoding, given.into(), None)
                }
            )*
        }
    };
}

factories! {
    /// The partition whose row `r` holds the values `row_splits[r]..row_splits[r + 1]`. `RowPartition.from_row_splits`.
    ///
    /// Splits on the host are checked here; those in a tensor on the device are checked there, with one wait for the
    /// number of values.
    ///
    /// # Errors
    /// No splits; splits that do not start at 0 or that decrease, with the first such entry; more than 2^32 - 2 values.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let device = Device::cpu();
    /// let rows = RowPartition::from_row_splits(&[0, 4, 4, 6], &device)?;
    /// assert_eq!((rows.nrows(), rows.nvals()), (Some(3), Some(6)));
    /// let e = RowPartition::from_row_splits(&[0, 4, 3], &device).unwrap_err();
    /// assert!(e.to_string().contains("row_splits[2] = 3"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    from_row_splits = Splits;
    /// The partition whose row `r` holds `row_lengths[r]` values. `RowPartition.from_row_lengths`.
    ///
    /// # Errors
    /// A negative length; more than 2^32 - 2 values.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let rows = RowPartition::from_row_lengths(&[4, 0, 2], &Device::cpu())?;
    /// assert_eq!((rows.nrows(), rows.nvals()), (Some(3), Some(6)));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    from_row_lengths = Lengths;
    /// The partition whose row `r` ends before value `row_limits[r]`. `RowPartition.from_row_limits`.
    ///
    /// # Errors
    /// A negative limit; limits that decrease, with the first such entry; more than 2^32 - 2 values.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let rows = RowPartition::from_row_limits(&[4, 4, 6], &Device::cpu())?;
    /// assert_eq!((rows.nrows(), rows.nvals()), (Some(3), Some(6)));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    from_row_limits = Limits;
}

impl RowPartition {
    /// The partition of `nvals` values whose row `r` starts at value `row_starts[r]`. `RowPartition.from_row_starts`.
    ///
    /// # Errors
    /// Starts that do not begin with 0, decrease, or pass `nvals`, with the first such entry; no starts, but values.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let rows = RowPartition::from_row_starts(&[0, 4, 4], 6, &Device::cpu())?;
    /// assert_eq!((rows.nrows(), rows.nvals()), (Some(3), Some(6)));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_row_starts<'a>(starts: impl Into<Integers<'a>>, nvals: u64, device: &Device) -> Result<Self> {
        let m = Making::new(device.backend(), "from_row_starts", Trust::Check);
        encoded(m, Encoding::Starts, starts.into(), Some(&Extent::known_u64(m.op, nvals)?))
    }

    /// The partition whose value `i` is in row `value_rowids[i]`. `RowPartition.from_value_rowids`.
    ///
    /// Without `nrows` the last id is in the last row; with ids on the device that costs a wait.
    ///
    /// # Errors
    /// An id that is negative, below the one before it, or not below `nrows`, with the first such entry.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let rows = RowPartition::from_value_rowids(&[0, 0, 2], None, &Device::cpu())?;
    /// assert_eq!((rows.nrows(), rows.nvals()), (Some(3), Some(3)));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_value_rowids<'a>(ids: impl Into<Integers<'a>>, nrows: Option<i64>, device: &Device) -> Result<Self> {
        let m = Making::new(device.backend(), "from_value_rowids", Trust::Check);
        from_rowids(m, ids.into(), nrows, None)
    }

    /// The partition of `nvals` values into rows of `len` each. `RowPartition.from_uniform_row_length`.
    ///
    /// Without `nrows` there are `nvals / len`, and none where `len` is 0.
    ///
    /// # Errors
    /// A negative argument; `nrows * len` that is not `nvals`.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let rows = RowPartition::from_uniform_row_length(2, 6, None, &Device::cpu())?;
    /// assert_eq!((rows.nrows(), rows.uniform_row_length()), (Some(3), Some(2)));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_uniform_row_length(len: i64, nvals: u64, nrows: Option<i64>, device: &Device) -> Result<Self> {
        let m = Making::new(device.backend(), "from_uniform_row_length", Trust::Check);
        Ok(uniform(m, len, nrows, &Extent::known_u64(m.op, nvals)?)?.0)
    }

    /// The backend of a device that the partition may be read on.
    fn backend_for<'d>(&self, op: &'static str, device: &'d Device) -> Result<&'d BackendRef> {
        if let Rows::Splits(node) = self.rows() {
            Device::check_same(op, node.backend(), device.backend())?;
        }
        Ok(device.backend())
    }
}

/// A public reader of an encoding.
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
                pub fn $name(&self, device: &Device) -> Result<Tensor> {
                    self.$on(self.backend_for(stringify!($name), device)?)
                }
            )*
        }
    };
}

readers! {
    /// Where rows begin, and where the last one ends: `nrows + 1` entries. `RowPartition.row_splits`.
    row_splits = row_splits_on, "[0, 2, 2, 3]";
    /// How many values each row has. `RowPartition.row_lengths`.
    row_lengths = row_lengths_on, "[2, 0, 1]";
    /// Where each row begins. `RowPartition.row_starts`.
    row_starts = row_starts_on, "[0, 2, 2]";
    /// Where each row ends. `RowPartition.row_limits`.
    row_limits = row_limits_on, "[2, 2, 3]";
    /// The row of each value. `RowPartition.value_rowids`.
    value_rowids = value_rowids_on, "[0, 0, 2]";
    /// The place of each value in its row. `RowPartition.offsets_in_rows`.
    offsets_in_rows = offsets_in_rows_on, "[0, 1, 0]";
}
