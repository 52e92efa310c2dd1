//! A tensor as text.

use super::number_format::NumberFormat;
use crate::backend::host_memory::GrowingBytes;
use crate::element::Element;
use crate::element::Str;
use crate::error::Result;
use crate::ops::operations;
use crate::record::host_step::host_string;
use crate::tensor::{HostTensor, HostValues, Tensor};

operations! {
    /// Text of a tensor.
    const OPERATIONS: family "Strings" on RaggedTensor<T> where T: Element;

    /// The template with `{}` replaced by the text of the tensor: a string scalar.
    ///
    /// Elements are in brackets by dimension, with commas in between; an empty row is `[]`. A list of more than six
    /// elements shows three at either end. Elements of a ragged tensor are written as [`Tensor::as_string`] writes
    /// them, strings in single quotes, with a backslash before each single quote and backslash. Dense tensors show
    /// floats with as many digits as read back, and strings in double quotes.
    ///
    /// A host step; see [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps).
    ///
    /// # Errors
    /// A template without exactly one `{}`; a GPU whose options do not allow host steps; no host memory for the text.
    ///
    /// # Cost
    /// A read of the tensor, an upload, and one wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.string_format("x = {}")?.to_vec()?, [b"x = [[1, 2], [], [3]]"]);
    /// let x = RaggedTensor::from_nested([vec!["a", "it's"], vec![]], &Device::cpu())?;
    /// assert_eq!(x.string_format("{}")?.to_vec()?, [br"[['a', 'it\'s'], []]"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn string_format(&self, template: &str) -> Str;
    alias "format";
    tensorflow "tf.strings.format";
    host "all of it";
    gradient none "the result holds strings";
    row none "it makes one string of all elements";
}

#[track_caller]
fn string_format(x: &Tensor, template: &str) -> Result<Tensor> {
    let rec = x.recorder("string_format");
    let Some((before, after)) = template.split_once("{}").filter(|(_, after)| !after.contains("{}")) else {
        return Err(rec.argument(format!("the template {template:?} must contain {{}} once")));
    };
    host_string(rec, x, &template, |host, out| {
        out.push(before.as_bytes())?;
        element(out, host, 0, 0)?;
        out.push(after.as_bytes())
    })
}

/// Elements that an abbreviated list shows at either end.
const EDGE: usize = 3;

/// Appends the text of the element at position `at` of dimension `dim - 1`.
fn element(out: &mut GrowingBytes<'_>, host: &HostTensor, dim: usize, at: usize) -> Result<()> {
    if dim == host.rank() {
        return value(out, host, at);
    }
    let all = host.children(dim, at);
    let hidden = if all.len() > 2 * EDGE { all.start + EDGE..all.end - EDGE } else { all.end..all.end };
    out.push(b"[")?;
    for child in (all.start..hidden.start).chain(hidden.end..all.end) {
        if child == hidden.end {
            out.push(b", ...")?;
        }
        if child > all.start {
            out.push(b", ")?;
        }
        element(out, host, dim + 1, child)?;
    }
    out.push(b"]")
}

/// Appends the text of value `i`: as TensorFlow prints it, which depends on whether the tensor is ragged.
fn value(out: &mut GrowingBytes<'_>, host: &HostTensor, i: usize) -> Result<()> {
    let is_ragged = !host.nested_row_splits.is_empty();
    let values = &host.values;
    let fixed = |value: f64| NumberFormat::default().float(value, values.dtype());
    match values {
        HostValues::Bool(v) => out.push_text(format_args!("{}", v[i])),
        HostValues::U8(v) => out.push_text(format_args!("{}", v[i])),
        HostValues::I8(v) => out.push_text(format_args!("{}", v[i])),
        HostValues::U16(v) => out.push_text(format_args!("{}", v[i])),
        HostValues::I16(v) => out.push_text(format_args!("{}", v[i])),
        HostValues::U32(v) => out.push_text(format_args!("{}", v[i])),
        HostValues::I32(v) => out.push_text(format_args!("{}", v[i])),
        HostValues::U64(v) => out.push_text(format_args!("{}", v[i])),
        HostValues::I64(v) => out.push_text(format_args!("{}", v[i])),
        HostValues::F16(v) if is_ragged => out.push(fixed(v[i].to_f64()).as_bytes()),
        HostValues::BF16(v) if is_ragged => out.push(fixed(v[i].to_f64()).as_bytes()),
        HostValues::F32(v) if is_ragged => out.push(fixed(v[i].into()).as_bytes()),
        HostValues::F64(v) if is_ragged => out.push(fixed(v[i]).as_bytes()),
        HostValues::F16(v) => out.push_text(format_args!("{}", v[i])),
        HostValues::BF16(v) => out.push_text(format_args!("{}", v[i])),
        HostValues::F32(v) => out.push_text(format_args!("{}", v[i])),
        HostValues::F64(v) => out.push_text(format_args!("{}", v[i])),
        HostValues::Str(v) if is_ragged => {
            out.push(b"'")?;
            for part in v[i].split_inclusive(|b| matches!(b, b'\'' | b'\\')) {
                match part.split_last() {
                    Some((last @ (b'\'' | b'\\'), before)) => {
                        out.push(before)?;
                        out.push(&[b'\\', *last])?;
                    }
                    _ => out.push(part)?,
                }
            }
            out.push(b"'")
        }
        HostValues::Str(v) => {
            out.push(b"\"")?;
            out.push(&v[i])?;
            out.push(b"\"")
        }
    }
}
