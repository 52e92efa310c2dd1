//! Cases and the values in them, as `FORMAT.md` of the case collection describes.

use base64::Engine as _;
use ragged::{DType, Device, Error, HostTensor, HostValues, Result, Tensor, bf16, f16};
use serde_json::{Map, Value as Json};

/// One line of a family's file.
#[derive(Debug, Clone)]
pub struct Case {
    pub id: String,
    pub op: String,
    pub inputs: Vec<Value>,
    pub attrs: Map<String, Json>,
    pub expected: Expected,
    /// Relative and absolute tolerance; `None` for exact equality.
    pub tol: Option<(f64, f64)>,
    /// The origin's error is a missing implementation: a result is accepted too.
    pub limitation: bool,
    /// The values depend on the iteration order: they are not compared.
    pub unspecified: bool,
    /// The origin's result is dubious: the mean in a wide accumulator is accepted too.
    pub quirk: bool,
}

/// The expected outcome of a case.
#[derive(Debug, Clone)]
pub enum Expected {
    Value(Value),
    /// The origin's error type and message, for information.
    Error(String),
}

/// A value of any kind in the cases.
#[derive(Debug, Clone)]
#[allow(dead_code, reason = "unsupported families use the rest")]
pub enum Value {
    Tensor(HostTensor),
    Sparse(Sparse),
    Py(Json),
    List(Vec<Value>),
    Dict(Vec<(String, Value)>),
    /// A static shape; `None` for a ragged or unknown dimension.
    Shape(Vec<Option<u64>>),
    RaggedShape {
        row_splits: Vec<Vec<u32>>,
        uniform: Vec<bool>,
        /// One case has a negative size.
        inner_shape: Vec<i64>,
    },
    RowPartition {
        splits: Vec<u32>,
    },
    /// A structured tensor: `struct` and `pyval` as in the file.
    Struct(Json),
    /// A tensor of an unsupported dtype: its name.
    Unsupported(String),
}

/// A sparse tensor.
#[derive(Debug, Clone)]
#[allow(dead_code, reason = "unsupported families use the rest")]
pub struct Sparse {
    /// One row of coordinates per value, row-major.
    pub indices: Vec<i64>,
    pub values: HostValues,
    pub dense_shape: Vec<i64>,
}

type Parse<T> = std::result::Result<T, String>;

/// A named member.
fn field<'a>(v: &'a Json, key: &str) -> Parse<&'a Json> {
    v.get(key).ok_or_else(|| format!("no {key:?} in {v}"))
}

/// A list whose elements `one` parses.
fn list<T>(v: &Json, one: impl Fn(&Json) -> Parse<T>) -> Parse<Vec<T>> {
    v.as_array().ok_or_else(|| format!("not a list: {v}"))?.iter().map(one).collect()
}

fn u32_of(v: &Json) -> Parse<u32> {
    v.as_u64().and_then(|n| n.try_into().ok()).ok_or_else(|| format!("not a u32: {v}"))
}
fn u64_of(v: &Json) -> Parse<u64> {
    v.as_u64().ok_or_else(|| format!("not a u64: {v}"))
}
fn i64_of(v: &Json) -> Parse<i64> {
    v.as_i64().ok_or_else(|| format!("not an i64: {v}"))
}
fn string_of(v: &Json) -> Parse<String> {
    Ok(v.as_str().ok_or_else(|| format!("not a string: {v}"))?.to_owned())
}

/// A number, or one of the strings for the three values that JSON lacks.
pub fn f64_of(v: &Json) -> Parse<f64> {
    match v.as_str() {
        Some("nan") => Ok(f64::NAN),
        Some("inf") => Ok(f64::INFINITY),
        Some("-inf") => Ok(f64::NEG_INFINITY),
        Some(_) => Err(format!("not a float: {v}")),
        None => v.as_f64().ok_or_else(|| format!("not a float: {v}")),
    }
}

impl Case {
    /// Reads one line.
    pub fn parse(line: &str) -> Parse<Self> {
        let v: Json = serde_json::from_str(line).map_err(|e| e.to_string())?;
        let flag = |key: &str| v.get(key).is_some_and(|f| f == true);
        let expected = if flag("error") {
            let part = |key: &str| v.get(key).and_then(Json::as_str).unwrap_or_default();
            Expected::Error(format!("{}: {}", part("error_type"), part("error_msg")))
        } else {
            Expected::Value(Value::parse(field(&v, "expected")?)?)
        };
        let tol = v.get("tol").map(|t| list(t, f64_of)).transpose()?;
        Ok(Self {
            id: string_of(field(&v, "id")?)?,
            op: string_of(field(&v, "op")?)?,
            inputs: list(field(&v, "inputs")?, Value::parse)?,
            attrs: field(&v, "attrs")?.as_object().cloned().unwrap_or_default(),
            expected,
            tol: tol.map(|t| (t[0], t[1])),
            limitation: flag("limitation"),
            unspecified: flag("unspecified"),
            quirk: flag("quirk"),
        })
    }

    /// The first unsupported dtype of the case.
    pub fn missing_dtype(&self) -> Option<String> {
        let attrs = ["dtype", "out_type"].iter().filter_map(|k| self.attrs.get(*k)?.as_str());
        let named = attrs.filter(|name| DType::from_name(name).is_none()).map(str::to_owned).next();
        let expected = match &self.expected {
            Expected::Value(v) => v.missing_dtype(),
            Expected::Error(_) => None,
        };
        named.or_else(|| self.inputs.iter().find_map(Value::missing_dtype)).or(expected)
    }

    /// Whether an input or the expected result has the dtype `dtype`.
    pub fn uses(&self, dtype: DType) -> bool {
        let named = ["dtype", "out_type"].iter().any(|k| self.attrs.get(*k).is_some_and(|v| v == dtype.name()));
        let expected = matches!(&self.expected, Expected::Value(v) if v.uses(dtype));
        named || expected || self.inputs.iter().any(|v| v.uses(dtype))
    }
}

/// Accessors of a case's arguments. They panic if an argument is missing or has another type, which the runner reports
/// as the case's failure.
#[allow(dead_code, reason = "families use what they need")]
impl Case {
    /// Input `i` in host memory.
    pub fn host(&self, i: usize) -> &HostTensor {
        match &self.inputs[i] {
            Value::Tensor(t) => t,
            other => panic!("input {i} is {other:?}, not a tensor"),
        }
    }
    /// Input `i` on the device.
    pub fn tensor(&self, i: usize, device: &Device) -> Result<Tensor> {
        self.host(i).to_device(device)
    }
    /// Every input on the device; a list counts as its elements.
    pub fn tensors(&self, device: &Device) -> Result<Vec<Tensor>> {
        fn add(v: &Value, device: &Device, out: &mut Vec<Tensor>) -> Result<()> {
            match v {
                Value::Tensor(t) => out.push(t.to_device(device)?),
                Value::List(all) => all.iter().try_for_each(|v| add(v, device, out))?,
                other => panic!("an input is {other:?}, not a tensor"),
            }
            Ok(())
        }
        let mut out = Vec::new();
        self.inputs.iter().try_for_each(|v| add(v, device, &mut out))?;
        Ok(out)
    }
    /// The integers of input `i`.
    pub fn ints(&self, i: usize) -> Vec<i64> {
        ints(self.host(i))
    }
    /// The integers of each tensor of input `i`, a list.
    pub fn int_lists(&self, i: usize) -> Vec<Vec<i64>> {
        let Value::List(all) = &self.inputs[i] else { panic!("input {i} is not a list") };
        all.iter()
            .map(|v| match v {
                Value::Tensor(t) => ints(t),
                other => panic!("input {i} holds {other:?}, not a tensor"),
            })
            .collect()
    }
    /// Input `i`, a plain value.
    pub fn py(&self, i: usize) -> &Json {
        match &self.inputs[i] {
            Value::Py(v) => v,
            other => panic!("input {i} is {other:?}, not a plain value"),
        }
    }
    /// An attribute; `None` if it is missing or null.
    pub fn attr(&self, key: &str) -> Option<&Json> {
        self.attrs.get(key).filter(|v| !v.is_null())
    }
    /// An integer attribute.
    pub fn attr_i64(&self, key: &str) -> Option<i64> {
        self.attr(key).map(|v| v.as_i64().unwrap_or_else(|| panic!("attribute {key} is {v}, not an integer")))
    }
    /// A float attribute.
    pub fn attr_f64(&self, key: &str) -> Option<f64> {
        self.attr(key).map(|v| f64_of(v).unwrap_or_else(|e| panic!("attribute {key}: {e}")))
    }
    /// A boolean attribute; false if it is missing.
    pub fn attr_bool(&self, key: &str) -> bool {
        self.attr(key).is_some_and(|v| v == true)
    }
    /// A string attribute.
    pub fn attr_str(&self, key: &str) -> Option<&str> {
        self.attr(key).map(|v| v.as_str().unwrap_or_else(|| panic!("attribute {key} is {v}, not a string")))
    }
    /// A dtype attribute.
    pub fn attr_dtype(&self, key: &str) -> Option<DType> {
        self.attr_str(key).map(|name| DType::from_name(name).unwrap_or_else(|| panic!("no dtype {name}")))
    }
    /// An attribute that is an integer or a list of them.
    pub fn attr_ints(&self, key: &str) -> Option<Vec<i64>> {
        self.attr(key).map(|v| match v.as_i64() {
            Some(one) => vec![one],
            None => list(v, i64_of).unwrap_or_else(|e| panic!("attribute {key}: {e}")),
        })
    }
    /// An attribute that is a list of integers and nulls.
    pub fn attr_dims(&self, key: &str) -> Option<Vec<Option<i64>>> {
        self.attr(key).map(|v| {
            let dim = |d: &Json| if d.is_null() { Ok(None) } else { i64_of(d).map(Some) };
            list(v, dim).unwrap_or_else(|e| panic!("attribute {key}: {e}"))
        })
    }
}

/// The integers of a tensor.
pub fn ints(t: &HostTensor) -> Vec<i64> {
    match &t.values {
        HostValues::U8(v) => v.iter().map(|&n| n.into()).collect(),
        HostValues::I8(v) => v.iter().map(|&n| n.into()).collect(),
        HostValues::U16(v) => v.iter().map(|&n| n.into()).collect(),
        HostValues::I16(v) => v.iter().map(|&n| n.into()).collect(),
        HostValues::I32(v) => v.iter().map(|&n| n.into()).collect(),
        HostValues::U32(v) => v.iter().map(|&n| n.into()).collect(),
        HostValues::I64(v) => v.clone(),
        HostValues::U64(v) => v.iter().map(|&n| n as i64).collect(),
        other => panic!("{} where integers belong", other.dtype()),
    }
}

/// The outcome of a call that does not compile with this crate's types: equivalent to an error at run time.
#[allow(dead_code, reason = "families use what they need")]
pub fn cannot_be_written<T>(op: &'static str, why: &str) -> Result<T> {
    Err(Error::Argument { op, what: format!("cannot be written: {why}"), location: std::panic::Location::caller() })
}

impl Value {
    pub fn parse(v: &Json) -> Parse<Self> {
        if let Some(py) = v.get("py") {
            return Ok(Self::Py(py.clone()));
        }
        if let Some(all) = v.get("list") {
            return Ok(Self::List(list(all, Self::parse)?));
        }
        if let Some(all) = v.get("dict") {
            let all = all.as_object().ok_or("a dict that is none")?;
            let pairs = all.iter().map(|(name, v)| Ok((name.clone(), Self::parse(v)?)));
            return Ok(Self::Dict(pairs.collect::<Parse<_>>()?));
        }
        if let Some(shape) = v.get("shape") {
            return Ok(Self::Shape(list(shape, |d| if d.is_null() { Ok(None) } else { u64_of(d).map(Some) })?));
        }
        if let Some(shape) = v.get("ragged_shape") {
            return Ok(Self::RaggedShape {
                row_splits: list(field(shape, "row_splits")?, |s| list(s, u32_of))?,
                uniform: list(field(shape, "uniform")?, |u| Ok(u == true))?,
                inner_shape: list(field(shape, "inner_shape")?, i64_of)?,
            });
        }
        if v.get("row_partition").is_some() {
            return Ok(Self::RowPartition { splits: list(field(v, "row_splits")?, u32_of)? });
        }
        if v.get("struct").is_some() {
            return Ok(Self::Struct(v.clone()));
        }
        let name = string_of(field(v, "dtype")?)?;
        let Some(dtype) = DType::from_name(&name) else { return Ok(Self::Unsupported(name)) };
        let base64 = v.get("encoding").is_some_and(|e| e == "base64");
        let values = host_values(dtype, field(v, "values")?, base64)?;
        if v.get("sparse").is_some() {
            return Ok(Self::Sparse(Sparse {
                indices: list(field(v, "indices")?, |row| list(row, i64_of))?.concat(),
                values,
                dense_shape: list(field(v, "dense_shape")?, i64_of)?,
            }));
        }
        let nested_row_splits = list(field(v, "nested_row_splits")?, |s| list(s, u32_of))?;
        let uniform_row_lengths = match v.get("uniform_row_lengths") {
            Some(all) => list(all, |u| if u.is_null() { Ok(None) } else { u32_of(u).map(Some) })?,
            None => vec![None; nested_row_splits.len()],
        };
        let inner_shape = list(field(v, "inner_shape")?, |d| u64_of(d).map(|d| d as usize))?;
        Ok(Self::Tensor(HostTensor { nested_row_splits, uniform_row_lengths, inner_shape, values }))
    }

    fn missing_dtype(&self) -> Option<String> {
        match self {
            Self::Unsupported(name) => Some(name.clone()),
            Self::List(all) => all.iter().find_map(Self::missing_dtype),
            Self::Dict(all) => all.iter().find_map(|(_, v)| v.missing_dtype()),
            _ => None,
        }
    }

    fn uses(&self, dtype: DType) -> bool {
        match self {
            Self::Tensor(t) => t.values.dtype() == dtype,
            Self::Sparse(s) => s.values.dtype() == dtype,
            Self::List(all) => all.iter().any(|v| v.uses(dtype)),
            Self::Dict(all) => all.iter().any(|(_, v)| v.uses(dtype)),
            _ => false,
        }
    }
}

/// Values of one dtype.
fn host_values(dtype: DType, v: &Json, base64: bool) -> Parse<HostValues> {
    let bytes = |v: &Json| -> Parse<Vec<u8>> {
        let text = string_of(v)?;
        if base64 {
            return base64::engine::general_purpose::STANDARD.decode(text).map_err(|e| e.to_string());
        }
        Ok(text.into_bytes())
    };
    fn int<T: TryFrom<i64>>(v: &Json) -> Parse<T> {
        i64_of(v)?.try_into().map_err(|_| format!("{v} is out of range"))
    }
    Ok(match dtype {
        DType::Bool => HostValues::Bool(list(v, |b| b.as_bool().ok_or_else(|| format!("not a bool: {b}")))?),
        DType::U8 => HostValues::U8(list(v, int)?),
        DType::I8 => HostValues::I8(list(v, int)?),
        DType::U16 => HostValues::U16(list(v, int)?),
        DType::I16 => HostValues::I16(list(v, int)?),
        DType::I32 => HostValues::I32(list(v, int)?),
        DType::U32 => HostValues::U32(list(v, int)?),
        DType::I64 => HostValues::I64(list(v, int)?),
        DType::U64 => HostValues::U64(list(v, u64_of)?),
        // The file contains exact values of these floats.
        DType::F16 => HostValues::F16(list(v, |f| Ok(f16::from_f32(f64_of(f)? as f32)))?),
        DType::BF16 => HostValues::BF16(list(v, |f| Ok(bf16::from_f32(f64_of(f)? as f32)))?),
        DType::F32 => HostValues::F32(list(v, |f| Ok(f64_of(f)? as f32))?),
        DType::F64 => HostValues::F64(list(v, f64_of)?),
        DType::Str => HostValues::Str(list(v, bytes)?),
        other => return Err(format!("the runner does not read {other}")),
    })
}
