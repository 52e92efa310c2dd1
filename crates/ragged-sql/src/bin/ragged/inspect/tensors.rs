//! Files of tensors.

use std::path::Path;

use ragged::{Device, Tensor};
use ragged_data::{npy, safetensors};

use crate::exit::Failure;

/// The tensors of a file: their names, dtypes and shapes; `None` for files of columns.
///
/// # Errors
/// A file that cannot be read.
pub fn describe(path: &Path) -> Result<Option<String>, Failure> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let device = Device::cpu();
    let read = match extension.as_str() {
        "npy" => npy::read(path, &device).map(|tensor| vec![(String::new(), tensor)]),
        "npz" => npy::read_npz(path, &device).map(|all| all.into_iter().collect()),
        "safetensors" => safetensors::read(path, &device).map(|all| all.into_iter().collect()),
        _ => return Ok(None),
    };
    let tensors: Vec<(String, Tensor)> = read.map_err(|error| Failure::of_engine(&error))?;
    let width = tensors.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = format!("{}: {} tensors", path.display(), tensors.len());
    for (name, tensor) in &tensors {
        let lengths: Vec<String> = tensor.shape().iter().map(|n| n.map_or("None".into(), |n| n.to_string())).collect();
        text += &format!("\n  {name:width$}  {} [{}]", tensor.dtype(), lengths.join(", "));
    }
    Ok(Some(text))
}
