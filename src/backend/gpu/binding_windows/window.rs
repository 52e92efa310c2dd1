//! Sizes of windows.

/// Bits of a position that select the element within a window: a window holds the largest power of two of elements that
/// fits one binding.
pub(super) fn window_bits(max_binding: u64, element_bytes: u64) -> u32 {
    (max_binding / element_bytes.max(1)).max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_a_power_of_two_of_elements() {
        assert_eq!([4, 8, 12].map(|size| window_bits(8192, size)), [11, 10, 9]);
    }
}
