//! Combinations and Cartesian products of the elements of each row.
//!
//! The tuples are built level by level. Level `j` holds the first `j` members of every tuple, each once, in
//! lexicographic order, as a partition of level `j` into rows of level `j - 1`: the prefixes that extend one shorter
//! prefix are contiguous. A level stores its row splits, and no positions: the members of a tuple follow from its
//! number by a search per level.

use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::{Extent, upper_bound};
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;
use crate::integer::{Integer, non_negative};
use crate::ops::operations;
use crate::record::axis_rows::AxisRows;
use crate::record::rows::Repeats;
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};

operations! {
    /// Combinations and Cartesian products.
    const OPERATIONS: family "Rows: pairs, windows, groups, sets, samples" on RaggedTensor<T> where T: Element;

    /// All combinations of `k` elements of each row along `axis`, as one tensor per member of the combinations.
    ///
    /// The `k` tensors share their row partitions: a row of `n` elements becomes one of `n! / (k! (n - k)!)`, ragged.
    /// Combinations are in lexicographic order of their positions, and the members of one ascend in position; equal
    /// elements are told apart by position. Rows of fewer than `k` elements have no combinations. Any dtype; dimensions
    /// below the axis belong to the elements. For one tensor of `k` columns, [`Tensor::zip`] the result.
    ///
    /// Awkward's result is that of `ak.unzip(ak.combinations(x, k))`; Python's `itertools.combinations` has the same
    /// order.
    ///
    /// # Errors
    /// `k` not in 1 to 6; `axis` out of range. At the read: 2^32 combinations or more.
    ///
    /// # Cost
    /// A prefix sum over the elements, and one over the prefixes of each length from 2 to `k - 1`. Each member is a
    /// gather, which fuses into its consumer: combinations that are only reduced are not stored. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4, 5]], &Device::cpu())?;
    /// let pairs = x.combinations(2, 1)?;
    /// assert_eq!(pairs[0].to_string(), "<ragged.RaggedTensor [[1, 1, 2], [], [4]]>");
    /// assert_eq!(pairs[1].to_string(), "<ragged.RaggedTensor [[2, 3, 3], [], [5]]>");
    /// assert_eq!((&pairs[0] * &pairs[1])?.reduce_sum(1)?.to_vec()?, [11, 0, 20]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn combinations(&self, k: impl Integer as integer, axis: impl Integer as axis = 1) -> [T];
    alias "pairs";
    awkward "ak.combinations";
    gradient yes;

    /// Positions of the members of all combinations of `k` elements of each row, as one tensor per member.
    ///
    /// Gives i64. The `k` tensors share their row partitions: a row of `n` elements becomes one of `n! / (k! (n -
    /// k)!)`, ragged. Combinations are in lexicographic order, and the positions of one ascend. Rows of fewer than `k`
    /// elements have none. [`Tensor::combinations`] gives the elements themselves.
    ///
    /// # Errors
    /// `k` not in 1 to 6; `axis` out of range. At the read: 2^32 combinations or more.
    ///
    /// # Cost
    /// A prefix sum over the elements, and one over the prefixes of each length from 2 to `k - 1`. The positions fuse
    /// into their consumer. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![7, 7, 7], vec![7]], &Device::cpu())?;
    /// let pairs = x.argcombinations(2, 1)?;
    /// assert_eq!(pairs[0].to_string(), "<ragged.RaggedTensor [[0, 0, 1], []]>");
    /// assert_eq!(pairs[1].to_string(), "<ragged.RaggedTensor [[1, 2, 2], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn argcombinations(&self, k: impl Integer as integer, axis: impl Integer as axis = 1) -> [i64];
    awkward "ak.argcombinations";
    gradient none "the result holds positions";

    /// The Cartesian product of the rows of several tensors along `axis`, as one tensor per factor.
    ///
    /// The results share their row partitions. A row has as many tuples as the product of the rows' lengths, in
    /// lexicographic order: the last factor varies fastest. A row that is empty in one factor has no tuples. The
    /// tensors may have different dtypes and dimensions below `axis`, and must agree in those above it.
    ///
    /// Awkward's result is that of `ak.unzip(ak.cartesian([a, b]))`; Python's `itertools.product` has the same order.
    ///
    /// # Errors
    /// No tensors; `axis` out of range, or 0 for a tensor of a different rank; tensors on different devices, or with
    /// different dimensions above `axis`. At the read: those that only the device knows; 2^32 tuples or more.
    ///
    /// # Cost
    /// A prefix sum over the elements of the first tensor, and one over the tuples of each intermediate product. Each
    /// result is a gather, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let device = Device::cpu();
    /// let a = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device)?;
    /// let b = RaggedTensor::from_nested([vec![10, 20], vec![]], &device)?;
    /// let pairs = Tensor::cartesian(&[&a, &b], 1)?;
    /// assert_eq!(pairs[0].to_string(), "<ragged.RaggedTensor [[1, 1, 2, 2], []]>");
    /// assert_eq!(pairs[1].to_string(), "<ragged.RaggedTensor [[10, 20, 10, 20], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn cartesian(all: &[impl AsRef<Tensor>] as tensors, axis: impl Integer as axis = 1) -> [T];
    alias "product", "cross_join";
    awkward "ak.cartesian";
    gradient yes;
    typed none "the tensors may have several element types";
    row hand;

    /// The Cartesian product of the rows of several tensors along `axis` with a dimension per factor, as one tensor per
    /// factor.
    ///
    /// The results share their row partitions: element `[i][j]…` of a row is the tuple of element `i` of the first
    /// factor, `j` of the second, and so on. The tuples have the order of [`Tensor::cartesian`], of which this is the
    /// nested form: an element whose later factors have empty rows keeps an empty row. The tensors may have different
    /// dtypes and dimensions below `axis`, and must agree in those above it.
    ///
    /// Awkward's result is that of `ak.unzip(ak.cartesian([a, b], nested=True))`.
    ///
    /// # Errors
    /// No tensors; `axis` out of range, or 0 for a tensor of a different rank; tensors on different devices, or with
    /// different dimensions above `axis`. At the read: those that only the device knows; 2^32 tuples or more.
    ///
    /// # Cost
    /// A prefix sum over the elements of the first tensor, and one over the tuples of each intermediate product. Each
    /// result is a gather, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let device = Device::cpu();
    /// let a = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device)?;
    /// let b = RaggedTensor::from_nested([vec![10, 20], vec![]], &device)?;
    /// let pairs = Tensor::cartesian_nested(&[&a, &b], 1)?;
    /// assert_eq!(pairs[0].to_string(), "<ragged.RaggedTensor [[[1, 1], [2, 2]], [[]]]>");
    /// assert_eq!(pairs[1].to_string(), "<ragged.RaggedTensor [[[10, 20], [10, 20]], [[]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn cartesian_nested(all: &[impl AsRef<Tensor>] as tensors, axis: impl Integer as axis = 1) -> [T];
    alias "outer product", "nested=True";
    awkward "ak.cartesian(…, nested=True)";
    gradient yes;
    typed none "the tensors may have several element types";
    row hand;
}

#[track_caller]
fn combinations(x: &Tensor, k: impl Integer, axis: impl Integer) -> Result<Vec<Tensor>> {
    member_tensors(x.recorder("combinations"), x, k, axis, Give::Elements)
}

#[track_caller]
fn argcombinations(x: &Tensor, k: impl Integer, axis: impl Integer) -> Result<Vec<Tensor>> {
    member_tensors(x.recorder("argcombinations"), x, k, axis, Give::Positions)
}

#[track_caller]
fn cartesian(all: &[impl AsRef<Tensor>], axis: impl Integer) -> Result<Vec<Tensor>> {
    const OP: &str = "cartesian";
    let Factors { rec, factors, asserts } = Factors::new(OP, all, axis.saturating_i64())?;
    let under = &factors[0];
    let parts: Vec<&RowPartition> = factors.iter().map(|f| &f.rows).collect();
    let (prefixes, _) = product(rec, &parts)?;
    let tuples = prefixes.finished(rec, parts[0].nrows_extent())?;
    let member = |(k, of): (usize, &AxisRows<'_>)| {
        let elements = tuples.member(rec, k, of, Give::Elements)?;
        rec.at(under.with(tuples.rows.clone(), &elements)?.on_condition(OP, &asserts))
    };
    factors.iter().enumerate().map(member).collect()
}

#[track_caller]
fn cartesian_nested(all: &[impl AsRef<Tensor>], axis: impl Integer) -> Result<Vec<Tensor>> {
    const OP: &str = "cartesian_nested";
    let Factors { rec, factors, asserts } = Factors::new(OP, all, axis.saturating_i64())?;
    let under = &factors[0];
    let parts: Vec<&RowPartition> = factors.iter().map(|f| &f.rows).collect();
    let (prefixes, levels) = product(rec, &parts)?;
    let member = |(element, of): (&Expr, &AxisRows<'_>)| {
        let all = of.elements.take_rows(rec, prefixes.count.clone(), element.clone(), Repeats::Maybe, &[])?;
        let nested = levels.iter().rev().try_fold(all, |below, level| rec.at(below.under(level.clone())))?;
        rec.at(under.with(under.rows.clone(), &nested)?.on_condition(OP, &asserts))
    };
    prefixes.members.iter().zip(&factors).map(member).collect()
}

/// The factors of a product: rows along one axis, the same dimensions above it.
struct Factors<'a> {
    rec: Recorder<'a>,
    factors: Vec<AxisRows<'a>>,
    /// The conditions that only the device can check.
    asserts: Vec<Node>,
}

impl<'a> Factors<'a> {
    #[track_caller]
    fn new(op: &'static str, all: &'a [impl AsRef<Tensor>], axis: i64) -> Result<Self> {
        let Some(first) = all.first().map(AsRef::as_ref) else {
            return Err(Error::argument(op, "there must be at least one tensor"));
        };
        let rec = first.recorder(op);
        let factors = all.iter().map(|x| AxisRows::new(rec, x.as_ref(), axis)).collect::<Result<Vec<_>>>()?;
        let mut asserts = Vec::new();
        for other in &factors[1..] {
            rec.at(Device::check_same(op, first.backend(), other.elements.backend()))?;
            asserts.extend(factors[0].agrees_above(other)?);
        }
        Ok(Self { rec, factors, asserts })
    }
}

/// Largest number of members of a combination. The gather of the last member binds the row splits of each level: with
/// the values and the result, 6 members fit the 8 storage buffers of core WebGPU.
const MOST: u32 = 6;

/// The tuples of all rows.
struct Tuples {
    /// The partition of the tuples into rows of the tensor.
    rows: RowPartition,
    /// For each member its element, an expression in the number of the tuple.
    members: Vec<Expr>,
}

/// Tuples under construction: the prefixes of one length.
struct Prefixes {
    /// For each member its element, an expression in the prefix.
    members: Vec<Expr>,
    /// First prefix of a row of the tensor, an expression in the row.
    start: Expr,
    count: Extent,
    /// Upper bound of the prefixes of a row, where known.
    longest: Option<u32>,
}

impl Prefixes {
    /// The elements of the rows, one per prefix.
    fn of(rows: &RowPartition) -> Self {
        Self {
            members: vec![Expr::index()],
            start: rows.start(Expr::index()),
            count: rows.nvals_extent().clone(),
            longest: rows.known_lengths().map(|(_, longest)| longest),
        }
    }

    /// Extends each prefix by `times` members, an expression in the prefix: `member`, and those that follow it. A row of
    /// the tensor has at most `longest` of the longer prefixes. Returns the level too.
    fn extended(
        self,
        rec: Recorder<'_>,
        times: Expr,
        member: &Expr,
        nrows: &Extent,
        longest: Option<u32>,
    ) -> Result<(Self, RowPartition)> {
        let capacity = match longest {
            _ if self.count.as_known() == Some(0) => Size::from(0),
            Some(longest) => nrows.size().mul(longest).min(upper_bound(u64::MAX)),
            None => upper_bound(u64::MAX).into(),
        };
        let level = rec.rows_of_lengths(&self.count, times, capacity)?;
        let prefix = level.row_of(Expr::index());
        let mut members: Vec<Expr> = self.members.iter().map(|m| m.at(&prefix)).collect();
        // Several prefixes are followed by the same members: as places in rows they would overlap.
        let place = member.at(&prefix).add(level.offset_of(Expr::index()));
        members.push(place.bitcast(DType::I32).bitcast(DType::U32));
        let count = level.nvals_extent().clone();
        Ok((Self { members, start: level.start(self.start), count, longest }, level))
    }

    fn finished(self, rec: Recorder<'_>, nrows: &Extent) -> Result<Tuples> {
        let rows = rec.rows_of_starts(nrows, &self.start, self.count.size(), &[])?;
        let rows = rows.with_nvals(self.count).with_lengths(self.longest.map(|longest| (0, longest)));
        Ok(Tuples { rows, members: self.members })
    }
}

/// The number of combinations of `k` out of `n`, saturating.
fn binomial(n: u32, k: u32) -> u64 {
    let exact = (0..k).try_fold(1u128, |c, i| Some(c.checked_mul(n.checked_sub(i)?.into())? / u128::from(i + 1)));
    match exact {
        Some(c) => u64::try_from(c).unwrap_or(u64::MAX),
        None if n < k => 0,
        None => u64::MAX,
    }
}

/// The number of combinations of `k` elements of each row, saturating, if the host knows the lengths of the rows.
fn known_count(rows: &RowPartition, k: u32) -> Option<u64> {
    if let (Some(nrows), Some(length)) = (rows.nrows_extent().as_known(), rows.uniform_length()) {
        return Some(binomial(length, k).saturating_mul(nrows.into()));
    }
    let lengths = rows.host_splits()?.windows(2).map(|pair| pair[1] - pair[0]);
    Some(lengths.fold(0, |sum, length| sum.saturating_add(binomial(length, k))))
}

/// All combinations of `k` elements of each row, in lexicographic order of their positions.
fn chosen(rec: Recorder<'_>, rows: &RowPartition, k: u32) -> Result<Tuples> {
    if let Some(count) = known_count(rows, k) {
        // Every prefix has a completion: no level has more entries than the result.
        rec.known(count)?;
    }
    let (at, one) = (Expr::index(), Expr::u32(1));
    let nrows = rows.nrows_extent();
    let lengths = rows.known_lengths().map(|(_, longest)| longest);
    let mut prefixes = Prefixes::of(rows);
    // Elements of the row from the last member on, that member included; an expression in the prefix.
    let mut left = rows.start(rows.row_of(at.clone()).add(one.clone())).sub(at.clone());
    for taken in 1..k {
        // An element is reserved for the last member so far, and for each member after the next one.
        let reserved = Expr::u32(k - taken);
        let times = left.clone().max(reserved.clone()).sub(reserved);
        let longest = lengths.map(|n| binomial(n.saturating_sub(k - taken - 1), taken + 1).min(u32::MAX.into()) as u32);
        let next = prefixes.members[taken as usize - 1].clone().add(one.clone());
        let (longer, level) = prefixes.extended(rec, times, &next, nrows, longest)?;
        prefixes = longer;
        left = left.at(&level.row_of(at.clone())).sub(one.clone()).sub(level.offset_of(at.clone()));
    }
    prefixes.finished(rec, nrows)
}

/// All tuples of one element of each of the partitions, row by row, in lexicographic order of their positions; and the
/// level of each partition but the first.
fn product(rec: Recorder<'_>, all: &[&RowPartition]) -> Result<(Prefixes, Vec<RowPartition>)> {
    let at = Expr::index();
    let first = all[0];
    let nrows = first.nrows_extent();
    let mut prefixes = Prefixes::of(first);
    let mut row = first.row_of(at.clone());
    let mut levels = Vec::with_capacity(all.len() - 1);
    for rows in &all[1..] {
        let longest = prefixes.longest.zip(rows.known_lengths()).map(|(a, (_, b))| a.saturating_mul(b));
        let times = rows.length(row.clone());
        let start = rows.start(row.clone());
        let (longer, level) = prefixes.extended(rec, times, &start, nrows, longest)?;
        prefixes = longer;
        row = row.at(&level.row_of(at.clone()));
        levels.push(level);
    }
    Ok((prefixes, levels))
}

/// The tensors of the members: for each its elements, or its positions in the row (i64).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Give {
    Elements,
    Positions,
}

impl Tuples {
    /// Member `k` of all tuples, taken from the elements of `of`.
    fn member(&self, rec: Recorder<'_>, k: usize, of: &AxisRows<'_>, give: Give) -> Result<Tensor> {
        let (count, element) = (self.rows.nvals_extent(), self.members[k].clone());
        match give {
            Give::Elements => of.elements.take_rows(rec, count.clone(), element, Repeats::Maybe, &[]),
            Give::Positions => {
                let position = of.rows.offset_of(element).cast(DType::I64);
                let values = Values::Numbers(rec.map(count.clone(), position, &[]));
                rec.tensor(Vec::new(), Some(count.clone()), [], values)
            }
        }
    }
}

/// The tensors of the `k` members of all combinations.
fn member_tensors(
    rec: Recorder<'_>,
    x: &Tensor,
    k: impl Integer,
    axis: impl Integer,
    give: Give,
) -> Result<Vec<Tensor>> {
    let given = rec.at(non_negative(rec.op, "k", k))?;
    if !(1..=u64::from(MOST)).contains(&given) {
        return Err(rec.argument(format!("k must be 1 to {MOST}, but is {given}")));
    }
    let k = given as u32;
    let of = AxisRows::new(rec, x, axis.saturating_i64())?;
    let tuples = chosen(rec, &of.rows, k)?;
    let member = |member| of.with(tuples.rows.clone(), &tuples.member(rec, member, &of, give)?);
    (0..k as usize).map(member).collect()
}
