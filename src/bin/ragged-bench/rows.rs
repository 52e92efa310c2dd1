//! Rows and values from SplitMix64: the very ones that the scripts for other libraries generate.

use clap::ValueEnum;

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
        let (mut out, mut total) = (Vec::new(), 0);
        for i in 0u64.. {
            if total >= target {
                break;
            }
            let length = self.length(splitmix64(0x5EED + i)).min(target - total);
            total += length;
            out.push(length as u32);
        }
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
