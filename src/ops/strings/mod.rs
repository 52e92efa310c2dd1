//! Operations on byte strings.

mod as_string;
mod bytes_split;
mod case;
mod characters;
mod format;
mod join;
mod length;
mod needle;
mod ngrams;
mod number_format;
mod reduce_join;
#[cfg(feature = "regex")]
mod regex;
mod rows_joined;
mod segment_join;
mod separators;
mod slices;
mod split;
mod strip;
mod substr;
mod to_number;

pub use number_format::{Notation, NumberFormat, Pad};
