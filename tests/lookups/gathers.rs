//! Vectors of indices in batches, and indices with a default.

use ragged::opt::{along, batched};
use ragged::{Device, RaggedTensor, Result, Str, Tensor, s};

use crate::common::random::Random;
use crate::{SIZES, each_device, list, tensor};

type Rows<T> = Vec<Vec<T>>;

/// Rows of numbers, one of them long, and rows of indices of which some are out of range.
fn rows_and_indices(n: usize) -> (Rows<i32>, Rows<i64>) {
    let mut random = Random(n as u64);
    let mut rows: Rows<i32> =
        (0..n).map(|r| (0..random.below(5)).map(|k| (r * 10) as i32 + k as i32).collect()).collect();
    if let Some(row) = rows.get_mut(n / 2) {
        *row = (0..n as i32 + 3).collect();
    }
    let indices = rows.iter().map(|row| {
        let some = random.below(4);
        (0..some).map(|_| i64::from(random.below(row.len() as u32 + 4)) - 2).collect()
    });
    let indices = indices.collect();
    (rows, indices)
}

fn valid(row: &[i32], index: i64) -> bool {
    (0..row.len() as i64).contains(&index)
}

#[test]
fn vectors_of_indices_in_batches_of_rows() -> Result<()> {
    for (name, device) in each_device() {
        for n in SIZES {
            let (rows, mut indices) = rows_and_indices(n);
            indices.iter_mut().zip(&rows).for_each(|(at, row)| at.retain(|&i| valid(row, i)));
            let wanted: Rows<i32> =
                indices.iter().zip(&rows).map(|(at, row)| at.iter().map(|&i| row[i as usize]).collect()).collect();
            let (x, at) = (tensor::<i32>(&rows, device)?, tensor::<i64>(&indices, device)?);
            let vectors = at.expand_dims(2)?;
            assert_eq!(list::<i32, Rows<i32>>(x.gather_nd(batched(&vectors, 1)))?, wanted, "{n} on {name}");
            let of_rows = Tensor::map_rows_of(&[&x, &vectors], |r| r[0].gather_nd(&r[1]));
            assert_eq!(list::<i32, Rows<i32>>(of_rows)?, wanted, "rows, {n} on {name}");
            if n == 0 {
                continue;
            }
            // Every other row, a number that only the device knows.
            let keep: Vec<bool> = (0..n).map(|r| r % 2 == 0).collect();
            let keep = tensor::<bool>(keep, device)?;
            let (x, vectors) = (x.boolean_mask(&keep)?, vectors.boolean_mask(&keep)?);
            let wanted: Rows<i32> = wanted.into_iter().step_by(2).collect();
            assert_eq!(list::<i32, Rows<i32>>(x.gather_nd(batched(&vectors, 1)))?, wanted, "masked, {n} on {name}");
        }
    }
    Ok(())
}

#[test]
fn vectors_of_two_indices_in_batches() -> Result<()> {
    for (name, device) in each_device() {
        let x: Vec<Rows<i32>> = vec![vec![vec![1, 2], vec![3]], vec![], vec![vec![4], vec![], vec![5, 6, 7]]];
        let x = tensor::<i32>(x, device)?;
        let at = tensor::<i32>(vec![vec![[1, 0], [0, 1]], vec![], vec![[2, 2]]], device)?;
        let got = x.gather_nd(batched(&at, 1));
        assert_eq!(list::<i32, Rows<i32>>(got)?, [vec![3, 2], vec![], vec![7]], "{name}");
        // One index per batch of two dimensions; rows behind the vectors.
        let at = tensor::<i64>(vec![vec![vec![[0], [1]], vec![[0]]], vec![], vec![vec![], vec![], vec![[2]]]], device)?;
        let got = x.gather_nd(batched(&at, 2))?;
        assert_eq!(got.to_nested()?.to_string(), "[[[1, 2], [3]], [], [[], [], [7]]]", "{name}");
        let at = tensor::<u8>(vec![vec![[1], [0]], vec![], vec![[2]]], device)?;
        let got = x.gather_nd(batched(&at, -2))?;
        assert_eq!(got.to_nested()?.to_string(), "[[[3], [1, 2]], [], [[5, 6, 7]]]", "{name}");
        // Vectors of length 0 name their batch.
        let none = tensor::<i32>([[[0i32; 0]; 2]; 3], device)?;
        let got = x.gather_nd(batched(&none, 1))?;
        let wanted = "[[[[1, 2], [3]], [[1, 2], [3]]], [[], []], [[[4], [], [5, 6, 7]], [[4], [], [5, 6, 7]]]]";
        assert_eq!(got.to_nested()?.to_string(), wanted, "{name}");
    }
    Ok(())
}

#[test]
fn dense_batches_stay_dense() -> Result<()> {
    for (name, device) in each_device() {
        let x = RaggedTensor::dense((0..24).collect::<Vec<i32>>(), &[2, 3, 4], device)?;
        let at = RaggedTensor::from_nested([[[0, 3], [2, 1]], [[1, 1], [0, 0]]], device)?;
        let y = x.gather_nd(batched(&at, 1))?;
        assert_eq!(y.to_string(), "tensor([[3, 9], [17, 12]], shape=(2, 2), dtype=i32)", "{name}");
        let rows = RaggedTensor::from_nested([[[0], [2]], [[1], [1]]], device)?;
        assert_eq!(x.gather_nd(batched(&rows, 1))?.shape(), [Some(2), Some(2), Some(4)], "{name}");
        let words = RaggedTensor::<Str>::from_nested([["a", "bc"], ["def", ""]], device)?;
        let at = RaggedTensor::from_nested([[1], [0]], device)?;
        assert_eq!(words.gather_nd(batched(&at, 1))?.to_nested()?.to_string(), "[b'bc', b'def']", "{name}");
    }
    Ok(())
}

#[test]
fn batches_that_differ_are_errors() -> Result<()> {
    let device = Device::cpu();
    let x = tensor::<i32>(vec![vec![1, 2], vec![3]], &device)?;
    let of = |indices: Result<Tensor>, dims: i64| x.gather_nd(batched(&indices?, dims)).and_then(|y| y.to_nested());
    let message = |r: Result<_>| r.map(|_: ragged::Nested| ()).expect_err("an error").to_string();
    let three = message(of(tensor::<i32>([[[0]], [[0]], [[0]]], &device), 1));
    assert!(three.contains("the tensor has 2 batches, but the indices have 3"), "{three}");
    let deep = message(of(tensor::<i32>([[0], [0]], &device), 2));
    assert!(deep.contains("batch_dims 2 is out of range (at most 1)"), "{deep}");
    let long = message(of(tensor::<i32>([[0, 0], [0, 0]], &device), 1));
    assert!(long.contains("must be uniform, and 1 at most"), "{long}");
    let outside = message(of(tensor::<i32>([[0], [1]], &device), 1));
    assert!(outside.contains("an index is out of range"), "{outside}");
    let at = tensor::<i32>([[0], [0]], &device)?;
    let axis = x.gather_nd(along(&at, 1)).expect_err("an error").to_string();
    assert!(axis.contains("they take no axis (1)"), "{axis}");
    Ok(())
}

#[test]
fn a_default_in_place_of_missing_elements() -> Result<()> {
    for (name, device) in each_device() {
        for n in SIZES {
            let (rows, indices) = rows_and_indices(n);
            let element = |row: &[i32], i: i64| if valid(row, i) { row[i as usize] } else { -7 };
            let wanted: Rows<i32> =
                indices.iter().zip(&rows).map(|(at, row)| at.iter().map(|&i| element(row, i)).collect()).collect();
            let (x, at) = (tensor::<i32>(&rows, device)?, tensor::<i64>(&indices, device)?);
            let got = x.batch_gather_with_default(&at, -7);
            assert_eq!(list::<i32, Rows<i32>>(got)?, wanted, "{n} on {name}");
            let of_rows = Tensor::map_rows_of(&[&x, &at], |r| r[0].batch_gather_with_default(&r[1], -7));
            assert_eq!(list::<i32, Rows<i32>>(of_rows)?, wanted, "rows, {n} on {name}");
            let words = x.as_string()?;
            let got = words.batch_gather_with_default(&at, "-7")?;
            let numbers = tensor::<i32>(&wanted, device)?.as_string()?;
            assert_eq!(got.to_host()?, numbers.to_host()?, "words, {n} on {name}");
            if n > 0 {
                let keep = tensor::<bool>((0..n).map(|r| r % 3 == 0).collect::<Vec<_>>(), device)?;
                let got = x.boolean_mask(&keep)?.batch_gather_with_default(&at.boolean_mask(&keep)?, -7);
                let wanted: Rows<i32> = wanted.into_iter().step_by(3).collect();
                assert_eq!(list::<i32, Rows<i32>>(got)?, wanted, "masked, {n} on {name}");
            }
        }
    }
    Ok(())
}

#[test]
fn defaults_of_vectors_matrices_and_deeper_rows() -> Result<()> {
    for (name, device) in each_device() {
        let x = RaggedTensor::from_nested([5, 6, 7], device)?;
        let at = RaggedTensor::from_nested([2u8, 3, 0], device)?;
        assert_eq!(x.batch_gather_with_default(&at, 1)?.to_vec()?, [7, 1, 5], "{name}");
        let pairs = RaggedTensor::from_nested(vec![vec![[1, 2], [3, 4]], vec![]], device)?;
        let at = RaggedTensor::from_nested(vec![vec![1, -1], vec![0]], device)?;
        let got = pairs.batch_gather_with_default(&at, 9)?;
        assert_eq!(got.to_nested()?.to_string(), "[[[3, 4], [9, 9]], [[9, 9]]]", "{name}");
        let own = RaggedTensor::from_nested([8, 9], device)?;
        let got = pairs.batch_gather_with_default(&at, &own)?;
        assert_eq!(got.to_nested()?.to_string(), "[[[3, 4], [8, 9]], [[8, 9]]]", "{name}");
        let got = pairs.batch_gather_with_default(&at, &own.reduce_sum(0)?)?;
        assert_eq!(got.to_nested()?.to_string(), "[[[3, 4], [17, 17]], [[17, 17]]]", "{name}");
        let got = pairs.as_string()?.batch_gather_with_default(&at, &own.as_string()?)?;
        assert_eq!(got.to_string(), "<ragged.RaggedTensor [[[b'3', b'4'], [b'8', b'9']], [[b'8', b'9']]]>", "{name}");
        let of_rows = Tensor::map_rows_of(&[&pairs, &at.cast()?], |r| r[0].batch_gather_with_default(&r[1], &own))?;
        assert_eq!(of_rows.to_nested()?.to_string(), "[[[3, 4], [8, 9]], [[8, 9]]]", "rows on {name}");
        // A default whose length only the device knows.
        let masked = |keep: [bool; 3]| {
            RaggedTensor::from_nested([8, 9, 10], device)?.boolean_mask(&RaggedTensor::from_nested(keep, device)?)
        };
        let got = pairs.batch_gather_with_default(&at, &masked([true, false, true])?)?;
        assert_eq!(got.to_nested()?.to_string(), "[[[3, 4], [8, 10]], [[8, 10]]]", "{name}");
        let short = pairs.batch_gather_with_default(&at, &masked([true, false, false])?).and_then(|t| t.to_vec());
        let error = short.expect_err("too short").to_string();
        assert!(error.starts_with("batch_gather_with_default: the default must be"), "{name}: {error}");
        let dense = RaggedTensor::from_nested([[1, 2, 3], [4, 5, 6]], device)?;
        let at = RaggedTensor::from_nested([[2, 3], [-1, 0]], device)?;
        let got = dense.batch_gather_with_default(&at, 0)?;
        assert_eq!(got.to_string(), "tensor([[3, 0], [0, 4]], shape=(2, 2), dtype=i32)", "{name}");
        let deep = RaggedTensor::from_nested(vec![vec![vec![1, 2], vec![]], vec![vec![3]]], device)?;
        let at = RaggedTensor::from_nested(vec![vec![vec![1], vec![0, 1]], vec![vec![]]], device)?;
        let got = deep.batch_gather_with_default(&at, 0)?;
        assert_eq!(got.to_nested()?.to_string(), "[[[2], [0, 0]], [[]]]", "{name}");
        // A tensor without values.
        let none = RaggedTensor::<i32>::from_nested(vec![vec![0i32; 0]; 2], device)?;
        let at = RaggedTensor::from_nested(vec![vec![0, 1], vec![]], device)?;
        let got = none.batch_gather_with_default(&at, 4)?;
        assert_eq!(got.to_nested()?.to_string(), "[[4, 4], []]", "{name}");
        let wide = x.slice(s![..0])?.batch_gather_with_default(&RaggedTensor::from_nested([0], device)?, 3)?;
        assert_eq!(wide.to_vec()?, [3], "{name}");
    }
    Ok(())
}
