//! Random nested lists, and their transfer to and from devices.

use proptest::prelude::*;
use ragged::arguments::{FromNested, IntoNested};
use ragged::{Device, Number, RaggedTensor};

use crate::common;

pub type Rows<T> = Vec<Vec<T>>;
pub type Groups<T> = Vec<Rows<T>>;

pub fn devices() -> impl Iterator<Item = &'static Device> {
    common::devices_and_unfused_cpu().iter().map(|(_, device)| device)
}

pub fn on<T: Number, N: IntoNested<T>>(rows: N, device: &Device) -> RaggedTensor<T> {
    RaggedTensor::from_nested(rows, device).expect("uploaded")
}

pub fn nested<T: Number, N: FromNested<T>>(t: ragged::Result<RaggedTensor<T>>) -> N {
    t.and_then(|t| t.to_nested_vec()).unwrap_or_else(|e| panic!("{e}"))
}

/// Rows of few different numbers, some of them empty, now and then a long one.
pub fn rows(longest: usize) -> impl Strategy<Value = Rows<i32>> {
    let row = prop_oneof![
        8 => prop::collection::vec(-3..4i32, 0..7),
        1 => prop::collection::vec(-9..9i32, 0..=longest),
    ];
    prop::collection::vec(row, 0..12)
}

pub fn config() -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if asked { ProptestConfig::default().cases } else { 16 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// `f` of each row.
pub fn each<T, U>(rows: &[Vec<T>], f: impl Fn(&[T]) -> Vec<U>) -> Rows<U> {
    rows.iter().map(|row| f(row)).collect()
}
