//! Shapes as values: construction from lengths, comparison, slices, broadcasts.

use ragged::{DType, Device, Error, HostTensor, HostValues, Lengths, RaggedShape, RaggedTensor, Tensor};

use crate::common::devices_and_unfused_cpu as backends;
use crate::lists::{nrows, rank, samples, unknown};
use crate::nest::on;

#[test]
fn a_shape_from_lengths_has_these_lengths() {
    for x in samples(400, 40) {
        for (name, device) in backends() {
            for t in [on(&x, device), unknown(&x, device)] {
                let shape = t.ragged_shape();
                let lengths = shape.lengths().expect("lengths");
                assert_eq!(lengths[0], Lengths::Uniform(nrows(&x) as i64));
                let made = RaggedShape::from_lengths(&lengths, device).expect("a shape");
                assert_eq!(made.lengths().expect("lengths"), lengths, "{x:?} on {name}");
                assert!(made.equals(shape).expect("a comparison") && shape.equals(&made).expect("a comparison"));
                let deep = made.with_ragged_rank(x.nested_row_splits.len()).expect("its own ragged rank");
                let zeros = Tensor::zeros(&deep, DType::I32).and_then(|t| t.to_host()).expect("zeros");
                assert_eq!(zeros.nested_row_splits, x.nested_row_splits, "{x:?} on {name}");
                assert_eq!(zeros.uniform_row_lengths, x.uniform_row_lengths, "{x:?} on {name}");
                assert_eq!(zeros.inner_shape, x.inner_shape, "{x:?} on {name}");
                let more = t.expand_dims(-1).expect("one more dimension");
                assert!(!more.ragged_shape().equals(shape).expect("a comparison"));
            }
        }
    }
}

#[test]
fn shapes_of_other_rows_are_not_equal() {
    let make = |lengths: &[i64], device: &Device| RaggedShape::from_lengths(&[2.into(), lengths.into()], device);
    for (_, device) in backends() {
        let (a, b) = (make(&[1, 2], device).expect("a shape"), make(&[2, 1], device).expect("a shape"));
        assert!(!a.equals(&b).expect("a comparison") && a.equals(&a.clone()).expect("a comparison"));
        // Rows that only the device knows.
        let x = Tensor::zeros(&a, DType::I32).expect("zeros");
        let longer = Tensor::concat(&[&x, &x], 1).and_then(|x| x.slice(ragged::s![.., 1..])).expect("rows of 1 and 3");
        assert!(!longer.ragged_shape().equals(&a).expect("a comparison"));
        assert!(longer.ragged_shape().equals(&make(&[1, 3], device).expect("a shape")).expect("a comparison"));
    }
}

#[test]
fn a_slice_of_a_shape_is_the_shape_of_the_outer_dimensions() {
    for x in samples(500, 30) {
        let shape = on(&x, &Device::cpu()).ragged_shape().clone();
        let lengths = shape.lengths().expect("lengths");
        for stop in 0..=rank(&x) {
            let got = shape.slice(..stop as i64).expect("the outer dimensions");
            assert_eq!(got.lengths().expect("lengths"), lengths[..stop]);
            for start in 1..=stop {
                let regular = lengths[..stop].iter().all(|l| matches!(l, Lengths::Uniform(_)));
                match shape.slice(start as i64..stop as i64) {
                    Ok(got) => assert_eq!(got.lengths().expect("lengths"), lengths[start..stop]),
                    Err(Error::Argument { .. }) => assert!(!regular && start < stop, "{start}..{stop} of {shape}"),
                    Err(e) => panic!("{e}"),
                }
            }
        }
        let last = shape.rank() as i64 - 1;
        assert_eq!(shape.slice(..=-1).expect("all").rank(), shape.rank());
        assert_eq!(shape.slice(..-1).expect("all but the last").rank() as i64, last);
        assert_eq!(shape.slice(..i64::MAX).expect("all").rank(), shape.rank());
        assert_eq!(shape.slice(..i64::MIN).expect("none").rank(), 0);
    }
}

#[test]
fn typed_tensors_stay_typed() {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device).expect("rows");
    let shape = x.ragged_shape();
    assert_eq!(RaggedTensor::<f32>::ones(shape).and_then(|t| t.to_vec()).expect("ones"), [1.0; 3]);
    assert_eq!(RaggedTensor::<bool>::zeros(shape).and_then(|t| t.to_vec()).expect("zeros"), [false; 3]);
    assert_eq!(RaggedTensor::<i32>::fill(shape, 4).and_then(|t| t.to_vec()).expect("a value"), [4; 3]);
    let parts = x.split([1, 1], 0).expect("two pieces");
    assert_eq!(parts[0].to_vec().expect("a read"), [1, 2]);
    assert_eq!(shape.text(), "[2, None]");
}

#[test]
fn a_shape_broadcast_with_itself_has_each_condition_once() {
    for (name, device) in backends() {
        let host = HostTensor::from_row_splits(vec![0, 2, 2, 5], HostValues::I32((0..5).collect()));
        let splits = |of: &[i64]| HostTensor::dense(&[of.len()], HostValues::I64(of.to_vec())).to_device(device);
        let shape_of = |of: &[i64]| {
            let values = HostTensor::dense(&[5], host.values.clone()).to_device(device)?;
            Ok::<_, Error>(Tensor::from_row_splits(&values, &splits(of)?)?.ragged_shape().clone())
        };
        // Only the device can compare device-known splits.
        let other = shape_of(&[0, 2, 2, 5]).expect("rows");
        let mut shape = shape_of(&[0, 2, 2, 5]).and_then(|s| s.broadcast(&other)).expect("recorded");
        for _ in 0..40 {
            shape = shape.broadcast(&shape).and_then(|s| s.broadcast(&other)).expect("recorded");
        }
        let ones = Tensor::ones(&shape, DType::I32).and_then(|t| t.to_host()).expect("equal rows");
        assert_eq!(ones.nested_row_splits, host.nested_row_splits, "{name}");
        let unlike = shape_of(&[0, 1, 2, 5]).and_then(|s| s.broadcast(&other)).expect("recorded");
        assert!(Tensor::ones(&unlike, DType::I32).and_then(|t| t.to_host()).is_err(), "{name}");
    }
}

/// The row partitions and the inner shape are the encoding that the constructor takes.
#[test]
fn a_shape_is_made_again_of_its_partitions_and_inner_shape() {
    for x in samples(950, 40) {
        for (name, device) in backends() {
            for t in [on(&x, device), unknown(&x, device)] {
                let shape = t.ragged_shape();
                let inner = shape.inner_shape();
                assert_eq!(inner.len(), shape.inner_rank(), "{x:?} on {name}");
                if shape.ragged_rank() == 0 && inner.first() == Some(&-1) {
                    // A dense shape whose outermost size only the device knows.
                    assert!(RaggedShape::from_row_partitions(shape.row_partitions(), &inner, device).is_err());
                    continue;
                }
                let made = RaggedShape::from_row_partitions(shape.row_partitions(), &inner, device);
                let made = made.unwrap_or_else(|e| panic!("{x:?} on {name}: {e}"));
                assert!(made.equals(shape).expect("a comparison"), "{x:?} on {name}");
                assert_eq!(made.inner_shape(), shape.inner_shape(), "{x:?} on {name}");
                assert_eq!((made.rank(), made.ragged_rank()), (shape.rank(), shape.ragged_rank()), "{x:?} on {name}");
            }
            let known = on(&x, device).ragged_shape().inner_shape();
            assert!(known.iter().zip(&x.inner_shape).all(|(&a, &b)| a == b as i64), "{known:?} of {x:?} on {name}");
        }
    }
}
