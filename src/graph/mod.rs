//! The expression graph: what is to be computed, independent of who computes it.

pub(crate) mod backend;
mod conditions;
mod convert;
pub(crate) mod digest;
pub(crate) mod expr;
pub(crate) mod extent;
mod fetch;
pub(crate) mod finish;
mod fold;
mod fuse_rows;
pub(crate) mod marks;
pub(crate) mod node;
pub(crate) mod opcode;
mod plain;
pub(crate) mod plan;
mod recipe;
pub(crate) mod reducer;
pub(crate) mod request;
pub(crate) mod row_lengths;
pub(crate) mod row_pass;
pub(crate) mod scalar;
mod step;
pub(crate) mod traffic;
pub(crate) mod unfused;
mod words;
