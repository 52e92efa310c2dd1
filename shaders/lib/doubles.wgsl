// 64-bit floats as pairs of words, for devices without native ones.
//
// Idea     F64 is U64 (lib/pairs.wgsl): the bits of an IEEE 754 double. An operation takes the operands apart into sign,
//          exponent and digits, computes in integers with a sticky last bit, and rounds once (`round_f64`). Results of
//          zeros, infinities and NaN are selected at the end: functions have no branches that return.
// Edges    Rounds to nearest, ties to even. Subnormals are kept; NaN results have the bits of `nan_f64`. Bits equal those
//          of the CPU but for the payload and the sign of NaN.
// Cost     Operations, as written: a sum 160, a product 270, a comparison 40, a quotient 2000, a square root 3000.
//          Compilers fold part of them, such as those of shifts by constants. Quotients (56 steps), square roots (55) and
//          remainders (a step per power of two between the operands) have loops; nothing else has.
// Linked   per definition, as lib/pairs.wgsl, with which and with lib/doubles_convert.wgsl and lib/function_f64.wgsl it is
//          one library.
// Ends     Loops count to constants, or to a number of steps.
// Source   The usual algorithms of software floats: Knuth, The Art of Computer Programming 2, 4.2.1.

alias F64 = vec2<u32>;

fn nan_f64() -> F64 {
    return F64(0u, 0x7ff80000u);
}

fn one_f64() -> F64 {
    return F64(0u, 0x3ff00000u);
}

fn magnitude_f64(a: F64) -> F64 {
    return F64(a.x, a.y & 0x7fffffffu);
}

fn negative_f64(a: F64) -> F64 {
    return F64(a.x, a.y ^ 0x80000000u);
}

fn is_nan_f64(a: F64) -> bool {
    return (a.y & 0x7fffffffu) + u32(a.x != 0u) > 0x7ff00000u;
}

fn is_infinite_f64(a: F64) -> bool {
    return (a.y & 0x7fffffffu) == 0x7ff00000u && a.x == 0u;
}

fn is_finite_f64(a: F64) -> bool {
    return (a.y & 0x7ff00000u) != 0x7ff00000u;
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

/// v >> by for a number below 2^63 and any `by`, with the last bit set if any bit was lost.
fn shift_sticky64(v: U64, by: u32) -> U64 {
    let at = min(by, 63u);
    let kept = shr64(v, at);
    return U64(kept.x | u32(any(shl64(kept, at) != v)), kept.y);
}

/// The float nearest to digits * 2^(exponent - 1084), with that sign bit. The digits are below 2^63; the last one is set if
/// any digit beyond it is.
fn round_f64(sign: u32, exponent: i32, digits: U64) -> F64 {
    // The leading digit to bit 62: a float of biased exponent e + 1. Below that of the least normal number, the digits
    // move down again.
    let up = leading_zeros64(digits) - 1u;
    let e = exponent - i32(up);
    let d = shift_sticky64(shl64(digits, up), u32(max(-e, 0)));
    let low = d.x + 0x200u;
    let high = d.y + u32(low < 0x200u);
    // A tie goes to the even neighbour.
    let kept = ((low >> 10u) | (high << 22u)) & ~u32((d.x & 0x3ffu) == 0x200u);
    // The leading digit adds one to the exponent, and so does a carry, up to infinity.
    let rounded = F64(kept, (high >> 10u) + (u32(max(e, 0)) << 20u));
    let finite = select(rounded, F64(0u, 0u), (digits.x | digits.y) == 0u);
    let is_beyond = e > 0x7fd && (digits.x | digits.y) != 0u;
    let size = select(finite, F64(0u, 0x7ff00000u), is_beyond);
    return F64(size.x, size.y | sign);
}

fn add_f64(a: F64, b: F64) -> F64 {
    let swaps = less_u64(magnitude_f64(a), magnitude_f64(b));
    let x = select(a, b, swaps);
    let y = select(b, a, swaps);
    let subtracts = ((x.y ^ y.y) & 0x80000000u) != 0u;
    let exponent = exponent_f64(x);
    let large = shl64(digits_f64(x), 9u);
    let small = shift_sticky64(shl64(digits_f64(y), 9u), exponent - exponent_f64(y));
    let digits = select(add64(large, small), sub64(large, small), subtracts);
    // The difference of equal numbers is +0.
    let is_none = subtracts && (digits.x | digits.y) == 0u;
    let sum = round_f64(select(x.y & 0x80000000u, 0u, is_none), i32(exponent), digits);
    // The sum with an infinity, or NaN, which are of the greatest magnitude.
    let is_nan = is_nan_f64(x) || (subtracts && !is_finite_f64(y));
    return select(select(sum, x, !is_finite_f64(x)), nan_f64(), is_nan);
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
    return Normal64(shl64(digits, up), i32(exponent_f64(a)) - i32(up));
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
    let x = normal_f64(a);
    let y = normal_f64(b);
    let digits = high_product64(shl64(x.digits, 10u), shl64(y.digits, 11u));
    let product = round_f64(sign, x.exponent + y.exponent - 0x3ff, digits);
    let is_nan = is_nan_f64(a) || is_nan_f64(b) || is_zero_f64(a) || is_zero_f64(b);
    let of_infinity = select(F64(0u, sign | 0x7ff00000u), nan_f64(), is_nan);
    return select(product, of_infinity, !is_finite_f64(a) || !is_finite_f64(b));
}

fn div_f64(a: F64, b: F64) -> F64 {
    let sign = (a.y ^ b.y) & 0x80000000u;
    let x = normal_f64(a);
    let y = normal_f64(b);
    let is_below = less_u64(x.digits, y.digits);
    var rest = select(x.digits, shl64(x.digits, 1u), is_below);
    var quotient = U64(0u, 0u);
    for (var k = 0u; k < 56u; k++) {
        let is_less = less_u64(rest, y.digits);
        quotient = shl64(quotient, 1u);
        quotient.x = quotient.x | u32(!is_less);
        rest = shl64(select(sub64(rest, y.digits), rest, is_less), 1u);
    }
    let digits = shl64(quotient, 7u);
    let more = u32((rest.x | rest.y) != 0u);
    let exponent = x.exponent - y.exponent + 0x3fe - i32(is_below);
    let result = round_f64(sign, exponent, U64(digits.x | more, digits.y));
    let is_none = is_zero_f64(a) || is_infinite_f64(b);
    let is_infinite = is_infinite_f64(a) || is_zero_f64(b);
    let size = select(select(result, F64(0u, sign), is_none), F64(0u, sign | 0x7ff00000u), is_infinite);
    return select(size, nan_f64(), is_nan_f64(a) || is_nan_f64(b) || (is_none && is_infinite));
}

fn sqrt_f64(a: F64) -> F64 {
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
        let next = shl64(root, 2u) | U64(1u, 0u);
        let is_less = less_u64(rest, next);
        rest = select(sub64(rest, next), rest, is_less);
        root = shl64(root, 1u);
        root.x = root.x | u32(!is_less);
    }
    root = shl64(root, 8u);
    let half = (x.exponent - 1023 - i32(is_odd)) / 2;
    let result = round_f64(0u, half + 1022, U64(root.x | u32((rest.x | rest.y) != 0u), root.y));
    // Zeros and infinity are roots of themselves; negative numbers have none.
    let is_negative = (a.y & 0x80000000u) != 0u;
    let is_nan = is_nan_f64(a) || (is_negative && !is_zero_f64(a));
    return select(select(result, a, is_zero_f64(a) || !is_finite_f64(a)), nan_f64(), is_nan);
}

/// C's `fmod`.
fn rem_f64(a: F64, b: F64) -> F64 {
    let dividend = normal_f64(a);
    let by = normal_f64(b);
    let is_less = less_u64(magnitude_f64(a), magnitude_f64(b));
    let is_nan = is_zero_f64(b) || is_nan_f64(b) || !is_finite_f64(a);
    var rest = dividend.digits;
    rest = select(sub64(rest, by.digits), rest, less_u64(rest, by.digits));
    let steps = select(u32(max(dividend.exponent - by.exponent, 0)), 0u, is_less || is_nan);
    for (var k = 0u; k < steps && (rest.x | rest.y) != 0u; k++) {
        rest = shl64(rest, 1u);
        rest = select(sub64(rest, by.digits), rest, less_u64(rest, by.digits));
    }
    let result = round_f64(a.y & 0x80000000u, by.exponent + 9, rest);
    return select(select(result, a, is_less), nan_f64(), is_nan);
}

/// The bits as an unsigned integer of the same order: -0 below +0, negative NaN lowest, positive NaN highest.
fn order_f64(a: F64) -> U64 {
    let flip = select(0u, 0xffffffffu, (a.y & 0x80000000u) != 0u);
    return U64(a.x ^ flip, a.y ^ (flip | 0x80000000u));
}

/// The bits as a signed integer of the same order, and back.
fn signed_key_f64(a: U64) -> U64 {
    let flip = select(0u, 0xffffffffu, (a.y & 0x80000000u) != 0u);
    return U64(a.x ^ flip, a.y ^ (flip >> 1u));
}

/// The bits as an unsigned integer of the same order: both zeros as one, NaN above all.
fn sort_key_f64(a: F64) -> U64 {
    let key = order_f64(select(a, F64(0u, 0u), is_zero_f64(a)));
    return select(key, U64(0xffffffffu, 0xffffffffu), is_nan_f64(a));
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
    let is_first = is_nan_f64(a) || (less_u64(order_f64(a), order_f64(b)) && !is_nan_f64(b));
    return select(b, a, is_first);
}

/// The greater number; NaN if either is, -0 below +0.
fn greatest_f64(a: F64, b: F64) -> F64 {
    let is_first = is_nan_f64(a) || (less_u64(order_f64(b), order_f64(a)) && !is_nan_f64(b));
    return select(b, a, is_first);
}

fn trunc_f64(a: F64) -> F64 {
    let exponent = exponent_f64(a);
    let drop = min(1075u - min(exponent, 1075u), 52u);
    let whole = shl64(shr64(a, drop), drop);
    return select(whole, F64(0u, a.y & 0x80000000u), exponent < 1023u);
}

fn floor_f64(a: F64) -> F64 {
    let whole = trunc_f64(a);
    let is_above = (a.y & 0x80000000u) != 0u && any(whole != a);
    return select(whole, add_f64(whole, F64(0u, 0xbff00000u)), is_above);
}

fn ceil_f64(a: F64) -> F64 {
    let whole = trunc_f64(a);
    let is_below = (a.y & 0x80000000u) == 0u && any(whole != a);
    return select(whole, add_f64(whole, one_f64()), is_below);
}

/// The nearest whole number, halves to even.
fn rint_f64(a: F64) -> F64 {
    let exponent = exponent_f64(a);
    // Adds just below a half, or a half to odd numbers, in the bits: a carry into the exponent is right.
    let drop = clamp(1075u - min(exponent, 1075u), 1u, 52u);
    let is_odd = shr64(a, drop).x & 1u;
    let half = sub64(shl64(U64(1u, 0u), drop - 1u), U64(1u - is_odd, 0u));
    let near = shl64(shr64(add64(a, half), drop), drop);
    let is_one = less_u64(U64(0u, 0x3fe00000u), magnitude_f64(a));
    let small = F64(0u, (a.y & 0x80000000u) | select(0u, 0x3ff00000u, is_one));
    return select(select(near, small, exponent < 1023u), a, exponent >= 1075u);
}
