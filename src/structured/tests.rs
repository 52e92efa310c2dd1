//! Unit tests: sharing of row partitions.

use super::*;
use crate::ops::Index;
use crate::tensor::{HostTensor, HostValues};

fn ragged(device: &Device) -> Tensor {
    HostTensor::from_row_splits(vec![0, 2, 2, 5], HostValues::I32(vec![1, 2, 3, 4, 5]))
        .to_device(device)
        .expect("valid")
}

/// Fails unless every field has the partitions of the records.
fn assert_shared(records: &StructuredTensor) {
    for leaf in records.leaves() {
        for (a, b) in records.row_partitions().iter().zip(leaf.partitions()) {
            assert!(a.same(b), "{records:?}");
        }
    }
}

#[test]
fn fields_of_equal_rows_share_the_partitions_of_the_records() {
    let device = Device::cpu();
    // Two uploads of equal splits.
    let (x, y) = (ragged(&device), ragged(&device));
    assert!(!x.partitions()[0].same(&y.partitions()[0]));
    let records = StructuredTensor::from_fields_and_rank([("x", &x), ("y", &y)], 2).expect("equal rows");
    assert_shared(&records);
    let inner = records.clone();
    let nested = records.with_updates([Update::set("inner", &inner), Update::set("z", ragged(&device))]);
    let nested = nested.expect("equal rows");
    assert_shared(&nested);
    let by_step = Index::ALL.step_by(-1);
    for part in [
        nested.get([Key::from(..), Key::from(1..)]),
        nested.get([Key::from(by_step)]),
        nested.get([Key::from(1..), Key::from(by_step)]),
        nested.expand_dims(0).map(Into::into),
        nested.expand_dims(1).map(Into::into),
        StructuredTensor::concat(&[&nested, &nested], 0).map(Into::into),
        StructuredTensor::concat(&[&nested, &nested], 1).map(Into::into),
        nested
            .gather(&HostTensor::dense(&[2], HostValues::I64(vec![2, 0])).to_device(&device).expect("valid"))
            .map(Into::into),
    ] {
        assert_shared(&part.expect("recorded").records().expect("records"));
    }
}
