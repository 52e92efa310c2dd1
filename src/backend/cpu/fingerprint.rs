//! FarmHash's Fingerprint64. CPU counterpart of `shaders/hash/fingerprint.wgsl`.
//!
//! The algorithm is `farmhashna::Hash64`, whose results are stable across versions. Strings of up to 16, 32 and 64
//! bytes have a formula each; longer strings are hashed in blocks of 64 bytes with 56 bytes of state. Source:
//! <https://github.com/google/farmhash>, MIT.

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K2: u64 = 0x9ae1_6a3b_2f90_404f;

#[inline]
pub(super) fn fetch64(s: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(s[at..at + 8].try_into().expect("8 bytes"))
}

#[inline]
fn fetch32(s: &[u8], at: usize) -> u64 {
    u64::from(u32::from_le_bytes(s[at..at + 4].try_into().expect("4 bytes")))
}

#[inline]
fn shift_mix(v: u64) -> u64 {
    v ^ (v >> 47)
}

#[inline]
fn combine_pair(u: u64, v: u64, mul: u64) -> u64 {
    let mut a = (u ^ v).wrapping_mul(mul);
    a ^= a >> 47;
    let mut b = (v ^ a).wrapping_mul(mul);
    b ^= b >> 47;
    b.wrapping_mul(mul)
}

#[inline]
fn up_to_16(s: &[u8]) -> u64 {
    let len = s.len() as u64;
    if len >= 8 {
        let mul = K2.wrapping_add(len * 2);
        let a = fetch64(s, 0).wrapping_add(K2);
        let b = fetch64(s, s.len() - 8);
        let c = b.rotate_right(37).wrapping_mul(mul).wrapping_add(a);
        let d = a.rotate_right(25).wrapping_add(b).wrapping_mul(mul);
        return combine_pair(c, d, mul);
    }
    if len >= 4 {
        let mul = K2.wrapping_add(len * 2);
        return combine_pair(len.wrapping_add(fetch32(s, 0) << 3), fetch32(s, s.len() - 4), mul);
    }
    if len > 0 {
        let (a, b, c) = (u64::from(s[0]), u64::from(s[s.len() >> 1]), u64::from(s[s.len() - 1]));
        let y = a + (b << 8);
        let z = len + (c << 2);
        return shift_mix(y.wrapping_mul(K2) ^ z.wrapping_mul(K0)).wrapping_mul(K2);
    }
    K2
}

#[inline]
fn up_to_32(s: &[u8]) -> u64 {
    let len = s.len() as u64;
    let mul = K2.wrapping_add(len * 2);
    let a = fetch64(s, 0).wrapping_mul(K1);
    let b = fetch64(s, 8);
    let c = fetch64(s, s.len() - 8).wrapping_mul(mul);
    let d = fetch64(s, s.len() - 16).wrapping_mul(K2);
    combine_pair(
        a.wrapping_add(b).rotate_right(43).wrapping_add(c.rotate_right(30)).wrapping_add(d),
        a.wrapping_add(b.wrapping_add(K2).rotate_right(18)).wrapping_add(c),
        mul,
    )
}

#[inline]
fn up_to_64(s: &[u8]) -> u64 {
    let len = s.len() as u64;
    let mul = K2.wrapping_add(len * 2);
    let a = fetch64(s, 0).wrapping_mul(K2);
    let b = fetch64(s, 8);
    let c = fetch64(s, s.len() - 8).wrapping_mul(mul);
    let d = fetch64(s, s.len() - 16).wrapping_mul(K2);
    let y = a.wrapping_add(b).rotate_right(43).wrapping_add(c.rotate_right(30)).wrapping_add(d);
    let z = combine_pair(y, a.wrapping_add(b.wrapping_add(K2).rotate_right(18)).wrapping_add(c), mul);
    let e = fetch64(s, 16).wrapping_mul(mul);
    let f = fetch64(s, 24);
    let g = y.wrapping_add(fetch64(s, s.len() - 32)).wrapping_mul(mul);
    let h = z.wrapping_add(fetch64(s, s.len() - 24)).wrapping_mul(mul);
    combine_pair(
        e.wrapping_add(f).rotate_right(43).wrapping_add(g.rotate_right(30)).wrapping_add(h),
        e.wrapping_add(f.wrapping_add(a).rotate_right(18)).wrapping_add(g),
        mul,
    )
}

/// Mixes 32 bytes into two words seeded with `a` and `b`.
#[inline]
fn weak(s: &[u8], at: usize, mut a: u64, mut b: u64) -> (u64, u64) {
    let (w, x, y, z) = (fetch64(s, at), fetch64(s, at + 8), fetch64(s, at + 16), fetch64(s, at + 24));
    a = a.wrapping_add(w);
    b = b.wrapping_add(a).wrapping_add(z).rotate_right(21);
    let c = a;
    a = a.wrapping_add(x).wrapping_add(y);
    b = b.wrapping_add(a.rotate_right(44));
    (a.wrapping_add(z), b.wrapping_add(c))
}

/// Fingerprint64 of one string.
#[inline]
pub(crate) fn fingerprint64(s: &[u8]) -> u64 {
    match s.len() {
        0..=16 => return up_to_16(s),
        17..=32 => return up_to_32(s),
        33..=64 => return up_to_64(s),
        _ => {}
    }
    const SEED: u64 = 81;
    let mut x = SEED;
    let mut y = SEED.wrapping_mul(K1).wrapping_add(113);
    let mut z = shift_mix(y.wrapping_mul(K2).wrapping_add(113)).wrapping_mul(K2);
    let (mut v, mut w) = ((0u64, 0u64), (0u64, 0u64));
    x = x.wrapping_mul(K2).wrapping_add(fetch64(s, 0));
    let end = (s.len() - 1) / 64 * 64;
    let last = s.len() - 64;
    let mut at = 0;
    while at < end {
        x = x.wrapping_add(y).wrapping_add(v.0).wrapping_add(fetch64(s, at + 8)).rotate_right(37).wrapping_mul(K1);
        y = y.wrapping_add(v.1).wrapping_add(fetch64(s, at + 48)).rotate_right(42).wrapping_mul(K1);
        x ^= w.1;
        y = y.wrapping_add(v.0).wrapping_add(fetch64(s, at + 40));
        z = z.wrapping_add(w.0).rotate_right(33).wrapping_mul(K1);
        v = weak(s, at, v.1.wrapping_mul(K1), x.wrapping_add(w.0));
        w = weak(s, at + 32, z.wrapping_add(w.1), y.wrapping_add(fetch64(s, at + 16)));
        std::mem::swap(&mut z, &mut x);
        at += 64;
    }
    let mul = K1.wrapping_add((z & 0xff) << 1);
    w.0 = w.0.wrapping_add(((s.len() - 1) & 63) as u64);
    v.0 = v.0.wrapping_add(w.0);
    w.0 = w.0.wrapping_add(v.0);
    x = x.wrapping_add(y).wrapping_add(v.0).wrapping_add(fetch64(s, last + 8)).rotate_right(37).wrapping_mul(mul);
    y = y.wrapping_add(v.1).wrapping_add(fetch64(s, last + 48)).rotate_right(42).wrapping_mul(mul);
    x ^= w.1.wrapping_mul(9);
    y = y.wrapping_add(v.0.wrapping_mul(9)).wrapping_add(fetch64(s, last + 40));
    z = z.wrapping_add(w.0).rotate_right(33).wrapping_mul(mul);
    v = weak(s, last, v.1.wrapping_mul(mul), x.wrapping_add(w.0));
    w = weak(s, last + 32, z.wrapping_add(w.1), y.wrapping_add(fetch64(s, last + 16)));
    std::mem::swap(&mut z, &mut x);
    combine_pair(
        combine_pair(v.0, w.0, mul).wrapping_add(shift_mix(y).wrapping_mul(K0)).wrapping_add(z),
        combine_pair(v.1, w.1, mul).wrapping_add(x),
        mul,
    )
}
