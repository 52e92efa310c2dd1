//! Declarations of the operations that take functions.

use crate::element::Element;
use crate::ops::operations;

operations! {
    /// Functions of your own.
    const FUNCTIONS: family "Element-wise, several operands" on RaggedTensor<T> where T: Element;

    /// Applies `function` to the flat values, a dense tensor, and places the result under the partitions of this tensor.
    fn map_flat_values(&self, function: impl FnOnce(&Tensor) -> Result<Tensor>) -> {function};
    tensorflow "tf.ragged.map_flat_values";
    awkward "ak.transform";
    gradient yes;
    tensor hand;
    typed hand;
    row none "flat values span rows";

    /// Applies `function` to the flat values of several tensors of the same partitions, and places the result under
    /// these.
    fn map_flat_values_of(tensors: &[impl AsRef<Tensor>], function: impl FnOnce(&[Tensor]) -> Result<Tensor>) -> {function};
    tensorflow "tf.ragged.map_flat_values";
    gradient yes;
    tensor hand;
    typed none "the tensors may have several element types";
    row none "flat values span rows";

    /// Applies a function of the user to every element; the shape stays.
    fn map_elements(&self, function: &ElementFunction<fn(A) -> R>) -> {function};
    tensorflow "tf.vectorized_map";
    polars "Expr.map_elements";
    gradient yes;
    tensor hand;
    typed hand;
    row hand;

    /// Applies `function` to each row and stacks the results.
    fn map_rows(&self, function: impl FnOnce(&Row) -> Result<Row>) -> {function};
    tensorflow "tf.map_fn";
    polars "list.eval";
    gradient yes;
    tensor hand;
    typed hand;
    row hand;

    /// Applies `function` to the rows of several tensors that have equally many, and stacks the results.
    fn map_rows_of(tensors: &[impl AsRef<Tensor>], function: impl FnOnce(&[Row]) -> Result<Row>) -> {function};
    tensorflow "tf.map_fn";
    gradient yes;
    tensor hand;
    typed none "the tensors may have several element types";
    row none "rows of rows are not supported";

    /// Runs a function along each row: it takes the states before an element, and gives the states after it and outputs.
    fn scan_rows(&self, initial: impl Into<InitialStates>, step: impl FnOnce(&[Row], &Row) -> Result<(Vec<Row>, Vec<Row>)>) -> {step};
    alias "recurrence", "lstm", "fold";
    tensorflow "tf.scan";
    gradient yes;
    tensor hand;
    typed hand;
    row none "rows of rows are not supported";

    /// Runs a function along the rows of several tensors of equal rows.
    fn scan_rows_of(tensors: &[impl AsRef<Tensor>], initial: impl Into<InitialStates>, step: impl FnOnce(&[Row], &[Row]) -> Result<(Vec<Row>, Vec<Row>)>) -> {step};
    tensorflow "tf.keras.layers.RNN";
    gradient yes;
    tensor hand;
    typed none "the tensors may have several element types";
    row none "rows of rows are not supported";
}
