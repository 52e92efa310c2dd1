//! Converts dense tensors to ragged ones: rows are truncated to lengths, or at their trailing padding.

use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result, caller};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, RowDomain, Rows};
use crate::graph::opcode::{BinaryOp, ReduceOp};
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::graph::size::{RecordedSize, Size};
use crate::integer::Integer;
use crate::ops::operations;
use crate::ops::options::{Padding, RowPadding};
use crate::shape::{Dims, Encoding, RowPartition, width_of};
use crate::tensor::{BytesBound, Fill, HostTensor, HostValues, Integers, Pick, Source, Tensor, Values, clamped_to};

operations! {
    /// Ragged tensors from dense ones.
    const OPERATIONS: family "Construction" on RaggedTensor<T> where T: Element;

    /// Converts a dense tensor to a ragged one with the same values.
    ///
    /// The first `ragged_rank` dimensions after the outermost become uniform partitions. Any dtype, which stays.
    ///
    /// # Errors
    /// A ragged tensor, a scalar or a vector; a `ragged_rank` of 0 or not below the rank.
    ///
    /// # Cost
    /// No pass, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let dense = RaggedTensor::dense([1, 2, 3, 0], &[2, 2], &Device::cpu())?;
    /// let x = RaggedTensor::from_tensor(&dense, 1)?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [3, 0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn from_tensor(dense: &impl AsRef<Tensor> as same, ragged_rank: impl Integer as integer = 1) -> T;
    tensorflow "tf.RaggedTensor.from_tensor";
    awkward "ak.from_regular";
    polars "arr.to_list";
    gradient yes;
    row none "it makes a tensor";

    /// Converts a dense tensor to a ragged one that keeps the first elements of each row, as many as its length says.
    ///
    /// Row `r` of dimension `ragged_rank` keeps `lengths[r]` elements. Lengths below 0 count as 0, and lengths above
    /// the row length as the row length. Any dtype, which stays.
    ///
    /// # Errors
    /// A ragged tensor, a scalar or a vector; a `ragged_rank` of 0 or not below the rank; another number of lengths
    /// than of rows, at the read where only the device knows these numbers.
    ///
    /// # Cost
    /// A scan and a map, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let dense = RaggedTensor::dense([1, 2, 3, 0, 0, 0], &[3, 2], &Device::cpu())?;
    /// let x = RaggedTensor::from_tensor_with_lengths(&dense, &[2, 1, 0], 1)?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [3], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn from_tensor_with_lengths<'a>(
        dense: &impl AsRef<Tensor> as same,
        lengths: impl Into<Integers<'a>> as Integers,
        ragged_rank: impl Integer as integer = 1,
    ) -> T;
    alias "pack_padded_sequence";
    tensorflow "tf.RaggedTensor.from_tensor(…, lengths=…)";
    gradient yes;
    row none "it makes a tensor";

    /// Converts a dense tensor to a ragged one and truncates the rows of several dimensions to lengths.
    ///
    /// `nested_lengths[0]` holds the lengths of the outermost rows, `nested_lengths[1]` the lengths of the rows that
    /// remain in these, and so on. The longest row of each level must be as long as the dimension, as in TensorFlow.
    /// Any dtype, which stays.
    ///
    /// # Errors
    /// No levels, or too many for the rank; a level whose number of lengths is not the number of rows that the level
    /// above keeps; a negative length; a longest length that differs from the dimension.
    ///
    /// # Cost
    /// Uploads of the lengths, and a map. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let dense = RaggedTensor::dense([1, 2, 3, 0], &[2, 2, 1], &Device::cpu())?;
    /// let x = RaggedTensor::from_tensor_with_nested_lengths(&dense, &[&[2, 1], &[1, 0, 1]])?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[[1], []], [[3]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn from_tensor_with_nested_lengths(dense: &impl AsRef<Tensor> as same, nested_lengths: &[&[i64]]) -> T;
    tensorflow "tf.RaggedTensor.from_tensor(…, lengths=(…))";
    gradient yes;
    call none;
    row none "it makes a tensor";

    /// Converts a dense tensor to a ragged one without the trailing padding of its rows.
    ///
    /// The rows are those of dimension 1, or of dimension `n` with
    /// [`with_ragged_rank`](crate::opt::with_ragged_rank)`(padding, n)`; padding between other values stays. The padding is
    /// one value, or a tensor of the shape of an element of a row. An element is padding if all its numbers equal those
    /// of `padding`; NaN equals nothing. A row of padding alone becomes empty. Any dtype, which stays.
    ///
    /// # Errors
    /// A ragged tensor, a scalar or a vector; a ragged rank of 0 or not below the rank; a padding that the dtype cannot
    /// represent, or a tensor of another dtype or device, or whose shape is neither that of a scalar nor that of an
    /// element of a row.
    ///
    /// # Cost
    /// A row reduction, a scan and a map, plus a reduction over the bytes for strings. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let dense = RaggedTensor::dense([1, 0, 2, 3, 0, 0, 0, 0, 0], &[3, 3], &device)?;
    /// let x = RaggedTensor::from_tensor_with_padding(&dense, 0)?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 0, 2], [3], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn from_tensor_with_padding<'a>(dense: &impl AsRef<Tensor> as same, padding: impl Into<RowPadding<'a>> as RowPadding) -> T;
    tensorflow "tf.RaggedTensor.from_tensor(…, padding=…)";
    gradient yes;
    row none "it makes a tensor";
}

#[track_caller]
fn from_tensor(dense: &impl AsRef<Tensor>, ragged_rank: impl Integer) -> Result<Tensor> {
    let dense = dense.as_ref();
    let rec = dense.recorder("from_tensor");
    let ragged_rank = rank_of(rec, ragged_rank)?;
    DenseRows::of(rec, dense, ragged_rank)?;
    dense.inner_to_partitions(ragged_rank)
}

#[track_caller]
fn from_tensor_with_lengths<'a>(
    dense: &impl AsRef<Tensor>,
    lengths: impl Into<Integers<'a>>,
    ragged_rank: impl Integer,
) -> Result<Tensor> {
    let dense = dense.as_ref();
    let rec = dense.recorder("from_tensor_with_lengths");
    let ragged_rank = rank_of(rec, ragged_rank)?;
    let rows = DenseRows::of(rec, dense, ragged_rank)?;
    let uploaded;
    let lengths = match lengths.into().0 {
        Source::Device(t) => t,
        Source::Host(all) => {
            let clamped = all.iter().map(|&l| l.clamp(0, rows.width.capacity().into()) as u32).collect();
            uploaded = HostTensor::dense(&[all.len()], HostValues::U32(clamped)).to_device(&dense.device())?;
            &uploaded
        }
    };
    Device::check_same(rec.op, dense.backend(), lengths.backend())?;
    let location = caller();
    let misfit = |what: &str| Error::Shape {
        op: rec.op,
        lhs: dense.shape_text(),
        rhs: lengths.shape_text(),
        what: what.into(),
        location,
    };
    let (1, 0, Some(count)) = (lengths.rank(), lengths.ragged_rank(), lengths.outer()) else {
        return Err(misfit("lengths must be a vector"));
    };
    const ONE_EACH: &str = "there must be one length for each row";
    let check = Check::new(rec.op, ONE_EACH);
    let asserts = count.agrees(&rows.rows).condition(rec, check, |_| misfit(ONE_EACH))?;
    let asserts: Vec<Node> = asserts.into_iter().collect();
    let given = Expr::load(&lengths.index_node(rec.op, "lengths")?, Expr::index());
    let length = clamped_to(given, Expr::size(&rows.width));
    rows.cut(rec, dense, length, &asserts)
}

#[track_caller]
fn from_tensor_with_nested_lengths(dense: &impl AsRef<Tensor>, nested_lengths: &[&[i64]]) -> Result<Tensor> {
    let (dense, levels) = (dense.as_ref(), nested_lengths.len());
    let rec = dense.recorder("from_tensor_with_nested_lengths");
    DenseRows::of(rec, dense, levels)?;
    let mut rows = dense.nrows_extent().as_known().map(u64::from);
    let mut out = dense.inner_to_partitions(levels)?;
    for (level, lengths) in nested_lengths.iter().enumerate() {
        let dim = i64::from(dense.inner()[level]);
        if let Some(r) = lengths.iter().position(|&l| l < 0) {
            let what = format!("lengths must not be negative, but length {r} of level {level} is {}", lengths[r]);
            return Err(Error::partition(rec.op, what));
        }
        let longest = lengths.iter().copied().max().unwrap_or(0);
        if rows != Some(lengths.len() as u64) || longest != dim {
            let rows = rows.map_or_else(|| "an unknown number of".into(), |n| n.to_string());
            return Err(Error::Shape {
                op: rec.op,
                lhs: dense.shape_text(),
                rhs: format!("[{}, {longest}]", lengths.len()),
                what: format!("level {level} must have lengths for {rows} rows, the longest of {dim}"),
                location: caller(),
            });
        }
        rows = Some(lengths.iter().map(|&l| l as u64).sum());
    }
    // From the innermost level outwards: the values that remain at all levels, then the rows above them.
    let mut kept: Vec<RowPartition> = Vec::with_capacity(levels);
    let mut place = Expr::index();
    for lengths in nested_lengths {
        let (splits, _counted) = Encoding::Lengths.splits(rec, lengths, None)?;
        kept.push(RowPartition::from_host_splits(rec, splits)?);
    }
    let count = kept.last().map_or_else(|| Extent::known(0), |p| p.nvals_extent().clone());
    let width = width_of(&dense.inner().sizes()[levels..]);
    let mut offsets = Vec::with_capacity(levels);
    let mut element = rec.map(count.clone(), Expr::index(), &[]);
    for p in kept.iter().rev() {
        let at = Expr::load(&element, Expr::index());
        offsets.push(rec.map(count.clone(), p.offset_of(at.clone()), &[]));
        element = rec.map(count.clone(), p.row_of(at), &[]);
    }
    let element_of = place.clone().div(Expr::size(&width.max(1)));
    let mut from = Expr::load(&element, element_of.clone());
    for (offset, dim) in offsets.iter().rev().zip(dense.inner().sizes()) {
        from = from.mul(Expr::size(dim)).add(Expr::load(offset, element_of.clone()));
    }
    place = place.rem(Expr::size(&width.max(1)));
    let pick = Pick::From(dense.values_ref(), from.mul(Expr::size(&width)).add(place));
    let bound = BytesBound::AtMost(dense.values_ref().bytes_size());
    let values = rec.rearranged(&rec.times_size(&count, &width)?, &pick, bound, &[])?;
    out = rec.tensor(kept, Some(count), out.inner().clone(), values)?;
    Ok(out)
}

#[track_caller]
fn from_tensor_with_padding<'a>(dense: &impl AsRef<Tensor>, padding: impl Into<RowPadding<'a>>) -> Result<Tensor> {
    let (dense, RowPadding { padding, ragged_rank }) = (dense.as_ref(), padding.into());
    let rec = dense.recorder("from_tensor_with_padding");
    let rows = DenseRows::of(rec, dense, rank_of(rec, ragged_rank)?)?;
    let (padding, asserts) = Pad::new(rec, dense, padding, &rows.inner)?;
    let numbers = rows.inner.width();
    let per_row = rows.width.mul(&numbers);
    rec.known(per_row.capacity().into())?;
    if per_row.capacity() == 0 {
        // Elements without numbers equal any padding.
        return rows.cut(rec, dense, Expr::u32(0), &asserts);
    }
    let at = Expr::index().rem(Expr::size(&numbers));
    let differs = padding.differs(rec, dense, at)?;
    let end = Expr::index().rem(Expr::size(&per_row)).div(Expr::size(&numbers)).add(Expr::u32(1));
    let value = differs.select(end, Expr::scalar(Scalar::U32(0)));
    let (nrows, nvals) = (rows.rows.clone(), rec.count(dense)?);
    let kept = rec.reduce(ReduceOp::Max, RowDomain { rows: Rows::Uniform(per_row), nrows, nvals, inner: 1 }, value)?;
    rows.cut(rec, dense, Expr::load(&kept, Expr::index()), &asserts)
}

/// The padding of an element of a row.
struct Pad {
    values: Values,
    /// Whether one value stands for all numbers of an element.
    single: bool,
}

impl Pad {
    /// The padding of elements of the dimensions `inner`, with the conditions that only the device can check.
    #[track_caller]
    fn new(rec: Recorder<'_>, dense: &Tensor, padding: Padding<'_>, inner: &Dims) -> Result<(Self, Vec<Node>)> {
        let fill = match padding.of_dtype(rec.op, dense.dtype())? {
            Padding::Zero => Fill::zero(dense.dtype()),
            Padding::Value(fill) => fill,
            Padding::Tensor(t) => {
                Device::check_same(rec.op, dense.backend(), t.backend())?;
                let single = t.rank() == 0;
                let shape: Vec<Option<usize>> =
                    if single { Vec::new() } else { inner.iter().map(|&d| Some(d as usize)).collect() };
                let Some(asserts) = t.ragged_shape().has_sizes(rec.op, &shape) else {
                    return Err(Error::Shape {
                        op: rec.op,
                        lhs: dense.shape_text(),
                        rhs: t.shape_text(),
                        what: format!("the padding must have the shape of an element, {:?}", &inner[..]),
                        location: caller(),
                    });
                };
                return Ok((Self { values: t.values_ref().clone(), single }, asserts));
            }
        };
        let bytes = if let Fill::String(s) = &fill { s.len() as u64 } else { 0 };
        let bound = BytesBound::at_most(bytes);
        let values = rec.rearranged(&Extent::known(1), &Pick::Fill(fill), bound, &[])?;
        Ok((Self { values, single: true }, Vec::new()))
    }

    /// Whether number (or string) `Index` of `t` differs from that of the padding at `at`.
    #[track_caller]
    fn differs(&self, rec: Recorder<'_>, t: &Tensor, at: Expr) -> Result<Expr> {
        differs(rec, t, &self.values, if self.single { Expr::u32(0) } else { at })
    }
}

/// A dense tensor viewed as rows: the uniform partitions above them, their number, and their length.
struct DenseRows {
    above: Vec<RowPartition>,
    rows: Extent,
    width: Size,
    /// The dimensions of one element of a row.
    inner: Dims,
}

impl DenseRows {
    /// The rows of dimension `ragged_rank` of `t`.
    #[track_caller]
    fn of(rec: Recorder<'_>, t: &Tensor, ragged_rank: usize) -> Result<Self> {
        if t.ragged_rank() > 0 {
            return Err(Error::argument(rec.op, format!("needs a dense tensor, but the shape is {}", t.shape_text())));
        }
        let Some(outer) = t.outer().filter(|_| t.rank() >= 2) else {
            let what = format!("needs a tensor of rank 2 or more, but the shape is {}", t.shape_text());
            return Err(Error::argument(rec.op, what));
        };
        if ragged_rank < 1 || ragged_rank >= t.rank() {
            let what = format!("ragged_rank must be from 1 to {} here, but is {ragged_rank}", t.rank() - 1);
            return Err(Error::argument(rec.op, what));
        }
        let (mut above, mut rows) = (Vec::new(), outer.clone());
        for dim in &t.inner().sizes()[..ragged_rank - 1] {
            let p = RowPartition::uniform(dim, rows)?;
            rows = p.nvals_extent().clone();
            above.push(p);
        }
        let (width, inner) = (t.inner().sizes()[ragged_rank - 1].clone(), t.inner().sizes()[ragged_rank..].to_vec());
        Ok(Self { above, rows, width, inner: inner.into() })
    }

    /// Truncates each row to its first `length` elements, an expression in the row, under the conditions `asserts`.
    #[track_caller]
    fn cut(self, rec: Recorder<'_>, t: &Tensor, length: Expr, asserts: &[Node]) -> Result<Tensor> {
        let length = match asserts {
            [] => length,
            asserts => Expr::load(&rec.map(self.rows.clone(), length, asserts), Expr::index()),
        };
        let capacity = rec.times_size(&self.rows, &self.width)?.size().clone();
        let p = rec.rows_of_lengths(&self.rows, length, capacity)?;
        let width = self.inner.width();
        let outer = p.nvals_extent().clone();
        let element = Expr::index().div(Expr::size(&width.max(1)));
        let number = Expr::index().rem(Expr::size(&width.max(1)));
        let (row, offset) = (p.row_of(element.clone()), p.offset_of(element));
        let from = row.mul(Expr::size(&self.width)).add(offset).mul(Expr::size(&width)).add(number);
        let pick = Pick::From(t.values_ref(), from);
        let bound = BytesBound::AtMost(t.values_ref().bytes_size());
        let numbers = rec.times_size(&outer, &width)?;
        let values = rec.rearranged(&numbers, &pick, bound, &[])?;
        let mut partitions = self.above;
        partitions.push(p);
        rec.tensor(partitions, Some(outer), self.inner, values)
    }
}

/// Whether number (or string) `Index` of `t` differs from number (or string) `at` of `other`. Equality is that of
/// numbers: NaN differs from everything.
#[track_caller]
fn differs(rec: Recorder<'_>, t: &Tensor, other: &Values, at: Expr) -> Result<Expr> {
    match (t.values_ref(), other) {
        (Values::Numbers(a), Values::Numbers(b)) => {
            Ok(Expr::load(a, Expr::index()).binary(BinaryOp::Ne, Expr::load(b, at)))
        }
        (Values::Strings { strings, bytes }, Values::Strings { strings: pads, bytes: pad_bytes }) => {
            // Per string: whether any byte differs, by a maximum over the bytes. Meaningful where the lengths agree.
            let (string, offset) = (strings.row_of(Expr::index()), strings.offset_of(Expr::index()));
            let pad = at.at(&string);
            let inside = offset.clone().lt(pads.length(pad.clone()));
            let byte = Expr::load(pad_bytes, pads.within(pad, offset));
            let unequal = Expr::load(bytes, Expr::index()).ne(byte).cast(DType::U32);
            let value = inside.select(unequal, Expr::u32(1));
            let unequal = rec.reduce(ReduceOp::Max, strings.domain(1), value)?;
            let lengths = strings.length(Expr::index()).ne(pads.length(at));
            Ok(lengths.or(Expr::load(&unequal, Expr::index()).ne(Expr::u32(0))))
        }
        _ => Err(Error::DTypes { op: rec.op, lhs: t.dtype(), rhs: other.dtype(), location: caller() }),
    }
}

/// The ragged rank as a number of dimensions.
///
/// # Errors
/// A negative one.
#[track_caller]
fn rank_of(rec: Recorder<'_>, ragged_rank: impl Integer) -> Result<usize> {
    Ok(usize::try_from(rec.non_negative("ragged_rank", ragged_rank)?).unwrap_or(usize::MAX))
}
