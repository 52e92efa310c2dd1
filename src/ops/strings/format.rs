//! A tensor as text.

use crate::error::{Error, Result};
use crate::ops::host_step::host_scalar;
use crate::tensor::{HostTensor, HostValues, Tensor};

/// Elements that an abbreviated list shows at either end.
const EDGE: usize = 3;

impl Tensor {
    /// The template with `{}` replaced by the text of the tensor: a string scalar.
    ///
    /// Numbers are in brackets by dimension, with commas in between. A list of more than six elements shows three at
    /// either end.
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
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn string_format(&self, template: &str) -> Result<Self> {
        const OP: &str = "string_format";
        let Some((before, after)) = template.split_once("{}").filter(|(_, after)| !after.contains("{}")) else {
            return Err(Error::argument(OP, format!("the template {template:?} must contain {{}} once")));
        };
        host_scalar(OP, self, &template, |host| {
            let text = format!("{before}{}{after}", text(host));
            Ok(HostValues::Str(vec![text.into_bytes()]))
        })
    }
}

/// The text of the tensor.
fn text(host: &HostTensor) -> String {
    // The splits of every dimension but the outermost.
    let mut levels: Vec<Vec<usize>> =
        host.nested_row_splits.iter().map(|splits| splits.iter().map(|&s| s as usize).collect()).collect();
    let mut count = host.inner_shape.first().copied().unwrap_or(1);
    for &dim in host.inner_shape.iter().skip(1) {
        levels.push((0..=count).map(|i| i * dim).collect());
        count *= dim;
    }
    if host.inner_shape.is_empty() {
        return value(&host.values, 0);
    }
    let rows = levels.first().map_or(count, |splits| splits.len() - 1);
    list(host, &levels, 0..rows)
}

/// The text of a list of elements of the outermost of `levels`.
fn list(host: &HostTensor, levels: &[Vec<usize>], elements: std::ops::Range<usize>) -> String {
    let one = |i: usize| match levels.split_first() {
        None => value(&host.values, i),
        Some((splits, below)) => list(host, below, splits[i]..splits[i + 1]),
    };
    let parts: Vec<String> = if elements.len() <= 2 * EDGE {
        elements.map(one).collect()
    } else {
        let (head, tail) = (elements.start..elements.start + EDGE, elements.end - EDGE..elements.end);
        head.map(one).chain(["...".to_owned()]).chain(tail.map(one)).collect()
    };
    format!("[{}]", parts.join(", "))
}

/// The text of value `i`.
fn value(values: &HostValues, i: usize) -> String {
    match values {
        HostValues::Bool(v) => v[i].to_string(),
        HostValues::U8(v) => v[i].to_string(),
        HostValues::I8(v) => v[i].to_string(),
        HostValues::U16(v) => v[i].to_string(),
        HostValues::I16(v) => v[i].to_string(),
        HostValues::U32(v) => v[i].to_string(),
        HostValues::I32(v) => v[i].to_string(),
        HostValues::U64(v) => v[i].to_string(),
        HostValues::I64(v) => v[i].to_string(),
        HostValues::F16(v) => v[i].to_string(),
        HostValues::BF16(v) => v[i].to_string(),
        HostValues::F32(v) => v[i].to_string(),
        HostValues::F64(v) => v[i].to_string(),
        HostValues::Str(v) => format!("\"{}\"", String::from_utf8_lossy(&v[i])),
    }
}
