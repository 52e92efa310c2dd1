//! Results at the limits of the dtypes: zeros of both signs, NaN, infinities, greatest and least magnitudes, integers
//! that floats cannot represent. Compared with naive twins, with equal bits on every device.

#[path = "../common/mod.rs"]
mod common;
mod divisions;
mod everywhere;
mod histograms;
mod moments;
mod quantiles;
mod ranges;
mod sparse;
mod sweep;
mod zeros;
