//! Selection by condition: of elements, of rows, and of the indices where a condition holds.

use crate::device::Device;
use crate::dtype::DType;
use crate::element::{Element, Number};
use crate::error::{Error, Result, caller};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::ops::operations;
use crate::ops::reshaping::concat::rows_of_both;
use crate::ops::{IntoOperand, IntoOperandOf};
use crate::record::elementwise::Takes;
use crate::record::operand::Operand;
use crate::record::rows::Repeats;
use crate::shape::{Place, RaggedShape, UniformRows, broadcast};
use crate::tensor::{BytesBound, Fill, Pick, RaggedTensor, Tensor, Values};

operations! {
    /// Selection of elements and rows by a condition.
    const OPERATIONS: family "Masks and selection" on RaggedTensor<bool>;

    /// The elements of `x` where this tensor of bools is true, those of `y` where it is false.
    ///
    /// All three are broadcast to one shape, as for arithmetic ([`Tensor::add`]); empty rows stay empty. `x` and `y`
    /// are tensors or single values of one dtype, which may be any. Elements are copied unchanged: a NaN that is not
    /// selected has no effect.
    ///
    /// # Errors
    /// A condition that is not of bools; `x` and `y` of different dtypes; different devices; shapes that do not fit, at
    /// the read where only the device knows the lengths of rows.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Strings add a prefix sum and another map. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, -2, 3], vec![], vec![-4]], &Device::cpu())?;
    /// let positive = x.greater(0)?.select(&x, 0)?;
    /// assert_eq!(positive.to_string(), "<ragged.RaggedTensor [[1, 0, 3], [], [0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn select<'a>(&self, x: impl IntoOperand<'a> as value, y: impl IntoOperand<'a> as value) -> T;
    alias "where", "if_else";
    tensorflow "tf.where(condition, x, y)";
    awkward "ak.where(condition, x, y)";
    polars "pl.when";
    gradient yes;
    typed hand;
    row hand;

    /// The rows of `x` where this vector of bools is true, those of `y` where it is false.
    ///
    /// `x` and `y` have one row per bool, of any length and depth; a row stays whole. The result is ragged if either
    /// is. Any dtype.
    ///
    /// # Errors
    /// A condition that is not a dense vector of bools; `x` and `y` of different dtypes, ranks or inner dimensions;
    /// different devices; numbers of rows and bools that differ, at the read where only the device knows them.
    ///
    /// # Cost
    /// That of [`Tensor::concat`] of both, and a prefix sum per ragged dimension. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device)?;
    /// let y = RaggedTensor::from_nested([vec![7], vec![]], &device)?;
    /// let first = RaggedTensor::from_nested([true, false], &device)?;
    /// assert_eq!(first.select_rows(&x, &y)?.to_string(), "<ragged.RaggedTensor [[1, 2], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn select_rows(&self, x: &impl AsRef<Tensor> as tensor, y: &impl AsRef<Tensor> as tensor) -> T;
    tensorflow "tf.compat.v1.where(condition, x, y)";
    gradient yes;
    typed hand;
    row none "it selects whole rows; `select` takes a condition per element";
}

operations! {
    /// Indices of elements that are true.
    const OF_NUMBERS: family "Masks and selection" on RaggedTensor<T> where T: Number;

    /// The indices of the elements that are true, or not 0: one row of indices per element, one index per dimension.
    ///
    /// A dense tensor of i64 and of shape `[n, rank]`, in the order of the elements. In ragged rows an index counts
    /// within its row; empty rows have none. Only the device knows `n`. NaN is not 0, -0 is.
    ///
    /// # Errors
    /// A tensor of strings.
    ///
    /// # Cost
    /// A rank bitmap and a compaction over the elements, one map per dimension, with a search per ragged dimension, and
    /// one map over the indices. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![true, false], vec![], vec![true]], &Device::cpu())?;
    /// assert_eq!(x.where_indices()?.to_string(), "tensor([[0, 0], [2, 0]], shape=(2, 2), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn where_indices(&self) -> i64;
    alias "argwhere", "nonzero";
    tensorflow "tf.where(condition)";
    awkward "ak.where(condition)";
    polars "Expr.arg_true";
    gradient none "the result holds positions";
    row hand;
}

#[track_caller]
fn select<'a>(input: &Tensor, x: impl IntoOperand<'a>, y: impl IntoOperand<'a>) -> Result<Tensor> {
    const OP: &str = "select";
    Takes::Bools.check(OP, input.dtype())?;
    let [x, y] = Operand::of_one_dtype(OP, x.into(), y.into())?;
    let backend = input.backend();
    let rec = Recorder::new(backend, OP);
    let tensors: Vec<&Tensor> = [x.tensor(), y.tensor()].into_iter().flatten().collect();
    for t in &tensors {
        Device::check_same(OP, backend, t.backend())?;
    }
    let layouts: Vec<&RaggedShape> = std::iter::once(input).chain(tensors).map(|t| t.ragged_shape()).collect();
    let shared = broadcast(rec, &layouts, UniformRows::Once)?;
    let width: u64 = shared.inner.iter().map(|&d| u64::from(d)).product();
    let count = match &shared.outer {
        None => Extent::known(1),
        Some(outer) => outer.times(OP, width)?,
    };
    let mut places = shared.places.iter();
    let flag = Expr::load(rec.numbers(input)?, places.next().map_or_else(Expr::index, Place::expr));
    let mut place = |o: &Operand<'_>| o.tensor().and_then(|_| places.next()).unwrap_or(&Place::First).clone();
    let (at_x, at_y) = (place(&x), place(&y));
    let capacity = u64::from(count.capacity());
    let ((x, of_x), (y, of_y)) = (side(&x, &at_x, capacity), side(&y, &at_y, capacity));
    let bound = match of_x.zip(of_y) {
        Some((a, b)) => BytesBound::at_most(a.saturating_add(b)),
        None => BytesBound::Unknown,
    };
    let values = rec.rearranged(&count, &Pick::either(flag, x, y), bound, &shared.asserts)?;
    rec.tensor(shared.partitions, shared.outer, shared.inner, values)
}

#[track_caller]
fn select_rows(tensor: &Tensor, x: &impl AsRef<Tensor>, y: &impl AsRef<Tensor>) -> Result<Tensor> {
    const OP: &str = "select_rows";
    let (x, y) = (x.as_ref(), y.as_ref());
    Takes::Bools.check(OP, tensor.dtype())?;
    let backend = tensor.backend();
    Device::check_same(OP, backend, x.backend())?;
    if tensor.rank() != 1 {
        return Err(Error::argument(OP, format!("the condition must be a vector, not {}", tensor.shape_text())));
    }
    let location = caller();
    let rows = tensor.nrows_extent();
    let both = rows_of_both(x.recorder(OP), x, y)?;
    let rec = both.recorder(OP);
    let mut asserts = Vec::new();
    for t in [x, y] {
        let differ = |(n, m)| {
            let what = format!("{n} bools choose among {m} rows");
            Error::Shape { op: OP, lhs: tensor.shape_text(), rhs: t.shape_text(), what, location }
        };
        let check = Check::new(OP, "there are not as many rows as bools");
        asserts.extend(rows.agrees(&t.nrows_extent()).condition(rec, check, differ)?);
    }
    let own = Expr::index();
    let flag = Expr::load(tensor.numbers(OP)?, own.clone());
    let row = flag.select(own.clone(), own.add(x.nrows_extent().expr()));
    both.take_rows(rec, rows, row, Repeats::Never, &asserts)
}

#[track_caller]
fn where_indices(x: &Tensor) -> Result<Tensor> {
    const OP: &str = "where_indices";
    Takes::NumbersAndBools.check(OP, x.dtype())?;
    let (backend, count, rank) = (x.backend(), x.count()?, x.rank() as u32);
    let rec = Recorder::new(backend, OP);
    let keep = Expr::load(rec.numbers(x)?, Expr::index()).cast(DType::Bool);
    let marks = RankBitmap::new(rec, &count, keep);
    let stay = marks.total();
    let each = |at: Expr| Expr::load(&rec.map(stay.clone(), at, &[]), Expr::index());
    let mut at = Expr::load(&rec.kept(&marks, stay.clone()), Expr::index());
    let deep = x.inner_to_partitions(x.inner().len())?;
    // From the innermost dimension outwards: the offset in the row, then the row itself.
    let mut coordinates = Vec::with_capacity(rank as usize);
    for p in deep.partitions().iter().rev() {
        let row = each(p.row_of(at.clone()));
        coordinates.push(each(match p.uniform_length() {
            Some(_) => p.offset_of(at),
            None => at.sub(p.start(row.clone())),
        }));
        at = row;
    }
    coordinates.push(at);
    let by = Expr::u32(rank.max(1));
    let (element, which) = (Expr::index().div(by.clone()), Expr::index().rem(by));
    let numbers = rec.times(&stay, rank)?;
    // One node per dimension: a kernel cannot bind all inputs of many dimensions, so that some nodes are stored
    // before.
    let mut index = Expr::u32(0);
    for (d, coordinate) in coordinates.iter().rev().take(rank as usize).enumerate() {
        let own = coordinate.at(&element);
        let chosen = if d == 0 { own } else { which.clone().eq(Expr::u32(d as u32)).select(own, index) };
        index = Expr::load(&rec.map(numbers.clone(), chosen, &[]), Expr::index());
    }
    let values = Values::Numbers(rec.map(numbers, index.cast(DType::I64), &[]));
    rec.tensor(Vec::new(), Some(stay), vec![rank], values)
}

/// The source of an operand's elements, and an upper bound on the bytes of its strings. The bound is `None` if an
/// element may be taken more than once.
fn side<'a>(operand: &'a Operand<'_>, place: &Place, count: u64) -> (Pick<'a>, Option<u64>) {
    match operand {
        Operand::Tensor(t) => {
            let bytes = (*place == Place::Same).then(|| t.values_ref().bytes_capacity());
            (Pick::From(t.values_ref(), place.expr()), bytes)
        }
        Operand::Value(fill) => {
            let len = match fill {
                Fill::String(s) => s.len() as u64,
                Fill::Number(_) => 0,
            };
            (Pick::Fill(fill.clone()), Some(len.saturating_mul(count)))
        }
    }
}

/// Selection of elements and rows by a condition.
impl RaggedTensor<bool> {
    /// The elements of `x` where this tensor of bools is true, those of `y` where it is false.
    ///
    /// All three are broadcast to one shape, as for arithmetic ([`Tensor::add`]); empty rows stay empty. `x` and `y`
    /// are tensors or single values of one dtype, which may be any. Elements are copied unchanged: a NaN that is not
    /// selected has no effect.
    ///
    /// # Errors
    /// Different devices; shapes that do not fit, at the read where only the device knows the lengths of rows.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Strings add a prefix sum and another map. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, -2, 3], vec![], vec![-4]], &Device::cpu())?;
    /// let positive = x.greater(0)?.select(&x, 0)?;
    /// assert_eq!(positive.to_string(), "<ragged.RaggedTensor [[1, 0, 3], [], [0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.where(condition, x, y)`. Awkward: `ak.where(condition, x, y)`. Polars: `pl.when`.
    #[track_caller]
    pub fn select<'a, T: Element>(
        &self,
        x: impl IntoOperandOf<'a, T>,
        y: impl IntoOperandOf<'a, T>,
    ) -> Result<RaggedTensor<T>> {
        self.erased().select(x.into().erased("select")?, y.into().erased("select")?)?.try_into()
    }

    /// The rows of `x` where this vector of bools is true, those of `y` where it is false.
    ///
    /// `x` and `y` have one row per bool, of any length and depth; a row stays whole. The result is ragged if either
    /// is. Any dtype.
    ///
    /// # Errors
    /// A condition that is not a dense vector; `x` and `y` of different ranks or inner dimensions; different devices;
    /// numbers of rows and bools that differ, at the read where only the device knows them.
    ///
    /// # Cost
    /// That of [`Tensor::concat`] of both, and a prefix sum per ragged dimension. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device)?;
    /// let y = RaggedTensor::from_nested([vec![7], vec![]], &device)?;
    /// let first = RaggedTensor::from_nested([true, false], &device)?;
    /// assert_eq!(first.select_rows(&x, &y)?.to_string(), "<ragged.RaggedTensor [[1, 2], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.compat.v1.where(condition, x, y)`.
    #[track_caller]
    pub fn select_rows<T: Element>(&self, x: &RaggedTensor<T>, y: &RaggedTensor<T>) -> Result<RaggedTensor<T>> {
        self.erased().select_rows(x.erased(), y.erased())?.try_into()
    }
}
