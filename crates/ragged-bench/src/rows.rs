//! Row lengths and values from SplitMix64, identical to those of the scripts for other libraries.
//!
//! This file has no dependencies, since tests and benchmarks compile it too.

/// The output of SplitMix64 for a state.
pub fn splitmix64(x: u64) -> u64 {
    let z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Distribution of row lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distribution {
    /// 0 to 31
    Uniform,
    /// 4 / u for a uniform u, 4096 at most
    Pareto,
    /// 0 to 15, but one row as long as all others together
    Giant,
    /// 0 in 15 of 16 rows, else up to 255
    Empty,
}

impl Distribution {
    /// All distributions.
    pub const ALL: [Self; 4] = [Self::Uniform, Self::Pareto, Self::Giant, Self::Empty];

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

    /// Row lengths with the sum `values`; the last row is truncated.
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

/// The shortest prefix of the lengths with at least the sum `target`; the last length is truncated.
pub fn filled(lengths: impl Iterator<Item = u64>, target: u64) -> Vec<u32> {
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

/// The input values of all workloads, in [0, 1).
pub fn flat_values(n: usize) -> Vec<f32> {
    (0..n as u64).map(|j| (splitmix64(0xDA7A + j) >> 40) as f32 / (1u32 << 24) as f32).collect()
}
