//! Conversion of ragged to dense tensors, by padding and cropping.

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result, caller};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::size::{RecordedSize, Size};
use crate::ops::operations;
use crate::ops::options::{PaddedShape, Padding};
use crate::shape::width_of;
use crate::tensor::{BytesBound, Fill, Pick, Tensor};

operations! {
    /// Conversion to dense tensors.
    const OPERATIONS: family "Parts, sizes and copies" on RaggedTensor<T> where T: Element;

    /// The dense tensor with every row padded or cropped to one length.
    ///
    /// Every dimension is as large as its longest row, and a uniform dimension keeps its size, also where there are no
    /// rows ([`Tensor::bounding_shape`] has 0 there), unless [`shaped`](crate::opt::shaped) gives the size. The
    /// outermost dimension is padded and cropped too. Any dtype; the padding is one value of it, or a tensor that
    /// broadcasts to the inner dimensions. An empty row is all padding.
    ///
    /// # Errors
    /// A number that the dtype cannot represent; a tensor as padding of another dtype or that does not broadcast to the
    /// inner dimensions; a shape of another rank or with other inner dimensions; more than 2^32 - 2 values.
    ///
    /// # Cost
    /// One map over the result. Waits only for a size that is not given and that the host does not know, which
    /// [`record_async`](crate::record_async) awaits.
    ///
    /// ```
    /// use ragged::opt::shaped;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4]], &Device::cpu())?;
    /// let y = x.to_tensor(0)?;
    /// assert_eq!(y.to_string(), "tensor([[1, 2, 3], [0, 0, 0], [4, 0, 0]], shape=(3, 3), dtype=i32)");
    /// assert_eq!(x.to_tensor(shaped(-1, [2, 2]))?.to_vec()?, [1, 2, -1, -1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn to_tensor<'a>(&self, padding: impl Into<PaddedShape<'a>> as PaddedShape = Padding::Zero) -> T;
    alias "pad", "to_padded", "densify";
    tensorflow "tf.RaggedTensor.to_tensor";
    awkward "ak.pad_none(…, clip=True)";
    polars "list.to_array";
    waits "for the longest rows, unless a shape is given";
    gradient yes;
    row none "it pads the rows to one length, which is that of all";
}

#[track_caller]
fn to_tensor<'a>(x: &Tensor, padding: impl Into<PaddedShape<'a>>) -> Result<Tensor> {
    const OP: &str = "to_tensor";
    let rec = x.recorder(OP);
    let PaddedShape { padding, shape } = padding.into();
    let padding = padding.of_dtype(OP, x.dtype())?;
    let shape = shape.as_deref();
    if let Some(shape) = shape.filter(|s| s.len() != x.rank()) {
        return Err(x.misfit(shape, format!("ranks are {} and {}", x.rank(), shape.len())));
    }
    if let Some(&size) = shape.and_then(|s| s.iter().find(|&&size| size < -1)) {
        return Err(rec.argument(format!("a size must be -1 or more, but is {size}")));
    }
    let asked = |dim: usize| shape.and_then(|s| u64::try_from(s[dim]).ok());
    let first_inner = 1 + x.ragged_rank();
    for (k, &size) in x.inner().iter().enumerate() {
        if let (Some(s), Some(other)) = (shape, asked(first_inner + k).filter(|&d| d != u64::from(size))) {
            return Err(x.misfit(s, format!("dimension {} is uniform, {size} and not {other}", first_inner + k)));
        }
    }
    let count = x.nrows_extent();
    if x.rank() == 0 {
        padding.pick(OP, x, Expr::u32(0))?;
        return Ok(x.clone());
    }
    let rows = match asked(0) {
        Some(n) => rec.given(n)?,
        None => count.clone(),
    };
    let given: Vec<Option<u64>> = (1..first_inner).map(asked).collect();
    let longest = if given.iter().any(Option::is_none) { x.longest_rows(rec)? } else { Vec::new() };
    let mut sizes = Vec::with_capacity(given.len());
    for (k, given) in given.iter().enumerate() {
        sizes.push(match given {
            Some(n) => rec.known(*n)?.size().clone(),
            None => Size::given(longest[k]),
        });
    }
    let mut below = sizes.clone();
    below.extend_from_slice(x.inner().sizes());
    let numbers = rec.times_size(&rows, &width_of(&below))?;

    // Coordinates of a number, outermost last, and the position of the value there.
    let divide = |e: Expr, by: &Size| {
        let by = Expr::size(&by.max(1));
        (e.clone().div(by.clone()), e.rem(by))
    };
    let (mut rest, d) = divide(Expr::index(), &x.width_size());
    let mut offsets = Vec::with_capacity(sizes.len());
    for size in sizes.iter().rev() {
        let (above, offset) = divide(rest, size);
        offsets.push(offset);
        rest = above;
    }
    let mut there = rest.clone().lt(count.expr());
    let mut at = rest;
    for (p, offset) in x.partitions().iter().zip(offsets.into_iter().rev()) {
        there = there.and(offset.clone().lt(p.length(at.clone())));
        at = p.within(at, offset);
    }
    let value = Pick::From(x.values_ref(), x.flat(at, d.clone()));
    let pick = Pick::either(there, value, padding.pick(OP, x, d)?);
    let pads = u64::from(numbers.capacity()).saturating_mul(padding.longest());
    let bytes = x.values_ref().bytes_capacity().saturating_add(pads);
    let bound = BytesBound::at_most(bytes);
    let values = rec.rearranged(&numbers, &pick, bound, &[])?;
    rec.tensor(Vec::new(), Some(rows), below, values)
}

impl<'a> Padding<'a> {
    /// The padding for number `d` of an element of `of`.
    ///
    /// # Errors
    /// Another device, or a shape that does not broadcast to the inner dimensions.
    #[track_caller]
    fn pick(&self, op: &'static str, of: &Tensor, d: Expr) -> Result<Pick<'a>> {
        let t = match self {
            Self::Zero => return Ok(Pick::Fill(Fill::zero(of.dtype()))),
            Self::Value(fill) => return Ok(Pick::Fill(fill.clone())),
            Self::Tensor(t) => *t,
        };
        Device::check_same(op, of.backend(), t.backend())?;
        let inner = of.inner();
        let location = caller();
        let misfit = || Error::Shape {
            op,
            lhs: of.shape_text(),
            rhs: t.shape_text(),
            what: format!("the padding must broadcast to the inner dimensions {:?}", &inner[..]),
            location,
        };
        let dims: Vec<u32> = match t.outer().map(Extent::as_known) {
            None => Vec::new(),
            Some(Some(outer)) if t.ragged_rank() == 0 => {
                std::iter::once(outer).chain(t.inner().iter().copied()).collect()
            }
            Some(_) => return Err(misfit()),
        };
        if dims.len() > inner.len() {
            return Err(misfit());
        }
        // From the innermost dimension outwards: the coordinate along it, and its stride in the padding.
        let (mut at, mut rest, mut stride) = (Expr::u32(0), d, 1u32);
        for (k, (&number, size)) in inner.iter().zip(inner.sizes()).rev().enumerate() {
            let Some(&own) = dims.len().checked_sub(k + 1).and_then(|place| dims.get(place)) else { break };
            if own != number && own != 1 {
                return Err(misfit());
            }
            let coordinate = rest.clone().rem(Expr::size(&size.max(1)));
            rest = rest.div(Expr::size(&size.max(1)));
            if own > 1 {
                at = at.add(coordinate.mul(Expr::u32(stride)));
            }
            stride = stride.saturating_mul(own);
        }
        Ok(Pick::From(t.values_ref(), at))
    }

    /// Upper bound on the bytes of one padding string.
    fn longest(&self) -> u64 {
        match self {
            Self::Value(Fill::String(s)) => s.len() as u64,
            Self::Tensor(t) => t.values_ref().bytes_capacity(),
            _ => 0,
        }
    }
}

impl Tensor {
    #[track_caller]
    fn misfit(&self, shape: &[i64], what: String) -> Error {
        Error::Shape { op: "to_tensor", lhs: self.shape_text(), rhs: format!("{shape:?}"), what, location: caller() }
    }
}
