//! Adversarial row lengths, and a small random number generator.

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A random number below `bound`, which is not 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * u64::from(bound)) >> 32) as u32
    }
}

/// The splits of rows of those lengths.
pub fn splits(lengths: &[u32]) -> Vec<u32> {
    std::iter::once(0)
        .chain(lengths.iter().scan(0, |sum, &len| {
            *sum += len;
            Some(*sum)
        }))
        .collect()
}

/// Named row lengths. The larger distributions have about `scale` values.
pub fn distributions(scale: u32) -> Vec<(String, Vec<u32>)> {
    let mut all: Vec<(String, Vec<u32>)> = vec![
        ("no rows".into(), vec![]),
        ("no values".into(), vec![0; 5]),
        ("0 to 40".into(), (0..=40).collect()),
        ("40 to 0".into(), (0..=40).rev().collect()),
        ("one giant row among empty ones".into(), {
            let mut lengths = vec![0; scale as usize / 2 + 1];
            lengths[scale as usize / 7] = scale / 2;
            lengths
        }),
        ("one row".into(), vec![scale]),
        ("empty rows".into(), vec![0; scale as usize]),
        ("empty rows around values".into(), [vec![0; 3000], vec![1], vec![0; 3000], vec![700], vec![0; 3000]].concat()),
    ];
    for len in [1, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000, 65_535, 65_536, 65_537] {
        let count = (scale / 4 / len).clamp(1, 20_000);
        all.push((format!("{count} rows of {len}"), vec![len; count as usize]));
    }
    let mut random = Random(7);
    all.push(("uniform below 64".into(), (0..scale / 64).map(|_| random.below(64)).collect()));
    let mut power = Vec::new();
    let mut left = scale;
    while left > 0 {
        // P(len > x) ~ 1 / x
        let len = (1u64 << 32) / (random.next() >> 32).max(1);
        power.push((len as u32).min(left));
        left -= power[power.len() - 1];
    }
    all.push(("power law".into(), power));
    all
}

/// Rows of mixed lengths, biased towards the thresholds of the kernels.
pub fn adversarial(seed: u64, scale: u32) -> Vec<u32> {
    let mut random = Random(seed);
    let edges = [0, 0, 0, 1, 2, 15, 16, 17, 18, 63, 64, 65, 127, 128, 129, 255, 256, 257, 258, 511, 512, 513];
    let big = [1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 4352, 4353, 16_383, 16_384, 16_385];
    let mut lengths = Vec::new();
    let mut left = scale;
    while left > 0 {
        let kind = random.below(100);
        let len = match kind {
            0..60 => edges[random.below(edges.len() as u32) as usize],
            60..63 => big[random.below(big.len() as u32) as usize],
            63..66 => {
                lengths.extend(std::iter::repeat_n(0, random.below(3000) as usize));
                0
            }
            66..85 => 17 + random.below(4),
            _ => random.below(600),
        };
        lengths.push(len.min(left));
        left -= lengths[lengths.len() - 1];
    }
    lengths
}
