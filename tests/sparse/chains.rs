//! Chains of operations, whose numbers of entries only the device knows.

use proptest::prelude::*;
use ragged::{DType, Device, HostTensor, HostValues, Result, SparseTensor};

use crate::twin::{Twin, sum};
use crate::{gives, gives_dense, some, twins};

/// The entries with even values.
fn even(x: &SparseTensor) -> Result<SparseTensor> {
    x.retain(&x.values().floormod(2)?.equal(0)?)
}

proptest! {
    #![proptest_config(some())]

    #[test]
    fn of_filtered_entries(x in twins(2..=2), seed in 0..99i32) {
        let kept: Vec<_> = x.entries().filter(|(_, v)| *v % 2 == 0).map(|(c, v)| (c.clone(), *v)).collect();
        let (coordinates, values) = kept.into_iter().unzip();
        let some = Twin { coordinates, values, shape: x.shape.clone() };
        let filtered = |d: &Device| even(&x.on(d));
        gives(&some.sorted(), |d| filtered(d)?.reorder());
        gives(&some.grouped(sum), |d| filtered(d)?.coalesce());
        gives(&some.grouped(sum).part(&[1, 0], &[3, 2]), |d| filtered(d)?.coalesce()?.slice(&[1, 0], &[3, 2]));
        let turned = some.with(vec![x.shape[1], x.shape[0]], |c| Some(vec![c[1], c[0]]));
        gives(&turned.sorted(), |d| filtered(d)?.transpose(..));
        gives(&some.followed_by(&x).grouped(sum), |d| filtered(d)?.add(&x.on(d)));
        gives(&x.followed_by(&some).grouped(sum), |d| x.on(d).add(&filtered(d)?));
        let flat = some.with(vec![x.shape[0] * x.shape[1]], |c| Some(vec![some.position(c) as i64]));
        gives(&flat.grouped(sum), |d| filtered(d)?.reshape(&[x.shape[0] * x.shape[1]])?.coalesce());
        let columns = some.with(vec![x.shape[1]], |c| Some(vec![c[1]]));
        gives(&columns.grouped(sum), |d| filtered(d)?.reduce_sum_sparse(0));
        gives_dense(&columns.sizes(), &columns.grouped(sum).dense(&0), |d| filtered(d)?.reduce_sum(0));
        gives_dense(&some.sizes(), &some.grouped(sum).dense(&0), |d| filtered(d)?.coalesce()?.to_dense(0));
        // The number of bins follows from the largest value that is left.
        let values: Vec<i32> = some.values.iter().map(|v| v.abs()).collect();
        let bins = values.iter().max().map_or(0, |&v| v + 1);
        let counts: Vec<i32> = (0..bins).map(|bin| values.iter().filter(|&&v| v == bin).count() as i32).collect();
        gives_dense(&[counts.len()], &counts, |d| filtered(d)?.values().abs()?.bincount(.., ..));
        let least = |k: usize| some.coordinates.iter().map(|c| c[k] as u64 + 1).max().unwrap_or(0);
        gives(&some.with(vec![least(0), least(1)], |c| Some(c.to_vec())), |d| filtered(d)?.shrink_shape());

        let k = x.shape[1] as usize;
        let b: Vec<i32> = (0..2 * k as i32).map(|n| n * seed % 23).collect();
        let mut product = vec![0; 2 * x.shape[0] as usize];
        for (c, v) in some.entries() {
            (0..2).for_each(|j| product[c[0] as usize * 2 + j] += v * b[c[1] as usize * 2 + j]);
        }
        gives_dense(&[x.shape[0] as usize, 2], &product, |d| {
            let b = HostTensor::dense(&[k, 2], HostValues::I32(b.clone())).to_device(d)?;
            filtered(d)?.reorder()?.matmul(&b)
        });
        // Every row that has entries sums to 1, others to 0.
        let rows: Vec<i32> = (0..x.shape[0] as i64).map(|r| some.coordinates.iter().any(|c| c[0] == r).into()).collect();
        gives_dense(&[rows.len()], &rows, |d| {
            let ones = filtered(d)?.reorder()?.map_values(|v| v.cast(DType::F32))?.softmax()?.reduce_sum(1)?;
            ones.round()?.cast(DType::I32)
        });
        let mut entries: Vec<(Vec<i64>, i32)> = some.entries().map(|(c, v)| (c.clone(), *v)).collect();
        entries.extend(rows.iter().enumerate().filter(|(_, n)| **n == 0).map(|(r, _)| (vec![r as i64, 0], 7)));
        entries.sort_by_key(|(c, _)| c[0]);
        let (coordinates, values) = entries.into_iter().unzip();
        let want = Twin { coordinates, values, shape: x.shape.clone() };
        gives(&want, |d| Ok(filtered(d)?.fill_empty_rows(7)?.0));
        let twice = some.with(vec![x.shape[0], 2 * x.shape[1]], |c| Some(c.to_vec()));
        let shifted = twice.with(twice.shape.clone(), |c| Some(vec![c[0], c[1] + x.shape[1] as i64]));
        gives(&twice.followed_by(&shifted).sorted(), |d| {
            let x = filtered(d)?;
            SparseTensor::concat(&[&x, &x], 1)
        });
    }
}
