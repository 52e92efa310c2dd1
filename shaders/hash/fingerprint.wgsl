// FarmHash's Fingerprint64, for row_hash.wgsl. Twin of backend/cpu/fingerprint.rs.
//
// Idea     Separate functions hash strings of up to 16, 32 and 64 bytes from both ends. Longer strings are hashed in
//          blocks of 64 bytes with 56 bytes of state, then the last 64 bytes once more.
// Source   Google's FarmHash, farmhashna::Hash64, whose values are fixed.

fn k0() -> U64 {
    return join64(0x97cb3127u, 0xc3a5c85cu);
}

fn k1() -> U64 {
    return join64(0xbe98f273u, 0xb492b66fu);
}

fn k2() -> U64 {
    return join64(0x2f90404fu, 0x9ae16a3bu);
}

fn long(v: u32) -> U64 {
    return join64(v, 0u);
}

fn sum3(a: U64, b: U64, c: U64) -> U64 {
    return add64(add64(a, b), c);
}

fn sum4(a: U64, b: U64, c: U64, d: U64) -> U64 {
    return add64(add64(a, b), add64(c, d));
}

fn shift_mix(v: U64) -> U64 {
    return v ^ shr64(v, 47u);
}

fn combine_pair(u: U64, v: U64, mul: U64) -> U64 {
    let a = shift_mix(mul64(u ^ v, mul));
    return mul64(shift_mix(mul64(v ^ a, mul)), mul);
}

fn up_to_16(len: u32) -> U64 {
    let mul = add64(k2(), long(len << 1u));
    if (len >= 8u) {
        let a = add64(fetch64(0u), k2());
        let b = fetch64(len - 8u);
        return combine_pair(add64(mul64(rotate64(b, 37u), mul), a), mul64(add64(rotate64(a, 25u), b), mul), mul);
    }
    if (len >= 4u) {
        return combine_pair(add64(long(len), shl64(long(fetch32(0u)), 3u)), long(fetch32(len - 4u)), mul);
    }
    if (len > 0u) {
        let y = long(byte(0u) + (byte(len >> 1u) << 8u));
        let z = long(len + (byte(len - 1u) << 2u));
        return mul64(shift_mix(mul64(y, k2()) ^ mul64(z, k0())), k2());
    }
    return k2();
}

fn up_to_32(len: u32) -> U64 {
    let mul = add64(k2(), long(len << 1u));
    let a = mul64(fetch64(0u), k1());
    let b = fetch64(8u);
    let c = mul64(fetch64(len - 8u), mul);
    let d = mul64(fetch64(len - 16u), k2());
    let e = sum3(rotate64(add64(a, b), 43u), rotate64(c, 30u), d);
    return combine_pair(e, sum3(a, rotate64(add64(b, k2()), 18u), c), mul);
}

fn up_to_64(len: u32) -> U64 {
    let mul = add64(k2(), long(len << 1u));
    let a = mul64(fetch64(0u), k2());
    let b = fetch64(8u);
    let c = mul64(fetch64(len - 8u), mul);
    let d = mul64(fetch64(len - 16u), k2());
    let y = sum3(rotate64(add64(a, b), 43u), rotate64(c, 30u), d);
    let z = combine_pair(y, sum3(a, rotate64(add64(b, k2()), 18u), c), mul);
    let e = mul64(fetch64(16u), mul);
    let f = fetch64(24u);
    let g = mul64(add64(y, fetch64(len - 32u)), mul);
    let h = mul64(add64(z, fetch64(len - 24u)), mul);
    let i = sum3(rotate64(add64(e, f), 43u), rotate64(g, 30u), h);
    return combine_pair(i, sum3(e, rotate64(add64(f, a), 18u), g), mul);
}

/// Two words of state.
struct State {
    x: U64,
    y: U64,
}

/// Mixes the 32 bytes at `at` into two words seeded with `a` and `b`.
fn weak(at: u32, a: U64, b: U64) -> State {
    let z = fetch64(at + 24u);
    let c = add64(a, fetch64(at));
    let d = rotate64(sum3(b, c, z), 21u);
    let e = sum3(c, fetch64(at + 8u), fetch64(at + 16u));
    return State(add64(e, z), sum3(d, rotate64(e, 44u), c));
}

/// 56 bytes of state.
struct Chain {
    x: U64,
    y: U64,
    z: U64,
    v: State,
    w: State,
}

fn packed(c: Chain) -> array<U64, 7> {
    return array<U64, 7>(c.x, c.y, c.z, c.v.x, c.v.y, c.w.x, c.w.y);
}

fn unpacked(words: array<U64, 7>) -> Chain {
    return Chain(words[0], words[1], words[2], State(words[3], words[4]), State(words[5], words[6]));
}

/// Initial state for strings of more than 64 bytes. The first block adds the string's first word.
fn begin(len: u32) -> Chain {
    let y = add64(mul64(long(81u), k1()), long(113u));
    let z = mul64(shift_mix(add64(mul64(y, k2()), long(113u))), k2());
    let none = State(long(0u), long(0u));
    return Chain(mul64(long(81u), k2()), y, z, none, none);
}

fn block(c: Chain, at: u32) -> Chain {
    var x = c.x;
    if (at == 0u) {
        x = add64(x, fetch64(0u));
    }
    x = mul64(rotate64(sum4(x, c.y, c.v.x, fetch64(at + 8u)), 37u), k1());
    var y = mul64(rotate64(sum3(c.y, c.v.y, fetch64(at + 48u)), 42u), k1());
    x = x ^ c.w.y;
    y = sum3(y, c.v.x, fetch64(at + 40u));
    let z = mul64(rotate64(add64(c.z, c.w.x), 33u), k1());
    let v = weak(at, mul64(c.v.y, k1()), add64(x, c.w.x));
    let w = weak(at + 32u, add64(z, c.w.y), add64(y, fetch64(at + 16u)));
    // x and z are swapped.
    return Chain(z, y, x, v, w);
}

fn blocks_end(len: u32) -> u32 {
    return ((len - 1u) >> 6u) << 6u;
}

/// Hashes the last 64 bytes, which overlap earlier blocks.
fn end(c: Chain, len: u32) -> U64 {
    let last = len - 64u;
    let mul = add64(k1(), long((low64(c.z) & 0xffu) << 1u));
    var v = c.v;
    var w = c.w;
    w.x = add64(w.x, long((len - 1u) & 63u));
    v.x = add64(v.x, w.x);
    w.x = add64(w.x, v.x);
    var x = mul64(rotate64(sum4(c.x, c.y, v.x, fetch64(last + 8u)), 37u), mul);
    var y = mul64(rotate64(sum3(c.y, v.y, fetch64(last + 48u)), 42u), mul);
    x = x ^ mul64(w.y, long(9u));
    y = sum3(y, mul64(v.x, long(9u)), fetch64(last + 40u));
    let z = mul64(rotate64(add64(c.z, w.x), 33u), mul);
    v = weak(last, mul64(v.y, mul), add64(x, w.x));
    w = weak(last + 32u, add64(z, w.y), add64(y, fetch64(last + 16u)));
    // x and z are swapped once more here.
    let low = sum3(combine_pair(v.x, w.x, mul), mul64(shift_mix(y), k0()), x);
    return combine_pair(low, add64(combine_pair(v.y, w.y, mul), z), mul);
}

fn hash(len: u32) -> U64 {
    if (len <= 16u) {
        return up_to_16(len);
    }
    if (len <= 32u) {
        return up_to_32(len);
    }
    if (len <= 64u) {
        return up_to_64(len);
    }
    return chained(len);
}
