//! Random batches of rows: millions of empty rows, one row as long as all others together, power laws, lengths around
//! tile sizes. An operation on a batch and on some of its rows must give the same bits on the CPU and on every GPU.

use ragged::opt::{exclusive, keep, reversed, shaped};
use ragged::{DType, Device, HostTensor, HostValues, Result, Tensor, s};

use crate::common;
use crate::common::outcome::same_bits;
use crate::random::Random;

/// Approximate number of values of a batch.
const BUDGET: usize = 2_000_000;

/// Distribution of the row lengths of a batch.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    MostlyEmpty,
    PowerLaw,
    Giant,
    EdgesOfTiles,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::MostlyEmpty, Self::PowerLaw, Self::Giant, Self::EdgesOfTiles];

    fn lengths(self, random: &mut Random) -> Vec<u32> {
        let mut left = BUDGET;
        let mut take = |len: usize| {
            let len = len.min(left);
            left -= len;
            len as u32
        };
        match self {
            Self::MostlyEmpty => {
                let (nrows, each) = (500_000 + random.below(2_500_000), 8 << random.below(12));
                (0..nrows).map(|_| take(if random.once_in(each) { random.below(600) } else { 0 })).collect()
            }
            Self::PowerLaw => {
                let nrows = 1 + random.below(400_000);
                let exponent = 1.0 + random.below(100) as f64 / 50.0;
                let of = |_| {
                    let u = (random.below(1 << 30) as f64 + 1.0) / (1u64 << 30) as f64;
                    take(u.powf(-1.0 / exponent).min(BUDGET as f64) as usize - 1)
                };
                (0..nrows).map(of).collect()
            }
            Self::Giant => {
                let mut all: Vec<u32> = (0..1 + random.below(100_000)).map(|_| take(random.below(9))).collect();
                let place = random.below(all.len());
                all[place] = take(BUDGET);
                all
            }
            Self::EdgesOfTiles => {
                let nrows = 1 + random.below(20_000);
                let edges = [0, 0, 8, 16, 32, 64, 128, 256, 512, 2048, 4096, 8192];
                (0..nrows).map(|_| take((random.of(&edges) + random.below(3)).saturating_sub(1))).collect()
            }
        }
    }
}

/// Values whose sums depend on their order.
fn floats(random: &mut Random, n: usize) -> HostValues {
    let small = |word: u64| (word >> 40) as i64 % 1000 - 500;
    HostValues::F32((0..n).map(|_| small(random.next()) as f32 / 7.0).collect())
}

fn values(random: &mut Random, n: usize) -> HostValues {
    match random.below(4) {
        0 | 1 => floats(random, n),
        2 => HostValues::I64((0..n).map(|_| random.next() as i64).collect()),
        _ => HostValues::U8((0..n).map(|_| random.next() as u8).collect()),
    }
}

/// An operation on the rows and on random row indices.
struct Op {
    name: &'static str,
    run: fn(&Tensor, &Tensor) -> Result<Tensor>,
    /// Whether a row of the result depends on the same row of the input only.
    by_rows: bool,
}

const fn op(name: &'static str, by_rows: bool, run: fn(&Tensor, &Tensor) -> Result<Tensor>) -> Op {
    Op { name, run, by_rows }
}

const OPS: [Op; 18] = [
    op("sum", true, |x, _| x.reduce_sum(keep(1))),
    op("greatest", true, |x, _| x.reduce_max(keep(1))),
    op("mean", true, |x, _| x.cast(DType::F32)?.reduce_mean(keep(1))),
    op("variance", true, |x, _| x.cast(DType::F32)?.reduce_variance(keep(1))),
    op("place of the greatest", true, |x, _| x.argmax(1)),
    op("running sum", true, |x, _| x.cumsum(1)),
    op("running product from the end", true, |x, _| x.cast(DType::F32)?.cumprod(exclusive(reversed(1)))),
    op("softmax", true, |x, _| x.cast(DType::F32)?.softmax(1)),
    op("standardised", true, |x, _| {
        let x = x.cast(DType::F32)?;
        (&x - &x.reduce_mean(keep(1))?)? / &x.reduce_std(keep(1))?
    }),
    op("sorted", true, |x, _| x.sort(1)),
    op("unique", true, |x, _| x.unique(1)),
    op("above a hundred", true, |x, _| x.boolean_mask(&x.cast(DType::F32)?.greater(100f32)?)),
    op("the last three", true, |x, _| x.slice(s![.., -3..])),
    op("reversed", true, |x, _| x.slice(s![.., ..;-1])),
    op("with the greatest", true, |x, _| Tensor::concat(&[x, &x.reduce_max(keep(1))?], 1)),
    op("padded", true, |x, _| x.cast(DType::F32)?.to_tensor(shaped(7f32, [-1, 20]))),
    op("rows again", false, |x, rows| x.gather(rows)),
    op("columns", false, |x, _| x.reduce_max(0)),
];

fn dense(numbers: Vec<i64>, on: &Device) -> Tensor {
    HostTensor::dense(&[numbers.len()], HostValues::I64(numbers)).to_device(on).expect("valid")
}

/// A batch, and some of its rows as batches of one row, on each device.
struct BatchCase<'g> {
    /// Description in failures.
    label: String,
    lengths: Vec<u32>,
    /// Few row indices, some of them repeated, possibly that of the longest row.
    taken: Vec<i64>,
    x: Tensor,
    twins: Vec<Tensor>,
    gpus: &'g [(String, Device)],
}

impl<'g> BatchCase<'g> {
    fn new(
        seed: u64,
        random: &mut Random,
        kind: Kind,
        values: impl Fn(&mut Random, usize) -> HostValues,
        gpus: &'g [(String, Device)],
    ) -> Self {
        let lengths = kind.lengths(random);
        let (nrows, splits) = (lengths.len(), common::random::splits(&lengths));
        let host = HostTensor::from_row_splits(splits.clone(), values(random, splits[nrows] as usize));
        let taken = (0..random.below(1000)).map(|_| random.below(nrows) as i64).collect();
        let x = host.to_device(&Device::cpu()).expect("fits");
        let twins = gpus.iter().map(|(_, on)| host.to_device(on).expect("uploads")).collect();
        let label = format!("seed {seed}: {} in {nrows} rows, {kind:?}", host.values.dtype());
        Self { label, lengths, taken, x, twins, gpus }
    }

    /// Asserts that the operation gives the same bits on all devices and for single rows.
    fn agrees(&self, random: &mut Random, op: &Op) {
        let what = format!("{} of {}", op.name, self.label);
        let all = (op.run)(&self.x, &dense(self.taken.clone(), &self.x.device())).expect(&what);
        let want = all.to_host().expect(&what);
        for (twin, (name, on)) in self.twins.iter().zip(self.gpus) {
            let got = (op.run)(twin, &dense(self.taken.clone(), on)).and_then(|t| t.to_host()).expect(&what);
            assert!(want.nested_row_splits == got.nested_row_splits, "{what}, on {name}: other rows");
            assert!(same_bits(&want.values, &got.values), "{what}, on {name}");
        }
        let nrows = self.lengths.len();
        let longest = (0..nrows).max_by_key(|&r| self.lengths[r]).unwrap_or(0);
        let some = if op.by_rows { vec![longest, random.below(nrows), nrows - 1] } else { Vec::new() };
        for row in some.into_iter().map(|row| row as i64) {
            for x in [&self.x].into_iter().chain(&self.twins) {
                let alone = x.slice(s![row..row + 1]).and_then(|x| (op.run)(&x, &x)).and_then(|t| t.to_host());
                let crowd = all.slice(s![row..row + 1]).and_then(|t| t.to_host()).expect(&what);
                let alone = alone.expect(&what);
                assert!(same_bits(&alone.values, &crowd.values), "{what}: row {row} alone on {}", x.device().name());
            }
        }
    }
}

/// Checks some operations on one random batch.
pub fn run(seed: u64, gpus: &[(String, Device)]) {
    let mut random = Random(seed ^ 0x00c0_ffee);
    let kind = random.of(&Kind::ALL);
    let batch = BatchCase::new(seed, &mut random, kind, values, gpus);
    for _ in 0..4 {
        let op = &OPS[random.below(OPS.len())];
        batch.agrees(&mut random, op);
    }
}

/// Checks every operation on a batch of floats of each distribution.
pub fn run_all(seed: u64, gpus: &[(String, Device)]) {
    let mut random = Random(seed ^ 0x0a11);
    for kind in Kind::ALL {
        let batch = BatchCase::new(seed, &mut random, kind, floats, gpus);
        OPS.iter().for_each(|op| batch.agrees(&mut random, op));
    }
}
