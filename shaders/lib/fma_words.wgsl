// The fused multiply-add of f32 in integer arithmetic, for devices whose `fma` rounds twice and that have no 64-bit floats.
//
// Idea     The digits of the product, at most 48, and those of the addend lie in a window of 64 bits in two words, the
//          greater one at its top; what the smaller one loses at the bottom is kept as a sticky last bit. Their sum is
//          rounded once.
// Edges    Rounds to nearest, ties to even. Subnormal numbers are kept. Bits equal those of the CPU but for the payload and
//          the sign of NaN.
// Exact    Of operands that cancel, one was shifted by at most two places, and has at least 15 zeros at the bottom.
// Cost     No loop; about 110 operations.

/// The digits of the magnitude of a finite number, the first one at bit 23, and the exponent of the last one, biased by 150.
/// The digits of 0 are 0.
fn fma_digits(bits: u32) -> vec2<i32> {
    let exponent = (bits >> 23u) & 0xffu;
    let digits = (bits & 0x7fffffu) | select(0u, 0x800000u, exponent != 0u);
    let shift = (countLeadingZeros(digits) - 8u) & 31u;
    return vec2<i32>(i32(digits << shift), i32(max(exponent, 1u)) - i32(shift));
}

/// v >> by for the window v, the low word first, with the last bit set if any bit was lost.
fn fma_shifted(v: vec2<u32>, by: u32) -> vec2<u32> {
    let words = select(v, vec2<u32>(v.y, 0u), by >= 32u);
    let lost_word = select(0u, v.x, by >= 32u);
    let k = by & 31u;
    // Shifts by 32 are none: two steps.
    let above = (words.y << 1u) << (31u - k);
    let lost = (words.x << 1u) << (31u - k);
    let low = (words.x >> k) | select(above, 0u, k == 0u);
    let sticky = u32((lost_word | select(lost, 0u, k == 0u)) != 0u);
    let all = u32((v.x | v.y) != 0u);
    return select(vec2<u32>(low | sticky, words.y >> k), vec2<u32>(all, 0u), by >= 64u);
}

fn fma_f32(a: f32, b: f32, c: f32) -> f32 {
    let x = bitcast<u32>(a);
    let y = bitcast<u32>(b);
    let z = bitcast<u32>(c);
    let infinite = 0x7f800000u;
    let sign = (x ^ y) & 0x80000000u;
    if ((x & infinite) == infinite || (y & infinite) == infinite) {
        // An infinite product, unless a factor is 0 or NaN, and the addend is NaN or infinite with the other sign.
        let is_nan = max(max(x << 1u, y << 1u), z << 1u) > (infinite << 1u);
        let is_other = (z ^ sign) == (infinite | 0x80000000u);
        let is_none = is_nan || is_other || (x << 1u) == 0u || (y << 1u) == 0u;
        return bitcast<f32>(select(sign | infinite, 0x7fc00000u | rg_zero(), is_none));
    }
    if ((z & infinite) == infinite) {
        return c;
    }
    let left = fma_digits(x);
    let right = fma_digits(y);
    let addend = fma_digits(z);
    // The product in halves of 24 bits.
    let l = vec2<u32>(u32(left.x) & 0xfffu, u32(left.x) >> 12u);
    let r = vec2<u32>(u32(right.x) & 0xfffu, u32(right.x) >> 12u);
    let middle = l.x * r.y + l.y * r.x;
    let lowest = l.x * r.x + ((middle & 0xfffu) << 12u);
    let highest = l.y * r.y + (middle >> 12u) + (lowest >> 24u);
    // Both windows, and the exponents of their last bits. That of 0 is below all others.
    let product = vec2<u32>((lowest & 0xffffffu) << 15u, (highest << 7u) | ((lowest & 0xffffffu) >> 17u));
    let added = vec2<u32>(0u, u32(addend.x) << 7u);
    let of_product = select(left.y + right.y - 315, -4096, (product.x | product.y) == 0u);
    let of_addend = select(addend.y - 189, -8192, addend.x == 0);
    let distance = of_product - of_addend;
    let p = fma_shifted(product, u32(max(-distance, 0)));
    let q = fma_shifted(added, u32(max(distance, 0)));
    let is_sum = sign == (z & 0x80000000u);
    let is_less = p.y < q.y || (p.y == q.y && p.x < q.x);
    let greater = select(p, q, is_less);
    let smaller = select(q, p, is_less);
    let sum_low = greater.x + smaller.x;
    let sum = vec2<u32>(sum_low, greater.y + smaller.y + u32(sum_low < greater.x));
    let rest = vec2<u32>(greater.x - smaller.x, greater.y - smaller.y - u32(greater.x < smaller.x));
    let all = select(rest, sum, is_sum);
    let of_greater = select(sign, z & 0x80000000u, is_less);
    if ((all.x | all.y) == 0u) {
        return bitcast<f32>(select(0u, sign, is_sum));
    }
    // The first digit at the top.
    let is_low = all.y == 0u;
    let top = select(all.y, all.x, is_low);
    let bottom = select(all.x, 0u, is_low);
    let zeros = countLeadingZeros(top);
    let high = (top << zeros) | select((bottom >> 1u) >> (31u - zeros), 0u, zeros == 0u);
    let low = bottom << zeros;
    let exponent = max(of_product, of_addend) + 190 - i32(zeros) - select(0, 32, is_low);
    // Subnormal numbers lose digits before they are rounded.
    let shift = u32(clamp(1 - exponent, 0, 31));
    let kept = high >> shift;
    let lost = u32((low | select((high << 1u) << (31u - shift), 0u, shift == 0u)) != 0u);
    let tail = ((kept & 0xffu) << 1u) | lost;
    let digits = kept >> 8u;
    let is_up = tail > 0x100u || (tail == 0x100u && (digits & 1u) == 1u);
    let rounded = (u32(max(exponent, 1) - 1) << 23u) + digits + u32(is_up);
    return bitcast<f32>(of_greater | select(min(rounded, infinite), infinite, exponent > 254));
}
