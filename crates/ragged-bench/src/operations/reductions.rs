//! Reductions of looked-up rows, selection, and sums of segments, next to plain loops.

use ragged::{Device, HostTensor, HostValues, Result, Tensor};

use super::{Case, splits};
use crate::rows::{flat_values, splitmix64};

/// Rows of the table, and columns.
const TABLE: [usize; 2] = [100_000, 16];

/// Rows of the selection, and values of a row.
const SELECTED: [usize; 2] = [200_000, 64];

/// Values that are selected from each row.
const K: usize = 5;

/// Number of segments.
const SEGMENTS: usize = 100;

/// The operations by name.
pub const ALL: [&str; 9] = [
    "looked up: sum",
    "looked up: mean",
    "looked up: maximum",
    "looked up: variance",
    "looked up: mean and maximum",
    "looked up: sum of 2x",
    "looked up: sum of relu(2x - 1)",
    "top 5 of 64",
    "sums of 100 segments",
];

fn upload(shape: &[usize], values: HostValues, device: &Device) -> Result<Tensor> {
    let x = HostTensor::dense(shape, values).to_device(device)?;
    x.eval()?;
    Ok(x)
}

/// The case of that name. `lengths` are those of the rows that are looked up; `values` is the number of values that are
/// summed into segments.
pub fn case(name: &str, lengths: Vec<u32>, values: u32, device: &Device) -> Result<Case> {
    match name {
        "top 5 of 64" => top_k(device),
        "sums of 100 segments" => segments(values as usize, device),
        _ => looked_up(name, lengths, device),
    }
}

/// A reduction of the rows of a table that each row's ids name.
fn looked_up(name: &str, lengths: Vec<u32>, device: &Device) -> Result<Case> {
    let [rows, columns] = TABLE;
    let splits = splits(lengths);
    let n = splits.last().map_or(0, |&n| n as usize);
    let numbers = flat_values(rows * columns);
    let ids: Vec<i32> = (0..n as u64).map(|k| (splitmix64(0x1D5 + k) % rows as u64) as i32).collect();
    let table = upload(&TABLE, HostValues::F32(numbers.clone()), device)?;
    let tokens = HostTensor::from_row_splits(splits.clone(), HostValues::I32(ids.clone())).to_device(device)?;
    tokens.eval()?;
    type Reduce = fn(&Tensor) -> Result<Vec<Tensor>>;
    let reduce: Reduce = match name {
        "looked up: sum" => |x| Ok(vec![x.reduce_sum(1)?]),
        "looked up: mean" => |x| Ok(vec![x.reduce_mean(1)?]),
        "looked up: maximum" => |x| Ok(vec![x.reduce_max(1)?]),
        "looked up: variance" => |x| Ok(vec![x.reduce_variance(1)?]),
        "looked up: mean and maximum" => |x| Ok(vec![x.reduce_mean(1)?, x.reduce_max(1)?]),
        "looked up: sum of relu(2x - 1)" => |x| Ok(vec![((x * 2.0)? - 1.0)?.relu()?.reduce_sum(1)?]),
        _ => |x| Ok(vec![(x * 2.0)?.reduce_sum(1)?]),
    };
    let is_maximum = name == "looked up: maximum";
    let plain = move || {
        let mut out = vec![0.0f32; (splits.len() - 1) * columns];
        for (ends, out) in splits.windows(2).zip(out.chunks_exact_mut(columns)) {
            for &id in &ids[ends[0] as usize..ends[1] as usize] {
                let row = &numbers[id as usize * columns..][..columns];
                for (out, &x) in out.iter_mut().zip(row) {
                    *out = if is_maximum { out.max(x) } else { *out + x };
                }
            }
        }
        out.iter().map(|&x| u64::from(x.to_bits())).max().unwrap_or(0)
    };
    let run = move || reduce(&table.gather(&tokens)?);
    Ok(Case { run: Box::new(run), plain: Some(Box::new(plain)) })
}

/// The greatest values of rows of one length; the loop inserts into a sorted list.
fn top_k(device: &Device) -> Result<Case> {
    let [rows, columns] = SELECTED;
    let numbers = flat_values(rows * columns);
    let x = upload(&SELECTED, HostValues::F32(numbers.clone()), device)?;
    let plain = move || {
        let mut all = 0u64;
        for row in numbers.chunks_exact(columns) {
            let mut best = [(f32::NEG_INFINITY, 0u32); K];
            for (at, &x) in row.iter().enumerate() {
                if x > best[K - 1].0 {
                    let mut place = K - 1;
                    while place > 0 && x > best[place - 1].0 {
                        best[place] = best[place - 1];
                        place -= 1;
                    }
                    best[place] = (x, at as u32);
                }
            }
            all += best.iter().map(|&(x, at)| u64::from(x.to_bits()) + u64::from(at)).sum::<u64>();
        }
        all
    };
    let run = move || {
        let (values, indices) = x.top_k(K, 1)?;
        Ok(vec![values, indices])
    };
    Ok(Case { run: Box::new(run), plain: Some(Box::new(plain)) })
}

/// Sums of values into a few segments in no order.
fn segments(n: usize, device: &Device) -> Result<Case> {
    let values = flat_values(n);
    let ids: Vec<i32> = (0..n as u64).map(|k| (splitmix64(0x5E6 + k) % SEGMENTS as u64) as i32).collect();
    let x = upload(&[n], HostValues::F32(values.clone()), device)?;
    let of = upload(&[n], HostValues::I32(ids.clone()), device)?;
    let plain = move || {
        let mut sums = [0.0f32; SEGMENTS];
        for (&id, &x) in ids.iter().zip(&values) {
            sums[id as usize] += x;
        }
        sums.iter().map(|x| u64::from(x.to_bits())).max().unwrap_or(0)
    };
    let run = move || Ok(vec![x.unsorted_segment_sum(&of, SEGMENTS)?]);
    Ok(Case { run: Box::new(run), plain: Some(Box::new(plain)) })
}
