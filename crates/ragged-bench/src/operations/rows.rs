//! Operations on rows beyond TensorFlow's, for the table of their dispatches, waits and bytes.

use ragged::{Device, HostTensor, HostValues, Result, Seed, Tensor};

use super::{Run, splits};
use crate::rows::splitmix64;

/// Different values of the rows: small integers, so that rows have equal ones.
const VALUES: u64 = 16;

/// Makes the inputs of an operation.
pub struct Rows<'a> {
    splits: Vec<u32>,
    device: &'a Device,
}

impl<'a> Rows<'a> {
    pub fn new(lengths: Vec<u32>, device: &'a Device) -> Self {
        Self { splits: splits(lengths), device }
    }

    /// Integers below [`VALUES`], in rows of the given lengths.
    fn numbers(&self, seed: u64) -> Result<Tensor> {
        let n = u64::from(self.splits.last().copied().unwrap_or(0));
        let values = (0..n).map(|k| (splitmix64(seed + k) % VALUES) as i32).collect();
        let x = HostTensor::from_row_splits(self.splits.clone(), HostValues::I32(values)).to_device(self.device)?;
        x.eval()?;
        Ok(x)
    }

    /// The same numbers, ascending in each row.
    fn ascending(&self, seed: u64) -> Result<Tensor> {
        let x = self.numbers(seed)?.sort(1)?;
        x.eval()?;
        Ok(x)
    }
}

/// Applies an operation of one operand.
fn unary(rows: &Rows<'_>, of: impl Fn(&Tensor) -> Result<Vec<Tensor>> + 'static) -> Result<Run> {
    let x = rows.numbers(1)?;
    Ok(Box::new(move || of(&x)))
}

/// Applies an operation of two operands of the same lengths.
fn binary(rows: &Rows<'_>, of: impl Fn(&Tensor, &Tensor) -> Result<Vec<Tensor>> + 'static) -> Result<Run> {
    let (x, y) = (rows.numbers(1)?, rows.numbers(1 << 32)?);
    Ok(Box::new(move || of(&x, &y)))
}

/// Uploads the inputs of an operation, and gives a function that records it.
type Upload = fn(&Rows<'_>) -> Result<Run>;

/// The operations by name.
pub const ALL: [(&str, Upload); 26] = [
    ("diff", |r| unary(r, |x| Ok(vec![x.diff(1)?]))),
    ("shift", |r| unary(r, |x| Ok(vec![x.shift(1, 0, 1)?]))),
    ("roll", |r| unary(r, |x| Ok(vec![x.roll(1, 1)?]))),
    ("local_index", |r| unary(r, |x| Ok(vec![x.local_index(1)?]))),
    ("nth_or", |r| unary(r, |x| Ok(vec![x.nth_or(-1, 0)?]))),
    ("nth_or_skip", |r| unary(r, |x| Ok(vec![x.nth_or_skip(0)?]))),
    ("contains", |r| unary(r, |x| Ok(vec![x.contains(3, 1)?]))),
    ("pad_rows", |r| unary(r, |x| Ok(vec![x.pad_rows(8, 0, 1)?]))),
    ("sliding_windows", |r| unary(r, |x| Ok(vec![x.sliding_windows(3, 1)?]))),
    ("zip", |r| binary(r, |x, y| Ok(vec![Tensor::zip(&[x, y])?]))),
    ("transpose_rows", |r| unary(r, |x| Ok(vec![x.sliding_windows(2, 1)?.transpose_rows()?]))),
    ("combinations of 3", |r| unary(r, |x| x.combinations(3, 1))),
    ("cartesian", |r| binary(r, |x, y| Tensor::cartesian(&[x, y], 1))),
    ("unique_with_counts", |r| unary(r, |x| x.unique_with_counts(1).map(|(values, counts)| vec![values, counts]))),
    ("n_unique", |r| unary(r, |x| Ok(vec![x.n_unique(1)?]))),
    ("set_union", |r| binary(r, |x, y| Ok(vec![x.set_union(y)?]))),
    ("set_intersection", |r| binary(r, |x, y| Ok(vec![x.set_intersection(y)?]))),
    ("set_difference", |r| binary(r, |x, y| Ok(vec![x.set_difference(y)?]))),
    ("run_lengths", |r| unary(r, |x| x.run_lengths().map(|(values, counts)| vec![values, counts]))),
    ("group_by_key", |r| binary(r, |x, y| x.group_by_key(y).map(|(keys, groups)| vec![keys, groups]))),
    ("split_where", |r| {
        let (x, begins) = (r.numbers(1)?, r.numbers(2)?.less(4)?);
        begins.eval()?;
        Ok(Box::new(move || Ok(vec![x.split_where(&begins)?])))
    }),
    ("searchsorted", |r| {
        let (x, values) = (r.ascending(1)?, r.numbers(1 << 32)?);
        Ok(Box::new(move || Ok(vec![x.searchsorted(&values)?])))
    }),
    ("histogram of rows", |r| unary(r, |x| Ok(vec![x.histogram(1, 0..16, 4)?]))),
    ("shuffle", |r| unary(r, |x| Ok(vec![x.shuffle(Seed(1), 1)?]))),
    ("sample", |r| unary(r, |x| Ok(vec![x.sample(2, Seed(1), 1)?]))),
    ("pairs, reduced", |r| {
        unary(r, |x| {
            let pairs = x.combinations(2, 1)?;
            Ok(vec![(&pairs[0] * &pairs[1])?.reduce_max(1)?])
        })
    }),
];
