//! Permutation of uniform dimensions.

use crate::element::Element;
use crate::error::{Error, Result, here};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;
use crate::ops::IntoAxes;
use crate::ops::operations;
use crate::record::axes::Axes;
use crate::tensor::{BytesBound, Pick, Tensor};

operations! {
    /// Permutation of uniform dimensions.
    const OPERATIONS: family "Joining, repeating and shapes" on RaggedTensor<T> where T: Element;

    /// The tensor with its uniform dimensions in another order: dimension `k` of the result is dimension `axes[k]`.
    ///
    /// `..` reverses the uniform dimensions. The dimensions of row partitions (axes 0 to `ragged_rank` of a ragged
    /// tensor) keep their places, and empty rows stay empty. Any dtype. [`Tensor::t`] is the transposed operand of a
    /// matrix product, for which nothing is computed.
    ///
    /// # Errors
    /// Axes that do not name each dimension once; a dimension of a row partition that would move.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Waits only where dimension 0 moves and only the device knows its size;
    /// [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([[1, 2, 3], [4, 5, 6]], &device)?;
    /// assert_eq!(x.transpose(..)?.to_vec()?, [1, 4, 2, 5, 3, 6]);
    /// let points = RaggedTensor::from_nested([vec![[[1, 2], [3, 4]]], vec![]], &device)?;
    /// assert_eq!(points.transpose([0, 1, 3, 2])?.to_string(), "<ragged.RaggedTensor [[[[1, 3], [2, 4]]], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn transpose(&self, axes: impl IntoAxes as axes = ..) -> T;
    alias "permute", "swapaxes", "moveaxis";
    tensorflow "tf.transpose";
    waits "for the number of rows, where dimension 0 moves";
    gradient yes;
    row hand;
}

#[track_caller]
fn transpose(x: &Tensor, axes: impl IntoAxes) -> Result<Tensor> {
    let rank = x.rank();
    // The first uniform dimension.
    let first = if x.ragged_rank() == 0 { 0 } else { 1 + x.ragged_rank() };
    let order: Vec<usize> = match axes.into() {
        Axes::All => (0..first).chain((first..rank).rev()).collect(),
        Axes::List(axes) => axes.iter().map(|&axis| x.axis(OP, axis)).collect::<Result<_>>().map_err(here())?,
    };
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..rank) {
        let what = format!("the axes {order:?} must name each of the {rank} dimensions once");
        return Err(Error::argument(OP, what));
    }
    if let Some(axis) = (0..first).find(|&k| order[k] != k) {
        let what = format!(
            "dimension {axis} of a tensor of shape {} is one of row partitions and cannot move; dimensions from \
             {first} on can",
            x.shape_text()
        );
        return Err(Error::argument(OP, what));
    }
    if sorted == order {
        return Ok(x.clone());
    }
    let backend = x.backend();
    let rec = Recorder::new(backend, OP);
    let mut sizes = x.inner().sizes().to_vec();
    let outer = x.outer().cloned().unwrap_or_else(|| Extent::known(1));
    if first == 0 && order[0] != 0 {
        sizes.insert(
            0,
            match outer.as_known() {
                Some(_) => outer.size().clone(),
                None => Size::given(rec.on_host(&outer)?),
            },
        );
    } else if first == 0 {
        // Its size is not needed: no stride depends on it.
        sizes.insert(0, Size::Const(0));
    }
    // Strides of the uniform dimensions, from the innermost outwards.
    let mut strides = vec![Size::Const(1); sizes.len()];
    for k in (1..sizes.len()).rev() {
        strides[k - 1] = sizes[k].max(1).mul(&strides[k]);
    }
    let moved: Vec<usize> = order[first..].iter().map(|axis| axis - first).collect();
    let leads = usize::from(first == 0);
    let (mut rest, mut from) = (Expr::index(), Expr::u32(0));
    for &k in moved[leads..].iter().rev() {
        let size = Expr::size(&sizes[k].max(1));
        from = from.add(rest.clone().rem(size.clone()).mul(Expr::size(&strides[k])));
        rest = rest.div(size);
    }
    let lead = Expr::size(&if first == 0 { strides[moved[0]].clone() } else { x.width_size() });
    from = from.add(rest.mul(lead));
    let rows = if first == 0 && moved[0] != 0 { Extent::of(sizes[moved[0]].clone()) } else { outer };
    let inner: Vec<Size> = moved[leads..].iter().map(|&k| sizes[k].clone()).collect();
    let bound = BytesBound::AtMost(x.values_ref().bytes_size());
    let pick = Pick::From(x.values_ref(), from);
    let values = rec.rearranged(&x.count()?, &pick, bound, &[])?;
    rec.tensor(x.partitions().to_vec(), Some(rows), inner, values)
}

const OP: &str = "transpose";
