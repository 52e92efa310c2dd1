//! Counts of the values of sparse tensors, and sparse sums of weights.

use std::collections::BTreeMap;

use ragged::opt::{Bins, binary};
use ragged::{Device, HostTensor, HostValues, RaggedTensor, Result, SparseTensor};

use crate::common::random::Random;
use crate::{SIZES, each_device, tensor};

/// Entries with a value and a weight each: whole numbers, so that their sums are exact.
struct Entries {
    shape: Vec<u64>,
    coordinates: Vec<Vec<i64>>,
    values: Vec<i64>,
    weights: Vec<f32>,
}

impl Entries {
    /// `n` entries at random coordinates, in any order.
    fn random(n: usize, shape: &[u64]) -> Self {
        let mut random = Random(n as u64 + shape.len() as u64);
        let mut below = |bound: u32| random.below(bound);
        let coordinates = (0..n).map(|_| shape.iter().map(|&d| i64::from(below(d as u32))).collect()).collect();
        let values = (0..n).map(|_| i64::from(below(9))).collect();
        let weights = (0..n).map(|_| below(100) as f32 - 50.0).collect();
        Self { shape: shape.to_vec(), coordinates, values, weights }
    }

    fn on(&self, device: &Device) -> Result<(SparseTensor, SparseTensor)> {
        let (n, rank) = (self.values.len(), self.shape.len());
        let indices = HostTensor::dense(&[n, rank], HostValues::I64(self.coordinates.concat())).to_device(device)?;
        let of = |values| SparseTensor::new(&indices, &HostTensor::dense(&[n], values).to_device(device)?, &self.shape);
        Ok((of(HostValues::I64(self.values.clone()))?, of(HostValues::F32(self.weights.clone()))?))
    }

    /// The count and the sum of weights by the first `stay` coordinates and by value, of values below `most`.
    fn counted(&self, stay: usize, most: i64) -> BTreeMap<Vec<i64>, (i32, f32)> {
        let mut counts = BTreeMap::new();
        for ((c, &value), &weight) in self.coordinates.iter().zip(&self.values).zip(&self.weights) {
            if value < most {
                let key = [&c[..stay], &[value]].concat();
                let (count, sum) = counts.entry(key).or_insert((0, 0.0));
                (*count, *sum) = (*count + 1, *sum + weight);
            }
        }
        counts
    }
}

/// The entries of a sparse tensor, as text of its coordinates and values.
fn entries(x: &SparseTensor) -> Result<String> {
    Ok(format!("{} {} {:?}", x.indices().to_nested()?, x.values().to_nested()?, x.dense_shape()))
}

fn check(of: &Entries, axis: i64, bins: Bins, device: &Device, what: &str) -> Result<()> {
    let stay = axis.rem_euclid(of.shape.len() as i64) as usize;
    let counts = of.counted(stay, bins.most.unwrap_or(i64::MAX));
    let needed = of.values.iter().max().map_or(0, |&v| v + 1).max(bins.least).min(bins.most.unwrap_or(i64::MAX));
    let shape = |number: i64| [&of.shape[..stay], &[number as u64]].concat();
    let expected = |dtype: &str, value: &dyn Fn(&(i32, f32)) -> String| {
        let lists = |all: Vec<String>| format!("[{}]", all.join(", "));
        let indices = lists(counts.keys().map(|c| lists(c.iter().map(ToString::to_string).collect())).collect());
        let values = lists(counts.values().map(value).collect());
        format!("{indices} {values} {:?}{dtype}", shape(needed.max(1).min(bins.most.unwrap_or(i64::MAX))))
    };
    let (x, w) = of.on(device)?;
    let wanted = expected("", &|(n, _)| n.to_string());
    assert_eq!(entries(&x.bincount_sparse(axis, bins)?)?, wanted, "sparse, {what}");
    let ones = expected("", &|_| "1".into());
    assert_eq!(entries(&x.bincount_sparse(axis, binary(bins))?)?, ones, "binary, {what}");
    let sums = expected("", &|(_, sum)| format!("{sum:?}"));
    assert_eq!(entries(&x.bincount_sparse_weighted(&w, axis, bins)?)?, sums, "sums, {what}");
    // The dense results are the sparse ones with zeros.
    let dense = x.bincount(axis, bins)?;
    let size = dense.shape();
    let inner: Vec<Option<usize>> = shape(needed).iter().map(|&d| Some(d as usize)).collect();
    assert_eq!(size, inner, "{what}");
    if needed > 0 {
        assert_eq!(dense.to_host()?, x.bincount_sparse(axis, bins)?.to_dense(0)?.to_host()?, "dense, {what}");
        let dense = x.bincount_weighted(&w, axis, bins)?;
        let sparse = x.bincount_sparse_weighted(&w, axis, bins)?.to_dense(0.0)?;
        assert_eq!(dense.to_host()?, sparse.to_host()?, "dense sums, {what}");
    }
    Ok(())
}

#[test]
fn counts_of_entries() -> Result<()> {
    for (name, device) in each_device() {
        // Pipelines of a GPU take time: there, fewer sizes and bins.
        let (sizes, axes): (&[usize], &[i64]) =
            if device.is_cpu() { (&SIZES, &[0, 1, -1]) } else { (&[7, 66_000], &[0, 1]) };
        for &n in sizes {
            let matrix = Entries::random(n, &[50, 3000]);
            for &axis in axes {
                check(&matrix, axis, (..).into(), device, &format!("{n}, axis {axis} on {name}"))?;
            }
        }
        let (cube, vector) = (Entries::random(300, &[3, 4, 5]), Entries::random(30, &[7]));
        let all = [Bins::from(..=5), Bins::from(..), Bins::from(12..), Bins::from(3)];
        for axis in 0..3 {
            for &bins in if device.is_cpu() { &all[..] } else { &all[..1] } {
                check(&cube, axis, bins, device, &format!("cube, axis {axis}, {bins:?} on {name}"))?;
            }
        }
        check(&vector, 0, Bins::from(4), device, &format!("vector on {name}"))?;
        check(&Entries::random(0, &[0, 4]), 1, (..).into(), device, &format!("no rows on {name}"))?;
    }
    Ok(())
}

#[test]
fn many_rows_and_large_values() -> Result<()> {
    for (name, device) in each_device() {
        let far = 1i64 << 40;
        let x = SparseTensor::from_entries(&[[far, 1], [0, 2], [far, 0]], [far, 3, far], [1 << 41, 4], device)?;
        let counts = x.bincount_sparse(1, ..)?;
        let wanted = format!("[[0, 3], [{far}, {far}]] [1, 2] [{}, {}]", 1u64 << 41, far + 1);
        assert_eq!(entries(&counts)?, wanted, "{name}");
        // A number of entries that only the device knows.
        let kept = x.retain(&RaggedTensor::from_nested([true, false, true], device)?)?;
        let sums = kept.bincount_sparse_weighted(&kept, 0, ..)?;
        assert_eq!(sums.values().to_nested()?.to_string(), format!("[{}]", far * 2), "{name}");
    }
    Ok(())
}

#[test]
fn sparse_sums_of_rows() -> Result<()> {
    for (name, device) in each_device() {
        for n in SIZES {
            let mut random = Random(n as u64);
            let rows: Vec<Vec<u16>> =
                (0..n).map(|_| (0..random.below(4)).map(|_| random.below(9) as u16).collect()).collect();
            let weights: Vec<Vec<f32>> =
                rows.iter().map(|row| row.iter().map(|_| random.below(64) as f32).collect()).collect();
            let (x, w) = (tensor::<u16>(&rows, device)?, tensor::<f32>(&weights, device)?);
            let dense = x.bincount_weighted(&w, 1, 9)?;
            let sums = x.bincount_sparse_weighted(&w, 1, 9)?;
            assert_eq!(sums.to_dense(0.0)?.to_host()?, dense.to_host()?, "{n} on {name}");
            let counts = x.bincount_sparse(1, 9)?;
            assert_eq!(sums.indices().to_host()?, counts.indices().to_host()?, "{n} on {name}");
            let all = x.bincount_sparse_weighted(&w, .., ..=6)?;
            let dense = x.bincount_weighted(&w, .., 6)?;
            if all.dense_shape() == [6] {
                assert_eq!(all.to_dense(0.0)?.to_host()?, dense.to_host()?, "{n} on {name}");
            }
        }
    }
    Ok(())
}

#[test]
fn misuse() -> Result<()> {
    let device = Device::cpu();
    let x = SparseTensor::from_entries(&[[0, 0], [1, 1]], [1, 2], [2, 2], &device)?;
    let message = |r: Result<String>| r.expect_err("an error").to_string();
    let weighted = |w: &SparseTensor| x.bincount_weighted(w, 1, ..).and_then(|y| Ok(y.to_nested()?.to_string()));
    let moved = SparseTensor::from_entries(&[[0, 0], [1, 0]], [1, 2], [2, 2], &device)?;
    assert!(message(weighted(&moved)).contains("must have the coordinates of the values"));
    let wide = SparseTensor::from_entries(&[[0, 0], [1, 1]], [1, 2], [2, 3], &device)?;
    assert!(message(weighted(&wide)).contains("must have the dense shape of the values"));
    let fewer = SparseTensor::from_entries(&[[0, 0]], [1], [2, 2], &device)?;
    assert!(message(weighted(&fewer)).contains("there must be one weight for each entry"));
    let bools = SparseTensor::from_entries(&[[0, 0], [1, 1]], [true, false], [2, 2], &device)?;
    assert!(message(weighted(&bools)).contains("weights are numbers"));
    assert!(message(x.bincount(2, ..).map(|y| y.to_string())).contains("bincount"));
    assert!(message(x.bincount([0, 1], ..).map(|y| y.to_string())).contains("it takes one, or .. for all"));
    let negative = SparseTensor::from_entries(&[[0, 0]], [-1], [2, 2], &device)?;
    assert!(message(negative.bincount_sparse(1, 3).and_then(|y| entries(&y))).contains("must not be negative"));
    let both = x.bincount_sparse_weighted(&x, 0, binary(3)).and_then(|y| entries(&y));
    assert!(message(both).contains("binary bins have no weights"));
    let outside = SparseTensor::new(
        &RaggedTensor::from_nested([[0i64, 5]], &device)?,
        &RaggedTensor::from_nested([1], &device)?,
        &[2, 2],
    )?;
    assert!(message(outside.bincount(.., 3).and_then(|y| Ok(y.to_nested()?.to_string()))).contains("dense shape"));
    assert!(message(outside.bincount_sparse(.., 3).and_then(|y| entries(&y))).contains("dense shape"));
    Ok(())
}

/// A limit that the dtype of the bins does not hold leaves no value out; 2^32 as f32 is no bin.
#[test]
fn limits_beyond_32_bits() -> Result<()> {
    for (name, device) in each_device() {
        let x = SparseTensor::from_entries(&[[0, 0], [0, 1]], [1i32, 5], [1, 2], device)?;
        let weights = SparseTensor::from_entries(&[[0, 0], [0, 1]], [2i32, 3], [1, 2], device)?;
        for most in [1i64 << 32, (1 << 32) + 4, 1 << 40] {
            let counts = x.bincount_sparse(0, ..=most)?;
            assert_eq!(counts.values().to_string(), "tensor([1, 1], shape=(2,), dtype=i32)", "{name}: {most}");
            let sums = x.bincount_sparse_weighted(&weights, 0, ..=most)?;
            assert_eq!(sums.values().to_string(), "tensor([2, 3], shape=(2,), dtype=i32)", "{name}: {most}");
        }
        let large = RaggedTensor::from_nested([4294967296.0f32], device)?;
        let read = large.bincount_sparse(.., ..).and_then(|x| x.values().to_nested());
        assert!(read.expect_err("no bin").to_string().contains("whole numbers"), "{name}");
    }
    Ok(())
}
