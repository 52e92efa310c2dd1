//! Records from JSON and from anything that implements `serde::Serialize`, and back.
//!
//! ```text
//! serialize (values of Rust) ─┐
//!                             ├─> column (one growing array per field) ──> assemble (uploads) ──> records
//! visit (text of a line) ─────┘
//! lines: reads a batch of text, divides it into pieces, parses these in parallel, appends their columns
//! ```

mod assemble;
mod batch;
mod column;
mod from_serialize;
mod growth;
mod huge;
mod json_type;
mod lines;
mod misfit;
mod options;
mod schema;
mod serialize;
mod text;
mod to_value;
mod visit;

pub use json_type::JsonType;
pub use lines::{Batches, JsonLines};
pub use misfit::Misfit;
pub use options::JsonOptions;
