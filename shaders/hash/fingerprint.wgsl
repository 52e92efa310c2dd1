// FarmHash's Fingerprint64. A piece of row_hash.wgsl; twin of backend/cpu/fingerprint.rs.
//
// Idea     By length: up to 16, up to 32, up to 64 bytes from both ends; longer strings in blocks of 64 bytes with 56
//          bytes of state, and the last 64 bytes once more.
// Source   Google's FarmHash, farmhashna::Hash64, whose values are fixed for good.

const K0 = 0xc3a5c85c97cb3127lu;
const K1 = 0xb492b66fbe98f273lu;
const K2 = 0x9ae16a3b2f90404flu;

fn rotate(v: u64, by: u32) -> u64 {
    return (v >> by) | (v << (64u - by));
}

fn shift_mix(v: u64) -> u64 {
    return v ^ (v >> 47u);
}

fn mix(u: u64, v: u64, mul: u64) -> u64 {
    let a = shift_mix((u ^ v) * mul);
    return shift_mix((v ^ a) * mul) * mul;
}

fn up_to_16(len: u32) -> u64 {
    let mul = K2 + u64(len) * 2lu;
    if (len >= 8u) {
        let a = fetch64(0u) + K2;
        let b = fetch64(len - 8u);
        return mix(rotate(b, 37u) * mul + a, (rotate(a, 25u) + b) * mul, mul);
    }
    if (len >= 4u) {
        return mix(u64(len) + (u64(fetch32(0u)) << 3u), u64(fetch32(len - 4u)), mul);
    }
    if (len > 0u) {
        let y = u64(byte(0u) + (byte(len >> 1u) << 8u));
        let z = u64(len + (byte(len - 1u) << 2u));
        return shift_mix((y * K2) ^ (z * K0)) * K2;
    }
    return K2;
}

fn up_to_32(len: u32) -> u64 {
    let mul = K2 + u64(len) * 2lu;
    let a = fetch64(0u) * K1;
    let b = fetch64(8u);
    let c = fetch64(len - 8u) * mul;
    let d = fetch64(len - 16u) * K2;
    return mix(rotate(a + b, 43u) + rotate(c, 30u) + d, a + rotate(b + K2, 18u) + c, mul);
}

fn up_to_64(len: u32) -> u64 {
    let mul = K2 + u64(len) * 2lu;
    let a = fetch64(0u) * K2;
    let b = fetch64(8u);
    let c = fetch64(len - 8u) * mul;
    let d = fetch64(len - 16u) * K2;
    let y = rotate(a + b, 43u) + rotate(c, 30u) + d;
    let z = mix(y, a + rotate(b + K2, 18u) + c, mul);
    let e = fetch64(16u) * mul;
    let f = fetch64(24u);
    let g = (y + fetch64(len - 32u)) * mul;
    let h = (z + fetch64(len - 24u)) * mul;
    return mix(rotate(e + f, 43u) + rotate(g, 30u) + h, e + rotate(f + a, 18u) + g, mul);
}

/// Two words of state: 64-bit pairs.
struct Pair {
    x: u64,
    y: u64,
}

/// Mixes the 32 bytes at `at` into two words seeded with `a` and `b`.
fn weak(at: u32, a: u64, b: u64) -> Pair {
    let z = fetch64(at + 24u);
    let c = a + fetch64(at);
    let d = rotate(b + c + z, 21u);
    let e = c + fetch64(at + 8u) + fetch64(at + 16u);
    return Pair(e + z, d + rotate(e, 44u) + c);
}

fn longer(len: u32) -> u64 {
    var x = 81lu;
    var y = 81lu * K1 + 113lu;
    var z = shift_mix(y * K2 + 113lu) * K2;
    var v = Pair(0lu, 0lu);
    var w = Pair(0lu, 0lu);
    x = x * K2 + fetch64(0u);
    let end = ((len - 1u) >> 6u) << 6u;
    for (var at = 0u; at < end; at += 64u) {
        x = rotate(x + y + v.x + fetch64(at + 8u), 37u) * K1;
        y = rotate(y + v.y + fetch64(at + 48u), 42u) * K1;
        x = x ^ w.y;
        y = y + v.x + fetch64(at + 40u);
        z = rotate(z + w.x, 33u) * K1;
        v = weak(at, v.y * K1, x + w.x);
        w = weak(at + 32u, z + w.y, y + fetch64(at + 16u));
        let swap = z;
        z = x;
        x = swap;
    }
    // The last 64 bytes, which overlap what came before.
    let last = len - 64u;
    let mul = K1 + ((z & 0xfflu) << 1u);
    w.x = w.x + u64((len - 1u) & 63u);
    v.x = v.x + w.x;
    w.x = w.x + v.x;
    x = rotate(x + y + v.x + fetch64(last + 8u), 37u) * mul;
    y = rotate(y + v.y + fetch64(last + 48u), 42u) * mul;
    x = x ^ (w.y * 9lu);
    y = y + v.x * 9lu + fetch64(last + 40u);
    z = rotate(z + w.x, 33u) * mul;
    v = weak(last, v.y * mul, x + w.x);
    w = weak(last + 32u, z + w.y, y + fetch64(last + 16u));
    // x and z are swapped once more here.
    return mix(mix(v.x, w.x, mul) + shift_mix(y) * K0 + x, mix(v.y, w.y, mul) + z, mul);
}

fn hash(len: u32) -> u64 {
    if (len <= 16u) {
        return up_to_16(len);
    }
    if (len <= 32u) {
        return up_to_32(len);
    }
    if (len <= 64u) {
        return up_to_64(len);
    }
    return longer(len);
}
