//! Host-known bounds of row lengths, and the length classes on which plans may depend.

use super::canonical_order::BLOCK;

/// Host-known upper bounds of row lengths.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownLengths {
    /// Upper bound of the row lengths.
    pub(crate) longest: u32,
    /// Upper bound of the number of values in rows longer than [`BLOCK`].
    pub(crate) in_long_rows: u32,
}

impl KnownLengths {
    pub(crate) const NONE: Self = Self { longest: u32::MAX, in_long_rows: u32::MAX };

    /// The bounds of rows with these splits.
    pub(crate) fn of(splits: &[u32]) -> Self {
        let lengths = || splits.windows(2).map(|w| w[1].wrapping_sub(w[0]));
        Self {
            longest: lengths().max().unwrap_or(0),
            in_long_rows: lengths().filter(|&len| len > BLOCK).fold(0, u32::saturating_add),
        }
    }
}

/// Upper bounds of the length classes: the thresholds at which kernels treat rows differently. These are the block
/// lengths of row reductions and scans for all widths, and the longest row that one workgroup sorts.
const CLASSES: [u32; 5] = [64, 128, 256, 512, 896];

/// Length class of rows of at most `longest` elements: the greatest length that every kernel treats as `longest`.
///
/// Plans depend on the class only, so that batches whose longest rows are in one class share a plan.
pub(crate) fn class(longest: u32) -> u32 {
    CLASSES.into_iter().find(|&class| longest <= class).unwrap_or(u32::MAX)
}

/// Length class of rows of at most `longest` elements for kernels that walk along rows: a power of two beyond the classes of
/// [`class`], since the number of dispatches depends on the length.
pub(crate) fn walk_class(longest: u32) -> u32 {
    match class(longest) {
        u32::MAX => longest.checked_next_power_of_two().unwrap_or(u32::MAX),
        class => class,
    }
}

/// Length class of strings of at most `longest` bytes: the next power of two, since the number of dispatches of a hash
/// depends on the length. All strings that every adapter hashes in one dispatch form one class.
pub(crate) fn string_class(longest: u32) -> u32 {
    longest.max(256 << 10).checked_next_power_of_two().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_the_class_of_its_upper_bound() {
        for (longest, of) in
            [(0, 64), (64, 64), (65, 128), (256, 256), (896, 896), (897, u32::MAX), (u32::MAX, u32::MAX)]
        {
            assert_eq!(class(longest), of, "{longest}");
            assert_eq!(class(of), of);
            assert_eq!(class(walk_class(longest)), of, "a walk class is finer");
        }
        for (longest, of) in [(0, 64), (896, 896), (897, 1024), (1025, 2048), (u32::MAX, u32::MAX)] {
            assert_eq!((walk_class(longest), walk_class(of)), (of, of), "{longest}");
        }
        for (longest, of) in [(0, 1 << 18), (1 << 18, 1 << 18), ((1 << 18) + 1, 1 << 19), ((1 << 31) + 1, u32::MAX)] {
            assert_eq!(string_class(longest), of, "{longest}");
            assert_eq!(string_class(of), of);
        }
    }
}
