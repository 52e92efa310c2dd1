//! Layers: small structs with a name, whose `call` takes the variables and the input.

mod bidirectional;
mod dense;
mod dropout;
mod embedding;
mod gru;
mod layer_norm;
mod lstm;
mod multi_head_attention;
mod recurrent;

pub use bidirectional::Bidirectional;
pub use dense::Dense;
pub use dropout::Dropout;
pub use embedding::Embedding;
pub use gru::Gru;
pub use layer_norm::LayerNorm;
pub use lstm::Lstm;
pub use multi_head_attention::MultiHeadAttention;
pub use recurrent::Recurrent;

use ragged::{DType, Result, Tensor};

use crate::fault::argument;
use crate::variables::Variables;

/// The size of the last dimension, which has to be uniform and below the outermost one.
#[track_caller]
fn width(op: &'static str, layer: &str, x: &Tensor) -> Result<usize> {
    let last = x.rank().checked_sub(1).filter(|&last| last > x.ragged_rank());
    if let Some(width) = last.and_then(|last| x.shape()[last]) {
        return Ok(width);
    }
    let is = crate::variables::described(x);
    let hint = "its last dimension must be uniform and below the outermost one";
    Err(argument(op, format!("layer {layer:?} takes a tensor of vectors, but is given {is}; {hint}")))
}

/// Refuses tensors on another device than the variables.
#[track_caller]
fn check_device(op: &'static str, layer: &str, v: &Variables, x: &Tensor) -> Result<()> {
    let device = x.device();
    // Inputs of a program that is traced are on no device.
    if device == *v.device() || device.is_of_traces() {
        return Ok(());
    }
    let (is, of) = (device.name(), v.device().name());
    Err(argument(op, format!("layer {layer:?} is given a tensor on device {is}, but the variables are on {of}")))
}

/// Refuses tensors that do not hold floats, or are on another device than the variables.
#[track_caller]
fn check_floats(op: &'static str, layer: &str, v: &Variables, x: &Tensor) -> Result<()> {
    let is = x.dtype();
    if !is.is_float() {
        let hint = match is {
            DType::Str => "hash strings to ids (`to_hash_bucket_fast`), and look the ids up by an `Embedding`",
            _ => "cast it, or look ids up by an `Embedding`",
        };
        return Err(argument(op, format!("layer {layer:?} takes floats, but is given {is}; {hint}")));
    }
    check_device(op, layer, v, x)
}
