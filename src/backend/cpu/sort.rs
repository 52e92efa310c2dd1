//! Stable sorting of u32 keys. Twin of `shaders/sort.wgsl`.

const DIGITS: usize = 256;

/// The permutation that sorts the keys, of which the lowest `key_bits` bits are in use: the index of the least key comes
/// first, indices of equal keys stay in order.
pub fn sort_permutation(keys: &[u32], key_bits: u32) -> Vec<u32> {
    let mut pairs: Vec<(u32, u32)> = keys.iter().copied().zip(0..).collect();
    if keys.len() < DIGITS {
        pairs.sort_unstable();
    } else {
        let mut spare = vec![(0, 0); keys.len()];
        for pass in 0..key_bits.div_ceil(8) {
            if sort_pass(&pairs, &mut spare, 8 * pass) {
                std::mem::swap(&mut pairs, &mut spare);
            }
        }
    }
    pairs.into_iter().map(|(_, index)| index).collect()
}

/// Sorts by the 8 bits from `shift` on. Returns false, and writes nothing, if all are equal.
fn sort_pass(from: &[(u32, u32)], to: &mut [(u32, u32)], shift: u32) -> bool {
    let digit = |key: u32| (key >> shift) as usize % DIGITS;
    let mut places = [0; DIGITS];
    for &(key, _) in from {
        places[digit(key)] += 1;
    }
    if places.contains(&from.len()) {
        return false;
    }
    let mut start = 0;
    for place in &mut places {
        start += std::mem::replace(place, start);
    }
    for &pair in from {
        let place = &mut places[digit(pair.0)];
        to[*place] = pair;
        *place += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::sort_permutation;

    #[test]
    fn agrees_with_a_comparison_sort() {
        for len in [0u32, 1, 2, 255, 256, 257, 5000] {
            for bits in [0, 1, 7, 8, 9, 20, 32] {
                let mask = u32::MAX.checked_shr(32 - bits).unwrap_or(0);
                let keys: Vec<_> =
                    (0..len).map(|k| (k ^ 0x55).wrapping_mul(0x9e37_79b9).reverse_bits() & mask).collect();
                let mut expected: Vec<u32> = (0..len).collect();
                expected.sort_by_key(|&k| keys[k as usize]);
                assert_eq!(sort_permutation(&keys, bits), expected, "{len} keys of {bits} bits");
            }
        }
    }
}
