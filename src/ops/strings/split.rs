//! Splitting byte strings into pieces.

use super::separators::{Edges, Occurrences, limit_of};
use super::slices::slices;
use crate::element::Str;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::ops::options::{Separator, Separators};
use crate::ops::{operations, white_space};
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};

operations! {
    /// Splits of byte strings.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// Splits each string at separators, which are removed.
    ///
    /// `[..]` of strings gives `[.., (pieces)]`: one more ragged dimension; a scalar gives a vector. A string separates
    /// as a whole, at the occurrences that a search from left to right finds; [`any_of`](crate::opt::any_of) separates at
    /// each of several bytes, [`white_space`](crate::opt::white_space) at runs of white space, which is TensorFlow's
    /// `sep=None`. [`nonempty`](crate::opt::nonempty) drops empty pieces, [`max_splits`](crate::opt::max_splits) limits
    /// the number of splits. An empty string is one empty piece, and has no piece where empty ones are dropped.
    ///
    /// # Errors
    /// The tensor does not hold strings; an empty separator or set of bytes; `max_splits` below 1.
    ///
    /// # Cost
    /// One rank bitmap of the bytes (an eighth of a byte per byte, plus the ranks), two where empty pieces are dropped,
    /// as many compactions, a prefix sum over the pieces, and a copy of the bytes that stay. A separator that overlaps
    /// itself takes two to five more bitmaps over its occurrences. A separator of more than 16 bytes takes a few more
    /// steps, each over at most as many bytes as the text has. The numbers of pieces and bytes stay on the device. No wait.
    ///
    /// ```
    /// use ragged::opt::white_space;
    /// use ragged::{Device, RaggedTensor};
    /// let text = RaggedTensor::from_nested(["to be  or", " "], &Device::cpu())?;
    /// let words = text.string_split(white_space())?;
    /// assert_eq!(words.to_string(), "<ragged.RaggedTensor [[b'to', b'be', b'or'], []]>");
    /// let fields = text.string_split(" ")?;
    /// assert_eq!(fields.to_string(), "<ragged.RaggedTensor [[b'to', b'be', b'', b'or'], [b'', b'']]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn string_split(&self, separator: impl Into<Separator> as Separator = white_space()) -> Str;
    alias "tokenize", "split";
    tensorflow "tf.strings.split";
    awkward "ak.str.split_pattern";
    polars "str.split";
    gradient none "it takes strings";
}

#[track_caller]
fn string_split(x: &Tensor, separator: impl Into<Separator>) -> Result<Tensor> {
    const OP: &str = "string_split";
    let separator = separator.into();
    let (strings, bytes) = x.strings(OP)?;
    let limit = limit_of(OP, &separator)?;
    let backend = x.backend();
    let rec = Recorder::new(backend, OP);
    let (partition, values) = if separator.nonempty {
        nonempty_pieces(rec, (strings, bytes), &separator.by, limit)?
    } else {
        all_pieces(rec, (strings, bytes), &separator.by, limit)?
    };
    let outer = partition.nvals_extent().clone();
    if x.rank() == 0 {
        return rec.tensor(Vec::new(), Some(outer), [], values);
    }
    let mut partitions = x.inner_to_partitions(x.inner().len())?.partitions().to_vec();
    partitions.push(partition);
    rec.tensor(partitions, Some(outer), [], values)
}

/// The pieces between separators, empty ones included: the partition of the strings into pieces, and the pieces.
fn all_pieces(
    rec: Recorder<'_>,
    (strings, bytes): (&RowPartition, &Node),
    by: &Separators,
    limit: Option<u32>,
) -> Result<(RowPartition, Values)> {
    let found = Occurrences::new(rec, (strings, bytes), by)?;
    let (at, one) = (Expr::index(), Expr::u32(1));
    let (nbytes, nrows) = (strings.nvals_extent(), strings.nrows_extent());
    let before = |row: Expr| found.before(&strings.start(row));
    let capacity = rec.plus(nbytes, nrows)?.size().clone();
    let partition = match limit {
        // Before a row: the separators, and one piece per row.
        None => rec.rows_of_starts(nrows, &before(at.clone()).add(at.clone()), &capacity, &[])?,
        Some(limit) => {
            let separators = before(at.clone().add(one.clone())).sub(before(at.clone()));
            let pieces = separators.min(Expr::u32(limit)).add(one.clone());
            rec.rows_of_lengths(nrows, pieces, &capacity)?
        }
    };
    let positions = found.positions(rec);
    let (row, nth) = (partition.row_of(at.clone()), partition.offset_of(at.clone()));
    // The separator that ends the piece, if it is not the last of its row.
    let separator = match limit {
        None => at.sub(row.clone()),
        Some(_) => before(row.clone()).add(nth.clone()),
    };
    let after = Expr::load(&positions, separator.clone().sub(one.clone())).add(Expr::u32(found.width()));
    let first = nth.clone().eq(Expr::u32(0)).select(strings.start(row.clone()), after);
    let is_last = nth.add(one.clone()).eq(partition.length(row.clone()));
    let end = is_last.select(strings.start(row.add(one)), Expr::load(&positions, separator));
    let first = rec.map(partition.nvals_extent().clone(), first, &[]);
    let first = Expr::load(&first, Expr::index());
    let length = end.sub(first.clone());
    let values = slices(rec, partition.nvals_extent(), bytes, (first, length), nbytes.size())?;
    Ok((partition, values))
}

/// As [`all_pieces`], without empty pieces.
#[track_caller]
fn nonempty_pieces(
    rec: Recorder<'_>,
    (strings, bytes): (&RowPartition, &Node),
    by: &Separators,
    limit: Option<u32>,
) -> Result<(RowPartition, Values)> {
    let (at, one) = (Expr::index(), Expr::u32(1));
    let (nbytes, nrows) = (strings.nvals_extent(), strings.nrows_extent());
    let Edges { starts, ends } = Edges::new(rec, (strings, bytes), by)?;
    let positions = |marks: &RankBitmap| rec.compact(marks, (at.clone(), 1), marks.total());
    let (starts_at, ends_at) = (positions(&starts), positions(&ends));
    let before = |row: Expr| starts.rank(&strings.start(row));
    // Every piece but the last of a string takes at least one byte and a separator.
    let capacity = nbytes.size().min(nbytes.size().div(2).add(nrows.size()));
    let Some(limit) = limit else {
        let partition = rec.rows_of_starts(nrows, &before(at.clone()), &capacity, &[])?;
        let first = Expr::load(&starts_at, at.clone());
        let length = Expr::load(&ends_at, at).add(one).sub(first.clone());
        let values = slices(rec, partition.nvals_extent(), bytes, (first, length), nbytes.size())?;
        return Ok((partition, values));
    };
    let limit = Expr::u32(limit);
    let whole = |row: Expr| before(row.clone().add(one.clone())).sub(before(row));
    let pieces = |row: Expr| limit.clone().le(whole(row.clone())).select(limit.clone().add(one.clone()), whole(row));
    let capacity = capacity.add(nrows.size());
    let partition = rec.rows_of_lengths(nrows, pieces(at.clone()), &capacity)?;
    let (row, nth) = (partition.row_of(at.clone()), partition.offset_of(at.clone()));
    let piece = before(row.clone()).add(nth.clone());
    let row_end = strings.start(row.clone().add(one.clone()));
    let first = nth.clone().lt(whole(row)).select(Expr::load(&starts_at, piece.clone()), row_end.clone());
    let first = rec.map(partition.nvals_extent().clone(), first, &[]);
    let first = Expr::load(&first, at);
    let end = nth.lt(limit).select(Expr::load(&ends_at, piece).add(one), row_end);
    let length = end.sub(first.clone());
    let values = slices(rec, partition.nvals_extent(), bytes, (first, length), nbytes.size())?;
    Ok((partition, values))
}
