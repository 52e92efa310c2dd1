//! Random functions along rows: one and two states, products with matrices, either direction.

use ragged::opt::InitialStates;
use ragged::{DType, Device, HostTensor, HostValues, Result, Row, ScannedRows, Tensor, s};

use crate::common::outcome::same_bits;
use crate::random::Random;

/// An operation of a step on two values.
type Combine = (&'static str, fn(&Row, &Row) -> Result<Row>);

const COMBINE: &[Combine] = &[
    ("plus", |a, b| a.add(b)),
    ("less", |a, b| a.subtract(b)),
    ("times", |a, b| a.multiply(b)),
    ("at most", |a, b| a.minimum(b)),
    ("where greater", |a, b| a.greater(b)?.select(a, &b.multiply(0.5)?)),
    ("tanh of sum", |a, b| a.add(b)?.tanh()),
    ("leaky", |a, b| a.multiply(0.5)?.add(&b.sigmoid()?)),
];

/// A recurrence of f32 over elements of any numbers, with states of `width` numbers.
#[derive(Clone)]
pub struct Recurrence {
    width: usize,
    is_reversed: bool,
    has_matrix: bool,
    /// Of each state: with which state, and how with that and the element.
    states: Vec<(usize, Combine, Combine)>,
}

impl Recurrence {
    pub fn random(random: &mut Random) -> Self {
        let n = 1 + random.below(2);
        Self {
            width: random.of(&[1, 2, 5]),
            is_reversed: random.once_in(2),
            has_matrix: random.once_in(2),
            states: (0..n).map(|_| (random.below(n), random.of(COMBINE), random.of(COMBINE))).collect(),
        }
    }

    pub fn name(&self) -> String {
        let states: Vec<_> = self.states.iter().map(|(with, a, b)| format!("{} {with}, {}", a.0, b.0)).collect();
        let Self { width, is_reversed, has_matrix, .. } = self;
        format!("scan_rows {states:?} of {width}, reversed {is_reversed}, a matrix {has_matrix}")
    }

    /// The outputs, in the rows of the tensor.
    fn outputs(&self, x: &Tensor) -> Result<Tensor> {
        Ok(self.scanned(x)?.outputs.swap_remove(0))
    }

    fn scanned(&self, x: &Tensor) -> Result<ScannedRows> {
        let (width, device) = (self.width, x.device());
        let dense = |seed: u64, shape: &[usize]| {
            let mut random = Random(seed);
            let n = shape.iter().product();
            let values = (0..n).map(|_| random.signed(64) as f32 / 64.0).collect();
            HostTensor::dense(shape, HostValues::F32(values)).to_device(&device)
        };
        let matrix = dense(1, &[width, width])?;
        let initial: Vec<Tensor> =
            (0..self.states.len() as u64).map(|k| dense(2 + k, &[1, width])).collect::<Result<_>>()?;
        let initial = InitialStates::from(&initial[..]).reversed(self.is_reversed);
        x.cast(DType::F32)?.scan_rows(initial, |states, x| {
            let next = |(k, (with, a, b)): (usize, &(usize, Combine, Combine))| {
                let state = (b.1)(&(a.1)(&states[k], &states[*with])?, x)?;
                // A state that feeds back grows without bounds.
                let state = state.maximum(-100.0)?.minimum(100.0)?;
                if self.has_matrix && k == 0 { state.matmul(&matrix) } else { Ok(state) }
            };
            let next: Vec<Row> = self.states.iter().enumerate().map(next).collect::<Result<_>>()?;
            let output = next.iter().skip(1).try_fold(next[0].clone(), |sum, state| sum.add(state))?;
            Ok((next, vec![output]))
        })
    }
}

/// Runs a random recurrence along random rows on all devices, and along some of the rows as batches of one row.
pub fn run(seed: u64, devices: &[(String, Device)]) {
    let mut random = Random(seed ^ 0x5ca0);
    let recurrence = Recurrence::random(&mut random);
    let longest = random.of(&[3, 40, 700]);
    let lengths: Vec<u32> = (0..1 + random.below(60)).map(|_| random.below(longest) as u32).collect();
    let (nrows, splits) = (lengths.len(), crate::common::random::splits(&lengths));
    let values = (0..splits[nrows]).map(|_| random.signed(300) as f32 / 64.0).collect();
    let host = HostTensor::from_row_splits(splits, HostValues::F32(values));
    let what = format!("seed {seed}: {} along {lengths:?}", recurrence.name());
    let rows: Vec<i64> = (0..2).map(|_| random.below(nrows) as i64).collect();
    let mut want = None;
    for (name, device) in devices {
        let x = host.to_device(device).expect("valid");
        let of = |x: &Tensor| recurrence.outputs(x).and_then(|out| out.to_host()).expect(&what);
        let all = recurrence.outputs(&x).expect(&what);
        let found = all.to_host().expect(&what);
        for &row in &rows {
            let crowd = all.slice(s![row..row + 1]).and_then(|row| row.to_host()).expect(&what);
            let alone = of(&x.slice(s![row..row + 1]).expect("a row"));
            assert!(same_bits(&alone.values, &crowd.values), "{what}: row {row} alone on {name}");
        }
        let want = want.get_or_insert_with(|| found.values.clone());
        assert!(same_bits(want, &found.values), "{what}, on {name}");
    }
}
