//! Random chains of operations on random ragged tensors: the CPU and the GPU, fusing or not, agree bit for bit, errors included.
//!
//! A case is a seed: what fails names it, and `RAGGED_FUZZ_SEED` runs it alone, or as the first of
//! `RAGGED_FUZZ_CASES` ones.

mod common;

use std::fmt::Write as _;

use ragged::{DType, Device, DeviceOptions, Error, HostTensor, HostValues, Index, Result, Tensor, bf16, f16};

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
    fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 33) as usize) % n.max(1)
    }
    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
    fn signed(&mut self, reach: i64) -> i64 {
        self.below(2 * reach as usize + 1) as i64 - reach
    }
}

fn values(random: &mut Random, dtype: DType, n: usize) -> HostValues {
    macro_rules! ints {
        ($t:ty, $v:ident) => {
            HostValues::$v(
                (0..n)
                    .map(|_| match random.below(12) {
                        0 => <$t>::MIN,
                        1 => <$t>::MAX,
                        2 => random.next() as $t,
                        _ => random.signed(5) as $t,
                    })
                    .collect(),
            )
        };
    }
    macro_rules! floats {
        ($t:ident, $v:ident, $bits:ty) => {
            HostValues::$v(
                (0..n)
                    .map(|_| match random.below(16) {
                        0 => random.of(&[$t::NAN, $t::INFINITY, $t::NEG_INFINITY, -0.0, $t::MAX, $t::MIN_POSITIVE]),
                        1 => $t::from_bits(random.next() as $bits),
                        _ => random.signed(300) as $t / 64.0,
                    })
                    .collect(),
            )
        };
    }
    macro_rules! narrow {
        ($t:ident, $v:ident) => {
            HostValues::$v(
                (0..n)
                    .map(|_| match random.below(8) {
                        0 => $t::from_bits(random.next() as u16),
                        _ => $t::from_f32(random.signed(300) as f32 / 64.0),
                    })
                    .collect(),
            )
        };
    }
    match dtype {
        DType::Bool => HostValues::Bool((0..n).map(|_| random.below(2) == 0).collect()),
        DType::U8 => ints!(u8, U8),
        DType::I8 => ints!(i8, I8),
        DType::U16 => ints!(u16, U16),
        DType::I16 => ints!(i16, I16),
        DType::I32 => ints!(i32, I32),
        DType::U32 => ints!(u32, U32),
        DType::I64 => ints!(i64, I64),
        DType::U64 => ints!(u64, U64),
        DType::F16 => narrow!(f16, F16),
        DType::BF16 => narrow!(bf16, BF16),
        DType::F32 => floats!(f32, F32, u32),
        DType::F64 => floats!(f64, F64, u64),
        _ => HostValues::Str((0..n).map(|k| vec![b'a' + (k % 26) as u8; random.below(6)]).collect()),
    }
}

/// A tensor of ragged rank 0 to 3, with a uniform or an inner dimension now and then.
fn tensor(random: &mut Random, dtype: DType) -> HostTensor {
    let mut rows = random.of(&[0, 1, 2, 3, 5, 17]);
    let (mut nested_row_splits, mut uniform_row_lengths) = (Vec::new(), Vec::new());
    for _ in 0..random.below(4) {
        let uniform = (random.below(5) == 0).then(|| random.below(4) as u32);
        let mut splits = vec![0u32];
        for _ in 0..rows {
            let ragged = if random.below(15) == 0 { random.of(&[16, 33, 260]) } else { random.below(4) as u32 };
            splits.push(splits[splits.len() - 1] + uniform.unwrap_or(if rows > 300 { ragged % 4 } else { ragged }));
        }
        rows = splits[rows] as usize;
        nested_row_splits.push(splits);
        uniform_row_lengths.push(uniform);
    }
    let mut inner_shape = vec![rows];
    if random.below(3) == 0 {
        inner_shape.push(random.below(4));
    }
    let n = inner_shape.iter().product();
    HostTensor { nested_row_splits, uniform_row_lengths, inner_shape, values: values(random, dtype, n) }
}

/// An operation with its arguments, to be applied on every device.
type Op = Box<dyn Fn(&Tensor, &Tensor) -> Result<Tensor>>;

fn index(random: &mut Random, rank: usize) -> Vec<Index> {
    let bound = |random: &mut Random| (random.below(3) > 0).then(|| random.signed(4));
    (0..1 + random.below(rank))
        .map(|_| match random.below(8) {
            0 => Index::At(random.signed(2)),
            1 => Index::NewAxis,
            _ => {
                let (start, stop) = (bound(random), bound(random));
                Index::Slice { start, stop, step: random.of(&[1, 1, 1, 2, -1, -2, 3]) }
            }
        })
        .collect()
}

/// An operation for a tensor of that dtype and rank, and its name. `has_f64` says that 64-bit floats may come out.
fn operation(random: &mut Random, dtype: DType, rank: usize, has_f64: bool) -> (String, Op) {
    let axis = random.signed(rank.max(1) as i64).clamp(-(rank.max(1) as i64), rank.max(1) as i64 - 1);
    let is_number = dtype != DType::Bool && dtype != DType::Str;
    match random.below(12) {
        0 | 1 => return masks_and_tiles(random, dtype, rank, axis),
        2 | 3 => return shaping(random, axis),
        _ => {}
    }
    match random.below(if dtype == DType::Str { 6 } else { 21 }) {
        0 | 1 => {
            let index = index(random, rank);
            (format!("slice {index:?}"), Box::new(move |x, _| x.slice(&index)))
        }
        2 => (format!("reverse {axis}"), Box::new(move |x, _| x.reverse(axis))),
        3 => (format!("concat {axis}"), Box::new(move |x, y| Tensor::concat(&[x, y], axis))),
        4 => (format!("concat with itself {axis}"), Box::new(move |x, _| Tensor::concat(&[x, x, x], axis))),
        5 => (format!("stack {axis}"), Box::new(move |x, y| Tensor::stack(&[x, y], axis))),
        6 | 7 if is_number => {
            let keep = random.below(2) == 0;
            let axis = (random.below(6) > 0).then_some(axis);
            match random.below(4) {
                0 => (format!("sum {axis:?} {keep}"), Box::new(move |x, _| x.reduce_sum(axis, keep))),
                1 => (format!("prod {axis:?} {keep}"), Box::new(move |x, _| x.reduce_prod(axis, keep))),
                2 => (format!("min {axis:?} {keep}"), Box::new(move |x, _| x.reduce_min(axis, keep))),
                _ => (format!("max {axis:?} {keep}"), Box::new(move |x, _| x.reduce_max(axis, keep))),
            }
        }
        6 | 7 => (format!("any {axis}"), Box::new(move |x, _| x.reduce_any(axis, false))),
        8 => {
            let wide = [DType::I32, DType::U8, DType::F32, DType::F64, DType::I64, DType::U32, DType::Bool];
            let narrow = [DType::I8, DType::U16, DType::I16, DType::F16, DType::BF16];
            let to = if random.below(3) == 0 { random.of(&narrow) } else { random.of(&wide) };
            let to = if to == DType::F64 && !has_f64 { DType::U64 } else { to };
            (format!("cast to {to}"), Box::new(move |x, _| x.cast(to)))
        }
        9 if dtype.is_signed() => ("negative".into(), Box::new(|x, _| x.negative())),
        10 if dtype.is_float() => ("exp".into(), Box::new(|x, _| x.exp())),
        9..=11 if is_number => match random.below(6) {
            0 => ("add".into(), Box::new(|x, y| x.add(y))),
            1 => ("subtract".into(), Box::new(|x, y| x.subtract(y))),
            2 => ("multiply".into(), Box::new(|x, y| x.multiply(y))),
            3 => ("floormod".into(), Box::new(|x, y| x.floormod(y))),
            4 => ("maximum".into(), Box::new(|x, y| x.maximum(y))),
            _ => ("truncatediv".into(), Box::new(|x, y| x.truncatediv(y))),
        },
        18 if is_number => {
            let (exclusive, reverse) = (random.below(2) == 0, random.below(2) == 0);
            match random.below(4) {
                0 => (format!("cumprod {axis}"), Box::new(move |x, _| x.cumprod(axis, exclusive, reverse))),
                1 => (format!("cummax {axis}"), Box::new(move |x, _| x.cummax(axis, reverse))),
                _ => (format!("cumsum {axis}"), Box::new(move |x, _| x.cumsum(axis, exclusive, reverse))),
            }
        }
        19 => match random.below(3) {
            0 => (format!("argmin {axis}"), Box::new(move |x, _| x.argmin(axis))),
            1 => (format!("argmax {axis}"), Box::new(move |x, _| x.argmax(axis))),
            _ => (format!("count_nonzero {axis}"), Box::new(move |x, _| x.count_nonzero(axis, false))),
        },
        // Ids as deep as the values; of whole rows; and more of them than segments, now and then.
        20 if is_number => {
            let (num, deep) = (random.of(&[3, 2, 2, 1]), random.below(2) == 0);
            let what = random.below(3);
            (
                format!("{num} segments, deep {deep}, {what}"),
                Box::new(move |x, _| {
                    let others: Vec<i64> = (1..rank as i64).collect();
                    let truth = if deep { x.cast(DType::Bool)? } else { x.reduce_any(others, false)? };
                    let ids = truth.cast(DType::I32)?;
                    match what {
                        0 => x.unsorted_segment_max(&ids, num),
                        1 => x.unsorted_segment_mean(&ids, num),
                        _ => x.unsorted_segment_sum(&ids, num),
                    }
                }),
            )
        }
        // The sum of a row and a product: what contraction would show.
        12 if is_number && rank > 1 => {
            ("x * x - sum".into(), Box::new(|x, _| x.multiply(x)?.subtract(&x.reduce_sum(-1, true)?)))
        }
        14 if is_number && rank > 1 => match random.below(3) {
            0 => ("x by its transpose".into(), Box::new(|x, _| x.matmul(x, false, true))),
            1 => ("the transpose of x by x".into(), Box::new(|x, _| x.matmul(x, true, false))),
            _ => ("matmul".into(), Box::new(|x, y| x.matmul(y, false, false))),
        },
        15 if dtype.is_float() => match random.below(3) {
            0 => (format!("softmax {axis}"), Box::new(move |x, _| x.softmax(axis))),
            1 => (format!("logsumexp {axis}"), Box::new(move |x, _| x.reduce_logsumexp(axis, true))),
            _ => ("dropout".into(), Box::new(|x, _| x.dropout(0.25, 77))),
        },
        16 | 17 => {
            let (descending, k) = (random.below(2) == 0, random.below(4) as u32);
            match random.below(7) {
                0 | 1 => (format!("sort {axis} {descending}"), Box::new(move |x, _| x.sort(axis, descending))),
                2 => (format!("argsort {axis} {descending}"), Box::new(move |x, _| x.argsort(axis, descending))),
                3 => (format!("top {k} along {axis}"), Box::new(move |x, _| Ok(x.top_k(k, axis)?.0))),
                4 => ("unique".into(), Box::new(|x, _| x.unique(-1))),
                5 => (format!("n_unique {axis}"), Box::new(move |x, _| x.n_unique(axis))),
                _ => (format!("quantile {axis}"), Box::new(move |x, _| x.quantile(0.3, axis, descending))),
            }
        }
        _ => ("equal".into(), Box::new(|x, y| x.equal(y))),
    }
}

/// An operation that changes a shape, and its name.
fn shaping(random: &mut Random, axis: i64) -> (String, Op) {
    let other = axis + random.signed(2);
    match random.below(9) {
        0 => (format!("expand_dims {axis}"), Box::new(move |x, _| x.expand_dims(axis))),
        1 => (format!("merge_dims {axis} {other}"), Box::new(move |x, _| x.merge_dims(axis, other))),
        2 => (format!("squeeze of a new {axis}"), Box::new(move |x, _| x.expand_dims(axis)?.squeeze(axis))),
        3 => ("squeeze of all".into(), Box::new(|x, _| x.squeeze(None))),
        4 => ("reshape_like".into(), Box::new(|x, y| x.reshape_like(y))),
        5 => ("broadcast_like".into(), Box::new(|x, y| x.broadcast_like(y))),
        6 => (
            "the rest of a split".into(),
            Box::new(move |x, _| x.split([1, other], axis).map(|mut all| all.swap_remove(1))),
        ),
        7 => (
            "zeros of a broadcast".into(),
            Box::new(|x, y| Tensor::zeros(&x.ragged_shape().broadcast(y.ragged_shape())?, x.dtype())),
        ),
        _ => {
            let groups = 1 + random.below(3) as u32;
            let run = move |x: &Tensor, y: &Tensor| {
                let rows = Tensor::zeros(&y.ragged_shape().slice(..1)?, DType::I32)?;
                x.stack_dynamic_partitions(&rows, groups)
            };
            (format!("{groups} groups"), Box::new(run))
        }
    }
}

/// Masks of every rank, choices, and repetitions.
fn masks_and_tiles(random: &mut Random, dtype: DType, rank: usize, axis: i64) -> (String, Op) {
    // Nothing with as many values as there were rows may come of it again and again.
    let times = random.of(&[0, 1, 2]);
    match random.below(7) {
        0 => {
            let multiples: Vec<i64> =
                (0..rank as i64).map(|d| if d == axis.rem_euclid(rank as i64) { times } else { 1 }).collect();
            (format!("tile {multiples:?}"), Box::new(move |x, _| x.tile(&multiples)))
        }
        1 => (format!("repeat {times} {axis}"), Box::new(move |x, _| x.repeat(times, axis))),
        // A flag a row, where the other tensor has as many; a mask of the tensor's own shape.
        2 if rank > 1 && dtype != DType::Str => {
            let axes: Vec<i64> = (1..rank as i64).collect();
            let some = move |t: &Tensor| t.cast(DType::Bool)?.reduce_any(axes.clone(), false);
            ("mask of rows".into(), Box::new(move |x, y| x.boolean_mask(&some(y)?)))
        }
        3 if rank > 1 && dtype != DType::Str => {
            let some = move |t: &Tensor| t.cast(DType::Bool)?.reduce_any(-1, false);
            ("mask of the last rows".into(), Box::new(move |x, _| x.boolean_mask(&some(x)?)))
        }
        4 if dtype != DType::Str => ("where_indices".into(), Box::new(|x, _| Ok(x.where_indices()?.into_erased()))),
        5 => ("select".into(), Box::new(|x, y| x.equal(y)?.select(y, x))),
        _ => ("mask".into(), Box::new(|x, y| x.boolean_mask(&x.equal(y)?))),
    }
}

/// The reference first.
fn devices() -> Vec<(String, Device)> {
    let mut out = vec![("cpu".to_owned(), Device::cpu()), ("cpu unfused".to_owned(), Device::cpu_unfused())];
    let gpus = common::gpus();
    if !gpus.is_empty() {
        let options = DeviceOptions::default().core_limits(true).no_int64(true);
        out.push(("gpu core".into(), Device::gpu_with(&options).expect("opens with less")));
        out.push(("gpu unfused".into(), Device::gpu_unfused(&DeviceOptions::default()).expect("opens twice")));
    }
    out.extend(gpus);
    out
}

/// The bits of a tensor, NaNs all one.
fn bits(t: &HostTensor) -> String {
    let mut out = format!("{:?} {:?} {:?} ", t.nested_row_splits, t.uniform_row_lengths, t.inner_shape);
    match &t.values {
        HostValues::F16(v) => {
            for x in v {
                write!(out, "{:x} ", if x.is_nan() { f16::NAN } else { *x }.to_bits()).expect("a string takes text");
            }
        }
        HostValues::BF16(v) => {
            for x in v {
                write!(out, "{:x} ", if x.is_nan() { bf16::NAN } else { *x }.to_bits()).expect("a string takes text");
            }
        }
        HostValues::F32(v) => {
            for x in v {
                write!(out, "{:x} ", if x.is_nan() { f32::NAN } else { *x }.to_bits()).expect("a string takes text");
            }
        }
        HostValues::F64(v) => {
            for x in v {
                write!(out, "{:x} ", if x.is_nan() { f64::NAN } else { *x }.to_bits()).expect("a string takes text");
            }
        }
        other => write!(out, "{other:?}").expect("a string takes text"),
    }
    out
}

/// What a tensor or an error is, to be compared. Of several broken conditions any may be reported.
fn outcome<T>(result: &Result<T>, text: impl Fn(&T) -> String) -> String {
    match result {
        Ok(v) => text(v),
        Err(e) => format!("{:?}", std::mem::discriminant(e)),
    }
}

fn run(seed: u64, devices: &[(String, Device)]) {
    let mut random = Random(seed);
    let dtype = random.of(&DType::ALL);
    let hosts: Vec<HostTensor> = (0..2).map(|_| tensor(&mut random, dtype)).collect();
    // Not every device has 64-bit floats: in most chains none come up, and all devices take part.
    let has_f64 = dtype == DType::F64 || seed.is_multiple_of(4);
    let devices: Vec<_> = devices.iter().filter(|(_, d)| !has_f64 || common::has(d, DType::F64)).collect();
    // For each tensor of the pool its twins, one a device.
    let mut pool: Vec<Vec<Tensor>> =
        hosts.iter().map(|h| devices.iter().map(|(_, d)| h.to_device(d).expect("a valid tensor")).collect()).collect();
    let mut log = String::new();
    for _ in 0..2 + random.below(6) {
        let (a, b) = (random.below(pool.len()), random.below(pool.len()));
        let (dtype, rank) = (pool[a][0].dtype(), pool[a][0].rank());
        let (name, op) = operation(&mut random, dtype, rank, has_f64);
        writeln!(log, "  {} = {name} of {a}, {b}: {}", pool.len(), pool[a][0].shape_text()).expect("a string");
        let results: Vec<Result<Tensor>> = (0..devices.len()).map(|d| op(&pool[a][d], &pool[b][d])).collect();
        let lacks_f64 = |((_, device), result): (&&(String, Device), &Result<Tensor>)| {
            matches!(result, Err(Error::Unsupported { dtype: DType::F64, .. })) && !common::has(device, DType::F64)
        };
        if devices.iter().zip(&results).any(lacks_f64) {
            continue;
        }
        let want = outcome(&results[0], |t| format!("{:?} {}", t.shape(), t.dtype()));
        for ((device, _), result) in devices.iter().zip(&results) {
            let got = outcome(result, |t| format!("{:?} {}", t.shape(), t.dtype()));
            assert_eq!(
                want,
                got,
                "seed {seed} on {device}: {:?}, not {:?}\n{log}",
                result.as_ref().err(),
                results[0].as_ref().err()
            );
        }
        if let Ok(twins) = results.into_iter().collect::<Result<Vec<_>>>() {
            pool.push(twins);
        }
    }
    // In any order: what is read later is made of what was stored before.
    while let Some(twins) = (!pool.is_empty()).then(|| pool.swap_remove(random.below(pool.len()))) {
        let read: Vec<Result<HostTensor>> = twins.iter().map(Tensor::to_host).collect();
        let want = outcome(&read[0], bits);
        for ((device, _), result) in devices.iter().zip(&read) {
            let got = outcome(result, bits);
            assert!(
                want == got,
                "seed {seed} on {device}\n{log}wanted {}\ngot    {}\n{:?} {:?}",
                &want[..want.len().min(2000)],
                &got[..got.len().min(2000)],
                read[0].as_ref().err(),
                result.as_ref().err()
            );
        }
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn random_chains_agree_everywhere() {
    let devices = devices();
    let asked = number("RAGGED_FUZZ_SEED");
    let first = asked.unwrap_or(0);
    let cases = number("RAGGED_FUZZ_CASES").unwrap_or(if asked.is_some() { 1 } else { 40 });
    let start = std::time::Instant::now();
    for seed in first..first + cases {
        run(seed, &devices);
    }
    println!("{cases} chains in {:?}", start.elapsed());
}
