//! Quantiles along an axis.

use super::reduce::{Averaged, mean_dtype};
use super::sort::Sorted;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::opcode::UnaryOp;
use crate::graph::scalar::Scalar;
use crate::tensor::{RaggedTensor, Tensor};

impl Tensor {
    fn quantile_named(&self, op: &'static str, q: f64, axis: i64, keepdims: bool) -> Result<Self> {
        if !(0.0..=1.0).contains(&q) {
            return Err(Error::argument(op, format!("q must lie between 0 and 1, but is {q}")));
        }
        let out = mean_dtype(op, self.dtype())?;
        if let Err(hint) = self.backend().supports(out) {
            return Err(Error::unsupported(op, out, hint));
        }
        // Dtypes narrower than f32 are computed in f32 and rounded once.
        let wide = if out.size() == 8 { DType::F64 } else { DType::F32 };
        let sorted = Sorted::new(op, self, axis, false, keepdims)?;
        let float = |v: f64| Expr::scalar(Scalar::from_f64(wide, v));
        let (line, one) = (Expr::index(), Expr::u32(1));
        let start = sorted.lines.rows().start(line.clone());
        let len = sorted.lines.rows().start(line.add(one.clone())).sub(start.clone());
        let value = |place: Expr| sorted.at(start.clone().add(place)).cast(wide);
        let last = len.clone().max(one.clone()).sub(one.clone());
        let rank = last.clone().cast(wide).mul(float(q));
        let low = rank.clone().cast(DType::U32).min(last.clone());
        let part = rank.sub(low.clone().cast(wide));
        let (a, b) = (value(low.clone()), value(low.add(one).min(last.clone())));
        // Interpolates from the nearer end, so that both ends are exact. Equal infinities have no difference.
        let span = b.clone().sub(a.clone());
        let from_a = a.clone().add(span.clone().mul(part.clone()));
        let from_b = b.clone().sub(span.mul(float(1.0).sub(part.clone())));
        let between = part.clone().lt(float(0.5)).select(from_a, from_b);
        let exact = part.eq(float(0.0)).or(a.clone().eq(b));
        let found = exact.select(a, between);
        // NaN sorts last: if any value is NaN, the last one is.
        let greatest = value(last);
        let found = greatest.clone().unary(UnaryOp::IsNan).select(greatest, found);
        let found = len.eq(Expr::u32(0)).select(float(f64::NAN), found).cast(out);
        sorted.left.tensor(self.backend(), Node::map(self.backend(), op, sorted.left.numbers(), found, &[]))
    }

    /// The `q`-quantile of the values along `axis`, interpolated linearly between the two nearest values in order. NaN
    /// where there are no values, or where one is NaN.
    ///
    /// The value at rank `q * (n - 1)` of the sorted values. Dtype as [`reduce_mean`](Self::reduce_mean): floats keep
    /// theirs, integers of up to 2 bytes give f32, wider ones f64; f16 and bf16 are computed in f32 and rounded once.
    /// Any axis; shapes as for all [reductions](crate::Axes). A quantile at the rank of an infinity is exactly that
    /// infinity. In f32, ranks beyond 2^24 are rounded. Costs a sort of the values and a map over the result; no wait.
    /// Same bits on every device.
    ///
    /// NumPy: `numpy.quantile`, whose result is NaN between two equal infinities.
    ///
    /// # Errors
    /// `q` outside 0 to 1; `axis` out of range; bool or string values; f64 on a device without it.
    ///
    /// ```
    /// # use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(vec![vec![4.0f32, 1.0, 2.0], vec![8.0]], &Device::cpu())?;
    /// assert_eq!(x.quantile(0.75, 1, false)?.to_vec()?, [3.0, 8.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn quantile(&self, q: f64, axis: i64, keepdims: bool) -> Result<Self> {
        self.quantile_named("quantile", q, axis, keepdims)
    }

    /// The median along `axis`: the middle value, or halfway between the two middle ones. [`Tensor::quantile`] with `q
    /// = 0.5`.
    ///
    /// # Errors
    /// As [`Tensor::quantile`].
    ///
    /// ```
    /// # use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(vec![vec![4, 1, 2], vec![8, 3]], &Device::cpu())?;
    /// assert_eq!(x.median(1, false)?.to_vec()?, [2.0, 5.5]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn median(&self, axis: i64, keepdims: bool) -> Result<Self> {
        self.quantile_named("median", 0.5, axis, keepdims)
    }
}

impl<T: Averaged> RaggedTensor<T> {
    /// [`Tensor::quantile`] of typed values.
    ///
    /// # Errors
    /// As [`Tensor::quantile`].
    #[track_caller]
    pub fn quantile(&self, q: f64, axis: i64, keepdims: bool) -> Result<RaggedTensor<T::Mean>> {
        self.erased().quantile(q, axis, keepdims)?.try_into()
    }

    /// [`Tensor::median`] of typed values.
    ///
    /// # Errors
    /// As [`Tensor::median`].
    #[track_caller]
    pub fn median(&self, axis: i64, keepdims: bool) -> Result<RaggedTensor<T::Mean>> {
        self.erased().median(axis, keepdims)?.try_into()
    }
}
