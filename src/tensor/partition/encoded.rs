//! Partitions from one list of integers: splits, lengths, starts or limits.

use super::device_ints::DeviceInts;
use super::{Making, Trust};
use crate::device::Device;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::{Extent, upper_bound};
use crate::graph::size::RecordedSize;
use crate::shape::{Encoding, RowPartition};
use crate::tensor::integers::{Integers, Source};
use crate::tensor::{HostValues, Tensor};

/// Decodes the partition of `nvals` values; where `nvals` is not given, the integers determine the number of values.
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
        return Err(RowPartition::validate_splits(m.rec, given, None).unwrap_err());
    }
    if let (Some(nvals), Some(None)) = (nvals, known) {
        if m.trust == Trust::Check {
            encoding.validate(m.rec, given, None)?;
        }
        // The number of values is known on the device only, so the last rule is checked there.
        let uploaded = m.rec.at(HostValues::I64(given.to_vec()).upload(m.rec.op, &Device::of(m.rec.backend)))?;
        let extent = m.rec.known(given.len() as u64)?;
        let t = m.rec.at(Tensor::new(m.rec.backend, Vec::new(), Some(extent), [], uploaded))?;
        return on_device(m, encoding, &t, Some(nvals));
    }
    let nvals = known.flatten();
    let (splits, _counted) = match m.trust {
        Trust::Check => encoding.splits(m.rec, given, nvals)?,
        Trust::Vouched => {
            let total = nvals.unwrap_or_else(|| match encoding {
                Encoding::Lengths => given.iter().fold(0, |sum: u64, &l| sum.saturating_add(l.max(0) as u64)),
                _ => given.last().map_or(0, |&last| last.max(0) as u64),
            });
            m.rec.known(total)?;
            let splits = encoding.trusted_splits(m.rec, given, total)?;
            if splits.0.len() == 1 && total > 0 {
                return Err(m.rec.partition(format!("there are {total} values, but no rows")));
            }
            splits
        }
    };
    RowPartition::from_host_splits(m.rec, splits)
}

/// Device-side counterpart of [`encoded`]. The partition is valid for all integers, as on the host: rows that would run
/// backwards are empty, no row exceeds the values, and the last row takes the remaining values.
fn on_device(m: Making<'_>, encoding: Encoding, t: &Tensor, nvals: Option<&Extent>) -> Result<RowPartition> {
    let (name, most) = (encoding.name(), nvals.map_or(u32::MAX - 1, Extent::capacity));
    let ints = DeviceInts::new(m, name, t, most)?;
    let (i, one) = (Expr::index(), Expr::u32(1));
    let len = ints.count.expr();
    let nrows = match encoding {
        Encoding::Splits if ints.count.as_known() == Some(0) => {
            return Err(RowPartition::validate_splits::<i64>(m.rec, &[], None).unwrap_err());
        }
        Encoding::Splits => Extent::bounded(ints.count.size().sub(1), len.clone().max(one.clone()).sub(one.clone())),
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
    let sums = m.rec.scan(nrows.clone(), length)?;
    let total = sums.last_entry();
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
        let pairs = Extent::bounded(ints.count.size().sub(1), len.clone().max(one.clone()).sub(one.clone()));
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
    let entry = Expr::load(&sums, Expr::index());
    let splits = match nvals {
        Some(n) => {
            asserts.extend(m.rows_for(n, &nrows)?);
            RowPartition::ending_at(entry, &nrows, n)
        }
        None => entry.min(values),
    };
    let splits = m.rec.splits(&nrows, &splits, &asserts)?;
    let nvals = match nvals {
        Some(n) => n.clone(),
        None => Extent::bounded(upper_bound(u64::MAX), splits.last_entry()),
    };
    Ok(RowPartition::from_splits_node(splits, nrows, nvals.size()).with_nvals(nvals))
}
