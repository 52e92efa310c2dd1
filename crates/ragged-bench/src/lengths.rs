//! The row lengths to measure: of a distribution, a file or a sweep.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Error, Result, ensure};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde::{Deserialize, Serialize};

use crate::length_file;
use crate::rows::{Distribution, filled, splitmix64};

impl ValueEnum for Distribution {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::Uniform => "0 to 31",
            Self::Pareto => "4 / u for a uniform u, 4096 at most",
            Self::Giant => "0 to 15, but one row as long as all others together",
            Self::Empty => "0 in 15 of 16 rows, else up to 255",
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}

/// Source of row lengths.
#[derive(Debug, Clone)]
pub enum Lengths {
    /// A named distribution.
    Of(Distribution),
    /// A file: its name in records, and its shuffled lengths.
    File(String, Vec<u32>),
    /// A cell of the sweep.
    Swept(Sweep),
}

impl Lengths {
    /// The distributions without duplicates, and the lengths of the files, named after the files.
    ///
    /// # Errors
    /// A file that cannot be read, or has no values; a duplicate name, since names identify records.
    pub fn select(dists: &[Distribution], files: &[PathBuf]) -> Result<Vec<Self>> {
        let mut names = HashSet::new();
        let dists = dists.iter().filter(|dist| names.insert(dist.name().to_owned())).copied();
        let mut out: Vec<Self> = dists.map(Self::Of).collect();
        for path in files {
            let context = || format!("--row-lengths {}", path.display());
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let text = fs::read_to_string(path).with_context(context)?;
            ensure!(names.insert(name.to_string()), "{}: the name {name:?} is taken by other row lengths", context());
            out.push(Self::parse(&name, &text).with_context(context)?);
        }
        Ok(out)
    }

    /// Parses the lengths in a file's text.
    ///
    /// # Errors
    /// A line is not a length, or all lengths are 0.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        Ok(Self::File(name.to_owned(), length_file::parse(text).map_err(Error::msg)?))
    }

    /// The name in tables and records.
    pub fn name(&self) -> String {
        match self {
            Self::Of(dist) => dist.name().to_owned(),
            Self::File(name, _) => name.clone(),
            Self::Swept(sweep) => format!("mean {} skew {}", sweep.mean, sweep.skew),
        }
    }

    /// The cell of the sweep, if the lengths are of one.
    pub fn sweep(&self) -> Option<Sweep> {
        if let Self::Swept(sweep) = self { Some(*sweep) } else { None }
    }

    /// Row lengths with the sum `values`; the last row is truncated, and a file's lengths are repeated.
    pub fn of(&self, values: u32) -> Vec<u32> {
        match self {
            Self::Of(dist) => dist.lengths(values),
            Self::File(_, lengths) => length_file::repeated(lengths, values),
            Self::Swept(sweep) => filled((0..).map(|i| sweep.length(i)), values.into()),
        }
    }
}

/// Row lengths with a log-normal distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// The mean length, up to rounding and sampling error.
    pub mean: u32,
    /// The standard deviation of the lengths' logarithms. At 0 all rows are equal; at 2 one percent of the rows hold
    /// more than a third of all values.
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

    /// Approximates a normal number by the sum of twelve uniform numbers minus six (Irwin-Hall), which needs no
    /// logarithm or cosine: these differ between libraries.
    fn length(self, i: u64) -> u64 {
        let uniform = |k| (splitmix64(0x5EED + 13 * i + k) >> 11) as f64 / (1u64 << 53) as f64;
        let normal: f64 = (0..12).map(uniform).sum::<f64>() - 6.0;
        let length = f64::from(self.mean) * (self.skew * normal - self.skew * self.skew / 2.0).exp();
        // Stochastic rounding, so that short rows keep their mean.
        (length + uniform(12)).floor() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths from the scripts for other libraries: distribution, values; rows, the first eight lengths, the last, the
    /// longest and its position, and the sum of the lengths weighted with their one-based positions.
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
    fn a_sweep_has_its_means_and_skews() {
        for sweep in Sweep::cells() {
            let lengths = Lengths::Swept(sweep).of(1 << 20);
            assert_eq!(lengths.iter().sum::<u32>(), 1 << 20);
            let mean = f64::from(1 << 20) / lengths.len() as f64 / f64::from(sweep.mean);
            // Few rows or long tails have a large sampling error.
            if sweep.skew < 2.0 && sweep.mean <= 128 {
                assert!((mean - 1.0).abs() < 0.1, "{sweep:?}: {mean}");
            }
            let has_long_rows = lengths.iter().any(|&l| l > 4 * sweep.mean);
            assert!(sweep.skew == 0.5 || has_long_rows == (sweep.skew > 0.0), "{sweep:?}");
        }
    }

    #[test]
    fn every_number_of_values_gives_rows() {
        for dist in Distribution::ALL {
            for values in 1..100 {
                assert_eq!(dist.lengths(values).iter().sum::<u32>(), values, "{} {values}", dist.name());
            }
        }
    }
}
