//! Declarations of operations: the macro, the list of all declarations, and what the macro's methods share.

pub(super) mod beside_sparse;
pub(super) mod by_hand;
pub(super) mod by_values;
pub(super) mod declare;
pub(super) mod declared;
pub(super) mod functions;
pub(super) mod of_records;
pub(super) mod of_sequences;
pub(super) mod of_sparse;
pub(super) mod typed;
