//! Chains of row operations: their cost, and their values compared with loops over rows, on every device.

mod common;

use std::sync::{Mutex, MutexGuard};

use common::naive::{self, Rows};
use ragged::opt::descending;
use ragged::{Device, Explain, HostTensor, HostValues, Result, Tensor, s};

/// Pseudorandom multiples of a quarter with a fixed seed; their sums are exact.
struct Noise(u64);

impl Noise {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn rows(&mut self, lengths: &[usize]) -> Rows<f32> {
        lengths.iter().map(|&n| (0..n).map(|_| self.below(64) as f32 * 0.25 - 8.0).collect()).collect()
    }
}

/// Row lengths at which kernels switch algorithms, empty rows, and one very long row.
fn lengths() -> Vec<usize> {
    [vec![0, 1, 2, 16, 17, 31, 0, 255, 256, 257, 0, 0, 2047, 2049, 9001], [3, 0, 5, 1, 12].repeat(70)].concat()
}

/// Upper bounds on the cost of a chain over rows that may have several blocks.
struct Cost {
    dispatches: u64,
    /// Bytes moved per byte of the lower bound, in hundredths, rounded up.
    ratio: u64,
}

/// Locks the devices against the other tests of this binary, so that a device's counters cover one test only.
fn exclusive() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Asserts the cost of the chain for 2^20 values in rows of up to 2^10, as planned and as run. Only the read waits, and
/// a second run makes no new plan, pipeline or buffer.
#[track_caller]
fn costs(what: &str, record: impl Fn(&Device) -> Result<Tensor>, cost: &Cost) {
    for (label, device) in common::gpus() {
        let before = device.stats();
        let tensor = record(&device).expect("recorded");
        let asked = device.stats() - before;
        assert_eq!((asked.dispatches, asked.waits), (0, 0), "{label} {what}: {asked:?}");
        let explained: Explain = tensor.explain().expect("explained");
        let ratio = (explained.bytes() * 100).div_ceil(explained.least_bytes);
        println!("{label} {what}: {} dispatches, x {ratio}\n{explained}", explained.dispatches());
        assert_eq!((explained.dispatches(), ratio), (cost.dispatches, cost.ratio), "{label} {what}: {explained}");
        let ran = |tensor: &Tensor| {
            let before = device.stats();
            tensor.to_host().expect("computed");
            device.stats() - before
        };
        let first = ran(&tensor);
        assert_eq!((first.dispatches, first.bytes_moved), (cost.dispatches, explained.bytes()), "{label} {what}");
        assert_eq!((first.waits, first.submissions, explained.waits), (1, 1, 1), "{label} {what}: {first:?}");
        drop(tensor);
        let second = ran(&record(&device).expect("recorded"));
        assert_eq!((second.waits, second.submissions), (1, 1), "{label} {what}: {second:?}");
        let made = (second.plans, second.pipelines_compiled, second.pool_misses);
        assert_eq!(made, (0, 0, 0), "{label} {what}: {second:?}");
    }
}

/// Runs the chain on every device, asserts equal bits, and returns the values.
#[track_caller]
fn same_everywhere(what: &str, record: impl Fn(&Device) -> Result<Tensor>) -> HostTensor {
    let mut all = common::devices().into_iter().map(|(label, device)| {
        let result = record(&device).and_then(|t| t.to_host());
        (label, result.expect("computed"))
    });
    let (_, want) = all.next().expect("the CPU");
    for (label, got) in all {
        assert_eq!(got.nested_row_splits, want.nested_row_splits, "{what} on {label}");
        assert!(naive::bits(&got.values) == naive::bits(&want.values), "{what} on {label}: other bits");
    }
    want
}

fn f32s(t: &HostTensor) -> &[f32] {
    match &t.values {
        HostValues::F32(v) => v,
        other => panic!("{} where f32 belongs", other.dtype()),
    }
}

/// Row lengths of the size that the costs are stated for.
fn many() -> Vec<usize> {
    let mut noise = Noise(5);
    let mut left = 1 << 20;
    std::iter::from_fn(|| {
        let most = if noise.below(16) == 0 { 1024 } else { 48 };
        let n = (noise.below(most) as usize).min(left);
        left -= n;
        (left > 0 || n > 0).then_some(n)
    })
    .collect()
}

fn dense(device: &Device, shape: &[usize], values: Vec<f32>) -> Result<Tensor> {
    HostTensor::dense(shape, HostValues::F32(values)).to_device(device)
}

/// `mean(concat([x[:, :-1] * w + x[:, 1:], y], axis=1), axis=1)` with one weight per row.
fn smoothed(device: &Device, x: &Rows<f32>, w: &[f32], y: &Rows<f32>) -> Result<Tensor> {
    let (x, y) = (naive::host::<f32>(x).to_device(device)?, naive::host::<f32>(y).to_device(device)?);
    let w = dense(device, &[w.len(), 1], w.to_vec())?;
    let pairs = ((x.slice(s![.., ..-1])? * w)? + x.slice(s![.., 1..])?)?;
    Tensor::concat(&[&pairs, &y], 1)?.reduce_mean(1)
}

fn smoothing(lengths: &[usize]) -> (Rows<f32>, Vec<f32>, Rows<f32>) {
    let mut noise = Noise(1);
    let other: Vec<usize> = lengths.iter().rev().copied().collect();
    let w = noise.rows(&[lengths.len()]).remove(0);
    (noise.rows(lengths), w, noise.rows(&other))
}

#[test]
fn the_mean_of_concatenated_weighted_neighbours_is_one_pass() {
    let _guard = exclusive();
    let (x, w, y) = smoothing(&lengths());
    let got = same_everywhere("smoothed", |device| smoothed(device, &x, &w, &y));
    let pairs = |row: &Vec<f32>, w: f32| row.windows(2).map(|v| v[0] * w + v[1]).collect();
    let pairs: Rows<f32> = x.iter().zip(&w).map(|(row, &w)| pairs(row, w)).collect();
    let want = naive::mean(&naive::concat_in_rows(&[pairs, y]));
    for (r, (got, want)) in f32s(&got).iter().zip(want).enumerate() {
        assert!(*got == want as f32 || got.is_nan() && want.is_nan(), "row {r}: {got}, not {want}");
    }
    let (x, w, y) = smoothing(&many());
    // The splits of the slices (a scan), those of the concatenation, and one pass over the values with a second kernel
    // for long rows.
    costs("smoothed", |device| smoothed(device, &x, &w, &y), &Cost { dispatches: 6, ratio: 109 });
}

/// The positive values of the rows, and the rows in descending order of the number of these values.
fn by_count(device: &Device, x: &Rows<f32>) -> Result<(Tensor, Tensor)> {
    let x = naive::host::<f32>(x).to_device(device)?;
    let kept = x.boolean_mask(&x.greater(0f32)?)?;
    let order = kept.row_lengths(1)?.argsort(descending(0))?;
    Ok((kept, order))
}

#[test]
fn rows_are_masked_and_sorted_by_their_lengths() {
    let _guard = exclusive();
    let x = Noise(2).rows(&lengths());
    let got = same_everywhere("by count", |device| {
        let (kept, order) = by_count(device, &x)?;
        kept.gather(&order)
    });
    let mut want: Rows<f32> = x.iter().map(|row| row.iter().copied().filter(|&v| v > 0.0).collect()).collect();
    want.sort_by_key(|row| std::cmp::Reverse(row.len()));
    assert_eq!(naive::rows::<f32>(&got), want);
    let x = Noise(2).rows(&many());
    // Neither the counts nor the order need the masked values.
    // The rank bitmap, whose ranks give the counts, and the sort, whose keys are recognized as 32-bit.
    costs("by count", |device| Ok(by_count(device, &x)?.1), &Cost { dispatches: 25, ratio: 173 });
}

/// Words of lines of documents, as indices of the vocabulary.
struct Documents {
    /// The lines of each document.
    lines: Vec<u32>,
    /// The words of each line.
    words: Vec<u32>,
    ids: Vec<i32>,
}

const VOCABULARY: usize = 500;
const WIDTH: usize = 8;

impl Documents {
    fn new(lengths: &[usize]) -> Self {
        let mut noise = Noise(3);
        let splits = |lengths: &[usize]| {
            let ends = lengths.iter().scan(0, |end, &n| {
                *end += n as u32;
                Some(*end)
            });
            std::iter::once(0).chain(ends).collect::<Vec<u32>>()
        };
        let mut left = lengths.len();
        let mut lines = Vec::new();
        while left > 0 {
            let n = (noise.below(9) as usize).min(left);
            lines.push(n);
            left -= n;
        }
        let ids = (0..lengths.iter().sum()).map(|_| noise.below(VOCABULARY as u64) as i32).collect();
        Self { lines: splits(&lines), words: splits(lengths), ids }
    }

    fn table() -> Vec<f32> {
        Noise(4).rows(&[VOCABULARY * WIDTH]).remove(0)
    }

    /// The maximum, over the lines of each document, of the sums of the word vectors of a line.
    fn pooled(&self, device: &Device) -> Result<Tensor> {
        let words = HostTensor {
            nested_row_splits: vec![self.lines.clone(), self.words.clone()],
            uniform_row_lengths: vec![None; 2],
            inner_shape: vec![self.ids.len()],
            values: HostValues::I32(self.ids.clone()),
        };
        let words = words.to_device(device)?;
        let table = dense(device, &[VOCABULARY, WIDTH], Self::table())?;
        table.gather(&words)?.reduce_sum(2)?.reduce_max(1)
    }
}

#[test]
fn words_are_pooled_to_lines_and_lines_to_documents() {
    let _guard = exclusive();
    let documents = Documents::new(&lengths());
    let got = same_everywhere("pooled", |device| documents.pooled(device));
    let table = Documents::table();
    let line = |w: &[u32]| -> Vec<f32> {
        let ids = &documents.ids[w[0] as usize..w[1] as usize];
        (0..WIDTH).map(|d| ids.iter().map(|&id| table[id as usize * WIDTH + d]).sum::<f32>() + 0.0).collect()
    };
    let lines: Rows<f32> = documents.words.windows(2).map(line).collect();
    let document = |l: &[u32]| -> Vec<f32> {
        let lines = &lines[l[0] as usize..l[1] as usize];
        (0..WIDTH).map(|d| lines.iter().map(|line| line[d]).fold(f32::MIN, f32::max)).collect()
    };
    let want: Vec<f32> = documents.lines.windows(2).flat_map(document).collect();
    assert_eq!(f32s(&got), want);
    let documents = Documents::new(&many());
    // One kernel per level and one for long lines. The bytes beyond the lower bound are the partials of long lines and
    // the sums of lines.
    costs("pooled", |device| documents.pooled(device), &Cost { dispatches: 3, ratio: 141 });
}
