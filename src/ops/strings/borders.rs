//! Borders and periods of byte strings.

/// The length of the longest border of each prefix: of the longest string other than the prefix that it begins and ends
/// with (Knuth, Morris and Pratt).
pub(super) fn borders(needle: &[u8]) -> Vec<usize> {
    let mut borders = vec![0usize; needle.len()];
    let mut length = 0;
    for k in 1..needle.len() {
        while length > 0 && needle[k] != needle[length] {
            length = borders[length - 1];
        }
        length += usize::from(needle[k] == needle[length]);
        borders[k] = length;
    }
    borders
}

/// The smallest distance at which a byte string overlaps itself; its length if it does not.
pub(super) fn period(needle: &[u8]) -> u32 {
    (needle.len() - borders(needle).last().copied().unwrap_or(0)) as u32
}
