//! Conversion of values to the arguments of operations: for [`Operation::call`](crate::Operation::call).
//!
//! Options of a type are named as its fields.

mod axes;
mod choices;
mod numbers;
#[cfg(test)]
mod tests;
mod text;
mod with_tensors;
