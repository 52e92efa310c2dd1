//! Round trips of random records, on every device, with the bits of the CPU backend.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use ragged::arguments::Index;
use ragged::{Device, FieldValue, Key, StructuredTensor};
use serde_json::{Map, Value, json};

use crate::common::{devices, outcome::bits};

/// The type of a random value.
#[derive(Debug, Clone)]
enum Type {
    Bool,
    Int,
    Float,
    Text,
    List(Box<Type>),
    Record(Vec<Type>),
}

fn types() -> impl Strategy<Value = Type> {
    let scalar = prop_oneof![Just(Type::Bool), Just(Type::Int), Just(Type::Float), Just(Type::Text)];
    scalar.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|of| Type::List(Box::new(of))),
            prop::collection::vec(inner, 0..4).prop_map(Type::Record),
        ]
    })
}

/// A value of the type, from random numbers.
fn value(of: &Type, numbers: &mut impl FnMut() -> u32) -> Value {
    match of {
        Type::Bool => json!(numbers().is_multiple_of(2)),
        Type::Int => json!(numbers() as i32 >> (numbers() % 32)),
        // The JSON of an f32 is its exact value.
        Type::Float => json!(f64::from((numbers() as i32 >> 8) as f32 / 64.0)),
        Type::Text => json!(
            "aé\"\\\n😀"[..]
                .chars()
                .cycle()
                .skip(numbers() as usize % 6)
                .take(numbers() as usize % 5)
                .collect::<String>()
        ),
        Type::List(of) => {
            let n = numbers() % 4;
            (0..n).map(|_| value(of, numbers)).collect()
        }
        Type::Record(fields) => {
            let fields = fields.iter().enumerate().map(|(k, of)| (format!("f{k}"), value(of, numbers)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
    }
}

/// Lists of records: of a rank, with a seed for the values.
fn records() -> impl Strategy<Value = (usize, Value)> {
    (prop::collection::vec(types(), 1..4), 0..3usize, any::<u64>()).prop_map(|(fields, rank, seed)| {
        let mut state = seed;
        let mut numbers = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as u32
        };
        let of = (0..rank).fold(Type::Record(fields), |of, _| Type::List(Box::new(of)));
        (rank, value(&of, &mut numbers))
    })
}

/// Whether a value below has no list that is empty at the level of records: such lists do not show that they hold
/// records.
fn shows_records(rank: usize, value: &Value) -> bool {
    let mut level = vec![value];
    for _ in 0..rank {
        level = level.into_iter().filter_map(Value::as_array).flatten().collect();
    }
    !level.is_empty()
}

/// The bits of every tensor.
fn all_bits(value: &FieldValue) -> Vec<String> {
    match value {
        FieldValue::Tensor(t) => vec![bits(&t.to_host().expect("read"))],
        FieldValue::Records(r) => r.fields().flat_map(|(_, field)| all_bits(field)).collect(),
        other => panic!("{other:?} of another kind"),
    }
}

/// Python's slice with a step of the outermost list.
fn sliced(value: &Value, step: i64) -> Value {
    let all = value.as_array().expect("a list");
    let chosen: Vec<&Value> = if step < 0 { all.iter().rev().collect() } else { all.iter().collect() };
    chosen.into_iter().step_by(step.unsigned_abs() as usize).cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    })]

    #[test]
    fn values_come_back((rank, want) in records()) {
        prop_assume!(shows_records(rank, &want));
        let mut cpu = None;
        for (name, device) in devices() {
            let x = StructuredTensor::from_serialize(&want, &device);
            let x = x.map_err(|e| TestCaseError::fail(format!("{name}: {e}")))?;
            prop_assert_eq!(x.rank(), rank);
            prop_assert_eq!(&x.to_value().expect("read"), &want, "{}", name);
            // The fields, assembled again.
            let fields = x.fields().map(|(name, field)| (name.to_owned(), field.clone())).collect::<Vec<_>>();
            if !fields.is_empty() {
                let again = StructuredTensor::from_fields_and_rank(fields, rank).expect("equal rows");
                prop_assert_eq!(&again.to_value().expect("read"), &want, "{}", name);
            }
            let bits = all_bits(&x.into());
            prop_assert_eq!(cpu.get_or_insert_with(|| bits.clone()), &bits, "{}", name);
        }
    }

    #[test]
    fn operations_have_equal_bits((rank, value) in records(), step in prop_oneof![-3i64..0, 1..4i64]) {
        prop_assume!(rank > 0 && shows_records(rank, &value));
        let mut cpu = None;
        for (name, device) in devices() {
            let x = StructuredTensor::from_serialize(&value, &device).expect("records");
            let part = x.get([Key::from(Index::ALL.step_by(step))]).expect("a slice").records().expect("records");
            prop_assert_eq!(part.to_value().expect("read"), sliced(&value, step), "{}", name);
            let twice = StructuredTensor::concat(&[&x, &part], 0).expect("equal fields");
            let merged = twice.expand_dims(0).expect("an axis").merge_dims(0, rank).expect("axes");
            let n = merged.shape()[0].unwrap_or(0) as i64;
            let ids = ragged::RaggedTensor::from_nested((0..n).rev().collect::<Vec<_>>(), &device).expect("a vector");
            let gathered = merged.gather(&ids).expect("indices");
            let bits = [twice, merged, gathered].map(|records| all_bits(&records.into()));
            prop_assert_eq!(cpu.get_or_insert_with(|| bits.clone()), &bits, "{}", name);
        }
    }
}

#[test]
fn empty_lists_of_records_come_back_as_lists() {
    let device = Device::cpu();
    let x = FieldValue::from_serialize(&json!([]), &device).expect("no values");
    assert_eq!(x.to_value().expect("read"), json!([]));
}
