//! N-grams of byte strings.

use super::slices::slices;
use crate::dtype::DType;
use crate::element::Str;
use crate::error::{Error, Result, here};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Rows};
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;
use crate::ops::operations;
use crate::ops::options::Ngrams;
use crate::shape::RowPartition;
use crate::tensor::{BytesBound, Fill, Pick, Tensor, Values};

operations! {
    /// N-grams of byte strings.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// Joins every `widths` adjacent strings of each innermost row, with `separator` in between.
    ///
    /// `[.., (strings)]` gives `[.., (n-grams)]`, ragged where the innermost dimension is. A row of `n` strings has
    /// `n - width + 1` n-grams, none if it is shorter. The n-grams of several widths follow one another in each row.
    /// [`padded_with`](crate::opt::padded_with) and [`pad_width`](crate::opt::pad_width) pad rows,
    /// [`keep_short`](crate::opt::keep_short) keeps short ones.
    ///
    /// # Errors
    /// The tensor does not hold strings or is a scalar; no width; a width below 1 or above 65536; a negative
    /// `pad_width`, or one without padding.
    ///
    /// # Cost
    /// A copy of the bytes with separators, unless the separator and the padding are empty, a prefix sum over the
    /// n-grams, and a copy of their bytes. Padding adds another copy of the strings. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["a", "b", "c"], vec![], vec!["d"]], &Device::cpu())?;
    /// assert_eq!(x.string_ngrams(2, " ")?.to_string(), "<ragged.RaggedTensor [[b'a b', b'b c'], [], []]>");
    /// let both = x.string_ngrams([1, 3], "-")?;
    /// assert_eq!(both.to_string(), "<ragged.RaggedTensor [[b'a', b'b', b'c', b'a-b-c'], [], [b'd']]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn string_ngrams(&self, widths: impl Into<Ngrams> as Ngrams, separator: &str = " ") -> Str;
    tensorflow "tf.strings.ngrams";
    gradient none "it takes strings";
    row vector;
}

#[track_caller]
fn string_ngrams(x: &Tensor, widths: impl Into<Ngrams>, separator: &str) -> Result<Tensor> {
    const OP: &str = "string_ngrams";
    let ngrams = widths.into();
    x.strings(OP)?;
    let windows = Windows::new(OP, &ngrams)?;
    let backend = x.backend();
    let rec = Recorder::new(backend, OP);
    let rows = x.innermost_rows(rec)?;
    let grams = match rows.rows() {
        Rows::Uniform(len) => RowPartition::uniform(windows.count_of(len), rows.nrows_extent().clone())?,
        Rows::Splits(_) => {
            let count = windows.count(rows.length(Expr::index()));
            let tokens = windows.padded(&rows)?.size().clone();
            let capacity = tokens.mul(windows.widths.len() as u32);
            rec.rows_of_lengths(rows.nrows_extent(), count, capacity)?
        }
    };
    let values = windows.joined(rec, (&rows, &grams), x.values_ref(), &ngrams, separator.as_bytes())?;
    let mut partitions = x.partitions().to_vec();
    let mut inner = x.inner().to_vec();
    match (inner.last_mut(), x.ragged_rank()) {
        (Some(last), _) => {
            *last = grams.uniform_length().unwrap_or(0);
            rec.tensor(partitions, x.outer().cloned(), inner, values)
        }
        (None, 0) => rec.tensor(partitions, Some(grams.nvals_extent().clone()), inner, values),
        (None, last) => {
            let outer = grams.nvals_extent().clone();
            partitions[last - 1] = grams;
            rec.tensor(partitions, Some(outer), inner, values)
        }
    }
}

/// Greatest width and padding, so that positions stay below 2^32.
const MOST: u32 = 1 << 16;

impl Tensor {
    /// The rows of the innermost dimension; one row of a tensor of rank 1.
    #[track_caller]
    fn innermost_rows(&self, rec: Recorder<'_>) -> Result<RowPartition> {
        let deep = self.inner_to_partitions(self.inner().len());
        let Some(outer) = self.outer() else {
            return Err(rec.argument("a scalar has no rows; give it a dimension first (expand_dims)"));
        };
        if let Some(last) = deep?.partitions().last() {
            return Ok(last.clone());
        }
        let one = Extent::known(1);
        if outer.as_known().is_some() {
            return RowPartition::uniform(outer.size().clone(), one);
        }
        let start = Expr::index().eq(Expr::u32(0)).select(Expr::u32(0), outer.expr());
        let rows = rec.rows_of_starts(&one, &start, outer.size(), &[])?;
        Ok(rows.with_nvals(outer.clone()))
    }
}

/// The windows of each row.
struct Windows {
    /// Width and padding of the windows, in order.
    widths: Vec<(u32, u32)>,
    /// Padding that is stored at either end of each row.
    stored: u32,
    /// The padding of the only window of a short row, if such rows are kept.
    short: Option<u32>,
}

impl Windows {
    #[track_caller]
    fn new(op: &'static str, ngrams: &Ngrams) -> Result<Self> {
        let size = |name: &str, least: i64, n: i64| match u32::try_from(n) {
            Ok(size) if n >= least && size <= MOST => Ok(size),
            _ => Err(Error::argument(op, format!("{name} must be between {least} and {MOST}, but is {n}"))),
        };
        if ngrams.widths.is_empty() {
            return Err(Error::argument(op, "there must be at least one width"));
        }
        let most = ngrams.pad_width.map(|n| size("pad_width", 0, n)).transpose().map_err(here())?;
        if most.is_some() && ngrams.padding.is_none() {
            return Err(Error::argument(op, "pad_width needs a padding: give one with padded_with"));
        }
        let padding = |width: u32| match &ngrams.padding {
            None => 0,
            Some(_) => most.unwrap_or(MOST).min(width - 1),
        };
        let widths = ngrams.widths.iter().map(|&n| size("the width", 1, n).map(|n| (n, padding(n))));
        let widths = widths.collect::<Result<Vec<_>>>().map_err(here())?;
        // A padding of one less than each width leaves no row without windows.
        let short = ngrams.keep_short.then(|| if ngrams.padding.is_some() { most.unwrap_or(0) } else { 0 });
        let stored = widths.iter().map(|&(_, p)| p).chain(short).max().unwrap_or(0);
        Ok(Self { widths, stored, short })
    }

    /// Number of windows of one width in a row of `length` strings.
    fn of_width(length: &Expr, (width, padding): (u32, u32)) -> Expr {
        let width = Expr::u32(width);
        length.clone().add(Expr::u32(2 * padding + 1)).max(width.clone()).sub(width)
    }

    /// Number of windows of a row, without that of a short one.
    fn regular(&self, length: &Expr) -> Expr {
        let counts = self.widths.iter().map(|&width| Self::of_width(length, width));
        counts.reduce(Expr::add).expect("bug: no width")
    }

    /// Number of windows in a row of `length` strings.
    fn count(&self, length: Expr) -> Expr {
        let regular = self.regular(&length);
        match self.short {
            None => regular,
            Some(_) => regular.max(length.min(Expr::u32(1))),
        }
    }

    /// As [`Windows::count`], for rows of one length.
    fn count_of(&self, length: &Size) -> Size {
        let of_width = |&(width, padding): &(u32, u32)| length.add(2 * padding + 1).max(width).sub(width);
        let regular = self.widths.iter().map(of_width).reduce(|a, b| a.add(&b)).expect("bug: no width");
        match self.short {
            None => regular,
            Some(_) => regular.max(length.min(1)),
        }
    }

    /// Number of strings of all rows with their padding.
    #[track_caller]
    fn padded(&self, rows: &RowPartition) -> Result<Extent> {
        let padding = rows.nrows_extent().times("n-grams", 2 * u64::from(self.stored))?;
        rows.nvals_extent().plus("n-grams", &padding)
    }

    /// The strings with the padding around each row, and the rows.
    #[track_caller]
    fn with_padding(
        &self,
        rec: Recorder<'_>,
        rows: &RowPartition,
        values: &Values,
        padding: &[String; 2],
    ) -> Result<(RowPartition, Values)> {
        let at = Expr::index();
        let (stored, count) = (Expr::u32(self.stored), self.padded(rows)?);
        let padded = match rows.rows() {
            Rows::Uniform(len) => rec.uniform_rows(len.add(2 * self.stored), rows.nrows_extent().clone())?,
            Rows::Splits(_) => {
                let start = rows.start(at.clone()).add(at.clone().mul(Expr::u32(2 * self.stored)));
                rec.rows_of_starts(rows.nrows_extent(), &start, count.size(), &[])?.with_nvals(count.clone())
            }
        };
        let (row, offset) = (padded.row_of(at.clone()), padded.offset_of(at));
        let end = rows.length(row.clone()).add(stored.clone());
        let own = Pick::From(values, rows.within(row, offset.clone().sub(stored.clone())));
        let [left, right] = padding.each_ref().map(|s| Pick::Fill(Fill::from(s.as_str())));
        let bound: u64 = padding.iter().map(|s| s.len() as u64).sum();
        let bound = values.bytes_size().add(rows.nrows_extent().size().mul(self.stored).mul(bound.min(1 << 31) as u32));
        let pick = Pick::either(offset.clone().lt(stored), left, Pick::either(offset.lt(end), own, right));
        let values = rec.rearranged(&count, &pick, BytesBound::AtMost(bound), &[])?;
        Ok((padded, values))
    }

    /// The n-grams.
    fn joined(
        &self,
        rec: Recorder<'_>,
        (rows, grams): (&RowPartition, &RowPartition),
        values: &Values,
        ngrams: &Ngrams,
        separator: &[u8],
    ) -> Result<Values> {
        let (tokens, values) = match &ngrams.padding {
            Some(padding) if self.stored > 0 => self.with_padding(rec, rows, values, padding)?,
            _ => (rows.clone(), values.clone()),
        };
        let Values::Strings { strings, bytes } = &values else { unreachable!("bug: n-grams of numbers") };
        let (strings, bytes) = ended(rec, (strings, bytes), tokens.nvals_extent(), separator)?;
        let (at, one) = (Expr::index(), Expr::u32(1));
        let (row, nth) = (grams.row_of(at.clone()), grams.offset_of(at.clone()));
        let length = rows.length(row.clone());
        // The first string of the window in its padded row, and the number of its strings: of the last width, unless
        // the window is among those of an earlier one.
        let (mut from, mut width) = (Expr::u32(0), Expr::u32(0));
        for (k, &(n, padding)) in self.widths.iter().enumerate().rev() {
            let before = self.widths[..k].iter().map(|&width| Self::of_width(&length, width));
            let before = before.reduce(Expr::add).unwrap_or_else(|| Expr::u32(0));
            let own = nth.clone().sub(before.clone()).add(Expr::u32(self.stored - padding));
            if k + 1 == self.widths.len() {
                (from, width) = (own, Expr::u32(n));
            } else {
                let ends = before.add(Self::of_width(&length, (n, padding)));
                let is_own = nth.clone().lt(ends);
                (from, width) = (is_own.clone().select(own, from), is_own.select(Expr::u32(n), width));
            }
        }
        if let Some(padding) = self.short {
            let short = self.regular(&length).eq(Expr::u32(0));
            from = short.clone().select(Expr::u32(self.stored - padding), from);
            width = short.select(length.add(Expr::u32(2 * padding)), width);
        }
        let token = tokens.start(row).add(from);
        let last = token.clone().add(width).sub(one.clone());
        let count = grams.nvals_extent();
        let first = rec.map(count.clone(), strings.start(token), &[]);
        let first = Expr::load(&first, at);
        let end = strings.start(last.add(one)).sub(Expr::u32(separator.len() as u32));
        let length = end.sub(first.clone());
        let copies: u32 = self.widths.iter().map(|&(n, _)| n).fold(1, u32::saturating_add);
        slices(rec, count, &bytes, (first, length), strings.nvals_extent().size().mul(copies))
    }
}

/// `count` strings, each followed by the separator.
fn ended(
    rec: Recorder<'_>,
    (strings, bytes): (&RowPartition, &Node),
    count: &Extent,
    separator: &[u8],
) -> Result<(RowPartition, Node)> {
    if separator.is_empty() {
        return Ok((strings.clone(), bytes.clone()));
    }
    let at = Expr::index();
    let width = Expr::u32(separator.len() as u32);
    let total = rec.plus(strings.nvals_extent(), &rec.at(count.times(rec.op, separator.len() as u64))?)?;
    let start = strings.start(at.clone()).add(at.clone().mul(width));
    let ended = rec.rows_of_starts(count, &start, total.size(), &[])?.with_nvals(total);
    let (string, offset) = (ended.row_of(at.clone()), ended.offset_of(at));
    let length = strings.length(string.clone());
    let own = Expr::load(bytes, strings.within(string, offset.clone()));
    let between = match separator {
        [one] => Expr::number(*one),
        many => {
            let node = rec.uploaded(DType::U8, many)?;
            Expr::load(&node, offset.clone().sub(length.clone()))
        }
    };
    let byte = offset.lt(length).select(own, between);
    let bytes = rec.map(ended.nvals_extent().clone(), byte, &[]);
    Ok((ended, bytes))
}
