// 64-bit integers as pairs of 32-bit words, for devices without native ones.
//
// Idea     U64 and I64 are one type: the low word, then the high one. Native integers have the same layout in storage,
//          so buffers are shared with devices that have them. Operations that depend on the sign have two functions.
//          Bitwise operations, `==` within all() and `select` work on pairs directly.
// Edges    Sums and products wrap; x / 0 and x % 0 are 0, MIN / -1 is MIN and MIN % -1 is 0; shifts by 64 and more give
//          0, or fill with the sign. Bits equal those of the CPU (backend/cpu/operations.rs).
// Cost     4 operations for a sum, 20 for a product, and a loop of up to 64 iterations for a quotient, one per bit.
// Linked   per definition: only those that a module names. Definitions are separated, but not divided, by a blank line.
// Ends     Loops count to at most 63, or until the bits of a number are shifted out.

alias U64 = vec2<u32>;

alias I64 = vec2<u32>;

fn join64(low: u32, high: u32) -> U64 {
    return U64(low, high);
}

fn low64(v: U64) -> u32 {
    return v.x;
}

fn add64(a: U64, b: U64) -> U64 {
    let low = a.x + b.x;
    return U64(low, a.y + b.y + u32(low < a.x));
}

fn sub64(a: U64, b: U64) -> U64 {
    return U64(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}

fn neg64(a: U64) -> U64 {
    return U64(0u - a.x, 0u - a.y - u32(a.x != 0u));
}

/// The full product of two words, from products of their halves. No sum overflows.
fn wide_product(a: u32, b: u32) -> U64 {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let left = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let right = (a & 0xffffu) * (b >> 16u) + (left & 0xffffu);
    return U64((right << 16u) | (low & 0xffffu), (a >> 16u) * (b >> 16u) + (left >> 16u) + (right >> 16u));
}

fn mul64(a: U64, b: U64) -> U64 {
    let low = wide_product(a.x, b.x);
    return U64(low.x, low.y + a.x * b.y + a.y * b.x);
}

/// v << by, for `by` below 64.
fn shl64(v: U64, by: u32) -> U64 {
    let low = by & 31u;
    let moved = U64(v.x << low, (v.y << low) | ((v.x >> 1u) >> (31u - low)));
    return select(moved, U64(0u, moved.x), by >= 32u);
}

/// v >> by of an unsigned number, for `by` below 64.
fn shr64(v: U64, by: u32) -> U64 {
    let low = by & 31u;
    let moved = U64((v.x >> low) | ((v.y << 1u) << (31u - low)), v.y >> low);
    return select(moved, U64(moved.y, 0u), by >= 32u);
}

/// Rotates the bits right by 1 to 63.
fn rotate64(v: U64, by: u32) -> U64 {
    return shr64(v, by) | shl64(v, 64u - by);
}

fn less_u64(a: U64, b: U64) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

fn less_i64(a: I64, b: I64) -> bool {
    return bitcast<i32>(a.y) < bitcast<i32>(b.y) || (a.y == b.y && a.x < b.x);
}

fn is_negative64(a: I64) -> bool {
    return (a.y >> 31u) != 0u;
}

fn abs_i64(a: I64) -> I64 {
    return select(a, neg64(a), is_negative64(a));
}

/// a << b, for any `b`, which is unsigned.
fn shl_any64(a: U64, b: U64) -> U64 {
    if (b.y != 0u || b.x >= 64u) {
        return U64(0u, 0u);
    }
    return shl64(a, b.x);
}

fn shr_u64(a: U64, b: U64) -> U64 {
    if (b.y != 0u || b.x >= 64u) {
        return U64(0u, 0u);
    }
    return shr64(a, b.x);
}

/// Arithmetic shift: for a negative number, the complement of the shifted complement.
fn shr_i64(a: I64, b: I64) -> I64 {
    let sign = select(0u, 0xffffffffu, is_negative64(a));
    let flip = I64(sign, sign);
    return shr_u64(a ^ flip, b) ^ flip;
}

struct Division64 {
    quotient: U64,
    rest: U64,
}

fn leading_zeros64(a: U64) -> u32 {
    return select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
}

/// Divides by a nonzero divisor: natively if both numbers fit a word, otherwise by long division in base 2, from the
/// first nonzero digit of the quotient on.
fn divide64(a: U64, b: U64) -> Division64 {
    if ((a.y | b.y) == 0u) {
        let quotient = a.x / b.x;
        return Division64(U64(quotient, 0u), U64(a.x - quotient * b.x, 0u));
    }
    var rest = a;
    var quotient = U64(0u, 0u);
    if (less_u64(a, b)) {
        return Division64(quotient, rest);
    }
    let digits = (leading_zeros64(b) - leading_zeros64(a)) & 63u;
    var part = shl64(b, digits);
    for (var k = 0u; k <= digits; k++) {
        quotient = U64(quotient.x << 1u, (quotient.y << 1u) | (quotient.x >> 31u));
        if (!less_u64(rest, part)) {
            rest = sub64(rest, part);
            quotient.x = quotient.x | 1u;
        }
        part = U64((part.x >> 1u) | (part.y << 31u), part.y >> 1u);
    }
    return Division64(quotient, rest);
}

fn div_u64(a: U64, b: U64) -> U64 {
    if ((b.x | b.y) == 0u) {
        return U64(0u, 0u);
    }
    return divide64(a, b).quotient;
}

fn rem_u64(a: U64, b: U64) -> U64 {
    if ((b.x | b.y) == 0u) {
        return U64(0u, 0u);
    }
    return divide64(a, b).rest;
}

/// Also correct for MIN, whose magnitude is its bits as an unsigned number.
fn div_i64(a: I64, b: I64) -> I64 {
    let quotient = div_u64(abs_i64(a), abs_i64(b));
    return select(quotient, neg64(quotient), is_negative64(a) != is_negative64(b));
}

fn rem_i64(a: I64, b: I64) -> I64 {
    let rest = rem_u64(abs_i64(a), abs_i64(b));
    return select(rest, neg64(rest), is_negative64(a));
}

/// Power by squaring. Serves both signs, since products wrap.
fn pow_u64(a: U64, b: U64) -> U64 {
    var base = a;
    var e = b;
    var result = U64(1u, 0u);
    while ((e.x | e.y) != 0u) {
        if ((e.x & 1u) != 0u) {
            result = mul64(result, base);
        }
        base = mul64(base, base);
        e = U64((e.x >> 1u) | (e.y << 31u), e.y >> 1u);
    }
    return result;
}

fn pow_i64(a: I64, b: I64) -> I64 {
    if (is_negative64(b)) {
        return I64(0u, 0u);
    }
    return pow_u64(a, b);
}

fn i64_of_i32(v: i32) -> I64 {
    return I64(bitcast<u32>(v), bitcast<u32>(v >> 31u));
}

/// Rounds to nearest, ties to even: the halves of a word convert exactly, and only their sum rounds.
fn f32_of_word(v: u32) -> f32 {
    return f32(v >> 16u) * 65536.0f + f32(v & 0xffffu);
}

/// Rounds once: converts the leading 32 bits, with the last one set if any lower bit was.
fn f32_of_u64(v: U64) -> f32 {
    if (v.y == 0u) {
        return f32_of_word(v.x);
    }
    let drop = 32u - countLeadingZeros(v.y);
    let kept = shr64(v, drop).x;
    let rest = v.x << (32u - drop);
    // Times 2^drop, in the exponent: a product would follow the sum of the halves without a guard.
    return bitcast<f32>(bitcast<u32>(f32_of_word(kept | u32(rest != 0u))) + (drop << 23u));
}

fn f32_of_i64(v: I64) -> f32 {
    return bitcast<f32>(bitcast<u32>(f32_of_u64(abs_i64(v))) | (v.y & 0x80000000u));
}

/// The integer part of the magnitude of a float below 2^64, from its bits.
fn whole_part64(bits: u32) -> U64 {
    let exponent = (bits >> 23u) & 0xffu;
    let digits = (bits & 0x7fffffu) | 0x800000u;
    if (exponent < 127u) {
        return U64(0u, 0u);
    }
    if (exponent < 150u) {
        return U64(digits >> (150u - exponent), 0u);
    }
    return shl64(U64(digits, 0u), (exponent - 150u) & 63u);
}

/// Saturates; NaN gives 0.
fn u64_of_f32(v: f32) -> U64 {
    let bits = bitcast<u32>(v);
    let size = bits & 0x7fffffffu;
    if (size > 0x7f800000u || size != bits) {
        return U64(0u, 0u);
    }
    if (size >= 0x5f800000u) {
        return U64(0xffffffffu, 0xffffffffu);
    }
    return whole_part64(bits);
}

/// Saturates; NaN gives 0.
fn i64_of_f32(v: f32) -> I64 {
    let bits = bitcast<u32>(v);
    let size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) {
        return I64(0u, 0u);
    }
    if (size >= 0x5f000000u) {
        return select(I64(0xffffffffu, 0x7fffffffu), I64(0u, 0x80000000u), size != bits);
    }
    let whole = whole_part64(bits);
    return select(whole, neg64(whole), size != bits);
}
