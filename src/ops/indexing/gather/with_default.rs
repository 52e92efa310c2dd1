//! Gathering by indices of which some are out of range.

use super::indices::{Indices, Within, under_all};
use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::ops::{IntoOperand, IntoOperandOf, Operand};
use crate::tensor::{BytesBound, Pick, Tensor};

operations! {
    /// Elements by index, or a default.
    const OPERATIONS: family "Indexing and gathering" on RaggedTensor<T> where T: Element;

    /// The elements of each row at the indices of the same row, or `default` where the row has no such element.
    ///
    /// All dimensions of `indices` but the last are batch dimensions: they are the first dimensions of the tensor, and
    /// the last holds indices along the next axis. An index that is negative, or not below the length of its row, gives
    /// the default. Any dtype, which stays. The default is one value of it, which fills elements with dimensions of
    /// their own, or a dense tensor of the shape of such an element. An empty row of indices gives an empty row; an
    /// empty row of the tensor gives defaults.
    ///
    /// # Errors
    /// `indices` is no integer tensor, a scalar, on another device, or has other batch dimensions; ragged dimensions
    /// below the indexed axis; a default of another dtype, or neither one value nor of the shape of an element.
    ///
    /// # Cost
    /// A map over the values, which fuses into its consumer; strings add a prefix sum. Waits once where only the device
    /// knows how many indices there are, and they become a dimension of a dense tensor.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4]], &device)?;
    /// let at = RaggedTensor::from_nested([vec![2, 3, -1], vec![0], vec![]], &device)?;
    /// assert_eq!(x.batch_gather_with_default(&at, 0)?.to_string(), "<ragged.RaggedTensor [[3, 0, 0], [0], []]>");
    ///
    /// let points = RaggedTensor::from_nested([vec![[1, 2], [3, 4]], vec![]], &device)?;
    /// let at = RaggedTensor::from_nested([vec![1, 2], vec![0]], &device)?;
    /// let none = RaggedTensor::from_nested([7, 8], &device)?;
    /// let found = points.batch_gather_with_default(&at, &none)?;
    /// assert_eq!(found.to_string(), "<ragged.RaggedTensor [[[3, 4], [7, 8]], [[7, 8]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn batch_gather_with_default<'a>(
        &self,
        indices: &impl AsRef<Tensor> as row,
        default: impl IntoOperandOf<'a, T> as operand,
    ) -> T;
    alias "get_or_default", "null_on_oob";
    tensorflow "tf.ragged.batch_gather_with_default";
    polars "list.gather(…, null_on_oob=True)";
    waits "where only the device knows the number of indices";
    gradient yes;
}

#[track_caller]
fn batch_gather_with_default<'a>(
    x: &Tensor,
    indices: &impl AsRef<Tensor>,
    default: impl IntoOperand<'a>,
) -> Result<Tensor> {
    const OP: &str = "batch_gather_with_default";
    let rec = x.recorder(OP);
    let default = default.into().of_dtype(OP, x.dtype())?;
    let indices = Indices::new(rec, indices.as_ref())?;
    let Some(batch) = indices.rank.checked_sub(1) else {
        return Err(rec.argument("indices must have a last dimension, but are a scalar"));
    };
    if batch >= x.rank() {
        let what = format!("{batch} batch dimensions of a tensor of shape {} leave no axis to index", x.shape_text());
        return Err(rec.argument(what));
    }
    let deep = x.inner_to_partitions(batch.saturating_sub(x.ragged_rank()))?;
    let mut asserts = indices.same_batches(&deep, batch)?;
    let mut dims = indices.dims.clone();
    for (d, (p, stays)) in dims.iter_mut().take(batch.saturating_sub(1)).enumerate() {
        *p = deep.partitions()[d].clone();
        *stays |= d < x.ragged_rank();
    }
    let within = match batch.checked_sub(1) {
        None => Within::Outermost(x.nrows_extent()),
        Some(above) => {
            let row = indices.dims[above..].iter().rev().fold(Expr::index(), |at, (p, _)| p.row_of(at));
            Within::Row(&deep.partitions()[above], row)
        }
    };
    let mut below = deep.clone();
    for _ in 0..batch {
        below = below.values_below()?;
    }
    if below.ragged_rank() > 0 {
        let what = format!("the elements along axis {batch} of a tensor of shape {} are ragged", x.shape_text());
        return Err(rec.argument(what));
    }
    let (place, present) = within.place(Expr::load(&indices.node, Expr::index()));
    let numbers = rec.times_size(&indices.count, &below.width_size())?;
    let width = Expr::size(&below.width_size().max(1));
    let (at, number) = (Expr::index().div(width.clone()), Expr::index().rem(width));
    let source = Pick::From(below.values_ref(), below.flat(place.at(&at), number.clone()));
    // Strings may be taken any number of times.
    let bound = if x.dtype() == DType::Str { BytesBound::Unknown } else { BytesBound::at_most(0) };
    let default = match default {
        Operand::Value(value) => Pick::Fill(value),
        Operand::Tensor(t) => default_tensor(rec, t, &below, number, &mut asserts)?,
    };
    let pick = Pick::either(present.at(&at), source, default);
    let picked = rec.rearranged(&numbers, &pick, bound, &asserts)?;
    let taken = rec.tensor(Vec::new(), Some(indices.count.clone()), below.inner().clone(), picked)?;
    under_all(OP, dims, taken, true)
}

/// The number at `number` of a default for the elements of `below`: a scalar, or a tensor of the shape of one of them.
fn default_tensor<'a>(
    rec: Recorder<'_>,
    default: &'a Tensor,
    below: &Tensor,
    number: Expr,
    asserts: &mut Vec<Node>,
) -> Result<Pick<'a>> {
    rec.at(Device::check_same(rec.op, rec.backend, default.backend()))?;
    let Some(outer) = default.outer() else { return Ok(Pick::From(default.values_ref(), Expr::u32(0))) };
    let element = below.inner();
    let misfit = || {
        let what = format!("the default must be a scalar or of the shape {element:?} of an element");
        rec.shape(below.shape_text(), default.shape_text(), what)
    };
    let Some((&first, rest)) = element.split_first() else { return Err(misfit()) };
    if default.ragged_rank() > 0 || default.inner()[..] != *rest {
        return Err(misfit());
    }
    let check = rec.check("the default must be a scalar or of the shape of an element");
    asserts.extend(outer.agrees(&Extent::known(first)).condition(rec, check, |_| misfit())?);
    Ok(Pick::From(default.values_ref(), number))
}
