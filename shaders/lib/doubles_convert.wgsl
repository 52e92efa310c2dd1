// Conversions of 64-bit floats as pairs of words (lib/doubles.wgsl).
//
// Idea     From integers: their digits, rounded once. To integers: the digits, shifted. To f32: by integer operations,
//          rounded once.
// Edges    Conversions to integers saturate; NaN gives 0.

fn f64_of_u64(v: U64) -> F64 {
    // The digits of `round_f64` are below 2^63.
    let is_long = is_negative64(v);
    let half = shr64(v, 1u);
    let digits = select(v, U64(half.x | (v.x & 1u), half.y), is_long);
    return round_f64(0u, select(1084, 1085, is_long), digits);
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

fn f64_of_bool(v: bool) -> F64 {
    return F64(0u, select(0u, 0x3ff00000u, v));
}

fn f64_of_f32(v: f32) -> F64 {
    let bits = bitcast<u32>(v);
    let sign = bits & 0x80000000u;
    let exponent = (bits >> 23u) & 0xffu;
    let digits = bits & 0x7fffffu;
    let small = round_f64(sign, 935, U64(digits, 0u));
    let normal = F64(digits << 29u, sign | ((exponent + 896u) << 20u) | (digits >> 3u));
    let beyond = select(F64(0u, sign | 0x7ff00000u), nan_f64(), digits != 0u);
    return select(select(normal, beyond, exponent == 255u), small, exponent == 0u);
}

fn f32_of_f64(v: F64) -> f32 {
    let sign = v.y & 0x80000000u;
    let exponent = exponent_f64(v);
    // Below the normal numbers of f32 fewer digits are kept; none of those below half of the least number.
    let digits = digits_f64(v);
    let drop = 29u + min(897u - min(exponent, 897u), 25u);
    let kept = shr64(digits, drop).x;
    let rest = sub64(digits, shl64(U64(kept, 0u), drop));
    let half = shl64(U64(1u, 0u), drop - 1u);
    let is_up = less_u64(half, rest) || (all(half == rest) && (kept & 1u) != 0u);
    // The leading digit adds one to the exponent, and so may the carry.
    let size = ((max(exponent, 897u) - 897u) << 23u) + kept + u32(is_up);
    let number = select(select(size, 0u, exponent < 872u), 0x7f800000u, exponent >= 1151u);
    return bitcast<f32>(select(sign | number, 0x7fc00000u | rg_zero(), is_nan_f64(v)));
}

/// The integer part of the magnitude; that of at most 2^64 - 1 for greater ones.
fn whole_part_f64(v: F64) -> U64 {
    let exponent = exponent_f64(v);
    let digits = digits_f64(v);
    let down = shr64(digits, min(1075u - min(exponent, 1075u), 63u));
    let up = shl64(digits, min(max(exponent, 1075u) - 1075u, 11u));
    let whole = select(down, up, exponent >= 1075u);
    return select(whole, U64(0xffffffffu, 0xffffffffu), exponent >= 1087u);
}

fn u64_of_f64(v: F64) -> U64 {
    return select(whole_part_f64(v), U64(0u, 0u), is_nan_f64(v) || (v.y & 0x80000000u) != 0u);
}

fn i64_of_f64(v: F64) -> I64 {
    let size = whole_part_f64(v);
    let is_negative = (v.y & 0x80000000u) != 0u;
    let most = select(I64(0xffffffffu, 0x7fffffffu), I64(0u, 0x80000000u), is_negative);
    let whole = select(select(size, neg64(size), is_negative), most, (size.y & 0x80000000u) != 0u);
    return select(whole, I64(0u, 0u), is_nan_f64(v));
}

fn u32_of_f64(v: F64) -> u32 {
    let size = u64_of_f64(v);
    return select(size.x, 0xffffffffu, size.y != 0u);
}

fn i32_of_f64(v: F64) -> i32 {
    let size = whole_part_f64(v);
    let is_negative = (v.y & 0x80000000u) != 0u;
    let most = select(0x7fffffffu, 0x80000000u, is_negative);
    let is_beyond = size.y != 0u || size.x >= 0x80000000u;
    let whole = select(select(size.x, 0u - size.x, is_negative), most, is_beyond);
    return bitcast<i32>(select(whole, 0u, is_nan_f64(v)));
}

fn u8_of_f64(v: F64) -> u32 {
    return min(u32_of_f64(v), 255u);
}
