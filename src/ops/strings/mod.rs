//! Operations on byte strings.

pub(super) mod affix;
pub(super) mod as_bytes;
pub(super) mod as_string;
mod borders;
pub(super) mod bytes_split;
pub(super) mod case;
mod characters;
pub(super) mod cross;
mod disjoint;
pub(super) mod field;
pub(super) mod format;
pub(super) mod hash;
pub(super) mod join;
pub(super) mod length;
mod needle;
pub(super) mod ngrams;
mod number_format;
pub(super) mod reduce_join;
#[cfg(feature = "regex")]
pub(super) mod regex;
#[cfg(feature = "regex")]
pub(super) mod regex_split;
mod rows_joined;
pub(super) mod segment_join;
mod separators;
mod slices;
pub(super) mod split;
pub(super) mod strip;
pub(super) mod substr;
pub(super) mod to_number;

pub use number_format::{Notation, NumberFormat, Pad};
