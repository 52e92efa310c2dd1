//! Exclusive prefix sums of u32. Twin of `shaders/scan.wgsl`.

/// Fills `out` with the sums of the values before each position; entries from `values.len()` on repeat the total, so
/// that rows beyond the live ones are empty. Sums wrap; returns whether the total did not fit.
///
/// # Panics
/// If `out` is not longer than `values`.
pub fn exclusive_sum(values: &[u32], out: &mut [u32]) -> bool {
    assert!(out.len() > values.len(), "an exclusive sum has one entry more than its input");
    let (head, tail) = out.split_at_mut(values.len());
    let mut sum = 0u64;
    for (slot, &value) in head.iter_mut().zip(values) {
        *slot = sum as u32;
        sum += u64::from(value);
    }
    tail.fill(sum as u32);
    sum > u64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::exclusive_sum;

    #[test]
    fn repeats_the_total_beyond_the_live_entries() {
        let mut out = [9; 6];
        assert!(!exclusive_sum(&[3, 0, 4], &mut out));
        assert_eq!(out, [0, 3, 3, 7, 7, 7]);
        assert!(!exclusive_sum(&[], &mut out[..1]));
        assert_eq!(out[0], 0);
    }

    #[test]
    fn wraps_and_says_so() {
        let mut out = [0; 3];
        assert!(!exclusive_sum(&[u32::MAX, 0], &mut out));
        assert!(exclusive_sum(&[u32::MAX, 1], &mut out));
        assert_eq!(out, [0, u32::MAX, 0]);
    }
}
