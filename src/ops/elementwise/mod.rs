//! Operations on each element by itself: one, two or several tensors, element functions.

pub(super) mod add_n;
pub(super) mod binary;
pub(super) mod cast;
pub(super) mod division;
pub(super) mod element_function;
pub(super) mod equals;
pub(super) mod map_values;
pub(super) mod operators;
pub(super) mod parametric;
pub(super) mod select;
pub(super) mod string_pairs;
pub(super) mod unary;
