//! Sums of several tensors.

use std::borrow::Borrow;

use crate::element::Arithmetic;
use crate::error::{Error, Result, caller};
use crate::graph::expr::Expr;
use crate::ops::operations;
use crate::record::elementwise::Takes;
use crate::shape::same_layout;
use crate::tensor::{RaggedTensor, Tensor};
operations! {
    /// Sums of several tensors.
    const OPERATIONS: family "Element-wise, several operands" on RaggedTensor<T> where T: Arithmetic;

    /// The sum of tensors of one shape, added in list order.
    ///
    /// Dtype and shape stay; integers wrap. Nothing broadcasts. NaN propagates.
    ///
    /// # Errors
    /// An empty list; different dtypes, devices or shapes; a dtype that is not numeric. Rows of different lengths fail
    /// at the call where the host has the splits, and at the read otherwise.
    ///
    /// # Cost
    /// One map. Nothing is read back.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(Tensor::add_n(&[&x, &x, &x])?.to_string(), "<ragged.RaggedTensor [[3, 6], [], [9]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn add_n(tensors: &[impl AsRef<Tensor>] as tensors) -> T;
    tensorflow "tf.math.add_n";
    polars "pl.sum_horizontal";
    gradient yes;
    typed hand;
    row hand;
}

#[track_caller]
fn add_n(tensors: &[impl AsRef<Tensor>]) -> Result<Tensor> {
    const OP: &str = "add_n";
    /// Maximum number of summands of one map, which bounds the height of its expression.
    const SUMMANDS: usize = 32;
    let Some((first, others)) = tensors.split_first() else {
        return Err(Error::argument(OP, "it needs at least one tensor"));
    };
    let first = first.as_ref();
    let rec = first.recorder(OP);
    Takes::Numbers.check(OP, first.dtype())?;
    let mut sum = Expr::load(rec.numbers(first)?, Expr::index());
    let mut asserts = Vec::new();
    for (k, other) in (1..).zip(others) {
        let other = other.as_ref();
        if k % SUMMANDS == 0 {
            let part = rec.map(first.count()?, sum, &[]);
            sum = Expr::load(&part, Expr::index());
        }
        if other.dtype() != first.dtype() {
            return Err(Error::DTypes { op: OP, lhs: first.dtype(), rhs: other.dtype(), location: caller() });
        }
        crate::Device::check_same(OP, first.backend(), other.backend())?;
        asserts.extend(same_layout(rec, first.ragged_shape(), other.ragged_shape())?);
        sum = sum.add(Expr::load(rec.numbers(other)?, Expr::index()));
    }
    let node = rec.map(first.count()?, sum, &asserts);
    first.with_value_node(node)
}

/// Sums of several tensors.
impl<T: Arithmetic> RaggedTensor<T> {
    /// The sum of tensors of one shape, added in list order.
    ///
    /// The shape stays; integers wrap. Nothing broadcasts. NaN propagates.
    ///
    /// # Errors
    /// An empty list; different devices or shapes, at the read where only the device knows the lengths of rows.
    ///
    /// # Cost
    /// One map. Nothing is read back.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(RaggedTensor::add_n(&[&x, &x, &x])?.to_string(), "<ragged.RaggedTensor [[3, 6], [], [9]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn add_n(tensors: &[impl Borrow<Self>]) -> Result<Self> {
        let erased: Vec<&Tensor> = tensors.iter().map(|t| t.borrow().erased()).collect();
        Self::try_from(Tensor::add_n(&erased)?)
    }
}
