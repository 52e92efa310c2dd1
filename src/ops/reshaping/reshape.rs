//! Reshape: the same values under another shape.

use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use std::borrow::Cow;

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result, here};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::size::{RecordedSize, Size};
use crate::ops::operations;
use crate::shape::{Dims, RaggedShape, RowPartition};
use crate::tensor::{BytesBound, Pick, Tensor};

operations! {
    /// Reshaping.
    const OPERATIONS: family "Joining, repeating and shapes" on RaggedTensor<T> where T: Element;

    /// The same values, in the same flat order, under another shape.
    ///
    /// A list of sizes gives a dense tensor, a [`RaggedShape`] a tensor with its partitions. Any dtype. One size of a
    /// list may be -1: it follows from the number of values.
    ///
    /// # Errors
    /// A different number of values, at the read where only the device knows it; a negative size other than one -1, or
    /// a -1 beside a size of 0; a shape on another device.
    ///
    /// # Cost
    /// No pass where the host knows that the numbers of values agree; a map otherwise. Waits only for a -1 behind the
    /// first size of a tensor whose number of values only the device knows; [`record_async`](crate::record_async)
    /// awaits it.
    ///
    /// ```
    /// use ragged::{Device, RaggedShape, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4, 5, 6]], &device)?;
    /// assert_eq!(x.reshape([2, -1])?.to_string(), "tensor([[1, 2, 3], [4, 5, 6]], shape=(2, 3), dtype=i32)");
    /// let shape = RaggedShape::from_lengths(&[3.into(), [1, 1, 4].into()], &device)?;
    /// assert_eq!(x.reshape(&shape)?.to_string(), "<ragged.RaggedTensor [[1], [2], [3, 4, 5, 6]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reshape<'a>(&self, shape: impl Into<NewShape<'a>> as NewShape) -> T;
    alias "view";
    tensorflow "tf.reshape";
    polars "Expr.reshape";
    waits "for the number of values, where a size behind the first is -1";
    gradient yes;
    row hand;

    /// The same values, in the same flat order, under the shape of `other`.
    ///
    /// Any dtype; the values and dtype of `other` are ignored. The result has the partitions of `other`, whose empty
    /// rows stay empty.
    ///
    /// # Errors
    /// Numbers of values that differ, at the read where only the device knows them; different devices.
    ///
    /// # Cost
    /// No pass where the host knows that the numbers of values agree; a map otherwise. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec!["a", "b"], vec!["c"]], &device)?;
    /// let y = RaggedTensor::from_nested([vec![1], vec![], vec![2, 3]], &device)?;
    /// assert_eq!(x.reshape_like(&y)?.to_string(), "<ragged.RaggedTensor [[b'a'], [], [b'b', b'c']]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reshape_like(&self, other: &impl AsRef<Tensor> as tensor) -> T;
    alias "view_as";
    tensorflow "tf.reshape";
    gradient yes;
    row none "`reshape` takes the shape of a row";
}

#[track_caller]
fn reshape<'a>(x: &Tensor, shape: impl Into<NewShape<'a>>) -> Result<Tensor> {
    const OP: &str = "reshape";
    let rec = x.recorder(OP);
    match shape.into() {
        NewShape::Sizes(sizes) if sizes.contains(&-1) => x.fitted(rec, &sizes),
        shape => {
            let shape = shape.whole(OP, &x.device())?;
            x.reshaped(rec, &shape)
        }
    }
}

#[track_caller]
fn reshape_like(x: &Tensor, other: &impl AsRef<Tensor>) -> Result<Tensor> {
    let rec = x.recorder("reshape_like");
    x.reshaped(rec, other.as_ref().ragged_shape())
}

/// Requested shape of a result: a [`RaggedShape`], or the sizes of a dense shape.
///
/// ```
/// use ragged::arguments::NewShape;
/// assert!(matches!(NewShape::from([2, -1]), NewShape::Sizes(_)));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum NewShape<'a> {
    /// The shape of a tensor, or a shape made on its own.
    Of(&'a RaggedShape),
    /// A dense shape. Where the operation allows it, one size may be -1, which follows from the others.
    Sizes(Vec<i64>),
}

impl<'a> From<&'a RaggedShape> for NewShape<'a> {
    fn from(shape: &'a RaggedShape) -> Self {
        Self::Of(shape)
    }
}
impl<I: Integer> From<&[I]> for NewShape<'_> {
    fn from(sizes: &[I]) -> Self {
        Self::Sizes(sizes.iter().map(|size| size.saturating_i64()).collect())
    }
}
impl<I: Integer, const N: usize> From<&[I; N]> for NewShape<'_> {
    fn from(sizes: &[I; N]) -> Self {
        sizes.as_slice().into()
    }
}
impl<I: Integer, const N: usize> From<[I; N]> for NewShape<'_> {
    fn from(sizes: [I; N]) -> Self {
        sizes.as_slice().into()
    }
}
impl<I: Integer> From<Vec<I>> for NewShape<'_> {
    fn from(sizes: Vec<I>) -> Self {
        sizes.as_slice().into()
    }
}

impl<'a> NewShape<'a> {
    /// The shape, all of whose sizes must be given.
    #[track_caller]
    pub(crate) fn whole(self, op: &'static str, device: &Device) -> Result<Cow<'a, RaggedShape>> {
        let sizes = match self {
            Self::Of(shape) => return Ok(Cow::Borrowed(shape)),
            Self::Sizes(sizes) => sizes,
        };
        let size = |&n: &i64| {
            u64::try_from(n)
                .map_err(|_| Error::argument(op, format!("a size must not be negative, but is {n}")))
                .map_err(here())
        };
        let sizes = sizes.iter().map(size).collect::<Result<Vec<_>>>().map_err(here())?;
        RaggedShape::of_sizes(Recorder::new(device.backend(), op), &sizes).map(Cow::Owned)
    }
}

/// The sizes of a dense shape, of which one may follow from the others.
pub(crate) struct Sizes {
    /// The sizes, with 0 for the open one.
    pub(crate) dims: Vec<Size>,
    /// The size that is -1.
    pub(crate) open: Option<usize>,
    /// The product of the others.
    pub(crate) by: u32,
}

impl Sizes {
    /// # Errors
    /// A negative size other than one -1; a -1 beside a size of 0; a product of 2^32 - 1 or more.
    #[track_caller]
    pub(crate) fn new(op: &'static str, sizes: &[i64]) -> Result<Self> {
        let mut dims: Vec<Size> = Vec::with_capacity(sizes.len());
        let mut others = 1u64;
        for &n in sizes {
            match u64::try_from(n) {
                Ok(n) => {
                    dims.push(Extent::known_u64(op, n)?.size().clone());
                    others = others.saturating_mul(n);
                }
                Err(_) if n == -1 => dims.push(Size::Const(0)),
                Err(_) => return Err(Error::argument(op, format!("a size must not be negative, but is {n}"))),
            }
        }
        let open = sizes.iter().position(|&n| n == -1);
        if sizes.iter().filter(|&&n| n == -1).count() > 1 {
            return Err(Error::argument(op, format!("at most one size can be -1, in {sizes:?}")));
        }
        if open.is_some() && others == 0 {
            return Err(Error::argument(op, format!("a size of 0 leaves the -1 undetermined, in {sizes:?}")));
        }
        Ok(Self { dims, open, by: Extent::known_u64(op, others)?.capacity() })
    }
}

impl Tensor {
    fn reshaped(&self, rec: Recorder<'_>, shape: &RaggedShape) -> Result<Self> {
        rec.at(Device::check_same(rec.op, rec.backend, &shape.backend))?;
        let mut asserts = shape.conditions.clone();
        let (own, new) = (rec.count(self)?, rec.at(shape.count(rec.op))?);
        match (own.as_known(), new.as_known()) {
            _ if own == new => {}
            (Some(a), Some(b)) if a != b => {
                let what = format!("there are {a} values, but {b} fit into the new shape");
                return Err(rec.shape(self.shape_text(), shape.text(), what));
            }
            (Some(_), Some(_)) => {}
            _ => {
                let check = rec.check(format!("the values do not fit into the new shape {}", shape.text()));
                asserts.push(rec.assert(Extent::known(1), own.expr().eq(new.expr()), check));
            }
        }
        self.laid_out(rec, shape.partitions.clone(), shape.outer.clone(), shape.inner.clone(), &asserts)
    }

    /// Reshapes to a dense shape, one of whose sizes follows from the others.
    fn fitted(&self, rec: Recorder<'_>, sizes: &[i64]) -> Result<Self> {
        let Sizes { mut dims, open, by } = rec.at(Sizes::new(rec.op, sizes))?;
        let Some(open) = open else { unreachable!("bug: a reshape without a size that follows from the others") };
        let mut count = rec.count(self)?;
        let mut asserts = Vec::new();
        if count.as_known().is_none() {
            let ok = count.expr().rem(Expr::u32(by)).eq(Expr::u32(0));
            let check = rec.check(format!("the number of values is no multiple of {by}, in {sizes:?}"));
            asserts.push(rec.assert(Extent::known(1), ok, check));
            if open > 0 {
                // The size of an inner dimension is part of the type, so the host must know it.
                count = Extent::known(rec.on_host(&count)?);
            }
        }
        if let Some(n) = count.as_known().filter(|n| n % by != 0) {
            let (lhs, rhs) = (self.shape_text(), format!("{sizes:?}"));
            return Err(rec.shape(lhs, rhs, format!("{n} values are no multiple of {by}")));
        }
        let mut fit = count.part(by);
        if open > 0 {
            dims[open] = Size::given(fit.capacity());
            fit = Extent::given(dims[0].capacity());
        }
        self.laid_out(rec, Vec::new(), Some(fit), dims.split_off(1), &asserts)
    }

    /// The same numbers in the same order under another layout of equally many numbers, subject to the conditions
    /// `asserts`.
    pub(crate) fn laid_out(
        &self,
        rec: Recorder<'_>,
        partitions: Vec<RowPartition>,
        outer: Option<Extent>,
        inner: impl Into<Dims>,
        asserts: &[Node],
    ) -> Result<Self> {
        let shape = RaggedShape::of_parts(rec, partitions, outer, inner, Vec::new())?;
        let values = if asserts.is_empty() {
            self.values_ref().clone()
        } else {
            let pick = Pick::From(self.values_ref(), Expr::index());
            let bound = BytesBound::AtMost(self.values_ref().bytes_size());
            rec.rearranged(&rec.at(shape.count(rec.op))?, &pick, bound, asserts)?
        };
        rec.tensor(shape.partitions, shape.outer, shape.inner, values)
    }
}
