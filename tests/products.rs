//! Matrix products, compared with the definition, in every tensor layout; on every device, within the minimum limits of
//! WebGPU, fused and not.

mod common;

use ragged::ManyDispatches::{self, LoopLimit};
use ragged::{Device, Element, Error, Factor, HostTensor, HostValues, Result, Tensor};

/// An element type of matrix products.
trait Number: Element<Host = Self> + Copy + PartialEq + std::fmt::Debug {
    const ZERO: Self;
    fn small(v: i32) -> Self;
    fn add_product(self, a: Self, b: Self) -> Self;
    /// The bits, with one pattern for all NaNs.
    fn bits(self) -> u64;
}

macro_rules! integers {
    ($($t:ty),*) => {$(impl Number for $t {
        const ZERO: Self = 0;
        fn small(v: i32) -> Self {
            // So large that products wrap.
            (v as $t).wrapping_mul(<$t>::MAX / 37)
        }
        fn add_product(self, a: Self, b: Self) -> Self {
            self.wrapping_add(a.wrapping_mul(b))
        }
        fn bits(self) -> u64 {
            self as u64
        }
    })*};
}
integers!(u8, i32, u32, i64, u64);

macro_rules! floats {
    ($($t:ty),*) => {$(impl Number for $t {
        const ZERO: Self = 0.0;
        fn small(v: i32) -> Self {
            // Products and sums round, so that the bits depend on the order.
            v as $t / 7.0
        }
        fn add_product(self, a: Self, b: Self) -> Self {
            self + a * b
        }
        fn bits(self) -> u64 {
            if self.is_nan() { u64::MAX } else { u64::from(self.to_bits()) }
        }
    })*};
}
floats!(f32, f64);

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u32) -> u32 {
        ((self.next() >> 33) as u32) % n.max(1)
    }
}

/// A matrix. The number of columns is defined even without rows.
#[derive(Clone, Debug)]
struct Matrix<T> {
    rows: usize,
    columns: usize,
    values: Vec<T>,
}

impl<T: Number> Matrix<T> {
    fn random(random: &mut Random, rows: usize, columns: usize) -> Self {
        let values = (0..rows * columns).map(|_| T::small(random.below(2000) as i32 - 1000)).collect();
        Self { rows, columns, values }
    }
    fn transpose(&self) -> Self {
        let at = |p: usize| self.values[p % self.rows * self.columns + p / self.rows];
        Self { rows: self.columns, columns: self.rows, values: (0..self.values.len()).map(at).collect() }
    }
    fn times(&self, other: &Self) -> Vec<Vec<T>> {
        assert_eq!(self.columns, other.rows);
        let sum = |i: usize, j: usize| {
            (0..self.columns).fold(T::ZERO, |sum, l| {
                sum.add_product(self.values[i * self.columns + l], other.values[l * other.columns + j])
            })
        };
        (0..self.rows).map(|i| (0..other.columns).map(|j| sum(i, j)).collect()).collect()
    }
    fn stored(&self, transposed: bool) -> Self {
        if transposed { self.transpose() } else { self.clone() }
    }
}

fn splits(lengths: impl IntoIterator<Item = usize>) -> Vec<u32> {
    let mut out = vec![0];
    lengths.into_iter().for_each(|len| out.push(out[out.len() - 1] + len as u32));
    out
}

fn host<T: Number>(nested_row_splits: Vec<Vec<u32>>, inner_shape: Vec<usize>, values: Vec<T>) -> HostTensor {
    let uniform_row_lengths = vec![None; nested_row_splits.len()];
    HostTensor { nested_row_splits, uniform_row_lengths, inner_shape, values: T::wrap(values) }
}

/// `[batches, (rows), (columns)]`
fn ragged<T: Number>(of: &[Matrix<T>]) -> HostTensor {
    let rows = splits(of.iter().map(|m| m.rows));
    let columns = splits(of.iter().flat_map(|m| vec![m.columns; m.rows]));
    let values: Vec<T> = of.iter().flat_map(|m| m.values.clone()).collect();
    host(vec![rows, columns], vec![values.len()], values)
}

/// `[batches, (rows), columns]`
fn half_ragged<T: Number>(of: &[Matrix<T>], columns: usize) -> HostTensor {
    let rows = splits(of.iter().map(|m| m.rows));
    let values: Vec<T> = of.iter().flat_map(|m| m.values.clone()).collect();
    host(vec![rows.clone()], vec![rows[of.len()] as usize, columns], values)
}

/// `[batches, rows, columns]`
fn dense<T: Number>(of: &[Matrix<T>], rows: usize, columns: usize) -> HostTensor {
    host(vec![], vec![of.len(), rows, columns], of.iter().flat_map(|m| m.values.clone()).collect())
}

/// The tensor, with splits that only the device knows if asked for.
fn on(t: &HostTensor, device: &Device, hidden: bool) -> Tensor {
    let x = t.to_device(device).expect("a valid tensor");
    // Two reversals on the device restore the rows.
    if hidden { x.reverse(0).and_then(|x| x.reverse(0)).expect("recorded") } else { x }
}

fn bits<T: Number>(t: &HostTensor) -> Vec<u64> {
    T::unwrap(t.values.clone()).expect("the operands' dtype").into_iter().map(T::bits).collect()
}

/// Multiplies on every device, with host-known and device-known splits, and compares values and splits.
fn check<T: Number>(
    what: &str,
    (a, b): (&HostTensor, &HostTensor),
    [ta, tb]: [bool; 2],
    devices: &[(String, Device)],
    want: &HostTensor,
) {
    for (name, device) in devices.iter().filter(|(_, d)| common::has(d, T::DTYPE)) {
        for hidden in [false, true] {
            let [x, y] = [a, b].map(|t| on(t, device, hidden));
            let got = Factor { tensor: &x, transposed: ta }
                .matmul(Factor { tensor: &y, transposed: tb })
                .and_then(|t| t.to_host());
            let got = got.unwrap_or_else(|e| panic!("{what} {} on {name}, hidden {hidden}: {e}", T::DTYPE));
            let at = format!("{what} {} {ta} {tb} on {name}, hidden {hidden}", T::DTYPE);
            assert_eq!(got.nested_row_splits, want.nested_row_splits, "{at}");
            assert_eq!(got.inner_shape, want.inner_shape, "{at}");
            assert!(bits::<T>(&got) == bits::<T>(want), "{at}: {got:?}, not {want:?}");
        }
    }
}

const TRANSPOSES: [[bool; 2]; 4] = [[false, false], [true, false], [false, true], [true, true]];

/// Checks batches of these sizes in every possible layout.
fn batches<T: Number>(sizes: &[[usize; 3]], seed: u64, devices: &[(String, Device)], transposes: &[[bool; 2]]) {
    let mut random = Random(seed);
    let left: Vec<Matrix<T>> = sizes.iter().map(|&[m, k, _]| Matrix::random(&mut random, m, k)).collect();
    let right: Vec<Matrix<T>> = sizes.iter().map(|&[_, k, n]| Matrix::random(&mut random, k, n)).collect();
    let results: Vec<Vec<Vec<T>>> = left.iter().zip(&right).map(|(a, b)| a.times(b)).collect();
    let rows = splits(results.iter().map(Vec::len));
    let columns = splits(results.iter().flatten().map(Vec::len));
    let values: Vec<T> = results.iter().flatten().flatten().copied().collect();
    let both_ragged = host(vec![rows.clone(), columns], vec![values.len()], values.clone());
    let same = |d: usize| sizes.iter().all(|s| s[d] == sizes[0][d]).then(|| sizes.first().map_or(1, |s| s[d]));
    for &t in transposes {
        let a: Vec<Matrix<T>> = left.iter().map(|m| m.stored(t[0])).collect();
        let b: Vec<Matrix<T>> = right.iter().map(|m| m.stored(t[1])).collect();
        check::<T>("ragged by ragged", (&ragged(&a), &ragged(&b)), t, devices, &both_ragged);
        let [m, k, n] = [same(0), same(1), same(2)];
        // An inner dimension of columns on the left: `k`, or `m` if transposed.
        let half = if t[0] { m } else { k }.map(|columns| half_ragged(&a, columns));
        if let Some(half) = &half {
            check::<T>("half ragged by ragged", (half, &ragged(&b)), t, devices, &both_ragged);
        }
        let Some(n) = n else { continue };
        let uniform_columns = host(vec![rows.clone()], vec![rows[sizes.len()] as usize, n], values.clone());
        if !t[1] {
            let b = half_ragged(&b, n);
            check::<T>("ragged by half ragged", (&ragged(&a), &b), t, devices, &uniform_columns);
            if let Some(half) = &half {
                check::<T>("half ragged by half ragged", (half, &b), t, devices, &uniform_columns);
            }
        }
        if let Some(k) = k {
            let b = if t[1] { dense(&b, n, k) } else { dense(&b, k, n) };
            check::<T>("ragged by dense", (&ragged(&a), &b), t, devices, &uniform_columns);
            if let Some(half) = &half {
                check::<T>("half ragged by dense", (half, &b), t, devices, &uniform_columns);
            }
            if let Some(m) = m {
                let a = if t[0] { dense(&a, k, m) } else { dense(&a, m, k) };
                let want = host(vec![], vec![sizes.len(), m, n], values.clone());
                check::<T>("dense by dense", (&a, &b), t, devices, &want);
            }
        }
    }
}

#[test]
fn every_dtype_in_every_layout() {
    let all = common::every_way();
    batches::<f32>(&[[2, 3, 4], [1, 2, 1], [5, 1, 3]], 1, all, &TRANSPOSES);
    batches::<f32>(&[[3, 17, 5], [6, 17, 5], [1, 17, 5]], 2, all, &TRANSPOSES);
    batches::<f32>(&[[4, 3, 5]; 3], 3, all, &TRANSPOSES);
    // Sizes and layouts are independent of the dtype.
    let few = common::devices();
    macro_rules! others {
        ($($t:ty),*) => {$(
            batches::<$t>(&[[2, 3, 4], [1, 2, 1], [5, 1, 3]], 1, &few, &[[true, true]]);
            batches::<$t>(&[[4, 19, 5]; 3], 3, &few, &[[false, false]]);
        )*};
    }
    others!(u8, i32, u32, i64, u64, f64);
}

#[test]
fn sizes_around_the_edges_of_tiles() {
    let devices = common::devices();
    batches::<f32>(&[[15, 16, 17], [16, 15, 16], [17, 33, 15], [1, 65, 1]], 4, &devices, &TRANSPOSES);
    batches::<f32>(&[[63, 5, 65], [64, 7, 64], [65, 3, 63]], 5, &devices, &TRANSPOSES);
    // Large enough for the largest tiles.
    batches::<f32>(&[[130, 31, 257]; 20], 6, &devices, &[[true, false]]);
}

#[test]
fn empty_batches_and_empty_sums() {
    let devices = common::every_way();
    // A transposed ragged matrix without rows has no number of columns, so these sizes are not transposed.
    let plain = [[false, false]];
    batches::<f32>(&[[3, 2, 2], [0, 2, 4], [1, 2, 0], [2, 1, 3]], 7, devices, &plain);
    batches::<i32>(&[[0, 0, 0]; 4], 8, devices, &TRANSPOSES);
    batches::<f32>(&[], 9, devices, &TRANSPOSES[..1]);
    // It must not get the number of columns that all other matrices have.
    batches::<f32>(&[[0, 0, 3], [2, 4, 3], [2, 5, 1]], 14, devices, &[[true, true]]);
    // Empty sums are 0: `[2, 0]` by `[0, 3]`.
    let a = host::<f32>(vec![], vec![2, 0], vec![]);
    let b = host::<f32>(vec![], vec![0, 3], vec![]);
    check::<f32>("no terms", (&a, &b), [false; 2], devices, &host(vec![], vec![2, 3], vec![0.0f32; 6]));
    let a = host::<f32>(vec![], vec![4, 2, 0], vec![]);
    let b = host::<f32>(vec![], vec![4, 0, 1], vec![]);
    check::<f32>("no terms", (&a, &b), [false; 2], devices, &host(vec![], vec![4, 2, 1], vec![0.0f32; 8]));
}

#[test]
fn one_giant_batch_among_empty_ones() {
    let devices = common::devices();
    let mut sizes = vec![[0, 6, 3]; 400];
    sizes[399] = [700, 6, 3];
    sizes.extend(vec![[1, 6, 3]; 30]);
    batches::<f32>(&sizes, 10, &devices, &TRANSPOSES[..1]);
}

/// All rows by one matrix, and rank 2.
fn by_one<T: Number>(lengths: &[usize], k: usize, n: usize, devices: &[(String, Device)]) {
    let mut random = Random(11);
    let total: usize = lengths.iter().sum();
    let (a, b) = (Matrix::<T>::random(&mut random, total, k), Matrix::<T>::random(&mut random, k, n));
    let values: Vec<T> = a.times(&b).into_iter().flatten().collect();
    let rows = splits(lengths.iter().copied());
    let want = host(vec![rows.clone()], vec![total, n], values.clone());
    let flat = host(vec![], vec![total, n], values);
    let matrix = |m: &Matrix<T>, is_ragged: bool| {
        let columns = splits(vec![m.columns; m.rows]);
        if is_ragged {
            host(vec![columns], vec![m.values.len()], m.values.clone())
        } else {
            host(vec![], vec![m.rows, m.columns], m.values.clone())
        }
    };
    for tb in [false, true] {
        for is_ragged in [false, true] {
            let right = matrix(&b.stored(tb), is_ragged);
            let half = host(vec![rows.clone()], vec![total, k], a.values.clone());
            check::<T>("half ragged by one", (&half, &right), [false, tb], devices, &want);
            let columns = splits(vec![k; total]);
            let full = host(vec![rows.clone(), columns], vec![a.values.len()], a.values.clone());
            check::<T>("ragged by one", (&full, &right), [false, tb], devices, &want);
            for ta in [false, true] {
                for is_left_ragged in [false, true] {
                    let left = matrix(&a.stored(ta), is_left_ragged);
                    check::<T>("one by one", (&left, &right), [ta, tb], devices, &flat);
                }
            }
        }
    }
}

#[test]
fn rows_by_one_matrix() {
    let devices = common::every_way();
    by_one::<f32>(&[3, 0, 1, 40, 0], 5, 9, devices);
    by_one::<u8>(&[17, 0, 2], 20, 18, &common::devices()[..1]);
}

#[test]
fn more_batch_dimensions() {
    let mut random = Random(12);
    // `[2, (2, 1), (i), (j)]` by `[2, (2, 1), 2, 3]`
    let left: Vec<Matrix<i32>> = [1, 2, 1].iter().map(|&m| Matrix::random(&mut random, m, 2)).collect();
    let right: Vec<Matrix<i32>> = (0..3).map(|_| Matrix::random(&mut random, 2, 3)).collect();
    let values: Vec<i32> = left.iter().zip(&right).flat_map(|(a, b)| a.times(b)).flatten().collect();
    let outer = vec![0, 2, 3];
    let rows = vec![0, 1, 3, 4];
    let a: Vec<i32> = left.iter().flat_map(|m| m.values.clone()).collect();
    let b: Vec<i32> = right.iter().flat_map(|m| m.values.clone()).collect();
    let a = host(vec![outer.clone(), rows.clone()], vec![4, 2], a);
    let b = host(vec![outer.clone()], vec![3, 2, 3], b);
    let want = host(vec![outer, rows], vec![4, 3], values);
    check::<i32>("two batch dimensions", (&a, &b), [false; 2], common::every_way(), &want);
}

/// As in TensorFlow: `[2, (1), 3]` transposed by `[2, 1, 1]` gives `[2, 3, 1]` of ragged rank 1.
#[test]
fn uniform_columns_are_an_inner_dimension() {
    let a = host(vec![vec![0, 1, 2]], vec![2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let b = host(vec![], vec![2, 1, 1], vec![10.0f32, 100.0]);
    let want = host(vec![vec![0, 3, 6]], vec![6, 1], vec![10.0f32, 20.0, 30.0, 400.0, 500.0, 600.0]);
    check::<f32>("uniform columns", (&a, &b), [true, false], common::every_way(), &want);
}

#[test]
fn each_batch_is_independent_of_the_others() {
    let mut random = Random(13);
    let sizes = [[3, 700, 5], [0, 3, 1], [65, 9, 66], [1, 1, 1], [20, 64, 20]];
    let left: Vec<Matrix<f32>> = sizes.iter().map(|&[m, k, _]| Matrix::random(&mut random, m, k)).collect();
    let right: Vec<Matrix<f32>> = sizes.iter().map(|&[_, k, n]| Matrix::random(&mut random, k, n)).collect();
    for (name, device) in common::every_way() {
        let product = |a: &[Matrix<f32>], b: &[Matrix<f32>]| -> Vec<u64> {
            let [a, b] = [ragged(a), ragged(b)].map(|t| on(&t, device, false));
            bits::<f32>(&a.matmul(&b).and_then(|t| t.to_host()).expect("a product"))
        };
        let crowd = product(&left, &right);
        let alone: Vec<u64> = (0..sizes.len()).flat_map(|g| product(&left[g..=g], &right[g..=g])).collect();
        assert!(crowd == alone, "{name}");
    }
}

#[test]
fn nan_stays_in_its_row() {
    for (name, device) in common::every_way() {
        let a = host(vec![], vec![2, 2], vec![f32::NAN, 1.0, 2.0, 3.0]);
        let b = host(vec![], vec![2, 2], vec![1.0, f32::INFINITY, 0.0, 1.0]);
        let got = on(&a, device, false).matmul(&on(&b, device, false)).expect("recorded");
        let HostValues::F32(v) = got.to_host().expect("read").values else { panic!("floats") };
        assert!(v[0].is_nan() && v[1].is_nan(), "{name}: {v:?}");
        assert_eq!(v[2..], [2.0, f32::INFINITY], "{name}");
    }
}

fn product(a: &HostTensor, b: &HostTensor, t: [bool; 2], device: &Device, hidden: bool) -> Result<HostTensor> {
    let (a, b) = (on(a, device, hidden), on(b, device, hidden));
    Factor { tensor: &a, transposed: t[0] }.matmul(Factor { tensor: &b, transposed: t[1] })?.to_host()
}

#[test]
fn incompatible_shapes_are_errors() {
    let f = |splits: &[&[u32]], inner: &[usize]| {
        let values = vec![1.0f32; inner.iter().product()];
        host(splits.iter().map(|s| s.to_vec()).collect(), inner.to_vec(), values)
    };
    let cases = [
        ("rows that differ", f(&[&[0, 2, 3]], &[3]), f(&[], &[2, 2]), [false; 2]),
        ("rows of a batch that differ", f(&[&[0, 2], &[0, 2, 3]], &[3]), f(&[], &[1, 2, 2]), [false; 2]),
        ("rows on the right that differ", f(&[], &[1, 2, 2]), f(&[&[0, 2], &[0, 2, 3]], &[3]), [false; 2]),
        ("other numbers of terms", f(&[&[0, 1, 3]], &[3, 2]), f(&[], &[2, 3, 4]), [false; 2]),
        ("other numbers of terms in a batch", f(&[&[0, 1, 3]], &[3, 2]), f(&[&[0, 2, 5]], &[5, 4]), [false; 2]),
        ("transposed on the left", f(&[&[0, 1, 3]], &[3, 2]), f(&[], &[2, 2, 4]), [true, false]),
        ("other numbers of batches", f(&[&[0, 1, 3]], &[3, 2]), f(&[&[0, 2, 4, 6]], &[6, 2]), [false; 2]),
        ("fewer batches on the left", f(&[&[0, 1]], &[1, 2]), f(&[&[0, 2, 4, 6]], &[6, 2]), [false; 2]),
        (
            "batches of other lengths",
            f(&[&[0, 2, 3], &[0, 1, 2, 3]], &[3, 2]),
            f(&[&[0, 1, 3], &[0, 2, 4, 6]], &[6, 2]),
            [false; 2],
        ),
        ("dense", f(&[], &[2, 3]), f(&[], &[2, 3]), [false; 2]),
    ];
    for (name, device) in common::every_way() {
        for (what, a, b, t) in &cases {
            for hidden in [false, true] {
                let got = product(a, b, *t, device, hidden);
                let ok = matches!(&got, Err(Error::Shape { .. } | Error::Argument { .. }))
                    || hidden && matches!(&got, Err(Error::Check { .. }));
                assert!(ok, "{what} on {name}, hidden {hidden}: {got:?}");
            }
        }
        let (x, y) = (on(&cases[9].1, device, false), on(&f(&[], &[2]), device, false));
        assert!(matches!(x.matmul(&y), Err(Error::Shape { .. })), "{name}: rank 1");
        let deep = on(&f(&[], &[2, 3, 2]), device, false);
        assert!(matches!(x.matmul(&deep), Err(Error::Shape { .. })), "{name}: ranks");
        assert!(matches!(deep.t().matmul(&x), Err(Error::Shape { .. })), "{name}: a transpose by one matrix");
        let other = x.cast(ragged::DType::I32).expect("recorded");
        assert!(matches!(x.matmul(&other), Err(Error::DTypes { .. })), "{name}");
        let bools = x.cast(ragged::DType::Bool).expect("recorded");
        assert!(matches!(bools.matmul(bools.t()), Err(Error::Unsupported { .. })), "{name}");
    }
}

#[test]
fn explain_shows_the_kernels() {
    let device = Device::cpu();
    let x = on(&host(vec![], vec![30, 20], vec![1.0f32; 600]), &device, false);
    let explained = x.matmul(x.t()).and_then(|y| y.explain()).expect("explained");
    let kinds: Vec<_> = explained.kernels.iter().map(|k| k.kind).collect();
    assert_eq!(kinds, ["matmul"]);
    assert_eq!(explained.kernels[0].bytes_read + explained.kernels[0].bytes_written, 2 * 2400 + 3600);
}

/// More terms than one dispatch may add where the driver terminates long loops. The sums of whole numbers are exact.
#[test]
fn sums_of_very_many_terms() {
    for (name, device) in common::devices() {
        let terms = 200_003usize;
        let value = |k: usize| ((k * 7919) % 17) as i32 - 8;
        let x = HostTensor::dense(&[1, terms], HostValues::I32((0..terms).map(value).collect()));
        let x = x.to_device(&device).expect("an upload");
        let product = x.matmul(x.t()).expect("recorded");
        let explained = product.explain().expect("explained");
        let limits: &[ManyDispatches] = if device.is_cpu() || !device.is_software() { &[] } else { &[LoopLimit] };
        assert_eq!(explained.kernels[0].limits, limits, "{name}");
        assert_eq!(explained.kernels[0].dispatches > 1, !limits.is_empty(), "{name}: {explained}");
        assert_eq!(explained.to_string().contains("the driver ends loops"), !limits.is_empty(), "{name}: {explained}");
        let product = product.to_host().expect("a read");
        let want: i32 = (0..terms).map(|k| value(k) * value(k)).sum();
        assert_eq!(product.values, HostValues::I32(vec![want]), "{name}");
    }
}

/// The loops of the products are bounded by the longest row, not by the number of scores.
#[test]
fn an_attention_takes_few_dispatches() {
    let lengths = (0..40).map(|row| (row * 131) % 400);
    let splits = splits(lengths);
    let tokens = *splits.last().expect("never empty") as usize;
    let value = |k: usize| ((k * 7919) % 17) as f32 / 8.0 - 1.0;
    let host = host(vec![splits], vec![tokens, 16], (0..tokens * 16).map(value).collect());
    let mut want = None;
    for (name, device) in common::devices() {
        for hidden in [false, true] {
            let x = on(&host, &device, hidden);
            let attention = || x.matmul(x.t())?.softmax(2)?.matmul(&x);
            let attention = attention().expect("recorded");
            let explained = attention.explain().expect("explained");
            let result = attention.to_host().expect("a read");
            println!("{name}: {} dispatches", explained.dispatches());
            assert!(explained.dispatches() <= 20, "{name}: {explained}");
            let want = want.get_or_insert_with(|| bits::<f32>(&result));
            assert!(*want == bits::<f32>(&result), "{name}");
        }
    }
}
