//! Random tensors, their nested lists, and definitions of operations on nested lists.

use ragged::{Device, HostTensor, HostValues, Result, Tensor};

use crate::common::{self, devices_and_unfused_cpu as backends};
use crate::nest::{Nest, Random, on, positions};

/// A tensor of any dtype as nested lists of texts.
pub fn nested(t: &HostTensor) -> Nest<String> {
    let texts: Vec<String> = match &t.values {
        HostValues::Bool(v) => v.iter().map(ToString::to_string).collect(),
        HostValues::U8(v) => v.iter().map(ToString::to_string).collect(),
        HostValues::I32(v) => v.iter().map(ToString::to_string).collect(),
        HostValues::I64(v) => v.iter().map(ToString::to_string).collect(),
        HostValues::F32(v) => v.iter().map(ToString::to_string).collect(),
        HostValues::Str(v) => v.iter().map(|s| String::from_utf8_lossy(s).into_owned()).collect(),
        other => panic!("no texts of {}", other.dtype()),
    };
    positions(t).map(&mut |&p| texts[p].clone())
}

/// The tensor with distinct values: numbers, or strings of numbers.
fn distinct(t: &HostTensor, strings: bool) -> HostTensor {
    let n = t.values.len() as i32;
    let values = if strings {
        // Lengths from 0 on.
        HostValues::Str((0..n).map(|k| k.to_string().repeat(k as usize % 4).into_bytes()).collect())
    } else {
        HostValues::I32((0..n).collect())
    };
    HostTensor { values, ..t.clone() }
}

/// The result of `compute` for the tensor, after checking that every backend gives the same.
pub fn everywhere(x: &HostTensor, what: &str, compute: impl Fn(&Tensor) -> Result<Tensor>) -> HostTensor {
    let mut all = backends().iter().map(|(name, device)| {
        let got = compute(&on(x, device)).and_then(|t| t.to_host());
        (name, got.unwrap_or_else(|e| panic!("{what} of {x:?} on {name}: {e}")))
    });
    let (_, want) = all.next().expect("a backend");
    for (name, got) in all {
        assert_eq!(got, want, "{what} of {x:?} on {name}");
    }
    want
}

/// Random tensors of every rank; the first one is large and skewed.
pub fn samples(seed: u64, n: u64) -> impl Iterator<Item = HostTensor> {
    let skewed = [
        vec![0; 40],
        vec![0, 0, 3000, 0, 1],
        vec![255, 256, 257, 0, 2047, 2048, 2049],
        (0..64).map(|k| 2000 / (k + 1)).collect(),
    ];
    let large = skewed.into_iter().map(|lengths| {
        let splits = common::random::splits(&lengths);
        let n = splits[lengths.len()] as usize;
        HostTensor::from_row_splits(splits, HostValues::I32((0..n as i32).collect()))
    });
    let small = (0..n).map(move |k| {
        let mut random = Random::new(seed + k);
        let (ragged, inner) = (random.below(4) as usize, random.below(3) as usize);
        distinct(&random.tensor(ragged, inner), random.below(3) == 0)
    });
    large.chain(small)
}

pub fn rank(x: &HostTensor) -> usize {
    x.nested_row_splits.len() + x.inner_shape.len()
}

pub fn nrows(x: &HostTensor) -> usize {
    x.nested_row_splits.first().map_or_else(|| x.inner_shape[0], |s| s.len() - 1)
}

/// The tensor with a device-known number of rows.
pub fn unknown(x: &HostTensor, device: &Device) -> Tensor {
    let first = HostTensor::dense(&[], HostValues::I32(vec![0])).to_device(device).expect("a scalar");
    let one_row = Tensor::from_row_lengths(&on(x, device), [nrows(x)]).expect("one row of all");
    let out = one_row.row_at(&first).expect("the row");
    assert!(nrows(x) == 0 || out.shape()[0].is_none(), "the host must not know the number of rows");
    out
}

pub fn row(lengths: &[i64], device: &Device) -> Tensor {
    let n: i64 = lengths.iter().sum();
    let values = HostTensor::dense(&[n as usize], HostValues::I32((0..n as i32).collect())).to_device(device);
    Tensor::from_row_lengths(&values.expect("values"), lengths).expect("rows")
}

pub fn list<T>(items: impl IntoIterator<Item = Nest<T>>) -> Nest<T> {
    Nest::List(items.into_iter().collect())
}

/// Applies `f` to every list at depth `depth`.
pub fn at_depth<T: Clone>(v: &Nest<T>, depth: usize, f: &mut impl FnMut(&Nest<T>) -> Nest<T>) -> Nest<T> {
    if depth == 0 { f(v) } else { list(v.items().iter().map(|i| at_depth(i, depth - 1, f))) }
}

pub fn merged<T: Clone>(v: &Nest<T>, outer: usize, inner: usize) -> Nest<T> {
    at_depth(v, outer, &mut |rows| {
        (outer..inner).fold(rows.clone(), |rows, _| list(rows.items().iter().flat_map(|r| r.items().to_vec())))
    })
}
