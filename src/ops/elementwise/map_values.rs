//! Applies a function to the flat values under the same partitions.

use crate::element::Element;
use crate::error::{Error, Result, caller};
use crate::graph::expr::Check;
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::shape::{Dims, RaggedShape, same_layout};
use crate::tensor::{RaggedTensor, Tensor};

/// Functions of your own.
impl Tensor {
    /// Applies `function` to the flat values, a dense tensor, and places the result under the partitions of this
    /// tensor.
    ///
    /// The result of `function` must have as many elements as the flat values along its outermost dimension. Its other
    /// dimensions and its dtype are free.
    ///
    /// # Errors
    /// The errors of `function`; a result with another number of elements, at the call where the host knows it, and at
    /// the read otherwise.
    ///
    /// # Cost
    /// That of `function`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3, 1], vec![], vec![2]], &Device::cpu())?.into_erased();
    /// let y = x.map_flat_values(|values| values.multiply(2)?.add(1))?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[7, 3], [], [5]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.ragged.map_flat_values`, of one tensor.
    #[track_caller]
    pub fn map_flat_values(&self, function: impl FnOnce(&Self) -> Result<Self>) -> Result<Self> {
        let mapped = function(&self.flat_values()?)?;
        self.over(self.recorder(OP), mapped)
    }

    /// Applies `function` to the flat values of several tensors of the same partitions, and places the result under
    /// these. Dense tensors are passed unchanged.
    ///
    /// # Errors
    /// No ragged tensor; different devices; partitions that differ; the errors of `function`; a result with another
    /// number of elements. Partitions and numbers that the host cannot compare fail at the read.
    ///
    /// # Cost
    /// That of `function`.
    ///
    /// TensorFlow: `tf.ragged.map_flat_values`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &device)?;
    /// let y = RaggedTensor::from_nested([vec![10, 20], vec![], vec![30]], &device)?;
    /// let sums = Tensor::map_flat_values_of(&[&x, &y], |values| values[0].add(&values[1]))?;
    /// assert_eq!(sums.to_string(), "<ragged.RaggedTensor [[11, 22], [], [33]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn map_flat_values_of(
        tensors: &[impl AsRef<Self>],
        function: impl FnOnce(&[Self]) -> Result<Self>,
    ) -> Result<Self> {
        const OP: &str = "map_flat_values_of";
        let tensors: Vec<&Self> = tensors.iter().map(AsRef::as_ref).collect();
        let Some(first) = tensors.iter().find(|t| t.ragged_rank() > 0) else {
            return Err(Error::argument(OP, "it needs a ragged tensor"));
        };
        let rec = first.recorder(OP);
        let (mut asserts, mut flat) = (Vec::new(), Vec::with_capacity(tensors.len()));
        for t in &tensors {
            crate::Device::check_same(OP, first.backend(), t.backend())?;
            if t.ragged_rank() == 0 {
                flat.push((*t).clone());
                continue;
            }
            let a = RaggedShape { inner: Dims::default(), ..first.ragged_shape().clone() };
            let b = RaggedShape { inner: Dims::default(), ..t.ragged_shape().clone() };
            asserts.extend(same_layout(rec, &a, &b)?);
            flat.push(t.flat_values()?);
        }
        first.over(rec, function(&flat)?.on_condition(OP, &asserts)?)
    }

    /// Places `mapped`, which must have as many rows as these flat values, under these partitions.
    #[track_caller]
    fn over(&self, rec: Recorder<'_>, mapped: Self) -> Result<Self> {
        let own = self.outer().cloned().unwrap_or_else(|| Extent::known(1));
        let rows = mapped.nrows_extent();
        let location = caller();
        let differ = |n: u32| {
            let what = format!("the function gives {n} elements for {}", own.capacity());
            Error::Shape { op: rec.op, lhs: self.shape_text(), rhs: mapped.shape_text(), what, location }
        };
        if mapped.rank() == 0 && self.rank() > 0 {
            return Err(differ(1));
        }
        let check = Check::new(rec.op, "the function gives another number of elements");
        let asserts = own.agrees(&rows).condition(rec, check, |(_, n)| differ(n))?;
        let mapped = mapped.on_condition(rec.op, asserts.as_slice())?;
        let mut partitions = self.partitions().to_vec();
        partitions.extend(mapped.partitions().iter().cloned());
        let (outer, inner) = (mapped.outer().cloned(), mapped.inner().clone());
        Self::new(self.backend(), partitions, outer, inner, mapped.values_ref().clone())
    }
}

const OP: &str = "map_flat_values";

/// Functions of your own.
impl<T: Element> RaggedTensor<T> {
    /// Applies `function` to the flat values, a dense tensor, and places the result under the partitions of this
    /// tensor.
    ///
    /// The result of `function` must have as many elements as the flat values along its outermost dimension. Its other
    /// dimensions and its type are free.
    ///
    /// # Errors
    /// The errors of `function`; a result with another number of elements, at the call where the host knows it, and at
    /// the read otherwise.
    ///
    /// # Cost
    /// That of `function`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3, 1], vec![], vec![2]], &Device::cpu())?;
    /// let is_large = x.map_flat_values(|values| values.greater(1))?;
    /// assert_eq!(is_large.to_string(), "<ragged.RaggedTensor [[True, False], [], [True]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.ragged.map_flat_values`, of one tensor.
    #[track_caller]
    pub fn map_flat_values<U: Element>(
        &self,
        function: impl FnOnce(&Self) -> Result<RaggedTensor<U>>,
    ) -> Result<RaggedTensor<U>> {
        let flat = Self::try_from(self.erased().flat_values()?)?;
        let rec = self.erased().recorder(OP);
        RaggedTensor::try_from(self.erased().over(rec, function(&flat)?.into_erased())?)
    }
}
