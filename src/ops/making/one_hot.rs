//! One-hot encoding.

use crate::dtype::DType;
use crate::element::{Element, IntegerElement, Number};
use crate::error::{Error, Result, caller};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::scalar::Scalar;
use crate::graph::size::Size;
use crate::ops::operations;
use crate::ops::options::Depth;
use crate::ops::reshaping::expand_dims::new_axis;
use crate::shape::width_of;
use crate::tensor::{RaggedTensor, Tensor, Values};

operations! {
    /// One-hot encoding.
    const OPERATIONS: family "Element-wise, one operand" on RaggedTensor<T> where T: Element;

    /// One-hot encoding: for each integer `i`, a vector of `depth` elements that is `on` at index `i` and `off`
    /// elsewhere.
    ///
    /// The vectors form a new innermost dimension, or the one of [`along`](crate::opt::along)`(depth, axis)`, which
    /// must lie below the ragged ones. The dtype is that of `on` and `off`; TensorFlow's default values are 1f32 and
    /// 0f32. An index that is negative, or not below `depth`, gives a vector of `off`. Empty rows stay empty.
    ///
    /// # Errors
    /// Indices that are not integers; `on` and `off` of different dtypes; an axis out of range, or not below the ragged
    /// dimensions; 2^32 - 1 values or more.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Waits only for axis 0 of a dense tensor whose size the host does not
    /// know, see [`record_async`](crate::record_async).
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![0, 2], vec![], vec![1]], &Device::cpu())?;
    /// let y = x.one_hot(3, 1u8, 0u8)?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[[1, 0, 0], [0, 0, 1]], [], [[0, 1, 0]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn one_hot(
        &self,
        depth: impl Into<Depth> as Depth,
        on: impl Into<Scalar> as Scalar = 1,
        off: impl Into<Scalar> as Scalar = 0,
    ) -> {on} where T: IntegerElement;
    alias "to_dummies";
    tensorflow "tf.one_hot";
    waits "for the number of indices, where the new dimension is axis 0 of a dense tensor";
    gradient none "constant in the indices, which are integers";
    typed hand;
    row hand;
}

#[track_caller]
fn one_hot(x: &Tensor, depth: impl Into<Depth>, on: impl Into<Scalar>, off: impl Into<Scalar>) -> Result<Tensor> {
    let rec = x.recorder(OP);
    let Depth { depth, axis } = depth.into();
    let (on, off, levels) = (on.into(), off.into(), x.ragged_rank());
    if !x.dtype().is_integer() {
        return Err(rec.unsupported(x.dtype(), "indices are integers"));
    }
    if on.dtype() != off.dtype() {
        return Err(Error::DTypes { op: OP, lhs: on.dtype(), rhs: off.dtype(), location: caller() });
    }
    let place = new_axis(OP, x, axis)?;
    if place <= levels && levels > 0 {
        let what = format!("axis {axis} must lie below the {levels} ragged dimensions of {}", x.shape_text());
        return Err(rec.argument(what));
    }
    let depth = rec.known(rec.non_negative("depth", depth)?)?;
    let mut inner = x.inner().sizes().to_vec();
    let outer = if place == 0 {
        if let Some(rows) = x.outer() {
            inner.insert(
                0,
                match rows.as_known() {
                    Some(_) => rows.size().clone(),
                    None => Size::given(rec.on_host(rows)?),
                },
            );
        }
        depth.clone()
    } else {
        inner.insert(place - levels - 1, depth.size().clone());
        x.outer().cloned().unwrap_or_else(|| Extent::known(1))
    };
    // Contiguous numbers per element of the new dimension.
    let below = &inner[if place == 0 { 0 } else { place - levels }..];
    let below = Expr::size(&width_of(below).max(1));
    let by = Expr::size(&depth.size().max(1));
    let vector = Expr::index().div(below.clone());
    let from = vector.clone().div(by.clone()).mul(below.clone()).add(Expr::index().rem(below));
    let set = is_place(Expr::load(rec.numbers(x)?, from), vector.rem(by));
    let width = width_of(&inner);
    let value = set.select(Expr::number(on), Expr::number(off));
    let values = rec.map(rec.times_size(&outer, &width)?, value, &[]);
    rec.tensor(x.partitions().to_vec(), Some(outer), inner, Values::Numbers(values))
}

const OP: &str = "one_hot";

/// Whether `index`, of any integer dtype, equals `place`. Truncates neither.
fn is_place(index: Expr, place: Expr) -> Expr {
    match index.dtype() {
        wide @ (DType::I64 | DType::U64) => index.eq(place.cast(wide)),
        DType::U32 => index.eq(place),
        DType::I32 => index.bitcast(DType::U32).eq(place),
        // Narrow integers are widened with their sign.
        _ => index.cast(DType::I32).bitcast(DType::U32).eq(place),
    }
}

/// One-hot encoding.
impl<T: Element> RaggedTensor<T> {
    /// One-hot encoding: for each integer `i`, a vector of `depth` elements that is `on` at index `i` and `off`
    /// elsewhere.
    ///
    /// The vectors form a new innermost dimension, or the one of [`along`](crate::opt::along)`(depth, axis)`, which
    /// must lie below the ragged ones. An index that is negative, or not below `depth`, gives a vector of `off`. Empty
    /// rows stay empty.
    ///
    /// # Errors
    /// Indices that are not integers; an axis out of range, or not below the ragged dimensions; 2^32 - 1 values or
    /// more.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Waits only for axis 0 of a dense tensor whose size the host does not
    /// know, see [`record_async`](crate::record_async).
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![0, 2], vec![], vec![1]], &Device::cpu())?;
    /// let y = x.one_hot(3, 1u8, 0u8)?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[[1, 0, 0], [0, 0, 1]], [], [[0, 1, 0]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.one_hot`.
    #[track_caller]
    pub fn one_hot<U: Number>(&self, depth: impl Into<Depth>, on: U, off: U) -> Result<RaggedTensor<U>> {
        self.erased().one_hot(depth, on, off)?.try_into()
    }
}
