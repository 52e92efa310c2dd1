//! Comparison of a result with the expected one.

use ragged::{HostTensor, HostValues};
use serde_json::Value as Json;

use crate::case::{Case, Sparse, Value, f64_of, ints};
use crate::got::{Read, Records};
use crate::quirk;

type Tol = Option<(f64, f64)>;

/// Compares a result with the expected one; the error describes the difference.
pub fn compare(case: &Case, want: &Value, got: &Read) -> Result<(), String> {
    let plain = value(want, got, case.tol);
    if plain.is_err() && case.quirk {
        let (Some(wide), Read::Tensor { tensor, .. }) = (quirk::wide_mean(case), got) else { return plain };
        return values(&HostValues::F64(wide), &tensor.values, case.tol);
    }
    plain
}

fn value(want: &Value, got: &Read, tol: Tol) -> Result<(), String> {
    match (want, got) {
        (Value::Tensor(want), Read::Tensor { tensor, index }) => tensors(want, tensor, *index, tol),
        (Value::Tensor(want), Read::Json(got)) => json(&nested(want), got, tol),
        (Value::Tensor(want), Read::Shape(got)) => json(&nested(want), &serde_json::json!(got), tol),
        (Value::Py(want), Read::Json(got)) => json(want, got, tol),
        (Value::Shape(want), Read::Shape(got)) => equal("shape", want, got),
        (Value::Sparse(want), Read::Sparse(got)) => sparse(want, got, tol),
        (Value::List(want), Read::List(got)) => {
            equal("number of results", &want.len(), &got.len())?;
            for (i, (want, got)) in want.iter().zip(got).enumerate() {
                value(want, got, tol).map_err(|e| format!("result {i}: {e}"))?;
            }
            Ok(())
        }
        (
            Value::RaggedShape { row_splits, uniform, inner_shape },
            Read::RaggedShape { row_splits: s, uniform: u, inner_shape: i },
        ) => {
            equal("row_splits", row_splits, s)?;
            equal("uniform", uniform, u)?;
            equal("inner_shape", inner_shape, i)
        }
        (Value::RowPartition { splits }, Read::RowPartition { splits: got }) => equal("splits", splits, got),
        (Value::Struct(want), Read::Records(got)) => records(want, got, tol),
        _ => Err(format!("wanted {}, got {}", short(want), short(got))),
    }
}

/// Compares records: the shape, the row partitions, the number of rows, every field, and the values as JSON.
fn records(want: &Json, got: &Records, tol: Tol) -> Result<(), String> {
    let parts = &want["struct"];
    json(&parts["rank"], &got.shape.len().into(), None).map_err(|e| format!("rank: {e}"))?;
    json(&parts["shape"], &serde_json::json!(got.shape), None).map_err(|e| format!("shape: {e}"))?;
    let splits = serde_json::json!(got.row_partitions);
    json(&parts["row_partitions"], &splits, None).map_err(|e| format!("row_partitions: {e}"))?;
    let nrows = got.nrows.as_ref().map_or(Json::Null, nested);
    json(&parts["nrows"], &nrows, None).map_err(|e| format!("nrows: {e}"))?;
    let fields = parts["fields"].as_object().ok_or("no fields")?;
    let names = |names: Vec<&String>| names.into_iter().cloned().collect::<std::collections::BTreeSet<String>>();
    equal("fields", &names(fields.keys().collect()), &names(got.fields.iter().map(|(name, _)| name).collect()))?;
    for (name, got) in &got.fields {
        let want = Value::parse(&fields[name])?;
        value(&want, got, tol).map_err(|e| format!("field {name}: {e}"))?;
    }
    match (want.get("pyval"), &got.pyval) {
        (Some(want), Some(got)) => json(want, got, tol).map_err(|e| format!("pyval: {e}")),
        _ => Ok(()),
    }
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, want: &T, got: &T) -> Result<(), String> {
    if want == got { Ok(()) } else { Err(format!("{what}: wanted {}, got {}", short(want), short(got))) }
}

/// The debug text, truncated to a readable length.
pub fn short(v: &dyn std::fmt::Debug) -> String {
    const MOST: usize = 400;
    let text = format!("{v:?}");
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn tensors(want: &HostTensor, got: &HostTensor, index: bool, tol: Tol) -> Result<(), String> {
    equal("nested_row_splits", &want.nested_row_splits, &got.nested_row_splits)?;
    equal("inner_shape", &want.inner_shape, &got.inner_shape)?;
    if index && want.values.dtype().is_integer() && got.values.dtype().is_integer() {
        return equal("values", &ints(want), &ints(got));
    }
    values(&want.values, &got.values, tol)
}

fn sparse(want: &Sparse, got: &Sparse, tol: Tol) -> Result<(), String> {
    equal("dense_shape", &want.dense_shape, &got.dense_shape)?;
    equal("indices", &want.indices, &got.indices)?;
    values(&want.values, &got.values, tol)
}

/// Compares exactly up to the sign of zero and the payload of NaN, or within the tolerance.
fn close(want: f64, got: f64, tol: Tol) -> bool {
    if want == got || (want.is_nan() && got.is_nan()) {
        return true;
    }
    let Some((relative, absolute)) = tol else { return false };
    want.is_finite() && got.is_finite() && (got - want).abs() <= absolute + relative * want.abs()
}

fn values(want: &HostValues, got: &HostValues, tol: Tol) -> Result<(), String> {
    equal("dtype", &want.dtype(), &got.dtype())?;
    equal("number of values", &want.len(), &got.len())?;
    let floats = |v: &HostValues| -> Option<Vec<f64>> {
        match (v, tol) {
            (HostValues::F16(v), _) => Some(v.iter().map(|&f| f.into()).collect()),
            (HostValues::BF16(v), _) => Some(v.iter().map(|&f| f.into()).collect()),
            (HostValues::F32(v), _) => Some(v.iter().map(|&f| f.into()).collect()),
            (HostValues::F64(v), _) => Some(v.clone()),
            (HostValues::Bool(_) | HostValues::Str(_), _) | (_, None) => None,
            (_, Some(_)) => Some(ints_of(v)),
        }
    };
    let off = match (floats(want), floats(got)) {
        (Some(w), Some(g)) => w.iter().zip(&g).position(|(&w, &g)| !close(w, g, tol)),
        _ if want == got => None,
        _ => Some(first_difference(want, got)),
    };
    match off {
        None => Ok(()),
        Some(at) => Err(format!("values differ from position {at} on: wanted {}, got {}", short(want), short(got))),
    }
}

/// Integers as floats, for the few integer results that have a tolerance.
fn ints_of(v: &HostValues) -> Vec<f64> {
    let t = HostTensor::dense(&[v.len()], v.clone());
    ints(&t).into_iter().map(|n| n as f64).collect()
}

fn first_difference(want: &HostValues, got: &HostValues) -> usize {
    fn at<T: PartialEq>(a: &[T], b: &[T]) -> usize {
        a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(0)
    }
    match (want, got) {
        (HostValues::Bool(a), HostValues::Bool(b)) => at(a, b),
        (HostValues::U8(a), HostValues::U8(b)) => at(a, b),
        (HostValues::I8(a), HostValues::I8(b)) => at(a, b),
        (HostValues::U16(a), HostValues::U16(b)) => at(a, b),
        (HostValues::I16(a), HostValues::I16(b)) => at(a, b),
        (HostValues::I32(a), HostValues::I32(b)) => at(a, b),
        (HostValues::U32(a), HostValues::U32(b)) => at(a, b),
        (HostValues::I64(a), HostValues::I64(b)) => at(a, b),
        (HostValues::U64(a), HostValues::U64(b)) => at(a, b),
        (HostValues::Str(a), HostValues::Str(b)) => at(a, b),
        _ => 0,
    }
}

/// A tensor as nested lists.
fn nested(t: &HostTensor) -> Json {
    let float = |f: f64| match f {
        f if f.is_nan() => Json::from("nan"),
        f if f.is_infinite() => Json::from(if f > 0.0 { "inf" } else { "-inf" }),
        f => Json::from(f),
    };
    let mut flat: Vec<Json> = match &t.values {
        HostValues::Bool(v) => v.iter().map(|&b| b.into()).collect(),
        HostValues::F16(v) => v.iter().map(|&f| float(f.into())).collect(),
        HostValues::BF16(v) => v.iter().map(|&f| float(f.into())).collect(),
        HostValues::F32(v) => v.iter().map(|&f| float(f.into())).collect(),
        HostValues::F64(v) => v.iter().map(|&f| float(f)).collect(),
        HostValues::Str(v) => v.iter().map(|s| String::from_utf8_lossy(s).into()).collect(),
        HostValues::U64(v) => v.iter().map(|&n| n.into()).collect(),
        _ => ints(t).into_iter().map(Json::from).collect(),
    };
    for k in (1..t.inner_shape.len()).rev() {
        let count = t.inner_shape[..k].iter().product::<usize>();
        let dim = t.inner_shape[k];
        let mut rest = flat.into_iter();
        flat = (0..count).map(|_| rest.by_ref().take(dim).collect::<Json>()).collect();
    }
    for splits in t.nested_row_splits.iter().rev() {
        let mut rest = flat.into_iter();
        flat = splits.windows(2).map(|w| rest.by_ref().take((w[1] - w[0]) as usize).collect()).collect();
    }
    if t.inner_shape.is_empty() { flat.remove(0) } else { Json::Array(flat) }
}

/// Compares plain values: numbers by value, everything else exactly.
fn json(want: &Json, got: &Json, tol: Tol) -> Result<(), String> {
    let differ = || Err(format!("wanted {}, got {}", short(&want.to_string()), short(&got.to_string())));
    match (want, got) {
        (Json::Array(w), Json::Array(g)) if w.len() == g.len() => {
            w.iter().zip(g).enumerate().try_for_each(|(i, (w, g))| json(w, g, tol).map_err(|e| format!("[{i}]: {e}")))
        }
        (Json::Object(w), Json::Object(g)) if w.len() == g.len() => {
            w.iter().try_for_each(|(key, w)| match g.get(key) {
                Some(g) => json(w, g, tol).map_err(|e| format!("{key}: {e}")),
                None => differ(),
            })
        }
        (Json::Number(w), Json::Number(g)) if w == g => Ok(()),
        (Json::Number(_), Json::Number(_)) => match (f64_of(want), f64_of(got)) {
            (Ok(w), Ok(g)) if (want.is_f64() || got.is_f64()) && close(w, g, tol) => Ok(()),
            _ => differ(),
        },
        _ if want == got => Ok(()),
        _ => differ(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_follows_splits_and_inner_shape() {
        let t = HostTensor {
            nested_row_splits: vec![vec![0, 2, 2, 3]],
            uniform_row_lengths: vec![None],
            inner_shape: vec![3, 2],
            values: HostValues::I32((1..=6).collect()),
        };
        assert_eq!(nested(&t), serde_json::json!([[[1, 2], [3, 4]], [], [[5, 6]]]));
        assert_eq!(nested(&HostTensor::dense(&[], HostValues::Bool(vec![true]))), serde_json::json!(true));
        assert_eq!(nested(&HostTensor::dense(&[2, 0], HostValues::I32(vec![]))), serde_json::json!([[], []]));
    }

    #[test]
    fn floats_are_exact_or_within_the_tolerance() {
        assert!(close(0.0, -0.0, None));
        assert!(close(f64::NAN, f64::NAN, None));
        assert!(!close(1.0, 1.0 + f64::EPSILON, None));
        assert!(close(100.0, 101.0, Some((0.01, 0.0))));
        assert!(!close(100.0, 101.1, Some((0.01, 0.0))));
        assert!(!close(f64::INFINITY, f64::MAX, Some((1.0, 1.0))));
        assert!(!close(1.0, f64::NAN, Some((1.0, 1.0))));
    }

    #[test]
    fn a_dense_result_does_not_equal_a_ragged_one() {
        let dense = HostTensor::dense(&[2, 1], HostValues::I32(vec![1, 2]));
        let ragged = HostTensor {
            nested_row_splits: vec![vec![0, 1, 2]],
            uniform_row_lengths: vec![Some(1)],
            inner_shape: vec![2],
            values: HostValues::I32(vec![1, 2]),
        };
        assert!(tensors(&dense, &ragged, false, None).is_err());
        assert!(tensors(&dense, &dense, false, None).is_ok());
    }

    #[test]
    fn indices_compare_by_value() {
        let wide = HostTensor::dense(&[2], HostValues::I64(vec![1, 2]));
        let narrow = HostTensor::dense(&[2], HostValues::U32(vec![1, 2]));
        assert!(tensors(&wide, &narrow, true, None).is_ok());
        assert!(tensors(&wide, &narrow, false, None).is_err());
    }
}
