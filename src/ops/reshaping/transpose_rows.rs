//! Transposition of the two outermost dimensions where the second is ragged.

use crate::element::Element;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Rows;
use crate::ops::operations;
use crate::record::axis_rows::AxisRows;
use crate::record::by_key::ByKey;
use crate::record::levels::longest;
use crate::record::rows::Repeats;
use crate::shape::RowPartition;
use crate::tensor::Tensor;

operations! {
    /// Transposition of ragged rows.
    const OPERATIONS: family "Joining, repeating and shapes" on RaggedTensor<T> where T: Element;

    /// Swaps the two outermost dimensions: row `j` of the result has element `j` of each row that has one.
    ///
    /// The elements are in the order of the rows; what is below them moves with them. Any dtype. The result has as many
    /// rows as the longest row has elements, or as the length of uniform rows, also if there are none of them. A row's
    /// elements lose their row index where a shorter row comes before it: transposing twice gives the tensor back if no
    /// row is longer than the one before it, and the tensor has no empty rows. Uniform rows give uniform rows, the
    /// transposed matrix; where the device computes their number, read or not, the rows of the result are ragged.
    ///
    /// # Errors
    /// Fewer than two dimensions.
    ///
    /// # Cost
    /// A stable sort of the elements by their position in the row, and a gather; uniform rows are index arithmetic. No
    /// wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4, 5]], &Device::cpu())?;
    /// assert_eq!(x.transpose_rows()?.to_string(), "<ragged.RaggedTensor [[1, 4], [2, 5], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn transpose_rows(&self) -> T;
    alias "swapaxes", "zip_longest";
    gradient yes;
    row hand;
}

#[track_caller]
fn transpose_rows(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("transpose_rows");
    let along = AxisRows::new(rec, x, 1)?;
    let (rows, at) = (&along.rows, Expr::index());
    let (count, nrows) = (rows.nvals_extent().clone(), rows.nrows_extent());
    let (columns, from) = match (rows.uniform_size(), nrows.as_known()) {
        (Some(len), Some(_)) => {
            let by = Expr::size(&nrows.size().max(1));
            let from = at.clone().rem(by.clone()).mul(Expr::size(len)).add(at.div(by));
            (rec.uniform_rows(nrows.size(), Extent::of(len.clone()))?, from)
        }
        _ => {
            let ncolumns = match rows.uniform_size() {
                // Also where there are no rows.
                Some(len) => Extent::of(len.clone()),
                None => longest(rec, rows)?,
            };
            let by = ByKey::new(rec, &count, rows.offset_of(at.clone()), &ncolumns)?;
            let columns = by.rows(1);
            let columns = match columns.rows {
                // There are no elements, so no rows: ragged like all other results.
                Rows::Uniform(_) => rec.at(RowPartition::from_host_splits(rec, vec![0]))?,
                Rows::Splits(splits) => RowPartition::from_splits_node(splits, columns.nrows, count.size().clone()),
            };
            (columns.with_nvals(count.clone()), Expr::load(by.order(), at))
        }
    };
    let elements = along.elements.take_rows(rec, count, from, Repeats::Never, &[])?;
    along.with(columns, &elements)
}
