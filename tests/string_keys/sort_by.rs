//! Sorts by several keys, against the sorts of the standard library.

use std::cmp::Ordering;

use ragged::opt::{SortKeys, descending};
use ragged::{Device, RaggedTensor, Result, Str};

use crate::common::devices;
use crate::common::naive::{Rows, host, rows};
use crate::common::random::Random;
use crate::samples::{Text, computed, large, on, small};

/// Numbers below `bound`, in rows as long as those of `x`.
fn numbers(x: &[Vec<Text>], bound: u32, seed: u64) -> Rows<i64> {
    let mut random = Random(seed);
    x.iter().map(|row| row.iter().map(|_| i64::from(random.below(bound)) - 3).collect()).collect()
}

/// The positions in each row in the order of a stable sort by `compare`.
fn order(x: &[Vec<Text>], compare: impl Fn(usize, usize, usize) -> Ordering) -> Rows<usize> {
    let sorted = |(r, row): (usize, &Vec<Text>)| {
        let mut all: Vec<usize> = (0..row.len()).collect();
        all.sort_by(|&a, &b| compare(r, a, b));
        all
    };
    x.iter().enumerate().map(sorted).collect()
}

fn taken<T: Clone>(x: &[Vec<T>], order: &Rows<usize>) -> Rows<T> {
    x.iter().zip(order).map(|(row, order)| order.iter().map(|&k| row[k].clone()).collect()).collect()
}

fn check(what: &str, x: &[Vec<Text>], text: &RaggedTensor<Str>, device: &Device) -> Result<()> {
    let (few, wide) = (numbers(x, 4, 1), numbers(x, u32::MAX, 2));
    let tensor = |x: &Rows<i64>| -> Result<RaggedTensor<i64>> { host::<i64>(x).to_device(device)?.try_into() };
    let (a, b) = (tensor(&few)?, tensor(&wide)?);
    let strings = |x: Result<RaggedTensor<Str>>| -> Result<_> { Ok(rows::<Str>(&x?.to_host()?)) };
    let by_few = order(x, |r, i, j| few[r][j].cmp(&few[r][i]));
    assert!(strings(text.sort_by(descending(&a)))? == taken(x, &by_few), "by one key: {what}");
    let by_three =
        order(x, |r, i, j| few[r][i].cmp(&few[r][j]).then(x[r][j].cmp(&x[r][i])).then(wide[r][i].cmp(&wide[r][j])));
    let keys = || SortKeys::from((&a, descending(text), &b));
    assert!(strings(text.sort_by(keys()))? == taken(x, &by_three), "by three keys: {what}");
    assert!(rows::<i64>(&b.sort_by(keys())?.to_host()?) == taken(&wide, &by_three), "numbers by three keys: {what}");
    Ok(())
}

#[test]
fn rows_by_several_keys() -> Result<()> {
    for (name, device) in devices() {
        for (what, x) in small() {
            check(&format!("{what} on {name}"), &x, &on(&x, &device), &device)?;
            check(&format!("{what}, computed, on {name}"), &x, &computed(&x, &device), &device)?;
        }
        let (what, x) = &large()[0];
        check(&format!("{what} on {name}"), x, &on(x, &device), &device)?;
    }
    Ok(())
}

#[test]
fn keys_of_fewer_dimensions_sort_rows() -> Result<()> {
    for (name, device) in devices() {
        let x = RaggedTensor::from_nested([vec![vec![1], vec![2, 3]], vec![], vec![vec![4, 5, 6], vec![]]], &device)?;
        let keys = RaggedTensor::from_nested(["b", "a", "a\0"], &device)?;
        let sorted = x.sort_by(&keys)?;
        assert_eq!(sorted.to_string(), "<ragged.RaggedTensor [[], [[4, 5, 6], []], [[1], [2, 3]]]>", "{name}");
        let keys = RaggedTensor::from_nested([vec![2.0, f32::NAN], vec![], vec![0.0, 1.0]], &device)?;
        let sorted = x.sort_by(descending(&keys))?;
        assert_eq!(sorted.to_string(), "<ragged.RaggedTensor [[[1], [2, 3]], [], [[], [4, 5, 6]]]>", "{name}");
        let dense = RaggedTensor::from_nested([[3, 1, 2], [7, 8, 9]], &device)?;
        assert_eq!(dense.sort_by(&dense)?.to_vec()?, [1, 2, 3, 7, 8, 9], "{name}");
        assert_eq!(dense.sort_by(&dense)?.shape(), [Some(2), Some(3)], "{name}");
        let column = RaggedTensor::from_nested([1, 0], &device)?;
        assert_eq!(dense.sort_by(&column)?.to_vec()?, [7, 8, 9, 3, 1, 2], "{name}");
        let columns = dense.sort_by(vec![&column, &column])?;
        assert_eq!(columns.to_vec()?, [7, 8, 9, 3, 1, 2], "{name}");
    }
    Ok(())
}
