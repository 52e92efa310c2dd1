//! Sorting by keys.

use crate::element::Element;
use crate::error::Result;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::ops::options::SortKeys;
use crate::ops::sorting::row_keys::RowKeys;
use crate::tensor::Tensor;

operations! {
    /// Sorting by keys.
    const OPERATIONS: family "Along an axis" on RaggedTensor<T> where T: Element;

    /// The elements of each row in the order of one or several keys.
    ///
    /// The dimensions of every key are the first dimensions of this tensor; its innermost dimension is sorted. Keys `[n]`
    /// sort the rows of a tensor, keys `[n, (r)]` the elements of its rows. Several keys, in a tuple, an array or a
    /// `Vec`, sort by the first, and where that is equal by the next. Each ascends, or descends in
    /// [`descending`](crate::opt::descending)`(&key)`. Keys and elements may be of any dtype; keys are ordered as in
    /// [`Tensor::sort`]: strings by their bytes, NaN last in either direction. Stable: elements of equal keys keep their
    /// order. Shape and dtype stay, empty rows stay empty. The same bits on every device.
    ///
    /// # Errors
    /// No key; keys of different ranks; a key that is a scalar, has more dimensions than the tensor or other row lengths
    /// (at the read where only the device knows them), or is on another device.
    ///
    /// # Cost
    /// The passes of a [`Tensor::sort`] for each key, of which the least significant is the first, and a gather of the
    /// elements, which fuses into its consumer where nothing below is ragged. No wait.
    ///
    /// ```
    /// use ragged::opt::descending;
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let films = RaggedTensor::from_nested([vec!["Ran", "Alien", "Heat"], vec![], vec!["Big"]], &device)?;
    /// let years = RaggedTensor::from_nested([vec![1985, 1979, 1995], vec![], vec![1988]], &device)?;
    /// assert_eq!(films.sort_by(&years)?.to_vec()?, [&b"Alien"[..], b"Ran", b"Heat", b"Big"]);
    /// let stars = RaggedTensor::from_nested([vec![5, 4, 5], vec![], vec![3]], &device)?;
    /// let best = years.sort_by((descending(&stars), &films))?;
    /// assert_eq!(best.to_string(), "<ragged.RaggedTensor [[1995, 1985, 1979], [], [1988]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn sort_by<'a>(&self, keys: impl Into<SortKeys<'a>> as SortKeys) -> T;
    alias "lexsort", "order_by", "arrange";
    polars "Expr.sort_by";
    gradient yes;
    row hand;
}

#[track_caller]
fn sort_by<'a>(x: &Tensor, keys: impl Into<SortKeys<'a>>) -> Result<Tensor> {
    x.sorted_by(x.recorder("sort_by"), keys.into().keys())
}

impl Tensor {
    /// This tensor in the order of `keys`, the most significant first, each with whether its greatest value comes first.
    pub(in crate::ops) fn sorted_by(&self, rec: Recorder<'_>, keys: &[(&Self, bool)]) -> Result<Self> {
        let keys = RowKeys::new(rec, self, keys)?;
        keys.along.with(keys.along.rows.clone(), &keys.elements(&keys.asserts)?)
    }
}
