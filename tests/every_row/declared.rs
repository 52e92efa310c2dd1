//! The declarations of operations against their behaviour: the dtypes that are accepted, and the dtypes of the results.

use std::collections::{BTreeMap, BTreeSet};

use ragged::operation::{Owner, ResultDType, Results};
use ragged::{DType, Device, Error, RaggedTensor, Result, Tensor};

use crate::laws;
use crate::table::Law;

const DTYPES: [DType; 14] = DType::ALL;

/// Two vectors of ones, a scalar and a table: arguments of a dtype that any operation on vectors takes.
fn arguments(dtype: DType, device: &Device) -> Result<[Tensor; 4]> {
    let words = RaggedTensor::from_nested(["1", "1", "1"], device)?.into_erased();
    let ones = RaggedTensor::from_nested([1, 1, 1], device)?.into_erased();
    let x = if dtype == DType::Str { words } else { ones.cast(dtype)? };
    let one = RaggedTensor::from_nested([1i64], device)?.into_erased().reduce_sum(0)?;
    let table = RaggedTensor::from_nested([[1.0f32, 2.0], [3.0, 4.0]], device)?.into_erased();
    Ok([x.clone(), x, one, table])
}

/// Operations whose other operand has dtypes of its own.
const OTHER_OPERAND: [&str; 2] = ["batch_gather_with_default", "bincount_weighted"];

/// Operations that a tensor has for another dtype too, which a typed tensor does not offer.
const WIDER: [(&str, &str); 4] = [
    ("negative", "of unsigned integers wraps"),
    ("leaky_relu", "of integers is that of their values in f32, as in TensorFlow"),
    ("as_string", "of strings is the strings"),
    ("as_string_with", "of strings is the strings"),
];

/// Whether an entry is calls of its operation on the first argument, whose dtype is that of the operation.
fn is_call(law: &Law) -> bool {
    let text: String = law.text.split_whitespace().collect();
    let is_one = !text.contains('?') && text.starts_with(&format!("x.{}(", law.name));
    (is_one || is_pair(law)) && !OTHER_OPERAND.contains(&law.name)
}

/// Whether an entry is two calls with one other operand each.
fn is_pair(law: &Law) -> bool {
    let text: String = law.text.split_whitespace().collect();
    text == format!("Ok(vec![x.{0}(y)?,x.{0}(x)?])", law.name)
}

/// What the entry gives for arguments of a dtype.
fn outcome(law: &Law, dtype: DType, device: &Device) -> Result<Vec<DType>> {
    let [x, y, k, t] = arguments(dtype, device).expect("arguments");
    let results = (law.tensor)(&x, &y, &k, &t)?;
    let of_one_call = if is_pair(law) { 1 } else { results.len() };
    Ok(results[..of_one_call].iter().map(Tensor::dtype).collect())
}

/// The dtypes of results that the declaration tells; `None` for one that an argument determines.
fn declared(results: Results, dtype: DType, count: usize) -> Vec<Option<DType>> {
    let of = |result: ResultDType| result.of(dtype);
    match results {
        Results::List(result) => vec![of(result.dtype); count],
        other => other.iter().map(|result| of(result.dtype)).collect(),
    }
}

#[test]
fn operations_take_and_give_the_declared_dtypes() {
    let device = Device::cpu();
    let operations: BTreeMap<&str, _> =
        ragged::operations().filter(|o| o.owners.contains(Owner::Tensor)).map(|o| (o.name, o)).collect();
    let (mut faults, mut compared) = (BTreeSet::new(), BTreeSet::new());
    for law in laws().iter().filter(|law| is_call(law)) {
        let Some(operation) = operations.get(law.name) else { continue };
        compared.insert(law.name);
        for dtype in DTYPES {
            let outcome = outcome(law, dtype, &device);
            let is_declared = operation.elements.contains(&dtype);
            match outcome {
                Ok(_) if !is_declared && WIDER.iter().any(|(name, _)| *name == law.name) => {}
                Ok(_) if !is_declared => {
                    faults.insert(format!("{} takes {dtype}, which is not declared", law.name));
                }
                Ok(results) => {
                    let want = declared(operation.results, dtype, results.len());
                    let same = |(got, want): (&DType, &Option<DType>)| want.is_none_or(|want| want == *got);
                    if results.len() != want.len() || !results.iter().zip(&want).all(same) {
                        faults.insert(format!("{} of {dtype} gives {results:?}, declared: {want:?}", law.name));
                    }
                }
                Err(Error::Unsupported { .. }) if is_declared => {
                    faults.insert(format!("{} refuses {dtype}, which is declared", law.name));
                }
                // Refused, or another error of this call that is not one of the dtype: a number does not fit.
                Err(_) => {}
            }
        }
    }
    let faults: Vec<String> = faults.into_iter().collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(compared.len() > 150, "only {} operations: {compared:?}", compared.len());
}
