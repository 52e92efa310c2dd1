//! Batches from rows: many tensors in host memory become one column, by one copy.

use std::ops::Range;

use ragged::{HostValues, Result};

use super::column::{Column, Values, both_numbers, each_number, end_u32};
use super::fault::Call;

/// A tensor that is a part of a column: a row of it, or all of it.
#[derive(Debug, Clone)]
pub(crate) struct View<'a> {
    pub(crate) column: &'a Column,
    /// The first partition below the outermost dimension of the tensor.
    pub(crate) level: usize,
    /// The positions of the outermost dimension: elements of partition `level`, or of the flat values if there is none.
    pub(crate) at: Range<usize>,
    /// The sizes of the uniform dimensions, the outermost first, if there are no partitions.
    pub(crate) shape: Vec<usize>,
    /// Whether the outermost dimension is one row of a ragged dimension.
    pub(crate) ragged: bool,
}

impl<'a> View<'a> {
    /// All of a column.
    pub(crate) fn all(column: &'a Column) -> Self {
        let at = 0..column.nrows().unwrap_or(1);
        Self { column, level: 0, at, shape: column.inner.clone(), ragged: false }
    }

    /// A row of a column, which has one.
    pub(crate) fn row(column: &'a Column, row: usize) -> Self {
        match column.splits.first() {
            Some(splits) => {
                let at = splits[row] as usize..splits[row + 1] as usize;
                let shape = [at.len()].into_iter().chain(column.inner.iter().skip(1).copied()).collect();
                // A row of a uniform dimension is no less a row of a ragged tensor.
                Self { column, level: 1, at, shape, ragged: true }
            }
            None => Self { column, level: 0, at: row..row + 1, shape: column.inner[1..].to_vec(), ragged: false },
        }
    }

    /// The partitions of the tensor.
    pub(crate) fn partitions(&self) -> usize {
        self.column.splits.len() - self.level
    }

    /// The positions of the flat values' outermost dimension.
    fn bottom(&self) -> Range<usize> {
        let below = |at: Range<usize>, splits: &Vec<u32>| splits[at.start] as usize..splits[at.end] as usize;
        self.column.splits[self.level..].iter().fold(self.at.clone(), below)
    }

    /// The positions of the flat values.
    pub(crate) fn values(&self) -> Range<usize> {
        let (at, width) = (self.bottom(), self.column.width());
        at.start * width..at.end * width
    }

    /// Size of the outermost dimension; none of a scalar.
    pub(crate) fn len(&self) -> Option<usize> {
        (self.partitions() > 0 || !self.shape.is_empty()).then(|| match self.partitions() {
            0 => self.shape[0],
            _ => self.at.len(),
        })
    }

    /// Number of flat values.
    pub(crate) fn count(&self) -> usize {
        self.values().len()
    }

    /// Bytes in host memory: values, and the splits of its partitions.
    pub(crate) fn bytes(&self) -> u64 {
        let mut splits = 0;
        let mut at = self.at.clone();
        for level in &self.column.splits[self.level..] {
            splits += 4 * at.len() as u64;
            at = level[at.start] as usize..level[at.end] as usize;
        }
        splits + self.column.values.bytes_in(self.values())
    }

    /// A column of its own.
    pub(crate) fn to_column(&self) -> Column {
        let mut splits = Vec::new();
        let mut at = self.at.clone();
        for level in &self.column.splits[self.level..] {
            let first = level[at.start];
            splits.push(level[at.start..=at.end].iter().map(|&end| end - first).collect());
            at = level[at.start] as usize..level[at.end] as usize;
        }
        let inner = match splits.is_empty() {
            true => self.shape.clone(),
            false => [at.len()].into_iter().chain(self.column.inner.iter().skip(1).copied()).collect(),
        };
        let mut values = self.column.values.emptied();
        // Values of one column fit one column.
        let _ = append_values(&mut values, &self.column.values, self.values());
        Column { splits, uniform: self.column.uniform[self.level..].to_vec(), inner, values }
    }
}

/// Appends values of the same dtype. None if the dtypes differ, or positions of bytes do not fit u32.
fn append_values(to: &mut Values, from: &Values, at: Range<usize>) -> Option<()> {
    match (to, from) {
        (Values::Numbers(to), Values::Numbers(from)) => {
            both_numbers!(to, from, x, y => x.extend_from_slice(&y[at]), else return None);
        }
        (Values::Strings { splits, bytes }, Values::Strings { splits: from, bytes: of }) => {
            let (first, last) = (from[at.start], from[at.end]);
            let base = splits.last().copied().unwrap_or(0);
            base.checked_add(last - first).filter(|&end| end < u32::MAX)?;
            splits.extend(from[at.start + 1..=at.end].iter().map(|&end| end - first + base));
            bytes.extend_from_slice(&of[first as usize..last as usize]);
        }
        _ => return None,
    }
    Some(())
}

/// How tensors are stacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stack {
    /// Rows of ragged tensors, and ragged tensors, under a ragged dimension; dense ones of one shape as a dense tensor.
    Natural,
    /// As `Natural`, but dense tensors of any lengths under a ragged dimension.
    Ragged,
}

/// Stacks tensors into one, whose outermost dimension has a row for each.
///
/// # Errors
/// No tensors; dtypes, ranks or uniform sizes that differ; more values than a tensor can have.
pub(crate) fn stack(call: Call, views: &[View<'_>], how: Stack) -> Result<Column> {
    let Some(first) = views.first() else { return Err(call.argument("a batch of no items has no dtype")) };
    let is_ragged = |v: &View<'_>| v.ragged || v.partitions() > 0 || (how == Stack::Ragged && !v.shape.is_empty());
    let ragged = is_ragged(first);
    let kept = if ragged { &first.column.inner[first.column.inner.len().min(1)..] } else { &first.shape[..] };
    // Rows of dense tensors have their uniform dimensions in the shape.
    let kept: Vec<usize> = match ragged && first.partitions() == 0 {
        true => first.shape[1..].to_vec(),
        false => kept.to_vec(),
    };
    for (k, v) in views.iter().enumerate() {
        if v.column.values.dtype() != first.column.values.dtype() {
            return Err(call.dtypes(first.column.values.dtype(), v.column.values.dtype()));
        }
        let dims = match (ragged, v.partitions()) {
            (false, _) => &v.shape[..],
            (true, 0) => v.shape.get(1..).unwrap_or_default(),
            (true, _) => &v.column.inner[1..],
        };
        if is_ragged(v) != ragged || v.partitions() != first.partitions() || dims != kept {
            let hint = match !ragged && v.partitions() == 0 && v.shape.len() == first.shape.len() {
                true => "; ragged_batch and padded_batch take items of different lengths",
                false => "",
            };
            let what = format!(
                "item 0 of the batch is {}, but item {k} is {}; items of a batch need equal numbers of dimensions and \
                 equal uniform sizes{hint}",
                text(first),
                text(v)
            );
            return Err(call.argument(what));
        }
    }
    let levels = first.partitions() + usize::from(ragged);
    let mut splits: Vec<Vec<u32>> = vec![vec![0]; levels];
    let mut values = first.column.values.emptied();
    reserve(&mut values, views);
    let mut outer = 0u64;
    for v in views {
        let mut at = v.at.clone();
        // The outermost dimension of a row of a dense column is in its shape.
        let mut count = if v.partitions() == 0 && ragged { v.shape[0] } else { at.len() };
        for (k, own) in splits.iter_mut().enumerate() {
            let end = u64::from(own.last().copied().unwrap_or(0));
            match ragged && k == 0 {
                true => own.push(end_u32(call, end + count as u64)?),
                false => {
                    let level = &v.column.splits[v.level + k - usize::from(ragged)];
                    let start = u64::from(level[at.start]);
                    end_u32(call, end + u64::from(level[at.end]) - start)?;
                    own.extend(level[at.start + 1..=at.end].iter().map(|&e| (u64::from(e) - start + end) as u32));
                    at = level[at.start] as usize..level[at.end] as usize;
                    count = at.len();
                }
            }
        }
        outer += if ragged { count as u64 } else { 1 };
        if append_values(&mut values, &v.column.values, v.values()).is_none() {
            return Err(call.limit(
                call.op,
                u64::from(u32::MAX),
                "bytes of strings",
                u64::from(u32::MAX) - 1,
                "a tensor",
            ));
        }
    }
    let inner = [end_u32(call, outer)? as usize].into_iter().chain(kept).collect();
    let mut uniform: Vec<Option<u32>> = vec![None; usize::from(ragged)];
    for k in 0..first.partitions() {
        let one = |v: &View<'_>| v.column.uniform[v.level + k];
        uniform.push(one(first).filter(|&len| views.iter().all(|v| one(v) == Some(len))));
    }
    Ok(Column { splits, uniform, inner, values })
}

fn reserve(values: &mut Values, views: &[View<'_>]) {
    let count: usize = views.iter().map(View::count).sum();
    match values {
        // The vector grows while it is filled if the memory is refused here.
        Values::Numbers(v) => each_number!(v, v => { let _ = v.try_reserve_exact(count); }),
        Values::Strings { splits, bytes } => {
            let _ = splits.try_reserve_exact(count);
            let total =
                views.iter().map(|v| (v.column.values.bytes_in(v.values()) as usize).saturating_sub(4 * v.count()));
            let _ = bytes.try_reserve_exact(total.sum());
        }
    }
}

/// The tensor in words.
pub(crate) fn text(v: &View<'_>) -> String {
    match v.partitions() {
        0 => format!("a tensor of shape {:?}", v.shape),
        n => format!("a ragged tensor of {n} ragged dimensions over sizes {:?}", &v.column.inner[1..]),
    }
}

/// Stacks dense tensors, each padded at its end to the longest size of every dimension.
///
/// # Errors
/// No tensors; a ragged tensor; dtypes or ranks that differ; a padding of another dtype; more values than fit.
pub(crate) fn pad(call: Call, views: &[View<'_>], padding: Option<&Values>) -> Result<Column> {
    let Some(first) = views.first() else { return Err(call.argument("a batch of no items has no dtype")) };
    let rank = first.shape.len();
    let mut sizes = vec![0; rank];
    for (k, v) in views.iter().enumerate() {
        if v.partitions() > 0 {
            return Err(call.argument(format!("item {k} of the batch is {}; only dense items are padded", text(v))));
        }
        if v.shape.len() != rank {
            let what = format!("item 0 of the batch is {}, but item {k} is {}", text(first), text(v));
            return Err(call.argument(what));
        }
        if v.column.values.dtype() != first.column.values.dtype() {
            return Err(call.dtypes(first.column.values.dtype(), v.column.values.dtype()));
        }
        sizes.iter_mut().zip(&v.shape).for_each(|(most, &d)| *most = d.max(*most));
    }
    let padding = match padding {
        Some(given) if given.dtype() != first.column.values.dtype() => {
            return Err(call.dtypes(first.column.values.dtype(), given.dtype()));
        }
        Some(given) => given.clone(),
        None => zero(&first.column.values),
    };
    let total = sizes.iter().try_fold(views.len() as u64, |n, &d| n.checked_mul(d as u64)).unwrap_or(u64::MAX);
    end_u32(call, total)?;
    let mut values = first.column.values.emptied();
    for v in views {
        append_padded(&mut values, v, v.values().start, &v.shape, &sizes, &padding);
    }
    let inner = [views.len()].into_iter().chain(sizes).collect();
    if let Values::Strings { splits, bytes } = &values {
        end_u32(call, bytes.len() as u64)?;
        debug_assert_eq!(splits.len() as u64, total + 1);
    }
    Ok(Column { splits: Vec::new(), uniform: Vec::new(), inner, values })
}

/// Appends the dimensions of `shape`, whose first value is at `start`, padded to `sizes`.
fn append_padded(to: &mut Values, v: &View<'_>, start: usize, shape: &[usize], sizes: &[usize], padding: &Values) {
    let fill = |to: &mut Values, n: usize| {
        for _ in 0..n {
            let _ = append_values(to, padding, 0..1);
        }
    };
    match (shape, sizes) {
        ([d, below @ ..], [most, sizes @ ..]) if !below.is_empty() => {
            let width: usize = below.iter().product();
            (0..*d).for_each(|i| append_padded(to, v, start + i * width, below, sizes, padding));
            fill(to, (most - d) * sizes.iter().product::<usize>());
        }
        ([d], [most]) => {
            let _ = append_values(to, &v.column.values, start..start + d);
            fill(to, most - d);
        }
        _ => {
            let _ = append_values(to, &v.column.values, start..start + 1);
        }
    }
}

/// One zero, false or empty string of the dtype.
fn zero(like: &Values) -> Values {
    let mut zero = like.emptied();
    match &mut zero {
        Values::Strings { splits, .. } => splits.push(0),
        Values::Numbers(HostValues::Bool(v)) => v.push(false),
        Values::Numbers(v) => return Values::Numbers(zero_number(v)),
    }
    zero
}

fn zero_number(like: &HostValues) -> HostValues {
    let mut one = like.clone();
    match &mut one {
        HostValues::Bool(v) => v.push(false),
        HostValues::U8(v) => v.push(0),
        HostValues::I8(v) => v.push(0),
        HostValues::U16(v) => v.push(0),
        HostValues::I16(v) => v.push(0),
        HostValues::I32(v) => v.push(0),
        HostValues::U32(v) => v.push(0),
        HostValues::I64(v) => v.push(0),
        HostValues::U64(v) => v.push(0),
        HostValues::F16(v) => v.push(ragged::f16::ZERO),
        HostValues::BF16(v) => v.push(ragged::bf16::ZERO),
        HostValues::F32(v) => v.push(0.0),
        HostValues::F64(v) => v.push(0.0),
        _ => {}
    }
    one
}
