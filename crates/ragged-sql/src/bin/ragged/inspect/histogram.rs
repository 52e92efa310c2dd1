//! How long the lists of a column are.

/// Counts of lengths: of 0, of 1, of 2 and 3, of 4 to 7, and so on.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Histogram {
    counts: Vec<u64>,
    pub least: Option<usize>,
    pub most: usize,
    pub rows: u64,
    pub total: u64,
}

/// Characters of the longest bar.
const WIDTH: u64 = 40;

impl Histogram {
    pub fn add(&mut self, length: usize) {
        let bin = (usize::BITS - length.leading_zeros()) as usize;
        if self.counts.len() <= bin {
            self.counts.resize(bin + 1, 0);
        }
        self.counts[bin] += 1;
        self.least = Some(self.least.map_or(length, |least| least.min(length)));
        self.most = self.most.max(length);
        self.rows += 1;
        self.total += length as u64;
    }

    pub fn mean(&self) -> f64 {
        self.total as f64 / self.rows.max(1) as f64
    }

    /// The greatest length for the mean length: the size of padded rows for that of the values.
    pub fn padding(&self) -> f64 {
        if self.total == 0 { 1.0 } else { (self.most as u64 * self.rows) as f64 / self.total as f64 }
    }

    /// A line for each range of lengths.
    pub fn bars(&self) -> String {
        let highest = self.counts.iter().max().copied().unwrap_or(1).max(1);
        let mut text = String::new();
        for (bin, count) in self.counts.iter().enumerate() {
            let (from, to) = match bin {
                0 => (0, 0),
                bin => (1usize << (bin - 1), (1usize << bin).wrapping_sub(1)),
            };
            let range = if from == to { from.to_string() } else { format!("{from}-{to}") };
            // A bar of at least one character for what there is.
            let bar = "#".repeat((count * WIDTH).div_ceil(highest) as usize);
            text += format!("  {range:>15} {count:>12}  {bar}").trim_end();
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_counted_by_powers_of_two() {
        let mut histogram = Histogram::default();
        [0, 1, 2, 3, 3, 4, 7, 8].into_iter().for_each(|length| histogram.add(length));
        assert_eq!(histogram.counts, [1, 1, 3, 2, 1]);
        assert_eq!((histogram.least, histogram.most, histogram.mean()), (Some(0), 8, 3.5));
        assert!(histogram.bars().contains("2-3            3  ####"), "{}", histogram.bars());
    }
}
