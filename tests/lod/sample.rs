//! Random LoD tensors, and their comparison with loops.

use proptest::prelude::*;
use ragged::{Device, HostTensor, HostValues, LodTensor, Result};

use crate::common;
use crate::common::outcome::bits;

/// A row of numbers.
pub type Row = Vec<f32>;
/// The rows of each sequence of the last level.
pub type Sequences = Vec<Vec<Row>>;

/// A LoD tensor on the host. All numbers are small integers, so that sums are exact in any order.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Offsets of each level, outermost first.
    pub lod: Vec<Vec<u32>>,
    pub width: usize,
    pub rows: Vec<Row>,
}

impl Sample {
    /// Rows of `width` small numbers under these levels.
    pub fn new(lod: Vec<Vec<u32>>, rows: usize, width: usize, seed: u32) -> Self {
        let mut random = common::random::Random(seed.into());
        let mut number = || f32::from(random.below(17) as i16 - 8);
        Self { lod, width, rows: (0..rows).map(|_| (0..width).map(|_| number()).collect()).collect() }
    }

    /// The sequences of the last level.
    pub fn sequences(&self) -> Sequences {
        let last = self.lod.last().expect("a level");
        last.windows(2).map(|pair| self.rows[pair[0] as usize..pair[1] as usize].to_vec()).collect()
    }

    /// Number of sequences of the last level.
    pub fn count(&self) -> usize {
        self.lod.last().expect("a level").len() - 1
    }

    /// Lengths of the sequences of the last level.
    pub fn lengths(&self) -> Vec<usize> {
        self.sequences().iter().map(Vec::len).collect()
    }

    /// Levels above the last.
    pub fn above(&self) -> Vec<Vec<u32>> {
        self.lod[..self.lod.len() - 1].to_vec()
    }

    /// The tensor on the host.
    pub fn host(&self) -> HostTensor {
        host(self.lod.clone(), self.rows.len(), &[self.width], self.rows.concat())
    }

    /// The tensor on a device.
    pub fn on(&self, device: &Device) -> LodTensor {
        self.host().to_device(device).expect("uploaded").into()
    }

    /// The sequences under the levels above the last.
    pub fn with(&self, sequences: &Sequences, width: usize) -> HostTensor {
        let mut lod = self.above();
        lod.push(offsets(sequences.iter().map(Vec::len)));
        let rows = sequences.concat();
        host(lod, rows.len(), &[width], rows.concat())
    }

    /// One row for each sequence, under the levels above the last.
    pub fn with_rows(&self, rows: &[Row], inner: &[usize]) -> HostTensor {
        host(self.above(), rows.len(), inner, rows.concat())
    }
}

/// The offsets of sequences of these lengths.
pub fn offsets(lengths: impl IntoIterator<Item = usize>) -> Vec<u32> {
    let mut out = vec![0];
    for length in lengths {
        out.push(out[out.len() - 1] + length as u32);
    }
    out
}

/// A tensor of f32 on the host.
pub fn host(lod: Vec<Vec<u32>>, rows: usize, inner: &[usize], values: Vec<f32>) -> HostTensor {
    HostTensor {
        uniform_row_lengths: vec![None; lod.len()],
        nested_row_splits: lod,
        inner_shape: std::iter::once(rows).chain(inner.iter().copied()).collect(),
        values: HostValues::F32(values),
    }
}

/// Samples of a number of levels.
fn of_levels(levels: usize) -> impl Strategy<Value = Sample> {
    (common::random::partitions(levels), 1..=3usize, any::<u32>())
        .prop_map(|((lod, rows), width, seed)| Sample::new(lod, rows, width, seed))
}

/// Samples of one to three levels, with empty sequences, no sequences, and sequences of any length.
pub fn samples() -> impl Strategy<Value = Sample> {
    prop_oneof![of_levels(1), of_levels(2), of_levels(3)]
}

pub fn config() -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if asked { ProptestConfig::default().cases } else { 12 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// The result of the operation: equal bits on the CPU, on the CPU without fusion and on every GPU.
pub fn everywhere(operation: impl Fn(&Device) -> Result<LodTensor>) -> HostTensor {
    let mut found: Option<HostTensor> = None;
    for (name, device) in common::devices_and_unfused_cpu() {
        let got = operation(device).and_then(|x| x.to_host()).unwrap_or_else(|e| panic!("{name}: {e}"));
        match &found {
            Some(want) => assert_eq!(bits(want), bits(&got), "{name}"),
            None => found = Some(got),
        }
    }
    found.expect("there is a CPU")
}

/// Fails unless both tensors have the same levels, shape and values; uniform levels count as others.
pub fn same(got: &HostTensor, want: &HostTensor) -> std::result::Result<(), TestCaseError> {
    prop_assert_eq!(&got.nested_row_splits, &want.nested_row_splits);
    prop_assert_eq!(&got.inner_shape, &want.inner_shape);
    prop_assert_eq!(&got.values, &want.values);
    Ok(())
}
