//! Repetition levels of a page, which say where rows begin: a row begins at each level 0.

use bytes::Bytes;
use ragged::Result;

use crate::file::unreadable;

/// Levels that are left of a page, in Parquet's hybrid of run lengths and bit packing. They are decoded as they are asked for:
/// a few bytes may stand for billions of levels.
pub(super) struct Levels {
    data: Bytes,
    /// The first byte of the next run.
    at: usize,
    /// Bits of a level.
    width: usize,
    /// Levels of the page that are left.
    left: u32,
    run: Run,
}

/// The levels that are left of a run.
#[derive(Clone, Copy)]
enum Run {
    /// One level, repeated.
    Same { level: u32, left: u32 },
    /// Levels from a bit of the data on.
    Packed { bit: usize, left: u32 },
}

impl Levels {
    /// `count` levels of at most `most`.
    pub(super) fn new(data: Bytes, most: i16, count: u32) -> Self {
        let width = (i16::BITS - most.max(0).leading_zeros()) as usize;
        Self { data, at: 0, width, left: count, run: Run::Same { level: 0, left: 0 } }
    }

    /// Levels of a column that is not nested: each value is a row.
    pub(super) fn of_rows(count: u32) -> Self {
        let run = Run::Same { level: 0, left: count };
        Self { data: Bytes::new(), at: 0, width: 0, left: count, run }
    }

    /// Whether the next level begins a row; none at the end of the page.
    pub(super) fn at_row(&mut self) -> Result<Option<bool>> {
        if self.left == 0 {
            return Ok(None);
        }
        Ok(Some(match self.run()? {
            Run::Same { level, .. } => level == 0,
            Run::Packed { bit, .. } => self.level(bit) == 0,
        }))
    }

    /// Passes the next level, which exists.
    pub(super) fn pass_one(&mut self) -> Result<()> {
        self.run()?;
        self.pass(1);
        Ok(())
    }

    /// Passes the levels up to the next row or the end of the page, and counts them.
    pub(super) fn pass_inside(&mut self) -> Result<u64> {
        let mut count = 0u64;
        while self.left > 0 {
            let (inside, all) = match self.run()? {
                Run::Same { level: 0, .. } => (0, false),
                Run::Same { left, .. } => (left.min(self.left), true),
                Run::Packed { bit, left } => {
                    let some = left.min(self.left).min(32);
                    let inside = (0..some).take_while(|k| self.level(bit + *k as usize * self.width) != 0).count();
                    (inside as u32, inside as u32 == some)
                }
            };
            self.pass(inside);
            count += u64::from(inside);
            if !all {
                break;
            }
        }
        Ok(count)
    }

    /// The current run, which has levels.
    fn run(&mut self) -> Result<Run> {
        while let Run::Same { left: 0, .. } | Run::Packed { left: 0, .. } = self.run {
            let header = self.varint()?;
            self.run = if header & 1 == 0 {
                let size = self.width.div_ceil(8);
                let bytes = self.data.get(self.at..self.at + size).ok_or_else(ended)?;
                let level = bytes.iter().rev().fold(0, |level, byte| level << 8 | u32::from(*byte));
                self.at += size;
                Run::Same { level, left: header >> 1 }
            } else {
                let bit = 8 * self.at;
                let size = (header >> 1) as usize * self.width;
                // The last group may be cut where its levels end.
                let size = size.min(self.data.len() - self.at);
                self.at += size;
                Run::Packed { bit, left: (8 * size / self.width.max(1)).min(u32::MAX as usize) as u32 }
            };
        }
        Ok(self.run)
    }

    fn varint(&mut self) -> Result<u32> {
        let mut out = 0u32;
        for shift in (0..35).step_by(7) {
            let byte = *self.data.get(self.at).ok_or_else(ended)?;
            self.at += 1;
            out |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Ok(out);
            }
        }
        Err(ended())
    }

    /// The level at a bit of the data.
    fn level(&self, bit: usize) -> u32 {
        if self.width == 1 {
            return u32::from(self.data[bit / 8] >> (bit % 8) & 1);
        }
        let word = (0..4).map(|k| u64::from(self.data.get(bit / 8 + k).copied().unwrap_or(0)) << (8 * k)).sum::<u64>();
        (word >> (bit % 8)) as u32 & ((1 << self.width) - 1)
    }

    /// Passes levels of the current run.
    fn pass(&mut self, n: u32) {
        self.left -= n;
        match &mut self.run {
            Run::Same { left, .. } => *left -= n,
            Run::Packed { bit, left } => {
                *left -= n;
                *bit += n as usize * self.width;
            }
        }
    }
}

fn ended() -> ragged::Error {
    unreadable("the file is damaged: the repetition levels of a page end early")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of levels of each row of a page.
    fn rows(data: &[u8], most: i16, count: u32) -> Result<Vec<u64>> {
        let mut levels = Levels::new(Bytes::copy_from_slice(data), most, count);
        let mut out = Vec::new();
        while let Some(begins) = levels.at_row()? {
            assert!(begins);
            levels.pass_one()?;
            out.push(1 + levels.pass_inside()?);
        }
        Ok(out)
    }

    #[test]
    fn runs_and_packed_levels_are_rows() -> Result<()> {
        // 3 zeros; then 8 packed levels 1 1 0 1 0 0 1 1; then 5 ones.
        assert_eq!(rows(&[3 << 1, 0, 3, 0b1100_1011, 5 << 1, 1], 1, 16)?, [1, 1, 3, 2, 1, 8]);
        // Levels of two bits: 0 1 2 0 0 2 2 2, of which a page has 6.
        assert_eq!(rows(&[3, 0b0010_0100, 0b1010_1000], 2, 6)?, [3, 1, 2]);
        assert!(rows(&[], 1, 0)?.is_empty());
        // One byte stands for many levels.
        assert_eq!(rows(&[2, 0, 0xfe, 0xff, 0xff, 0xff, 0x0f, 1], 1, u32::MAX >> 1)?, [u64::from(u32::MAX >> 1)]);
        Ok(())
    }

    #[test]
    fn levels_that_end_early_are_errors() {
        for (data, count) in [(&[][..], 1), (&[2, 0], 2), (&[0x80, 0x80, 0x80, 0x80, 0x80, 0], 1), (&[3], 1)] {
            let e = rows(data, 1, count).unwrap_err();
            assert!(e.to_string().contains("the repetition levels of a page end early"), "{e}");
        }
    }
}
