//! Random order and random samples of rows, from the counter-based generator of dropout.

use crate::element::Element;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::size::RecordedSize;
use crate::integer::{Integer, saturating_u32};
use crate::ops::indexing::index::Index;
use crate::ops::operations;
use crate::ops::options::Seed;
use crate::ops::random::dropout::threefry;
use crate::record::axis_rows::AxisRows;
use crate::record::rows::Repeats;
use crate::tensor::Tensor;

operations! {
    /// Random order and random samples of rows.
    const OPERATIONS: family "Rows: pairs, windows, groups, sets, samples" on RaggedTensor<T> where T: Element;

    /// The elements of each row along `axis` in random order.
    ///
    /// Any dtype; empty rows stay empty. The shape stays, unless dimensions below the axis are ragged, which move with
    /// their elements. Along axis 0, the rows of the tensor are shuffled.
    ///
    /// The order depends on the seed, the index of the row and its length alone: one seed gives the same order on every
    /// device and at every call. Rows are those along `axis`, counted over all dimensions above it. All orders are
    /// equally likely, up to the collisions of 32-bit random numbers, which favour the original order: some 1 in 10^4
    /// for a row of 1000 elements. TensorFlow shuffles the first axis.
    ///
    /// # Errors
    /// `axis` out of range.
    ///
    /// # Cost
    /// A map of some 100 operations per element, a row sort of 32-bit numbers (see [`Tensor::sort`]) and a gather. No
    /// wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3, 4], vec![], vec![5]], &Device::cpu())?;
    /// let y = x.shuffle(Seed(7), 1)?;
    /// assert_eq!(y.sort(1)?.to_string(), x.to_string());
    /// assert_eq!(y.to_string(), x.shuffle(Seed(7), 1)?.to_string());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn shuffle(&self, seed: Seed, axis: impl Integer as axis = 0) -> T;
    alias "permuted", "permutation";
    tensorflow "tf.random.shuffle";
    polars "Expr.shuffle";
    gradient yes;
    row hand;

    /// `k` elements of each row along `axis`, drawn without replacement, in random order.
    ///
    /// A row of fewer than `k` elements gives all of them, where Polars fails; an empty row stays empty. Any dtype. The
    /// elements are the first `k` of [`shuffle`](Self::shuffle) with the same seed: they depend on the seed, the index
    /// of the row and its length alone, on every device.
    ///
    /// # Errors
    /// A negative `k`; `axis` out of range.
    ///
    /// # Cost
    /// A map of some 100 operations per element, a row sort of 32-bit numbers (see [`Tensor::sort`]) and a gather of
    /// the elements that are kept. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3, 4], vec![], vec![5]], &Device::cpu())?;
    /// let y = x.sample(2, Seed(7), 1)?;
    /// assert_eq!(y.row_lengths(1)?.to_vec()?, [2, 0, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn sample(&self, k: impl Integer as integer, seed: Seed, axis: impl Integer as axis) -> T;
    alias "choice";
    polars "list.sample";
    gradient yes;
    row hand;
}

#[track_caller]
fn shuffle(x: &Tensor, seed: Seed, axis: impl Integer) -> Result<Tensor> {
    x.shuffled("shuffle", seed, axis.saturating_i64(), None)
}

#[track_caller]
fn sample(x: &Tensor, k: impl Integer, seed: Seed, axis: impl Integer) -> Result<Tensor> {
    const OP: &str = "sample";
    let k = saturating_u32(OP, "k", k)?;
    let axis = x.axis(OP, axis.saturating_i64())?;
    let mut index = vec![Index::ALL; axis];
    index.push(Index::Slice { start: None, stop: Some(i64::from(k)), step: 1 });
    x.shuffled(OP, seed, axis as i64, None)?.slice(index)
}

impl Tensor {
    /// The elements of each row along `axis` in random order: that of the words of the counter, an expression in the
    /// element, or else of its offset and its row.
    #[track_caller]
    pub(crate) fn shuffled(&self, op: &'static str, seed: Seed, axis: i64, counter: Option<[Expr; 2]>) -> Result<Self> {
        let rec = self.recorder(op);
        let along = AxisRows::new(rec, self, axis)?;
        let (rows, at) = (&along.rows, Expr::index());
        let counter = counter.unwrap_or_else(|| [rows.offset_of(at.clone()), rows.row_of(at.clone())]);
        let [word, _] = threefry(seed.key(), counter);
        let count = rows.nvals_extent().clone();
        let word = rec.map(count.clone(), word, &[]);
        let longest = rows.known_lengths().map_or(u32::MAX, |(_, longest)| longest).min(count.capacity());
        let order = rec.row_sort(rows.domain(1), (Expr::load(&word, at.clone()), u32::BITS), longest);
        let elements = along.elements.take_rows(rec, count, Expr::load(&order, at), Repeats::Never, &[])?;
        along.with(rows.clone(), &elements)
    }
}
