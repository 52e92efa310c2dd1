//! Integer lists as arguments (splits, lengths, row indices): from the host in any integer type, or on a device.

use std::borrow::Cow;

use super::Tensor;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::scalar::Scalar;
use crate::integer::Integer;

/// A list of integers that describes rows: a slice, an array or a vector of any integer type up to 64 bits, or
/// a tensor of rank 1 and of any integer dtype that lives on the device.
///
/// ```
/// use ragged::arguments::Integers;
/// let from_array: Integers<'_> = (&[0, 2, 3]).into();
/// let from_vec: Integers<'_> = vec![0usize, 2, 3].into();
/// # let _ = (from_array, from_vec);
/// ```
#[derive(Debug, Clone)]
pub struct Integers<'a>(pub(crate) Source<'a>);

/// Location of the integers.
#[derive(Debug, Clone)]
pub(crate) enum Source<'a> {
    /// In host memory. Values beyond i64 saturate to `i64::MAX`, which no factory accepts.
    Host(Cow<'a, [i64]>),
    /// On a device.
    Device(&'a Tensor),
}

impl<'a, I: Integer> From<&'a [I]> for Integers<'a> {
    fn from(all: &'a [I]) -> Self {
        Self(Source::Host(match I::as_i64s(all) {
            Some(all) => Cow::Borrowed(all),
            None => all.iter().map(|v| v.saturating_i64()).collect(),
        }))
    }
}
impl<'a, I: Integer> From<&'a &[I]> for Integers<'a> {
    fn from(all: &'a &[I]) -> Self {
        (*all).into()
    }
}
impl<'a, I: Integer, const N: usize> From<&'a [I; N]> for Integers<'a> {
    fn from(all: &'a [I; N]) -> Self {
        all.as_slice().into()
    }
}
impl<'a, I: Integer> From<&'a Vec<I>> for Integers<'a> {
    fn from(all: &'a Vec<I>) -> Self {
        all.as_slice().into()
    }
}
impl<I: Integer> From<Vec<I>> for Integers<'_> {
    fn from(all: Vec<I>) -> Self {
        Self(Source::Host(all.into_iter().map(Integer::saturating_i64).collect()))
    }
}
impl<I: Integer, const N: usize> From<[I; N]> for Integers<'_> {
    fn from(all: [I; N]) -> Self {
        Self(Source::Host(all.into_iter().map(Integer::saturating_i64).collect()))
    }
}
impl<'a, X: AsRef<Tensor>> From<&'a X> for Integers<'a> {
    fn from(x: &'a X) -> Self {
        Self(Source::Device(x.as_ref()))
    }
}

impl Tensor {
    /// The elements as indices, lengths or ids, of any integer dtype: those of 8 and 16 bits are widened to 32 bits,
    /// the others stay, so that no value wraps around.
    ///
    /// # Errors
    /// Elements that are no integers; `name` says what they are.
    #[track_caller]
    pub(crate) fn index_node(&self, op: &'static str, name: &str) -> Result<Node> {
        let rec = self.recorder(op);
        let (dtype, wide) = (self.dtype(), self.dtype().accumulator());
        if !dtype.is_integer() {
            return Err(rec.unsupported(dtype, format!("{name} must be integers")));
        }
        let given = rec.numbers(self)?;
        if wide == dtype {
            return Ok(given.clone());
        }
        let widened = Expr::load(given, Expr::index()).cast(wide);
        Ok(rec.map(self.count()?, widened, &[]))
    }
}

/// An integer of 32 or 64 bits, clamped to `0..=most`, as u32. `most` is u32.
pub(crate) fn clamped_to(x: Expr, most: Expr) -> Expr {
    match x.dtype() {
        DType::I64 => x.max(Expr::scalar(0i64)).min(most.cast(DType::I64)).cast(DType::U32),
        DType::U64 => x.min(most.cast(DType::U64)).cast(DType::U32),
        DType::I32 => x.max(Expr::scalar(0i32)).cast(DType::U32).min(most),
        _ => x.min(most),
    }
}

/// Whether an integer of any type is at least 0.
pub(crate) fn is_not_negative(x: &Expr) -> Expr {
    match x.dtype().is_signed() {
        true => Expr::scalar(Scalar::from_i64(x.dtype(), 0)).le(x.clone()),
        false => Expr::scalar(true),
    }
}
