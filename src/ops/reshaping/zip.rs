//! Several tensors of one layout as columns of one tensor, and back.

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result, caller, on_behalf};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::ops::indexing::index::Index;
use crate::ops::operations;
use crate::ops::reshaping::concat::{append_values, number_of_operands};
use crate::record::tensor_list::counted_tensors;
use crate::shape::{RaggedShape, same_layout};
use crate::tensor::{BytesBound, Pick, Tensor, Values};

operations! {
    /// Columns of a tensor.
    const OPERATIONS: family "Rows: pairs, windows, groups, sets, samples" on RaggedTensor<T> where T: Element;

    /// Tensors of one layout as the columns of one tensor: `zip(&[a, b])[i][j] = [a[i][j], b[i][j]]`.
    ///
    /// The result has the row partitions of the tensors, and a new, innermost dimension with one element per tensor;
    /// empty rows stay empty. All have one dtype, which may be any; the columns of Awkward's records may differ.
    /// [`Tensor::stack`] along the last axis gives the same values, with a ragged last dimension.
    ///
    /// # Errors
    /// No tensors; different dtypes, ranks or devices; different row lengths, at the read where only the device knows
    /// them.
    ///
    /// # Cost
    /// One map over the values, which fuses into its consumer, after a copy of the values if there are more than 8
    /// tensors; strings add a prefix sum. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &device)?;
    /// let y = RaggedTensor::from_nested([vec![4, 5], vec![], vec![6]], &device)?;
    /// let points = RaggedTensor::<i32>::zip(&[&x, &y])?;
    /// assert_eq!(points.to_string(), "<ragged.RaggedTensor [[[1, 4], [2, 5]], [], [[3, 6]]]>");
    /// assert_eq!(points.unzip()?[1].to_string(), y.to_string());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn zip(all: &[impl AsRef<Tensor>] as tensors) -> T;
    alias "column_stack";
    tensorflow "tf.stack(…, axis=-1)";
    awkward "ak.zip";
    gradient yes;
    row hand;

    /// The columns of a tensor whose innermost dimension is uniform: one tensor for each, without that dimension.
    ///
    /// Inverse of [`Tensor::zip`]. The results have the row partitions of the tensor; empty rows stay empty. Any dtype.
    ///
    /// # Errors
    /// A scalar; an innermost dimension that is ragged, or whose size only the device knows; more than 2^20 columns; no
    /// host memory for their tensors.
    ///
    /// # Cost
    /// A map over the values per column, which fuses into its consumer; strings add a prefix sum. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let points = RaggedTensor::from_nested([vec![[1, 2], [3, 4]], vec![], vec![[5, 6]]], &Device::cpu())?;
    /// let columns = points.unzip()?;
    /// assert_eq!(columns[0].to_string(), "<ragged.RaggedTensor [[1, 3], [], [5]]>");
    /// assert_eq!(columns[1].to_string(), "<ragged.RaggedTensor [[2, 4], [], [6]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn unzip(&self) -> [T];
    alias "unstack", "unbind";
    tensorflow "tf.unstack(…, axis=-1)";
    awkward "ak.unzip";
    gradient yes;
    row vector;
}

#[track_caller]
fn zip(all: &[impl AsRef<Tensor>]) -> Result<Tensor> {
    const OP: &str = "zip";
    let all: Vec<&Tensor> = all.iter().map(AsRef::as_ref).collect();
    let Some((first, others)) = all.split_first() else {
        return Err(Error::argument(OP, "there must be at least one tensor"));
    };
    let rec = first.recorder(OP);
    let shape = |x: &Tensor| {
        let (parts, outer) = (x.partitions().to_vec(), x.outer().cloned());
        RaggedShape::of_parts(rec, parts, outer, x.inner().to_vec(), Vec::new())
    };
    let (own, mut asserts) = (shape(first)?, Vec::new());
    for other in others {
        Device::check_same(OP, first.backend(), other.backend())?;
        if first.dtype() != other.dtype() {
            return Err(Error::DTypes { op: OP, lhs: first.dtype(), rhs: other.dtype(), location: caller() });
        }
        asserts.extend(same_layout(rec, &own, &shape(other)?)?);
    }
    let Ok(width) = u32::try_from(all.len()) else {
        return Err(Error::argument(OP, "there are 2^32 tensors or more"));
    };
    let count = match all.len() {
        ..=MOST_SELECTED => first.count()?.times(OP, width.into())?,
        n => first.count()?.times_size(OP, &number_of_operands(n))?,
    };
    let values = if all.len() <= MOST_SELECTED {
        let (element, column) = (Expr::index().div(Expr::u32(width)), Expr::index().rem(Expr::u32(width)));
        let mut pick = Pick::From(all[all.len() - 1].values_ref(), element.clone());
        for (k, x) in all.iter().enumerate().rev().skip(1) {
            let own = Pick::From(x.values_ref(), element.clone());
            pick = Pick::either(column.clone().eq(Expr::u32(k as u32)), own, pick);
        }
        let bound = BytesBound::at_most(all.iter().map(|x| x.values_ref().bytes_capacity()).sum());
        rec.rearranged(&count, &pick, bound, &asserts)?
    } else {
        let each = first.count()?;
        let parts: Vec<(&Values, Extent)> = all.iter().map(|x| (x.values_ref(), each.clone())).collect();
        let appended = append_values(rec, &parts, &asserts)?;
        let n = Expr::size(&number_of_operands(all.len()));
        let (element, column) = (Expr::index().div(n.clone()), Expr::index().rem(n));
        let pick = Pick::From(&appended, column.mul(each.expr()).add(element));
        let bound = BytesBound::AtMost(appended.bytes_size());
        rec.rearranged(&count, &pick, bound, &asserts)?
    };
    let mut inner = first.inner().sizes().to_vec();
    let outer = match first.outer() {
        Some(outer) => {
            inner.push(width.into());
            outer.clone()
        }
        None => count,
    };
    Tensor::new(first.backend(), first.partitions().to_vec(), Some(outer), inner, values)
}

#[track_caller]
fn unzip(x: &Tensor) -> Result<Vec<Tensor>> {
    let rec = x.recorder("unzip");
    let Some(&Some(width)) = x.ragged_shape().known_sizes().last() else {
        let what = format!("the innermost dimension of {} must be uniform; convert it with to_tensor", x.shape_text());
        return Err(rec.argument(what));
    };
    let _counted = counted_tensors(rec, x, width as u64, 0)?;
    let column = |column| x.slice([Index::Ellipsis, Index::At(column)]);
    on_behalf(|| (0..width as i64).map(column).collect())
}

/// Maximum number of tensors between which one map selects, by a comparison with the number of each.
const MOST_SELECTED: usize = 8;
