//! Ragged tensors from sparse ones of any rank.

use std::collections::BTreeSet;

use ragged::{Device, HostTensor, HostValues, RaggedTensor, Result, SparseTensor, Tensor};

use crate::common::random::Random;
use crate::{each_device, list, tensor};

type Rows = Vec<Vec<i32>>;

/// The sparse tensor of these coordinates, with the values 0, 1, 2, …
fn sparse(coordinates: &[Vec<i64>], shape: &[u64], device: &Device) -> Result<SparseTensor> {
    let n = coordinates.len();
    let indices = HostTensor::dense(&[n, shape.len()], HostValues::I64(coordinates.concat())).to_device(device)?;
    let values = HostTensor::dense(&[n], HostValues::I32((0..n as i32).collect())).to_device(device)?;
    SparseTensor::new(&indices, &values, shape)
}

/// Random prefixes of `rank - 1` coordinates, each with columns from 0 on, in order.
fn filled_from_the_left(rank: usize, prefixes: usize, size: u32, seed: u64) -> Vec<Vec<i64>> {
    let mut random = Random(seed);
    let some: BTreeSet<Vec<i64>> =
        (0..prefixes).map(|_| (1..rank).map(|_| i64::from(random.below(size))).collect()).collect();
    let mut all = Vec::new();
    for prefix in some {
        all.extend((0..=i64::from(random.below(3))).map(|column| [&prefix[..], &[column]].concat()));
    }
    all
}

#[test]
fn three_dimensions() -> Result<()> {
    for (name, device) in each_device() {
        for (prefixes, size) in [(0, 4), (1, 4), (20, 5), (1030, 40), (4100, 70), (30_000, 300)] {
            let coordinates = filled_from_the_left(3, prefixes, size, prefixes as u64);
            let mut wanted: Vec<Rows> = vec![Vec::new(); size as usize];
            for (value, c) in coordinates.iter().enumerate() {
                let row = &mut wanted[c[0] as usize];
                row.resize(row.len().max(c[1] as usize + 1), Vec::new());
                row[c[1] as usize].push(value as i32);
            }
            let shape = [size.into(), u64::from(size) + 3, 7];
            let x = sparse(&coordinates, &shape, device)?;
            let got = Tensor::from_sparse(&x);
            assert_eq!(list::<i32, Vec<Rows>>(got)?, wanted, "{prefixes} on {name}");
            assert_eq!(list::<i32, Vec<Rows>>(x.to_ragged())?, wanted, "{prefixes} on {name}");
        }
    }
    Ok(())
}

#[test]
fn ragged_tensors_come_back() -> Result<()> {
    for (name, device) in each_device() {
        for depth in 1..=5 {
            let text = [
                "[7, 8]",
                "[[7], [], [8]]",
                "[[], [[], [7, 8]], [], [[9]]]",
                "[[[[1], [], [2, 3]]], [], [[], [[4]]]]",
                "[[[[[1]], [[], [2]]]], [], [[[[3, 4]]]]]",
            ][depth - 1];
            let value: ragged::Nested = nested(text);
            let x = Tensor::constant(&value, &ragged::opt::ConstantOptions::default(), device)?;
            let back = Tensor::from_sparse(&x.to_sparse()?)?;
            assert_eq!(back.to_nested()?.to_string(), text, "{name}");
        }
        // Uniform inner dimensions become ragged ones; sizes that only the device knows.
        let x = RaggedTensor::from_nested(vec![vec![[1, 2]], vec![], vec![[3, 4], [5, 6]]], device)?;
        let keep = RaggedTensor::from_nested([false, true, true], device)?;
        let back = Tensor::from_sparse(&x.boolean_mask(&keep)?.to_sparse()?)?;
        assert_eq!(back.to_nested()?.to_string(), "[[], [[3, 4], [5, 6]]]", "{name}");
        let masked =
            x.to_sparse()?.retain(&RaggedTensor::from_nested([true, false, true, true, true, true], device)?)?;
        assert_eq!(masked.to_ragged()?.to_nested()?.to_string(), "[[[1]], [], [[3, 4], [5, 6]]]", "{name}");
        // Empty rows at the ends of rows are not stored.
        let ends = tensor::<i32>(vec![vec![vec![1], vec![]], vec![vec![]]], device)?;
        assert_eq!(ends.to_sparse()?.to_ragged()?.to_nested()?.to_string(), "[[[1]], []]", "{name}");
    }
    Ok(())
}

/// Nested lists from their text.
fn nested(text: &str) -> ragged::Nested {
    let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
    fn of(value: &serde_json::Value) -> ragged::Nested {
        match value {
            serde_json::Value::Array(all) => ragged::Nested::List(all.iter().map(of).collect()),
            number => (number.as_i64().expect("an integer") as i32).into(),
        }
    }
    of(&value)
}

/// A dense shape, the coordinates of its entries, and what the error says.
type Case = (&'static [u64], &'static [&'static [i64]], &'static str);

#[test]
fn entries_that_are_no_rows_are_errors() -> Result<()> {
    for (name, device) in each_device() {
        let cases: [Case; 10] = [
            (&[2, 0, 3], &[&[0, 0, 0]], "indices must be at least 0 and below the dense shape"),
            (&[0, 2, 3], &[&[0, 0, 0], &[5, 1, 0]], "indices must be at least 0 and below the dense shape"),
            (&[2, 3], &[&[0, 1]], "columns (dimension 1) must be 0, 1, 2, ... in each row"),
            (&[2, 2, 3], &[&[0, 0, 0], &[0, 0, 2]], "columns (dimension 2) must be 0, 1, 2, ... in each row"),
            (&[2, 2, 3], &[&[0, 0, 0], &[0, 1, 1]], "columns (dimension 2) must be 0, 1, 2, ... in each row"),
            (&[2, 2, 3], &[&[0, 1, 0], &[0, 0, 0]], "the entries must be in row-major order"),
            (&[2, 2, 3], &[&[1, 0, 0], &[0, 1, 0]], "the entries must be in row-major order"),
            (&[2, 2, 3], &[&[0, 2, 0]], "indices must be at least 0 and below the dense shape"),
            (&[2, 2, 3], &[&[-1, 0, 0]], "indices must be at least 0 and below the dense shape"),
            (&[4], &[&[0], &[2]], "columns (dimension 0) must be 0, 1, 2, ... in each row"),
        ];
        for (shape, coordinates, wanted) in cases {
            let coordinates: Vec<Vec<i64>> = coordinates.iter().map(|c| c.to_vec()).collect();
            let read = sparse(&coordinates, shape, device)?.to_ragged().and_then(|x| x.to_nested());
            let message = read.expect_err("an error").to_string();
            assert!(message.contains(wanted), "{coordinates:?} on {name}: {message}");
        }
    }
    Ok(())
}
