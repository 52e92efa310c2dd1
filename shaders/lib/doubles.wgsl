// 64-bit floats as pairs of words, for devices without native ones.
//
// Idea     F64 is U64 (lib/pairs.wgsl): the bits of an IEEE 754 double. An operation takes the operands apart into sign,
//          exponent and digits, computes in integers with a sticky last bit, and rounds once (`round_f64`).
// Edges    Rounds to nearest, ties to even. Subnormals are kept; NaN results have the bits of `nan_f64`. Bits equal those
//          of the CPU but for the payload and the sign of NaN.
// Cost     No loop, but for quotients (56 steps), square roots (55), and remainders (one step per power of two between the
//          operands).
// Linked   by no kernel yet; with lib/pairs.wgsl.
// Source   The usual algorithms of software floats: Knuth, The Art of Computer Programming 2, 4.2.1.

alias F64 = vec2<u32>;

fn nan_f64() -> F64 {
    return F64(0u, 0x7ff80000u);
}

fn magnitude_f64(a: F64) -> F64 {
    return F64(a.x, a.y & 0x7fffffffu);
}

fn negative_f64(a: F64) -> F64 {
    return F64(a.x, a.y ^ 0x80000000u);
}

fn is_nan_f64(a: F64) -> bool {
    return less_u64(U64(0u, 0x7ff00000u), magnitude_f64(a));
}

fn is_zero_f64(a: F64) -> bool {
    return (a.x | (a.y << 1u)) == 0u;
}

/// The biased exponent; 1 for subnormal numbers, whose digits have no leading one.
fn exponent_f64(a: F64) -> u32 {
    return max((a.y >> 20u) & 0x7ffu, 1u);
}

/// The 53 digits of a finite number, of which the last counts 2^(exponent - 1075).
fn digits_f64(a: F64) -> U64 {
    return U64(a.x, (a.y & 0xfffffu) | select(0u, 0x100000u, (a.y & 0x7ff00000u) != 0u));
}

/// v >> by, with the last bit set if any bit was lost.
fn shift_sticky64(v: U64, by: u32) -> U64 {
    if (by == 0u) {
        return v;
    }
    if (by >= 64u) {
        return U64(u32((v.x | v.y) != 0u), 0u);
    }
    let lost = shl64(v, 64u - by);
    let kept = shr64(v, by);
    return U64(kept.x | u32((lost.x | lost.y) != 0u), kept.y);
}

/// The float nearest to digits * 2^(exponent - 1084), with that sign bit. The digits are below 2^63; the last one is set if
/// any digit beyond it is.
fn round_f64(sign: u32, exponent: i32, digits: U64) -> F64 {
    if ((digits.x | digits.y) == 0u) {
        return F64(0u, sign);
    }
    // The leading digit to bit 62: a float of biased exponent e + 1.
    let up = leading_zeros64(digits) - 1u;
    var e = exponent - i32(up);
    var d = shl64(digits, up);
    if (e > 0x7fd) {
        return F64(0u, sign | 0x7ff00000u);
    }
    if (e < 0) {
        d = shift_sticky64(d, u32(-e));
        e = 0;
    }
    var kept = shr64(add64(d, U64(0x200u, 0u)), 10u);
    // A tie goes to the even neighbour.
    kept.x = kept.x & ~u32((d.x & 0x3ffu) == 0x200u);
    // The leading digit adds one to the exponent, and so does a carry, up to infinity.
    return F64(kept.x, sign | (kept.y + (u32(e) << 20u)));
}

fn add_f64(a: F64, b: F64) -> F64 {
    let swaps = less_u64(magnitude_f64(a), magnitude_f64(b));
    let x = select(a, b, swaps);
    let y = select(b, a, swaps);
    let subtracts = ((x.y ^ y.y) & 0x80000000u) != 0u;
    let sign = x.y & 0x80000000u;
    if ((x.y & 0x7ff00000u) == 0x7ff00000u) {
        let is_nan = is_nan_f64(x) || (subtracts && all(magnitude_f64(x) == magnitude_f64(y)));
        return select(x, nan_f64(), is_nan);
    }
    let exponent = exponent_f64(x);
    let large = shl64(digits_f64(x), 9u);
    let small = shift_sticky64(shl64(digits_f64(y), 9u), exponent - exponent_f64(y));
    let digits = select(add64(large, small), sub64(large, small), subtracts);
    // The difference of equal numbers is +0.
    let is_zero = (digits.x | digits.y) == 0u;
    return round_f64(select(sign, 0u, is_zero && subtracts), i32(exponent), digits);
}

fn sub_f64(a: F64, b: F64) -> F64 {
    return add_f64(a, negative_f64(b));
}

/// The digits of a number other than 0, with the leading one at bit 52.
struct Normal64 {
    digits: U64,
    exponent: i32,
}

fn normal_f64(a: F64) -> Normal64 {
    let digits = digits_f64(a);
    let up = leading_zeros64(digits) - 11u;
    return Normal64(shl64(digits, up & 63u), i32(exponent_f64(a)) - i32(up));
}

/// The upper half of the product, with the last bit set if any bit of the lower half is.
fn high_product64(a: U64, b: U64) -> U64 {
    let low = wide_product(a.x, b.x);
    let left = add64(wide_product(a.x, b.y), U64(low.y, 0u));
    let right = add64(wide_product(a.y, b.x), U64(left.x, 0u));
    let high = add64(add64(wide_product(a.y, b.y), U64(left.y, 0u)), U64(right.y, 0u));
    return U64(high.x | u32((low.x | right.x) != 0u), high.y);
}

fn mul_f64(a: F64, b: F64) -> F64 {
    let sign = (a.y ^ b.y) & 0x80000000u;
    let is_none = is_zero_f64(a) || is_zero_f64(b);
    if ((a.y & 0x7ff00000u) == 0x7ff00000u || (b.y & 0x7ff00000u) == 0x7ff00000u) {
        let is_nan = is_none || is_nan_f64(a) || is_nan_f64(b);
        return select(F64(0u, sign | 0x7ff00000u), nan_f64(), is_nan);
    }
    if (is_none) {
        return F64(0u, sign);
    }
    let x = normal_f64(a);
    let y = normal_f64(b);
    let digits = high_product64(shl64(x.digits, 10u), shl64(y.digits, 11u));
    return round_f64(sign, x.exponent + y.exponent - 0x3ff, digits);
}

fn div_f64(a: F64, b: F64) -> F64 {
    let sign = (a.y ^ b.y) & 0x80000000u;
    let is_a_infinite = all(magnitude_f64(a) == F64(0u, 0x7ff00000u));
    let is_b_infinite = all(magnitude_f64(b) == F64(0u, 0x7ff00000u));
    let is_none = is_zero_f64(a) && is_zero_f64(b);
    if (is_nan_f64(a) || is_nan_f64(b) || is_none || (is_a_infinite && is_b_infinite)) {
        return nan_f64();
    }
    if (is_a_infinite || is_zero_f64(b)) {
        return F64(0u, sign | 0x7ff00000u);
    }
    if (is_b_infinite || is_zero_f64(a)) {
        return F64(0u, sign);
    }
    let x = normal_f64(a);
    let y = normal_f64(b);
    let is_below = less_u64(x.digits, y.digits);
    var rest = select(x.digits, shl64(x.digits, 1u), is_below);
    var quotient = U64(0u, 0u);
    for (var k = 0u; k < 56u; k++) {
        quotient = shl64(quotient, 1u);
        if (!less_u64(rest, y.digits)) {
            rest = sub64(rest, y.digits);
            quotient.x = quotient.x | 1u;
        }
        rest = shl64(rest, 1u);
    }
    let digits = shl64(quotient, 7u);
    let more = u32((rest.x | rest.y) != 0u);
    return round_f64(sign, x.exponent - y.exponent + 0x3fe - i32(is_below), U64(digits.x | more, digits.y));
}

fn sqrt_f64(a: F64) -> F64 {
    if (is_nan_f64(a) || is_zero_f64(a)) {
        return select(a, nan_f64(), is_nan_f64(a));
    }
    if ((a.y & 0x80000000u) != 0u) {
        return nan_f64();
    }
    if (a.y == 0x7ff00000u) {
        return a;
    }
    let x = normal_f64(a);
    // An even exponent: 54 digits, of which each pair gives a digit of the root.
    let is_odd = ((x.exponent - 1023) & 1) != 0;
    var digits = shl64(x.digits, select(10u, 11u, is_odd));
    var rest = U64(0u, 0u);
    var root = U64(0u, 0u);
    for (var k = 0u; k < 55u; k++) {
        rest = shl64(rest, 2u);
        rest.x = rest.x | (digits.y >> 30u);
        digits = shl64(digits, 2u);
        let next = shl64(root, 2u) + U64(1u, 0u);
        root = shl64(root, 1u);
        if (!less_u64(rest, next)) {
            rest = sub64(rest, next);
            root.x = root.x | 1u;
        }
    }
    root = shl64(root, 8u);
    let half = (x.exponent - 1023 - i32(is_odd)) / 2;
    return round_f64(0u, half + 1022, U64(root.x | u32((rest.x | rest.y) != 0u), root.y));
}

/// C's `fmod`.
fn rem_f64(a: F64, b: F64) -> F64 {
    let x = magnitude_f64(a);
    let y = magnitude_f64(b);
    let infinity = U64(0u, 0x7ff00000u);
    if (is_zero_f64(b) || less_u64(infinity, y) || !less_u64(x, infinity)) {
        return nan_f64();
    }
    if (less_u64(x, y)) {
        return a;
    }
    let sign = a.y & 0x80000000u;
    let dividend = normal_f64(x);
    let by = normal_f64(y);
    var rest = dividend.digits;
    if (!less_u64(rest, by.digits)) {
        rest = sub64(rest, by.digits);
    }
    let steps = u32(dividend.exponent - by.exponent);
    for (var k = 0u; k < steps && (rest.x | rest.y) != 0u; k++) {
        rest = shl64(rest, 1u);
        if (!less_u64(rest, by.digits)) {
            rest = sub64(rest, by.digits);
        }
    }
    return round_f64(sign, by.exponent + 9, rest);
}

/// The bits as an unsigned integer of the same order: -0 below +0, negative NaN lowest, positive NaN highest.
fn order_f64(a: F64) -> U64 {
    let flip = select(0u, 0xffffffffu, (a.y & 0x80000000u) != 0u);
    return U64(a.x ^ flip, a.y ^ (flip | 0x80000000u));
}

fn less_f64(a: F64, b: F64) -> bool {
    let are_zero = is_zero_f64(a) && is_zero_f64(b);
    return less_u64(order_f64(a), order_f64(b)) && !are_zero && !is_nan_f64(a) && !is_nan_f64(b);
}

fn equal_f64(a: F64, b: F64) -> bool {
    return (all(a == b) || (is_zero_f64(a) && is_zero_f64(b))) && !is_nan_f64(a) && !is_nan_f64(b);
}

fn less_equal_f64(a: F64, b: F64) -> bool {
    return less_f64(a, b) || equal_f64(a, b);
}

/// The smaller number; NaN if either is, -0 below +0.
fn least_f64(a: F64, b: F64) -> F64 {
    if (is_nan_f64(a) || is_nan_f64(b)) {
        return select(b, a, is_nan_f64(a));
    }
    return select(b, a, less_u64(order_f64(a), order_f64(b)));
}

/// The greater number; NaN if either is, -0 below +0.
fn greatest_f64(a: F64, b: F64) -> F64 {
    if (is_nan_f64(a) || is_nan_f64(b)) {
        return select(b, a, is_nan_f64(a));
    }
    return select(b, a, less_u64(order_f64(b), order_f64(a)));
}

fn trunc_f64(a: F64) -> F64 {
    let exponent = exponent_f64(a);
    if (exponent >= 1075u) {
        return a;
    }
    if (exponent < 1023u) {
        return F64(0u, a.y & 0x80000000u);
    }
    return shl64(shr64(a, 1075u - exponent), 1075u - exponent);
}

fn floor_f64(a: F64) -> F64 {
    let whole = trunc_f64(a);
    let is_above = (a.y & 0x80000000u) != 0u && any(whole != a);
    return select(whole, add_f64(whole, F64(0u, 0xbff00000u)), is_above);
}

fn ceil_f64(a: F64) -> F64 {
    let whole = trunc_f64(a);
    let is_below = (a.y & 0x80000000u) == 0u && any(whole != a);
    return select(whole, add_f64(whole, F64(0u, 0x3ff00000u)), is_below);
}

/// The nearest whole number, halves to even.
fn rint_f64(a: F64) -> F64 {
    let exponent = exponent_f64(a);
    let sign = a.y & 0x80000000u;
    if (exponent >= 1075u) {
        return a;
    }
    if (exponent < 1023u) {
        let is_one = less_u64(U64(0u, 0x3fe00000u), magnitude_f64(a));
        return F64(0u, sign | select(0u, 0x3ff00000u, is_one));
    }
    // Adds just below a half, or a half to odd numbers, in the bits: a carry into the exponent is right.
    let drop = 1075u - exponent;
    let is_odd = shr64(a, drop).x & 1u;
    let half = sub64(shl64(U64(1u, 0u), drop - 1u), U64(1u - is_odd, 0u));
    return shl64(shr64(add64(a, half), drop), drop);
}

fn f64_of_u64(v: U64) -> F64 {
    if ((v.y & 0x80000000u) != 0u) {
        return round_f64(0u, 1085, shift_sticky64(v, 1u));
    }
    return round_f64(0u, 1084, v);
}

fn f64_of_i64(v: I64) -> F64 {
    let size = f64_of_u64(abs_i64(v));
    return F64(size.x, size.y | (v.y & 0x80000000u));
}

fn f64_of_u32(v: u32) -> F64 {
    return round_f64(0u, 1084, U64(v, 0u));
}

fn f64_of_i32(v: i32) -> F64 {
    return round_f64(bitcast<u32>(v) & 0x80000000u, 1084, U64(bitcast<u32>(abs(v)), 0u));
}

fn f64_of_f32(v: f32) -> F64 {
    let bits = bitcast<u32>(v);
    let sign = bits & 0x80000000u;
    let exponent = (bits >> 23u) & 0xffu;
    let digits = bits & 0x7fffffu;
    if (exponent == 0u) {
        return round_f64(sign, 935, U64(digits, 0u));
    }
    if (exponent == 255u) {
        return select(F64(0u, sign | 0x7ff00000u), nan_f64(), digits != 0u);
    }
    return F64(digits << 29u, sign | ((exponent + 896u) << 20u) | (digits >> 3u));
}

fn f32_of_f64(v: F64) -> f32 {
    let sign = v.y & 0x80000000u;
    if (is_nan_f64(v)) {
        return bitcast<f32>(0x7fc00000u | rg_zero());
    }
    let exponent = exponent_f64(v);
    if (exponent >= 1151u) {
        return bitcast<f32>(sign | 0x7f800000u);
    }
    if (exponent < 872u) {
        return bitcast<f32>(sign);
    }
    // Below the normal numbers of f32 fewer digits are kept.
    let digits = digits_f64(v);
    let drop = 29u + select(0u, 897u - exponent, exponent < 897u);
    let kept = shr64(digits, drop).x;
    let rest = sub64(digits, shl64(U64(kept, 0u), drop));
    let half = shl64(U64(1u, 0u), drop - 1u);
    let is_up = less_u64(half, rest) || (all(half == rest) && (kept & 1u) != 0u);
    // The leading digit adds one to the exponent, and so may the carry.
    let base = select(0u, (exponent - 897u) << 23u, exponent >= 897u);
    return bitcast<f32>(sign | (base + kept + u32(is_up)));
}

/// The integer part of the magnitude; that of at most 2^64 - 1 for greater ones.
fn whole_part_f64(v: F64) -> U64 {
    let exponent = exponent_f64(v);
    if (exponent < 1023u) {
        return U64(0u, 0u);
    }
    if (exponent >= 1087u) {
        return U64(0xffffffffu, 0xffffffffu);
    }
    let digits = digits_f64(v);
    if (exponent < 1075u) {
        return shr64(digits, 1075u - exponent);
    }
    return shl64(digits, exponent - 1075u);
}

/// Saturates; NaN gives 0.
fn u64_of_f64(v: F64) -> U64 {
    return select(whole_part_f64(v), U64(0u, 0u), is_nan_f64(v) || (v.y & 0x80000000u) != 0u);
}

/// Saturates; NaN gives 0.
fn i64_of_f64(v: F64) -> I64 {
    let size = whole_part_f64(v);
    let is_negative = (v.y & 0x80000000u) != 0u;
    if (is_nan_f64(v)) {
        return I64(0u, 0u);
    }
    if ((size.y & 0x80000000u) != 0u) {
        return select(I64(0xffffffffu, 0x7fffffffu), I64(0u, 0x80000000u), is_negative);
    }
    return select(size, neg64(size), is_negative);
}

/// Saturates; NaN gives 0.
fn u32_of_f64(v: F64) -> u32 {
    let size = u64_of_f64(v);
    return select(size.x, 0xffffffffu, size.y != 0u);
}

/// Saturates; NaN gives 0.
fn i32_of_f64(v: F64) -> i32 {
    let size = whole_part_f64(v);
    let is_negative = (v.y & 0x80000000u) != 0u;
    if (is_nan_f64(v)) {
        return 0;
    }
    if (size.y != 0u || size.x >= 0x80000000u) {
        return bitcast<i32>(select(0x7fffffffu, 0x80000000u, is_negative));
    }
    return select(bitcast<i32>(size.x), -bitcast<i32>(size.x), is_negative);
}
