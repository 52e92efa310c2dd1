//! Rows and values from SplitMix64: the very ones that the scripts for other libraries generate.

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// SplitMix64's output for that state.
pub fn splitmix64(x: u64) -> u64 {
    let z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// How long rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Distribution {
    /// 0 to 31
    Uniform,
    /// 4 / u for a uniform u, 4096 at most
    Pareto,
    /// 0 to 15, but one row as long as all others together
    Giant,
    /// None in 15 rows of 16, up to 255 in the other
    Empty,
}

impl Distribution {
    /// The name on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Pareto => "pareto",
            Self::Giant => "giant",
            Self::Empty => "empty",
        }
    }

    fn length(self, h: u64) -> u64 {
        match self {
            Self::Uniform => h % 32,
            Self::Pareto => {
                let u = ((h >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
                ((4.0 / u).floor() as u64).min(4096)
            }
            Self::Giant => h % 16,
            Self::Empty if h.is_multiple_of(16) => (h >> 8) % 256,
            Self::Empty => 0,
        }
    }

    /// Row lengths that add up to `values`: rows are appended until they do, the last one cut short.
    pub fn lengths(self, values: u32) -> Vec<u32> {
        let values = u64::from(values);
        let target = if self == Self::Giant { values / 2 } else { values };
        let mut out = filled((0..).map(|i| self.length(splitmix64(0x5EED + i))), target);
        if self == Self::Giant {
            if out.is_empty() {
                out.push(0);
            }
            let middle = out.len() / 2;
            out[middle] += (values - target) as u32;
        }
        out
    }
}

/// Where the lengths of rows come from.
#[derive(Debug, Clone)]
pub enum Lengths {
    /// A distribution of the scripts.
    Of(Distribution),
    /// A file: the name in records, and the lengths, shuffled.
    File(String, Vec<u32>),
    /// A cell of the sweep.
    Swept(Sweep),
}

impl Lengths {
    /// The lengths that the text names, one a line, shuffled by SplitMix64.
    ///
    /// # Errors
    /// A line that is no length; no values at all.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let parse = |(line, at): (&str, usize)| line.trim().parse().with_context(|| format!("line {at}: {line:?}"));
        let mut lengths: Vec<u32> = text.trim_end().lines().zip(1..).map(parse).collect::<Result<_>>()?;
        ensure!(lengths.iter().any(|&l| l > 0), "no row has a value");
        // Fisher and Yates, from the end.
        for k in (1..lengths.len()).rev() {
            let other = splitmix64(0x5EED + k as u64) % (k as u64 + 1);
            lengths.swap(k, other as usize);
        }
        Ok(Self::File(name.to_owned(), lengths))
    }

    /// The name in tables and records.
    pub fn name(&self) -> String {
        match self {
            Self::Of(dist) => dist.name().to_owned(),
            Self::File(name, _) => name.clone(),
            Self::Swept(sweep) => format!("mean {} skew {}", sweep.mean, sweep.skew),
        }
    }

    /// The cell of the sweep that they are.
    pub fn sweep(&self) -> Option<Sweep> {
        if let Self::Swept(sweep) = self { Some(*sweep) } else { None }
    }

    /// Row lengths that add up to `values`: rows are appended until they do, the last one cut short. Those of a file
    /// are repeated.
    pub fn of(&self, values: u32) -> Vec<u32> {
        match self {
            Self::Of(dist) => dist.lengths(values),
            Self::File(_, lengths) => filled(lengths.iter().map(|&l| u64::from(l)).cycle(), values.into()),
            Self::Swept(sweep) => filled((0..).map(|i| sweep.length(i)), values.into()),
        }
    }
}

/// The first of the lengths, until they add up to `target`: the last one is cut short.
fn filled(lengths: impl Iterator<Item = u64>, target: u64) -> Vec<u32> {
    let (mut out, mut total) = (Vec::new(), 0);
    for length in lengths {
        if total >= target {
            break;
        }
        let length = length.min(target - total);
        total += length;
        out.push(length as u32);
    }
    out
}

/// Row lengths that are spread like a log-normal distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// The mean length, as far as rows are whole and few.
    pub mean: u32,
    /// The standard deviation of the lengths' logarithms: at 0 rows are equal, at 2 one row in a hundred holds more
    /// than a third of all values.
    pub skew: f64,
}

impl Sweep {
    /// The mean lengths and skews that are measured.
    const MEANS: [u32; 6] = [2, 8, 32, 128, 512, 2048];
    const SKEWS: [f64; 5] = [0.0, 0.5, 1.0, 2.0, 3.0];

    /// Every cell, row by row.
    pub fn cells() -> impl Iterator<Item = Self> {
        Self::MEANS.into_iter().flat_map(|mean| Self::SKEWS.map(|skew| Self { mean, skew }))
    }

    /// Twelve uniform numbers less six stand for a normal one: no tails beyond six deviations, and no logarithm or
    /// cosine, which differ between libraries.
    fn length(self, i: u64) -> u64 {
        let uniform = |k| (splitmix64(0x5EED + 13 * i + k) >> 11) as f64 / (1u64 << 53) as f64;
        let normal: f64 = (0..12).map(uniform).sum::<f64>() - 6.0;
        let length = f64::from(self.mean) * (self.skew * normal - self.skew * self.skew / 2.0).exp();
        // The fraction decides by chance, so that short rows keep their mean.
        (length + uniform(12)).floor() as u64
    }
}

/// The values in [0, 1) that all workloads begin with.
pub fn flat_values(n: usize) -> Vec<f32> {
    (0..n as u64).map(|j| (splitmix64(0xDA7A + j) >> 40) as f32 / (1u32 << 24) as f32).collect()
}

/// `n` row numbers below `rows`.
pub fn row_ids(rows: usize) -> Vec<i64> {
    (0..rows as u64).map(|r| (splitmix64(0x1D5 + r) % rows as u64) as i64).collect()
}

/// A table of `rows` embeddings, in [-0.5, 0.5).
pub fn embeddings(rows: usize, width: usize) -> Vec<f32> {
    flat_values(rows * width).into_iter().map(|v| v - 0.5).collect()
}

/// Words of a vocabulary of 1024, one a value.
pub fn tokens(values: &[f32]) -> Vec<i32> {
    values.iter().map(|v| (v * 1024.0) as i32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the scripts for the other libraries give: distribution, values; rows, the first eight lengths, the last,
    /// the longest and where it is, and the sum of the lengths weighted with their one-based places.
    #[allow(clippy::type_complexity, reason = "a table")]
    const LENGTHS: [(Distribution, u32, usize, [u32; 8], u32, u32, usize, u64); 12] = [
        (Distribution::Uniform, 1000, 72, [20, 18, 11, 13, 30, 31, 8, 15], 10, 31, 5, 36_862),
        (Distribution::Uniform, 65_536, 4247, [20, 18, 11, 13, 30, 31, 8, 15], 6, 31, 5, 139_609_661),
        (Distribution::Uniform, 4_194_304, 270_712, [20, 18, 11, 13, 30, 31, 8, 15], 13, 31, 5, 568_190_277_660),
        (Distribution::Pareto, 1000, 46, [102, 4, 17, 4, 5, 10, 4, 12], 131, 309, 25, 25_155),
        (Distribution::Pareto, 65_536, 2072, [102, 4, 17, 4, 5, 10, 4, 12], 3618, 3618, 2071, 65_039_663),
        (Distribution::Pareto, 4_194_304, 134_210, [102, 4, 17, 4, 5, 10, 4, 12], 3, 4096, 2071, 279_208_264_621),
        (Distribution::Giant, 1000, 68, [4, 2, 11, 13, 14, 15, 8, 15], 4, 502, 34, 33_860),
        (Distribution::Giant, 65_536, 4382, [4, 2, 11, 13, 14, 15, 8, 15], 8, 32_780, 2191, 143_391_306),
        (
            Distribution::Giant,
            4_194_304,
            279_791,
            [4, 2, 11, 13, 14, 15, 8, 15],
            1,
            2_097_159,
            139_895,
            586_895_985_997,
        ),
        (Distribution::Empty, 1000, 99, [0; 8], 129, 243, 60, 56_852),
        (Distribution::Empty, 65_536, 8374, [0; 8], 68, 254, 335, 275_365_389),
        (Distribution::Empty, 4_194_304, 527_600, [0; 8], 134, 255, 9555, 1_097_667_539_411),
    ];

    #[test]
    fn lengths_are_those_of_the_scripts() {
        for (dist, values, rows, first, last, longest, at, weighted) in LENGTHS {
            let n = dist.lengths(values);
            let what = format!("{} {values}", dist.name());
            assert_eq!(n.len(), rows, "{what}");
            assert_eq!(n.iter().map(|&l| u64::from(l)).sum::<u64>(), u64::from(values), "{what}");
            assert_eq!((&n[..8], n.last(), n[at]), (&first[..], Some(&last), longest), "{what}");
            assert_eq!(n.iter().position(|&l| l == longest), Some(at), "{what}");
            assert_eq!(n.iter().max(), Some(&longest), "{what}");
            let sum: u64 = n.iter().zip(1u64..).map(|(&l, k)| u64::from(l) * k).sum();
            assert_eq!(sum, weighted, "{what}");
        }
    }

    #[test]
    fn lengths_of_a_file_are_shuffled_and_repeated() -> Result<()> {
        let text: String = (0..100).map(|k| format!("{k}\n")).collect();
        let lengths = Lengths::parse("some", &text)?;
        assert_eq!((lengths.name().as_str(), lengths.sweep()), ("some", None));
        let twice = lengths.of(2 * 4950);
        assert_eq!((twice.len(), &twice[..100]), (200, &twice[100..]));
        let mut sorted = twice[..100].to_vec();
        assert!(!sorted.is_sorted());
        sorted.sort_unstable();
        assert_eq!(sorted, Vec::from_iter(0..100));
        assert_eq!(lengths.of(4951).iter().sum::<u32>(), 4951);
        assert_eq!(Lengths::parse("some", "3\n\n")?.of(3), [3], "blank lines at the end");

        for (text, why) in [("1\n-2", "line 2"), ("0\n0\n", "no row"), ("", "no row"), ("1\n\n2", "line 2")] {
            let refused = Lengths::parse("some", text).map_err(|e| format!("{e:#}"));
            assert!(refused.as_ref().is_err_and(|e| e.contains(why)), "{text:?}: {refused:?}");
        }
        Ok(())
    }

    #[test]
    fn a_sweep_has_the_means_and_spreads_that_it_says() {
        for sweep in Sweep::cells() {
            let lengths = Lengths::Swept(sweep).of(1 << 20);
            assert_eq!(lengths.iter().sum::<u32>(), 1 << 20);
            let mean = f64::from(1 << 20) / lengths.len() as f64 / f64::from(sweep.mean);
            // With few rows, or long tails, chance decides.
            if sweep.skew < 2.0 && sweep.mean <= 128 {
                assert!((mean - 1.0).abs() < 0.1, "{sweep:?}: {mean}");
            }
            let has_long_rows = lengths.iter().any(|&l| l > 4 * sweep.mean);
            assert!(sweep.skew == 0.5 || has_long_rows == (sweep.skew > 0.0), "{sweep:?}");
        }
    }

    #[test]
    fn every_number_of_values_gives_rows() {
        for dist in [Distribution::Uniform, Distribution::Pareto, Distribution::Giant, Distribution::Empty] {
            for values in 1..100 {
                assert_eq!(dist.lengths(values).iter().sum::<u32>(), values, "{} {values}", dist.name());
            }
        }
    }

    #[test]
    fn values_are_those_of_the_scripts() {
        let x = flat_values(1 << 16);
        let bits: Vec<u32> = x.iter().map(|v| v.to_bits()).collect();
        assert_eq!(bits[..6], [0x3eb5_b754, 0x3ee7_7102, 0x3f30_5df8, 0x3e9b_d92a, 0x3f4d_23ed, 0x3da4_5bb0]);
        assert_eq!(bits.iter().map(|&b| u64::from(b)).sum::<u64>(), 68_997_909_717_017);
        let ids = row_ids(4247);
        assert_eq!((&ids[..6], ids.iter().sum::<i64>()), (&[325, 3389, 3552, 1437, 1760, 1884][..], 8_931_189));
        let table: Vec<u32> = embeddings(1024, 16)[..4].iter().map(|v| v.to_bits()).collect();
        assert_eq!(table, [0xbe14_9158, 0xbd44_77f0, 0x3e41_77e0, 0xbe48_4dac]);
        let tokens = tokens(&x);
        assert_eq!(&tokens[..6], [363, 462, 705, 311, 820, 82]);
        assert_eq!(tokens.iter().map(|&t| i64::from(t)).sum::<i64>(), 33_605_014);
    }
}
