//! The ragged operations that the sequence operations are made of, on other shapes and dtypes.

use proptest::prelude::*;
use ragged::opt::starting_at;
use ragged::{DType, HostTensor, HostValues, RaggedTensor, Result, Tensor};

use crate::common::random::Random;
use crate::common::{devices, devices_and_unfused_cpu, has, numbers};
use crate::sample::config;

/// The text of the result, which is the same on every device.
fn text(operation: impl Fn(&ragged::Device) -> Result<Tensor>) -> String {
    let texts: Vec<String> = devices_and_unfused_cpu()
        .iter()
        .map(|(name, device)| {
            operation(device).and_then(|t| t.check().map(|()| t.to_string())).unwrap_or_else(|e| panic!("{name}: {e}"))
        })
        .collect();
    assert!(texts.iter().all(|t| *t == texts[0]), "{texts:?}");
    texts[0].clone()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn slices_of_rows_of_rows(
        rows in prop::collection::vec(prop::collection::vec(prop::collection::vec(-9..9i32, 0..5), 0..6), 0..9),
        seed in any::<u32>(),
    ) {
        let mut random = Random(seed.into());
        let starts: Vec<i64> = rows.iter().map(|row| random.below(row.len() as u32 + 1).into()).collect();
        let lengths: Vec<i64> = rows
            .iter()
            .zip(&starts)
            .map(|(row, &start)| random.below(row.len() as u32 - start as u32 + 1).into())
            .collect();
        let part = |(row, (&start, &n)): (&Vec<Vec<i32>>, (&i64, &i64))| row[start as usize..(start + n) as usize].to_vec();
        let want: Vec<Vec<Vec<i32>>> = rows.iter().zip(starts.iter().zip(&lengths)).map(part).collect();
        for (_, device) in devices() {
            let x = RaggedTensor::from_nested(rows.clone(), &device).unwrap();
            let got: Vec<Vec<Vec<i32>>> = x.slice_rows(&starts, &lengths).unwrap().to_nested_vec().unwrap();
            prop_assert_eq!(&got, &want);
        }
    }

    #[test]
    fn updates_of_ragged_rows(rows in prop::collection::vec(prop::collection::vec(-9..9i64, 0..7), 0..9), seed in any::<u32>()) {
        let mut random = Random(seed.into());
        let mut want = rows.clone();
        let (mut at, mut updates) = (Vec::new(), Vec::new());
        for row in &mut want {
            let number = if row.is_empty() { 0 } else { random.below(6) };
            let own: Vec<i32> = (0..number).map(|_| random.below(row.len() as u32) as i32).collect();
            let new: Vec<i64> = own.iter().map(|_| i64::from(random.below(100))).collect();
            own.iter().zip(&new).for_each(|(&i, &v)| row[i as usize] += v);
            at.push(own);
            updates.push(new);
        }
        for (_, device) in devices() {
            let x = RaggedTensor::from_nested(rows.clone(), &device).unwrap();
            let at = RaggedTensor::from_nested(at.clone(), &device).unwrap();
            let updates = RaggedTensor::from_nested(updates.clone(), &device).unwrap();
            let got: Vec<Vec<i64>> = x.batch_scatter_add(&at, &updates).unwrap().to_nested_vec().unwrap();
            prop_assert_eq!(&got, &want);
        }
    }
}

#[test]
fn every_dtype_is_added() {
    for (_, device) in devices() {
        for dtype in numbers().filter(|&dtype| has(&device, dtype)) {
            let tensor = |values: Vec<i32>, shape: &[usize]| {
                HostTensor::dense(shape, HostValues::I32(values))
                    .to_device(&device)
                    .and_then(|t| t.cast(dtype))
                    .unwrap()
            };
            let at = RaggedTensor::from_nested([[1i64, 1], [0, 1]], &device).unwrap();
            let sum =
                tensor(vec![1, 2, 3, 4], &[2, 2]).batch_scatter_add(&at, &tensor(vec![5, 6, 7, 8], &[2, 2])).unwrap();
            assert_eq!(sum.dtype(), dtype);
            let read = sum.cast(DType::I32).unwrap().to_host().unwrap();
            assert_eq!(read.values, HostValues::I32(vec![1, 13, 10, 12]), "{dtype}");
        }
    }
}

#[test]
fn masks_of_lengths_of_any_type() {
    for (_, device) in devices() {
        for dtype in numbers().filter(|dtype| dtype.is_integer()) {
            let lengths = HostTensor::dense(&[2, 2], HostValues::I32(vec![2, 0, 1, 5])).to_device(&device).unwrap();
            let mask = lengths.cast(dtype).unwrap().sequence_mask(2).unwrap();
            let mask = RaggedTensor::<bool>::try_from(mask).unwrap();
            assert_eq!(mask.shape(), [Some(2), Some(2), Some(2)]);
            assert_eq!(mask.to_vec().unwrap(), [true, true, false, false, true, false, true, true], "{dtype}");
        }
        let extremes = RaggedTensor::from_nested([i64::MIN, -1, 0, i64::MAX], &device).unwrap();
        let mask = extremes.sequence_mask(1).unwrap();
        assert_eq!(mask.to_vec().unwrap(), [false, false, false, true]);
        let large = RaggedTensor::from_nested([u64::MAX], &device).unwrap();
        assert_eq!(large.sequence_mask(2).unwrap().to_vec().unwrap(), [true, true]);
    }
    let ragged = text(|device| {
        RaggedTensor::from_nested([vec![1, 2], vec![], vec![0]], device)?
            .sequence_mask(..)
            .map(RaggedTensor::into_erased)
    });
    assert_eq!(ragged, "<ragged.RaggedTensor [[[True, False], [True, True]], [], [[False, False]]]>");
    let none = text(|device| Ok(RaggedTensor::from_nested([0i64; 0], device)?.sequence_mask(..)?.into_erased()));
    assert!(none.contains("shape=(0, 0)"), "{none}");
}

#[test]
fn windows_along_any_axis() {
    let rows = text(|device| {
        RaggedTensor::from_nested([vec![1], vec![2, 3]], device)?
            .context_windows(2, 0, 1)
            .map(RaggedTensor::into_erased)
    });
    assert_eq!(rows, "<ragged.RaggedTensor [[[1, 0]], [[2, 3], [3, 0]]]>");
    let outermost = text(|device| {
        RaggedTensor::from_nested([[1, 2], [3, 4]], device)?
            .context_windows(starting_at(2, -1), 9, 0)
            .map(RaggedTensor::into_erased)
    });
    assert_eq!(outermost, "tensor([[[9, 9], [1, 2]], [[1, 2], [3, 4]]], shape=(2, 2, 2), dtype=i32)");
    let inner = text(|device| {
        RaggedTensor::from_nested([vec![[1, 2], [3, 4]], vec![]], device)?
            .context_windows(2, 0, -1)
            .map(RaggedTensor::into_erased)
    });
    assert_eq!(inner, "<ragged.RaggedTensor [[[[1, 2], [2, 0]], [[3, 4], [4, 0]]], []]>");
    let uniform = text(|device| {
        let x = RaggedTensor::from_nested([[[1, 2]], [[3, 4]]], device)?;
        Tensor::from_tensor(&x, 2)?.context_windows(2, 0, 1)
    });
    assert_eq!(uniform, "<ragged.RaggedTensor [[[[1, 2], [0, 0]]], [[[3, 4], [0, 0]]]]>");
}
