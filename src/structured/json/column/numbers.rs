//! Numbers of an inferred type, and strings.

use super::{Refusal, count};

/// Numbers: integers up to the first float, floats from there on. Integers beyond i64 are kept as u64, as long as no
/// number is negative.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Numbers {
    /// The integers before the first float; as u64 in two's complement if `is_unsigned`.
    pub ints: Vec<i64>,
    /// The numbers from the first float on.
    pub floats: Vec<f64>,
    /// Whether the integers are those of u64.
    pub is_unsigned: bool,
}

impl Numbers {
    pub(super) fn len(&self) -> usize {
        self.ints.len() + self.floats.len()
    }

    pub(super) fn push_i64(&mut self, value: i64) -> Result<(), Refusal> {
        if !self.floats.is_empty() {
            self.floats.push(value as f64);
        } else if self.is_unsigned && value < 0 {
            return Err(format!("{value} does not fit: the field holds integers beyond i64, as u64"));
        } else {
            self.ints.push(value);
        }
        Ok(())
    }

    /// Appends an integer beyond i64.
    #[cold]
    pub(super) fn push_large(&mut self, value: u64) -> Result<(), Refusal> {
        if !self.floats.is_empty() {
            self.floats.push(value as f64);
        } else if !self.is_unsigned && self.ints.iter().any(|&v| v < 0) {
            return Err(format!("{value} is beyond i64, and does not fit u64 with the negative numbers of the field"));
        } else {
            self.is_unsigned = true;
            self.ints.push(value as i64);
        }
        Ok(())
    }

    pub(super) fn push_f64(&mut self, value: f64) {
        self.floats.push(value);
    }

    pub(super) fn truncate(&mut self, n: usize) {
        self.floats.truncate(n.saturating_sub(self.ints.len()));
        self.ints.truncate(n);
        if self.is_unsigned {
            // Without the integers beyond i64 the rest is that of i64 again.
            self.is_unsigned = self.ints.iter().any(|&v| v < 0);
        }
    }

    /// Whether all floats are in the range of f32.
    pub(in super::super) fn fit_f32(&self) -> bool {
        self.floats.iter().all(|&v| !v.is_finite() || (v as f32).is_finite())
    }

    /// The integers as floats.
    pub(in super::super) fn int_floats(&self) -> impl Iterator<Item = f64> + '_ {
        self.ints.iter().map(|&v| if self.is_unsigned { v as u64 as f64 } else { v as f64 })
    }

    /// Appends the numbers of `other`.
    pub(super) fn append(&mut self, other: Self) -> Result<(), Refusal> {
        if !self.floats.is_empty() {
            self.floats.extend(other.int_floats());
        } else if self.is_unsigned == other.is_unsigned || other.ints.is_empty() {
            self.ints.extend_from_slice(&other.ints);
        } else if self.ints.is_empty() {
            self.is_unsigned = other.is_unsigned;
            self.ints.extend_from_slice(&other.ints);
        } else {
            let signed = if self.is_unsigned { &other.ints } else { &self.ints };
            if signed.iter().any(|&v| v < 0) {
                return Err("integers beyond i64 and negative ones".into());
            }
            self.is_unsigned = true;
            self.ints.extend_from_slice(&other.ints);
        }
        self.floats.extend_from_slice(&other.floats);
        Ok(())
    }
}

/// Byte strings in Arrow's layout.
#[derive(Debug, Clone)]
pub(in super::super) struct Strings {
    /// Where strings begin; one more entry than strings.
    pub splits: Vec<u32>,
    pub bytes: Vec<u8>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { splits: vec![0], bytes: Vec::new() }
    }
}

impl Strings {
    pub(super) fn len(&self) -> usize {
        self.splits.len() - 1
    }

    pub(super) fn push(&mut self, value: &[u8]) -> Result<(), Refusal> {
        let end = count(self.bytes.len() + value.len())?;
        self.bytes.extend_from_slice(value);
        self.splits.push(end);
        Ok(())
    }

    pub(super) fn truncate(&mut self, n: usize) {
        self.splits.truncate(n + 1);
        self.bytes.truncate(self.splits.last().map_or(0, |&end| end as usize));
    }

    pub(super) fn append(&mut self, other: &Self) -> Result<(), Refusal> {
        let base = self.bytes.len() as u32;
        count(self.bytes.len() + other.bytes.len())?;
        self.splits.extend(other.splits[1..].iter().map(|&end| base + end));
        self.bytes.extend_from_slice(&other.bytes);
        Ok(())
    }
}
