//! Splits a tensor into pieces along a uniform dimension.

use crate::element::Element;
use crate::error::{Error, Result, on_behalf};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::size::{RecordedSize, Size};
use crate::integer::Integer;
use crate::ops::indexing::index::Index;
use crate::ops::operations;
use crate::record::tensor_list::counted_tensors;
use crate::tensor::Tensor;

operations! {
    /// Splits along a uniform dimension.
    const OPERATIONS: family "Joining, repeating and shapes" on RaggedTensor<T> where T: Element;

    /// Splits the tensor along dimension `axis` into pieces of one size or of given sizes, in order.
    ///
    /// The dimension must be uniform, except for a split into one piece, which is the tensor itself. All other
    /// dimensions stay as they are. Any dtype. As in TensorFlow, one size of a dense tensor may be -1: that piece takes
    /// the rest of the dimension.
    ///
    /// # Errors
    /// An axis out of range or ragged; a number of pieces below 1; a size below 0, except for one -1 of a dense tensor;
    /// sizes that do not add up to the dimension's, or exceed it beside a -1, or a number of pieces that does not
    /// divide it (at the read where only the device knows the size); more than 2^20 pieces; no host memory for them.
    ///
    /// # Cost
    /// A map over the values of a piece, which fuses into its consumer. Along axis 0 each ragged dimension adds a map
    /// over its rows; along other axes each ragged dimension below the axis adds a prefix sum. No wait: the device
    /// computes the bounds where only it knows the number of rows.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3], vec![], vec![4]], &Device::cpu())?;
    /// let halves = x.split(2, 0)?;
    /// assert_eq!(halves[1].to_string(), "<ragged.RaggedTensor [[], [4]]>");
    /// assert_eq!(x.split([1, 3], 0)?[0].to_string(), "<ragged.RaggedTensor [[1, 2]]>");
    /// let x = RaggedTensor::from_nested([1, 2, 3, 4], &Device::cpu())?;
    /// assert_eq!(x.split([1, -1], 0)?[1].to_vec()?, [2, 3, 4]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn split(&self, parts: impl Into<Parts> as Parts, axis: impl Integer as axis = 0) -> [T];
    alias "array_split", "chunk";
    tensorflow "tf.split";
    gradient yes;
}

#[track_caller]
fn split(x: &Tensor, parts: impl Into<Parts>, axis: impl Integer) -> Result<Vec<Tensor>> {
    let rec = x.recorder(OP);
    let axis = axis.saturating_i64();
    let parts = parts.into();
    let axis = x.axis(OP, axis)?;
    if parts == Parts::Equal(1) {
        return Ok(vec![x.clone()]);
    }
    let Some(size) = x.size_of(axis) else {
        let what = format!("dimension {axis} of a tensor of shape {} is ragged: its rows differ", x.shape_text());
        return Err(Error::argument(OP, what));
    };
    let number = match &parts {
        Parts::Equal(n) => u64::try_from(*n).unwrap_or(0),
        Parts::Sizes(sizes) => sizes.len() as u64,
    };
    let _counted = counted_tensors(rec, x, number, 0)?;
    let pieces = match &parts {
        Parts::Equal(n) => Pieces::equal(*n, &size)?,
        Parts::Sizes(sizes) if x.ragged_rank() > 0 && sizes.contains(&REST) => {
            let what = format!("a size must not be negative, but one of {sizes:?} is; -1 is for dense tensors");
            return Err(Error::argument(OP, what));
        }
        Parts::Sizes(sizes) => Pieces::of(sizes, &size)?,
    };
    if axis > 0 {
        let mut key = vec![Index::Slice { start: None, stop: None, step: 1 }; axis + 1];
        let part = |(start, count): &(Expr, Extent)| {
            // The sizes of all uniform dimensions below the outermost are numbers here.
            let start = i64::from(start.as_u32().expect("bug: a piece that starts at no number"));
            let stop = start + i64::from(count.capacity());
            key[axis] = Index::Slice { start: Some(start), stop: Some(stop), step: 1 };
            x.slice(&key)
        };
        return on_behalf(|| pieces.all.iter().map(part).collect());
    }
    let assert = |(ok, what)| Node::assert(x.backend(), Extent::known(1), ok, Check::new(OP, what));
    let asserts = on_behalf(|| pieces.fits.map(assert));
    let whole = x.on_condition(OP, asserts.as_slice())?;
    let rec = x.recorder(OP);
    let parts = pieces.all.iter().map(|(start, count)| whole.rows_from(rec, start, count.clone()));
    on_behalf(|| parts.collect())
}

const OP: &str = "split";

/// The size of the piece that takes the rest of the dimension.
const REST: i64 = -1;

/// Pieces into which a dimension is split.
///
/// ```
/// use ragged::arguments::Parts;
/// assert_eq!(Parts::from(2), Parts::Equal(2));
/// assert_eq!(Parts::from([1, 3]), Parts::Sizes(vec![1, 3]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parts {
    /// This many pieces of one size.
    Equal(i64),
    /// Pieces of these sizes; of a dense tensor, one may be -1: the rest of the dimension.
    Sizes(Vec<i64>),
}

impl<I: Integer> From<I> for Parts {
    fn from(n: I) -> Self {
        Self::Equal(n.saturating_i64())
    }
}
impl<I: Integer> From<&[I]> for Parts {
    fn from(sizes: &[I]) -> Self {
        Self::Sizes(sizes.iter().map(|size| size.saturating_i64()).collect())
    }
}
impl<I: Integer> From<Vec<I>> for Parts {
    fn from(sizes: Vec<I>) -> Self {
        sizes.as_slice().into()
    }
}
impl<I: Integer, const N: usize> From<[I; N]> for Parts {
    fn from(sizes: [I; N]) -> Self {
        sizes.as_slice().into()
    }
}

impl Tensor {
    /// The size of a uniform dimension; `None` for a ragged one.
    fn size_of(&self, axis: usize) -> Option<Extent> {
        let Some(below) = axis.checked_sub(1) else { return Some(self.nrows_extent()) };
        let size = match self.partitions().get(below) {
            Some(p) => p.uniform_length()?,
            None => self.inner()[below - self.ragged_rank()],
        };
        Some(Extent::known(size))
    }
}

/// Starts and sizes of the pieces of a dimension.
struct Pieces {
    all: Vec<(Expr, Extent)>,
    /// The condition that the pieces cover the dimension exactly, if only the device can tell.
    fits: Option<(Expr, String)>,
}

impl Pieces {
    #[track_caller]
    fn equal(n: i64, size: &Extent) -> Result<Self> {
        let Some(n) = u32::try_from(n).ok().filter(|&n| n > 0) else {
            return Err(Error::argument(OP, format!("the number of pieces must be 1 or more, but is {n}")));
        };
        if let Some(size) = size.as_known().filter(|size| size % n != 0) {
            return Err(Error::argument(OP, format!("a dimension of size {size} has no {n} pieces of one size")));
        }
        let by = Expr::u32(n);
        let each = size.part(n);
        let fits = size
            .as_known()
            .is_none()
            .then(|| (size.expr().rem(by).eq(Expr::u32(0)), format!("the dimension's size must be a multiple of {n}")));
        Ok(Self { all: (0..n).map(|k| (each.expr().mul(Expr::u32(k)), each.clone())).collect(), fits })
    }

    #[track_caller]
    fn of(sizes: &[i64], whole: &Extent) -> Result<Self> {
        let (mut sum, mut rests) = (0u64, 0);
        for &size in sizes {
            match u64::try_from(size) {
                Ok(size) => sum = sum.saturating_add(size),
                Err(_) if size == REST => rests += 1,
                Err(_) => {
                    let what = format!("a size must be 0 or more, or -1 for the rest, but is {size}");
                    return Err(Error::argument(OP, what));
                }
            }
        }
        if rests > 1 {
            return Err(Error::argument(OP, format!("one size may be -1, but {rests} of {sizes:?} are")));
        }
        let given = Extent::known_u64(OP, sum)?;
        let covers = |size: u32| if rests > 0 { given.capacity() <= size } else { given.capacity() == size };
        if let Some(size) = whole.as_known().filter(|&size| !covers(size)) {
            return Err(Error::argument(OP, format!("sizes {sizes:?} add up to {sum}, but the dimension's is {size}")));
        }
        let rest = Extent::of(whole.size().sub(given.capacity()));
        let (mut all, mut start) = (Vec::with_capacity(sizes.len()), Size::Const(0));
        for &size in sizes {
            let count = match u64::try_from(size) {
                Ok(size) => Extent::known_u64(OP, size)?,
                Err(_) => rest.clone(),
            };
            all.push((Extent::of(start.clone()).expr(), count.clone()));
            start = start.add(count.size().clone());
        }
        let fits = whole.as_known().is_none().then(|| match rests {
            0 => (whole.expr().eq(given.expr()), format!("sizes {sizes:?} must add up to that of the dimension")),
            _ => (given.expr().le(whole.expr()), format!("sizes {sizes:?} must not exceed that of the dimension")),
        });
        Ok(Self { all, fits })
    }
}
