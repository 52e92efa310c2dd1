//! A tensor as text.

use super::number_format::NumberFormat;
use crate::error::{Error, Result};
use crate::ops::host_step::host_scalar;
use crate::tensor::{HostTensor, HostValues, Tensor};

/// Elements that an abbreviated list shows at either end.
const EDGE: usize = 3;

impl Tensor {
    /// The template with `{}` replaced by the text of the tensor: a string scalar.
    ///
    /// Elements are in brackets by dimension, with commas in between. A list of more than six elements shows three at
    /// either end. Elements of a ragged tensor are written as [`Tensor::as_string`] writes them, strings in single quotes,
    /// with a backslash before each single quote and backslash. Dense tensors show floats with as many digits as read back,
    /// and strings in double quotes.
    ///
    /// A host step; see [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps).
    ///
    /// # Errors
    /// A template without exactly one `{}`; a GPU whose options do not allow host steps.
    ///
    /// # Cost
    /// A read of the tensor, an upload, and one wait.
    ///
    /// # Source
    /// `tf.strings.format` of a ragged tensor.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.erased().string_format("x = {}")?.to_string(), "tensor(b'x = [[1, 2], [3]]', shape=(), dtype=str)");
    /// let x = RaggedTensor::from_nested([vec!["a", "it's"], vec![]], &Device::cpu())?;
    /// let text = x.erased().string_format("{}")?.to_host()?.values;
    /// assert_eq!(text, ragged::HostValues::Str(vec![br"[['a', 'it\'s'], []]".to_vec()]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn string_format(&self, template: &str) -> Result<Self> {
        const OP: &str = "string_format";
        let Some((before, after)) = template.split_once("{}").filter(|(_, after)| !after.contains("{}")) else {
            return Err(Error::argument(OP, format!("the template {template:?} must contain {{}} once")));
        };
        host_scalar(OP, self, &template, |host| {
            Ok(HostValues::Str(vec![[before.as_bytes(), &text(host), after.as_bytes()].concat()]))
        })
    }
}

/// The text of the tensor.
fn text(host: &HostTensor) -> Vec<u8> {
    // The splits of every dimension but the outermost.
    let mut levels: Vec<Vec<usize>> =
        host.nested_row_splits.iter().map(|splits| splits.iter().map(|&s| s as usize).collect()).collect();
    let mut count = host.inner_shape.first().copied().unwrap_or(1);
    for &dim in host.inner_shape.iter().skip(1) {
        levels.push((0..=count).map(|i| i * dim).collect());
        count *= dim;
    }
    if host.inner_shape.is_empty() {
        return value(host, 0);
    }
    let rows = levels.first().map_or(count, |splits| splits.len() - 1);
    list(host, &levels, 0..rows)
}

/// The text of a list of elements of the outermost of `levels`.
fn list(host: &HostTensor, levels: &[Vec<usize>], elements: std::ops::Range<usize>) -> Vec<u8> {
    let one = |i: usize| match levels.split_first() {
        None => value(host, i),
        Some((splits, below)) => list(host, below, splits[i]..splits[i + 1]),
    };
    let parts: Vec<Vec<u8>> = if elements.len() <= 2 * EDGE {
        elements.map(one).collect()
    } else {
        let (head, tail) = (elements.start..elements.start + EDGE, elements.end - EDGE..elements.end);
        head.map(one).chain([b"...".to_vec()]).chain(tail.map(one)).collect()
    };
    [&b"["[..], &parts.join(&b", "[..]), b"]"].concat()
}

/// The text of value `i`.
fn value(host: &HostTensor, i: usize) -> Vec<u8> {
    let is_ragged = !host.nested_row_splits.is_empty();
    let fixed = |value: f64| NumberFormat::default().float(value, host.values.dtype());
    let text = match &host.values {
        HostValues::Bool(v) => v[i].to_string(),
        HostValues::U8(v) => v[i].to_string(),
        HostValues::I8(v) => v[i].to_string(),
        HostValues::U16(v) => v[i].to_string(),
        HostValues::I16(v) => v[i].to_string(),
        HostValues::U32(v) => v[i].to_string(),
        HostValues::I32(v) => v[i].to_string(),
        HostValues::U64(v) => v[i].to_string(),
        HostValues::I64(v) => v[i].to_string(),
        HostValues::F16(v) if is_ragged => fixed(v[i].to_f64()),
        HostValues::BF16(v) if is_ragged => fixed(v[i].to_f64()),
        HostValues::F32(v) if is_ragged => fixed(v[i].into()),
        HostValues::F64(v) if is_ragged => fixed(v[i]),
        HostValues::F16(v) => v[i].to_string(),
        HostValues::BF16(v) => v[i].to_string(),
        HostValues::F32(v) => v[i].to_string(),
        HostValues::F64(v) => v[i].to_string(),
        HostValues::Str(v) if is_ragged => {
            let escapes = v[i].iter().flat_map(|&b| (b == b'\'' || b == b'\\').then_some(b'\\').into_iter().chain([b]));
            return std::iter::once(b'\'').chain(escapes).chain([b'\'']).collect();
        }
        HostValues::Str(v) => return [b"\"", v[i].as_slice(), b"\""].concat(),
    };
    text.into_bytes()
}
