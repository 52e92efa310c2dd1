//! What the host knows of the lengths of rows, and what of it planning may use.

use super::row_pass::BLOCK;

/// What the host knows of the lengths of rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownLengths {
    /// No row is longer.
    pub(crate) longest: u32,
    /// No more values than that are in rows longer than [`BLOCK`].
    pub(crate) in_long_rows: u32,
}

impl KnownLengths {
    pub(crate) const NONE: Self = Self { longest: u32::MAX, in_long_rows: u32::MAX };

    /// Those of rows with these splits.
    pub(crate) fn of(splits: &[u32]) -> Self {
        let lengths = || splits.windows(2).map(|w| w[1].wrapping_sub(w[0]));
        Self {
            longest: lengths().max().unwrap_or(0),
            in_long_rows: lengths().filter(|&len| len > BLOCK).fold(0, u32::saturating_add),
        }
    }
}

/// The lengths at which a kernel ends that works on one row at a time: the blocks of row reductions and scans by their
/// widths, and the rows that a workgroup sorts.
const CLASSES: [u32; 5] = [64, 128, 256, 512, 896];

/// The class of rows of which none is longer: the longest row that no kernel tells from it.
///
/// What is planned depends on the class alone, so that a batch whose longest row is a little longer than the last one's
/// is planned no other way.
pub(crate) fn class(longest: u32) -> u32 {
    CLASSES.into_iter().find(|&class| longest <= class).unwrap_or(u32::MAX)
}

/// The class of strings of which none has more bytes: the next power of two, since kernels hash long ones in legs; and
/// one for all that every adapter hashes at once.
pub(crate) fn string_class(longest: u32) -> u32 {
    longest.max(256 << 10).checked_next_power_of_two().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_holds_its_rows_and_is_its_own() {
        for (longest, of) in
            [(0, 64), (64, 64), (65, 128), (256, 256), (896, 896), (897, u32::MAX), (u32::MAX, u32::MAX)]
        {
            assert_eq!(class(longest), of, "{longest}");
            assert_eq!(class(of), of);
        }
        for (longest, of) in [(0, 1 << 18), (1 << 18, 1 << 18), ((1 << 18) + 1, 1 << 19), ((1 << 31) + 1, u32::MAX)] {
            assert_eq!(string_class(longest), of, "{longest}");
            assert_eq!(string_class(of), of);
        }
    }
}
