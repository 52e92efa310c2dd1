//! Row lengths from a file.

use crate::rows::{filled, splitmix64};

/// Parses one length per line, and shuffles the lengths by SplitMix64, since batches are usually shuffled.
///
/// # Errors
/// A line is not a length, or all lengths are 0.
pub fn parse(text: &str) -> Result<Vec<u32>, String> {
    let refused = |line: &str, at| {
        format!("line {at}: {line:?} is not a row length: expected one whole number below 2^32 per line")
    };
    let parse = |(line, at): (&str, usize)| line.trim().parse().map_err(|_| refused(line, at));
    let mut lengths: Vec<u32> = text.trim_end().lines().zip(1..).map(parse).collect::<Result<_, _>>()?;
    if lengths.iter().all(|&l| l == 0) {
        return Err("no row has a value: at least one line must be above 0".to_owned());
    }
    // Fisher-Yates shuffle, from the end.
    for k in (1..lengths.len()).rev() {
        let other = splitmix64(0x5EED + k as u64) % (k as u64 + 1);
        lengths.swap(k, other as usize);
    }
    Ok(lengths)
}

/// Row lengths with the sum `values`: the given lengths repeated, the last one truncated.
pub fn repeated(lengths: &[u32], values: u32) -> Vec<u32> {
    filled(lengths.iter().map(|&l| u64::from(l)).cycle(), values.into())
}
