//! Equality of whole tensors, as a truth value of the host.

use crate::error::Result;
use crate::graph::backend::Part;
use crate::graph::recorder::Recorder;
use crate::shape::{LayoutComparison, RaggedShape};
use crate::tensor::{Tensor, methods_of_both};

/// A comparison of tensors and shapes, decided with one read of all values, and one before it if only the device knows
/// whether the layouts are equal.
pub(crate) struct Comparison<'a> {
    rec: Recorder<'a>,
    layouts: LayoutComparison<'a>,
    tensors: Vec<(Tensor, Tensor)>,
}

impl<'a> Comparison<'a> {
    pub(crate) fn new(rec: Recorder<'a>) -> Self {
        Self { rec, layouts: LayoutComparison::new(rec), tensors: Vec::new() }
    }

    /// Compares two shapes. False if the host knows that they differ.
    ///
    /// # Errors
    /// Different devices.
    pub(crate) fn shapes(&mut self, a: &RaggedShape, b: &RaggedShape) -> Result<bool> {
        self.layouts.add(a, b)
    }

    /// Compares two tensors. False if the host knows that they differ.
    ///
    /// # Errors
    /// Different devices.
    pub(crate) fn tensors(&mut self, a: &Tensor, b: &Tensor) -> Result<bool> {
        let may_agree = self.layouts.add(a.ragged_shape(), b.ragged_shape())? && a.dtype() == b.dtype();
        self.tensors.push((a.clone(), b.clone()));
        Ok(may_agree)
    }

    /// Whether all are equal, where the host has found no difference.
    ///
    /// # Errors
    /// The first failed device-side check that the tensors depend on; a failed read.
    pub(crate) fn decide(self) -> Result<bool> {
        let Self { rec, layouts, tensors } = self;
        if !layouts.decide()? {
            return Ok(false);
        }
        let mut parts = Vec::new();
        for (a, b) in tensors {
            let all = rec.tensor(Vec::new(), Some(rec.count(&a)?), [], a.values_ref().clone())?;
            // The layouts are equal, so both have as many values.
            let b = all.holding(b.values_ref().clone());
            let equal = rec.at(b.and_then(|b| all.equal(&b)?.reduce_all(..)))?;
            parts.push(Part::whole(rec.numbers(&equal)?.clone()));
        }
        if parts.is_empty() {
            return Ok(true);
        }
        Ok(rec.read_parts(parts)?.iter().all(|equal| equal.first().is_some_and(|&equal| equal != 0)))
    }
}

methods_of_both! {
    /// Comparison.
    impl;

    /// Whether both tensors are equal as wholes: in dtype, layout and all values. [`Tensor::equal`] compares element by
    /// element.
    ///
    /// Layouts are equal as those of [`RaggedShape::equals`](crate::RaggedShape::equals): a ragged dimension equals a
    /// uniform one with rows of the same lengths. Nothing broadcasts. Values are compared as by [`Tensor::equal`]: a NaN
    /// equals nothing, and -0 equals 0. Empty tensors of one layout are equal.
    ///
    /// # Errors
    /// Different devices; the first failed device-side check that either tensor depends on; a lost device.
    ///
    /// # Cost
    /// None where the host knows a difference. Otherwise one pass over both, and one wait; one more where only the device
    /// knows the layouts.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert!(x.equals(&x.sort(1)?)?);
    /// assert!(!x.equals(&x.reverse(1)?)?);
    /// assert!(!x.equals(&x.cast::<i64>()?)?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// NumPy: `array_equal`.
    #[track_caller]
    pub fn equals(&self, other: &impl AsRef<Tensor>) -> Result<bool> {
        let rec = self.recorder("equals");
        let mut comparison = Comparison::new(rec);
        Ok(comparison.tensors(self, other.as_ref())? && comparison.decide()?)
    }
}
