//! Feature crosses: the Cartesian product of the values of corresponding rows, as strings or as hashes.

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, here};
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::{Extent, upper_bound};
use crate::graph::opcode::BinaryOp;
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;
use crate::integer::Integer;
use crate::record::decimal;
use crate::setters::setters;
use crate::shape::RowPartition;
use crate::tensor::{BytesBound, Pick, Tensor, Values};

/// Key of TensorFlow's hashed crosses, unless another is given.
const DEFAULT_KEY: u64 = 0xDE_CAFC_AFFE;

/// An input of a cross: a matrix of rows, dense, ragged or sparse.
#[derive(Debug, Clone)]
pub struct CrossInput {
    matrix: Result<Tensor>,
}

impl CrossInput {
    /// The input with these rows; the cross returns an error in their place.
    pub(crate) fn of(matrix: Result<Tensor>) -> Self {
        Self { matrix }
    }
}

impl<X: AsRef<Tensor>> From<&X> for CrossInput {
    fn from(x: &X) -> Self {
        Self::of(Ok(x.as_ref().clone()))
    }
}

/// Number of buckets of a hashed cross, with the key of the hash. Converts from any integer; 0 gives the hash itself,
/// 63 bits.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::{HashBuckets, keyed};
/// assert_eq!(HashBuckets::from(100).key(7), keyed(100, 7));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HashBuckets {
    /// The number of buckets, or 0.
    pub number: i64,
    /// The key.
    pub key: u64,
}

setters! {
    impl[] HashBuckets {
        key: u64;
    }
}

impl<I: Integer> From<I> for HashBuckets {
    fn from(number: I) -> Self {
        Self { number: number.saturating_i64(), key: DEFAULT_KEY }
    }
}

/// Hashes with another key: TensorFlow's `hash_key`.
///
/// ```
/// use ragged::opt::keyed;
/// use ragged::{Device, RaggedTensor, Tensor};
/// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?;
/// let same = Tensor::cross_hashed([&x, &x], keyed(100, 0xDECAFCAFFE))?.to_string();
/// assert_eq!(same, Tensor::cross_hashed([&x, &x], 100)?.to_string());
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn keyed(buckets: impl Into<HashBuckets>, key: u64) -> HashBuckets {
    HashBuckets { key, ..buckets.into() }
}

/// The rows of an input.
struct Column {
    rows: RowPartition,
    values: Values,
}

impl Column {
    /// # Errors
    /// A rank other than 2; values that are neither integers nor strings.
    #[track_caller]
    fn new(op: &'static str, input: CrossInput) -> Result<(BackendRef, Self)> {
        let x = input.matrix?;
        if x.rank() != 2 {
            let what = format!("an input must have rank 2, but has rank {}; merge_dims merges axes", x.rank());
            return Err(Error::argument(op, what));
        }
        let rows = x.inner_to_partitions(x.inner().len())?.partitions()[0].clone();
        let (backend, values) = (x.backend(), x.values_ref());
        let dtype = values.dtype();
        if dtype != DType::Str && !dtype.is_integer() {
            return Err(Error::unsupported(op, dtype, "inputs are integers or byte strings; cast floats to integers"));
        }
        Ok((backend.clone(), Self { rows, values: values.clone() }))
    }
}

/// The crosses of all rows: their layout, and the value of each input in each.
struct Crosses {
    backend: BackendRef,
    columns: Vec<Column>,
    rows: RowPartition,
    /// For each column, the position of its value in the cross at `Index`.
    positions: Vec<Expr>,
}

impl Crosses {
    #[track_caller]
    fn new<I: Into<CrossInput>>(op: &'static str, inputs: impl IntoIterator<Item = I>) -> Result<Self> {
        let inputs = inputs.into_iter().map(|input| Column::new(op, input.into()));
        let (backends, columns): (Vec<_>, Vec<_>) =
            inputs.collect::<Result<Vec<_>>>().map_err(here())?.into_iter().unzip();
        let ([backend, others @ ..], [first, ..]) = (backends.as_slice(), columns.as_slice()) else {
            return Err(Error::argument(op, "there must be at least one input"));
        };
        let rec = Recorder::new(backend, op);
        others.iter().try_for_each(|other| Device::check_same(op, backend, other)).map_err(here())?;
        let nrows = first.rows.nrows_extent().clone();
        let mut asserts = Vec::new();
        for (k, column) in columns.iter().enumerate().skip(1) {
            let check = rec.check("the inputs have different numbers of rows");
            let error = |(a, b)| rec.argument(format!("input 0 has {a} rows, but input {k} has {b}"));
            asserts.extend(nrows.agrees(column.rows.nrows_extent()).condition(rec, check, error)?);
        }
        // The product saturates, so that a row with too many crosses fails instead of wrapping.
        let most = Expr::scalar(u64::from(u32::MAX));
        let length = |column: &Column| column.rows.length(Expr::index()).cast(DType::U64);
        let product = columns[1..].iter().fold(length(first), |n, c| n.mul(length(c)).min(most.clone()));
        let check = rec.check("a row has 2^32 - 1 crosses or more; take shorter rows");
        let length = product.clone().cast(DType::U32).checked(check.into(), product.lt(most));
        let length = Expr::load(&rec.map(nrows.clone(), length, &asserts), Expr::index());
        // Bounded by the product of all values, and by the rows of the product of the longest.
        let all = columns.iter().fold(Size::from(1), |n, c| n.mul(c.rows.nvals_extent().size()));
        let longest = columns.iter().map(|c| c.rows.known_lengths().map(|(_, longest)| u64::from(longest)));
        let longest = longest.reduce(|a, b| Some(a?.saturating_mul(b?))).flatten();
        let bound = longest.map_or(all.clone(), |n| nrows.size().mul(upper_bound(n)).min(&all));
        let rows = rec.rows_of_lengths(&nrows, length, bound)?;
        // The last column varies fastest.
        let (row, mut rest) = (rows.row_of(Expr::index()), rows.offset_of(Expr::index()));
        let mut positions = Vec::with_capacity(columns.len());
        for (k, column) in columns.iter().enumerate().rev() {
            let length = column.rows.length(row.clone()).max(Expr::u32(1));
            let nth = if k == 0 { rest.clone() } else { rest.clone().rem(length.clone()) };
            positions.push(column.rows.within(row.clone(), nth));
            rest = rest.div(length);
        }
        positions.reverse();
        Ok(Self { backend: backend.clone(), columns, rows, positions })
    }

    fn count(&self) -> &Extent {
        self.rows.nvals_extent()
    }

    #[track_caller]
    fn tensor(&self, values: Values) -> Result<Tensor> {
        Tensor::new(&self.backend, vec![self.rows.clone()], Some(self.count().clone()), [], values)
    }
}

/// FarmHash's combination of two fingerprints.
fn combined(a: Expr, b: Expr) -> Expr {
    let mul = || Expr::scalar(0xc6a4_a793_5bd1_e995_u64);
    let shift_mix = |x: Expr| x.clone().binary(BinaryOp::Xor, x.binary(BinaryOp::Shr, Expr::scalar(47u64)));
    let a = a.binary(BinaryOp::Xor, mul()).binary(BinaryOp::Xor, shift_mix(b.mul(mul())).mul(mul()));
    shift_mix(shift_mix(a.mul(mul())).mul(mul()))
}

impl Tensor {
    /// The crosses of the inputs as strings: for each row, every combination of a value of each input, joined by `_X_`.
    ///
    /// The inputs are matrices with equally many rows: dense, ragged or sparse ([`CrossInput`]), of integers, which are
    /// written in decimal, or byte strings. The result is `[n, (crosses)]`, with the last input varying fastest. A row
    /// in which any input is empty has no crosses.
    ///
    /// # Errors
    /// No inputs; a rank other than 2; floats or bools; different devices or numbers of rows; at the read where only
    /// the device knows: different numbers of rows, unsorted rows of a sparse input, 2^32 - 1 crosses or more.
    ///
    /// # Cost
    /// A map and a prefix sum over the rows, a gather of each input and a join per further input. No wait, unless the
    /// bound on the number of crosses is large ([`Tuning::stage_bytes`](crate::Tuning::stage_bytes)).
    ///
    /// ```
    /// use ragged::arguments::CrossInput;
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([["a"], ["b"]], &device)?;
    /// let y = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device)?;
    /// let crosses = Tensor::cross([CrossInput::from(&x), CrossInput::from(&y)])?;
    /// assert_eq!(crosses.to_string(), "<ragged.RaggedTensor [[b'a_X_1', b'a_X_2'], [b'b_X_3']]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.ragged.cross`, `tf.sparse.cross`.
    #[track_caller]
    pub fn cross<I: Into<CrossInput>>(inputs: impl IntoIterator<Item = I>) -> Result<Self> {
        const OP: &str = "cross";
        let crosses = Crosses::new(OP, inputs)?;
        let rec = Recorder::new(&crosses.backend, OP);
        let mut texts = Vec::with_capacity(crosses.columns.len());
        for (column, at) in crosses.columns.iter().zip(&crosses.positions) {
            let text = match &column.values {
                Values::Strings { .. } => column.values.clone(),
                Values::Numbers(n) => decimal::text(rec, n, column.rows.nvals_extent())?,
            };
            let pick = Pick::From(&text, at.clone());
            let text = rec.rearranged(crosses.count(), &pick, BytesBound::Unknown, &[])?;
            texts.push(crosses.tensor(text)?);
        }
        Self::string_join(&texts, "_X_")
    }

    /// The hashes of the crosses of the inputs, modulo the number of buckets.
    ///
    /// The inputs are matrices with equally many rows: dense, ragged or sparse ([`CrossInput`]), of integers or byte
    /// strings. The result is `[n, (crosses)]`, i64, with the last input varying fastest. A row in which any input is
    /// empty has no crosses. 0 buckets give the hash itself, modulo 2^63 - 1. [`keyed`]`(buckets, key)` hashes with
    /// another key.
    ///
    /// # Errors
    /// No inputs; a rank other than 2; floats or bools; a negative number of buckets; different devices or numbers of
    /// rows; at the read where only the device knows: different numbers of rows, unsorted rows of a sparse input, 2^32
    /// - 1 crosses or more.
    ///
    /// # Cost
    /// A fingerprint of each string, a map and a prefix sum over the rows, and one map over the crosses. No wait,
    /// unless the bound on the number of crosses is large ([`Tuning::stage_bytes`](crate::Tuning::stage_bytes)).
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let cpu = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &cpu)?;
    /// let y = RaggedTensor::from_nested([vec![4], vec![5, 6]], &cpu)?;
    /// let crosses = Tensor::cross_hashed([&x, &y], 1000)?;
    /// assert_eq!(crosses.to_string(), "<ragged.RaggedTensor [[725, 547], [412, 543]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.ragged.cross_hashed`, `tf.sparse.cross_hashed`.
    #[track_caller]
    pub fn cross_hashed<I: Into<CrossInput>>(
        inputs: impl IntoIterator<Item = I>,
        buckets: impl Into<HashBuckets>,
    ) -> Result<Self> {
        const OP: &str = "cross_hashed";
        let HashBuckets { number, key } = buckets.into();
        if number < 0 {
            return Err(Error::argument(OP, format!("the number of buckets must not be negative, but is {number}")));
        }
        let crosses = Crosses::new(OP, inputs)?;
        let backend = &crosses.backend;
        let rec = Recorder::new(backend, OP);
        let mut hash = Expr::number(key);
        for (column, at) in crosses.columns.iter().zip(&crosses.positions) {
            let feature = match &column.values {
                Values::Numbers(n) => {
                    let value = Expr::load(n, at.clone());
                    let is_signed = n.dtype().is_signed();
                    if is_signed { value.cast(DType::I64).bitcast(DType::U64) } else { value.cast(DType::U64) }
                }
                strings => {
                    let count = Some(column.rows.nvals_extent().clone());
                    let strings = Self::new(backend, Vec::new(), count, [], strings.clone())?;
                    Expr::load(strings.fingerprint64()?.numbers(OP)?, at.clone())
                }
            };
            hash = combined(hash, feature);
        }
        let modulus = if number == 0 { i64::MAX as u64 } else { number as u64 };
        let hash = hash.remainder(Expr::number(modulus)).cast(DType::I64);
        let hash = rec.map(crosses.count().clone(), hash, &[]);
        crosses.tensor(Values::Numbers(hash))
    }
}
