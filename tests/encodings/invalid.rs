//! Invalid lists, levels and lengths for checked constructors.

use ragged::opt::{UniformRows, with_nrows};
use ragged::{DType, Device, Error, HostTensor, HostValues, RowPartition, Tensor};

use crate::common;
use crate::lists::{CHECKED, REFUSED, ints, unknown, vector};

#[test]
fn invalid_host_lists_are_errors_that_name_the_first_offender() {
    let values = vector(&[1, 2, 3, 4], &Device::cpu());
    for (factory, given, words) in REFUSED {
        let (name, make) = CHECKED[factory];
        let e = make(&values, given.into()).expect_err(name).to_string();
        assert!(e.contains(words), "{name} of {given:?} says {e:?}, which lacks {words:?}");
    }
}

#[test]
fn invalid_device_lists_are_errors_at_the_read() {
    for (label, device) in common::devices().into_iter().filter(|(_, d)| common::has(d, DType::I64)) {
        let values = vector(&[1, 2, 3, 4], &device);
        for (factory, given, _) in REFUSED {
            let (name, make) = CHECKED[factory];
            let on_device = vector(given, &device);
            let outcome = make(&values, (&on_device).into()).and_then(|t| t.to_host());
            assert!(outcome.is_err(), "{label}: {name} of {given:?} on the device gives {outcome:?}");
        }
    }
}

#[test]
fn invalid_lists_for_a_device_known_number_of_values_are_errors() {
    for (label, device) in common::devices().into_iter().filter(|(_, d)| common::has(d, DType::I64)) {
        for (factory, given, _) in REFUSED {
            let (name, make) = CHECKED[factory];
            let outcome = make(&unknown(4, &device), given.into()).and_then(|t| t.to_host());
            assert!(outcome.is_err(), "{label}: {name} of {given:?} for unknown values gives {outcome:?}");
        }
        let uniform = |len, nrows| {
            Tensor::from_uniform_row_length(&unknown(4, &device), UniformRows::from(len).nrows(nrows))?.to_host()
        };
        assert!(uniform(3, None).is_err() && uniform(2, Some(3)).is_err() && uniform(0, None).is_err(), "{label}");
        assert_eq!(uniform(2, None).expect("two rows").nested_row_splits, [[0, 2, 4]], "{label}");
    }
}

#[test]
fn a_failed_condition_names_the_call() {
    let device = Device::cpu();
    let splits = vector(&[0, 3, 2, 4], &device);
    let x = Tensor::from_row_splits(&vector(&[1, 2, 3, 4], &device), &splits).expect("recorded");
    let Err(Error::Check { op, at, location, .. }) = x.to_host() else { panic!("the condition must fail") };
    assert_eq!((op, at), ("from_row_splits", 1));
    assert!(location.file().contains("invalid.rs"), "{location}");
    assert!(x.to_string().contains("failed: from_row_splits: "), "{x}");
    // The arguments stay valid.
    assert_eq!(ints(&splits), [0, 3, 2, 4]);
}

#[test]
fn scalars_and_floats_are_no_row_partitions() {
    let device = Device::cpu();
    let scalar = HostTensor::dense(&[], HostValues::I32(vec![5])).to_device(&device).expect("a scalar");
    let values = vector(&[1, 2], &device);
    let floats = HostTensor::dense(&[2], HostValues::F32(vec![0.0, 2.0])).to_device(&device).expect("floats");
    let matrix = HostTensor::dense(&[1, 2], HostValues::I32(vec![0, 2])).to_device(&device).expect("a matrix");
    for (name, make) in CHECKED {
        assert!(make(&scalar, [0, 1].into()).is_err(), "{name}");
        assert!(make(&values, (&floats).into()).is_err(), "{name}");
        assert!(make(&values, (&matrix).into()).is_err(), "{name}");
    }
    assert!(Tensor::from_uniform_row_length(&scalar, 1).is_err());
    assert!(Tensor::from_uniform_row_length(&values, -1).is_err());
    assert!(Tensor::from_uniform_row_length(&values, with_nrows(1, -2)).is_err());
    assert!(Tensor::from_value_rowids(&values, with_nrows([0, 1], 1)).is_err());
    assert!(Tensor::from_value_rowids(&values, with_nrows([0, 1], -1)).is_err());
    assert!(Tensor::from_value_rowids(&values, [0, i64::MAX]).is_err());
}

#[test]
fn inconsistent_levels_are_errors() {
    let values = vector(&[1, 2, 3], &Device::cpu());
    let e = Tensor::from_nested_row_splits(&values, [[0, 3].as_slice(), &[0, 2, 3]]).expect_err("three rows of two");
    assert!(e.to_string().contains("at level 0") && e.to_string().contains("there are 2 values"), "{e}");
    let rows = RowPartition::from_row_lengths([1, 1], &Device::cpu()).expect("rows");
    assert!(Tensor::from_row_partitions(&values, &[rows]).is_err());
    let rows = RowPartition::from_row_lengths([1, 2], &Device::cpu()).expect("rows");
    let outer = RowPartition::from_uniform_row_length(2, 2, &Device::cpu()).expect("rows");
    let x = Tensor::from_row_partitions(&values, &[outer, rows]).expect("fits");
    assert_eq!(x.to_string(), "<ragged.RaggedTensor [[[1], [2, 3]]]>");
}
