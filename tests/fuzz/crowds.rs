//! Random crowds of rows: millions of empty ones, one as long as all others together, power laws, lengths at the edges
//! of tiles. One operation on each, on the CPU and on every GPU, and on some rows alone: the same bits.

use ragged::{DType, Device, HostTensor, HostValues, Result, Tensor, s};

use crate::common;
use crate::common::outcome::same_bits;
use crate::random::Random;

/// Values of a crowd, give or take a row.
const BUDGET: usize = 2_000_000;

/// The kind of the rows, and their lengths.
fn lengths(random: &mut Random) -> (&'static str, Vec<u32>) {
    let mut left = BUDGET;
    let mut take = |len: usize| {
        let len = len.min(left);
        left -= len;
        len as u32
    };
    match random.below(4) {
        0 => {
            let (nrows, each) = (500_000 + random.below(2_500_000), 8 << random.below(12));
            let of = |_| take(if random.once_in(each) { random.below(600) } else { 0 });
            ("mostly empty", (0..nrows).map(of).collect())
        }
        1 => {
            let nrows = 1 + random.below(400_000);
            let exponent = 1.0 + random.below(100) as f64 / 50.0;
            let of = |_| {
                let u = (random.below(1 << 30) as f64 + 1.0) / (1u64 << 30) as f64;
                take(u.powf(-1.0 / exponent).min(BUDGET as f64) as usize - 1)
            };
            ("a power law", (0..nrows).map(of).collect())
        }
        2 => {
            let mut all: Vec<u32> = (0..1 + random.below(100_000)).map(|_| take(random.below(9))).collect();
            let place = random.below(all.len());
            all[place] = take(BUDGET);
            ("a giant", all)
        }
        _ => {
            let nrows = 1 + random.below(20_000);
            let edges = [0, 0, 8, 16, 32, 64, 128, 256, 512, 2048, 4096, 8192];
            let of = |_| take((random.of(&edges) + random.below(3)).saturating_sub(1));
            ("edges of tiles", (0..nrows).map(of).collect())
        }
    }
}

fn values(random: &mut Random, n: usize) -> HostValues {
    let small = |word: u64| (word >> 40) as i64 % 1000 - 500;
    match random.below(4) {
        // Sums that depend on their order.
        0 | 1 => HostValues::F32((0..n).map(|_| small(random.next()) as f32 / 7.0).collect()),
        2 => HostValues::I64((0..n).map(|_| random.next() as i64).collect()),
        _ => HostValues::U8((0..n).map(|_| random.next() as u8).collect()),
    }
}

/// An operation: of the rows, and of random numbers of rows.
struct Op {
    name: &'static str,
    run: fn(&Tensor, &Tensor) -> Result<Tensor>,
    /// Whether a row of the result is made of that row alone.
    by_rows: bool,
}

const fn op(name: &'static str, by_rows: bool, run: fn(&Tensor, &Tensor) -> Result<Tensor>) -> Op {
    Op { name, run, by_rows }
}

const OPS: [Op; 18] = [
    op("sum", true, |x, _| x.reduce_sum(1, true)),
    op("greatest", true, |x, _| x.reduce_max(1, true)),
    op("mean", true, |x, _| x.cast(DType::F32)?.reduce_mean(1, true)),
    op("variance", true, |x, _| x.cast(DType::F32)?.reduce_variance(1, true)),
    op("place of the greatest", true, |x, _| x.argmax(1)),
    op("running sum", true, |x, _| x.cumsum(1, false, false)),
    op("running product from the end", true, |x, _| x.cast(DType::F32)?.cumprod(1, true, true)),
    op("softmax", true, |x, _| x.cast(DType::F32)?.softmax(1)),
    op("standardised", true, |x, _| {
        let x = x.cast(DType::F32)?;
        (&x - &x.reduce_mean(1, true)?)? / &x.reduce_std(1, true)?
    }),
    op("sorted", true, |x, _| x.sort(1, false)),
    op("unique", true, |x, _| x.unique(1)),
    op("above a hundred", true, |x, _| x.boolean_mask(&x.cast(DType::F32)?.greater(100f32)?)),
    op("the last three", true, |x, _| x.slice(s![.., -3..])),
    op("reversed", true, |x, _| x.slice(s![.., ..;-1])),
    op("with the greatest", true, |x, _| Tensor::concat(&[x, &x.reduce_max(1, true)?], 1)),
    op("padded", true, |x, _| x.cast(DType::F32)?.to_tensor(7f32, Some(&[None, Some(20)]))),
    op("rows again", false, |x, rows| x.gather(rows, Some(0), 0)),
    op("columns", false, |x, _| x.reduce_max(0, false)),
];

fn dense(numbers: Vec<i64>, on: &Device) -> Tensor {
    HostTensor::dense(&[numbers.len()], HostValues::I64(numbers)).to_device(on).expect("valid")
}

/// Some operations on one crowd.
pub fn run(seed: u64, gpus: &[(String, Device)]) {
    let mut random = Random(seed ^ 0x00c0_ffee);
    let (kind, lengths) = lengths(&mut random);
    let (nrows, splits) = (lengths.len(), common::random::splits(&lengths));
    let host = HostTensor::from_row_splits(splits.clone(), values(&mut random, splits[nrows] as usize));
    // Few of them, and some twice: the giant may be among them.
    let taken: Vec<i64> = (0..random.below(1000)).map(|_| random.below(nrows) as i64).collect();
    let cpu = Device::cpu();
    let x = host.to_device(&cpu).expect("fits");
    let twins: Vec<Tensor> = gpus.iter().map(|(_, on)| host.to_device(on).expect("uploads")).collect();
    for _ in 0..4 {
        let op = &OPS[random.below(OPS.len())];
        let what = format!("seed {seed}: {} of {} in {nrows} rows, {kind}", op.name, host.values.dtype());
        let all = (op.run)(&x, &dense(taken.clone(), &cpu)).expect(&what);
        let want = all.to_host().expect(&what);
        for (twin, (name, on)) in twins.iter().zip(gpus) {
            let got = (op.run)(twin, &dense(taken.clone(), on)).and_then(|t| t.to_host()).expect(&what);
            assert!(want.nested_row_splits == got.nested_row_splits, "{what}, on {name}: other rows");
            assert!(same_bits(&want.values, &got.values), "{what}, on {name}");
        }
        let longest = (0..nrows).max_by_key(|&r| lengths[r]).unwrap_or(0);
        let some = if op.by_rows { vec![longest, random.below(nrows), nrows - 1] } else { Vec::new() };
        for row in some.into_iter().map(|row| row as i64) {
            for x in [&x].into_iter().chain(&twins) {
                let alone = x.slice(s![row..row + 1]).and_then(|x| (op.run)(&x, &x)).and_then(|t| t.to_host());
                let crowd = all.slice(s![row..row + 1]).and_then(|t| t.to_host()).expect(&what);
                let alone = alone.expect(&what);
                assert!(same_bits(&alone.values, &crowd.values), "{what}: row {row} alone on {}", x.device().name());
            }
        }
    }
}
