// SipHash-2-4. A piece of row_hash.wgsl.
//
// Head     head[0].yz, head[0].w and head[1].x  the key's two halves, low word first
// Source   Aumasson and Bernstein 2012.

struct Sip {
    a: u64,
    b: u64,
    c: u64,
    d: u64,
}

fn left(v: u64, by: u32) -> u64 {
    return (v << by) | (v >> (64u - by));
}

fn round(v: Sip) -> Sip {
    let a = v.a + v.b;
    let c = v.c + v.d;
    let b = left(v.b, 13u) ^ a;
    let d = left(v.d, 16u) ^ c;
    let e = left(a, 32u) + d;
    let f = c + b;
    return Sip(e, left(b, 17u) ^ f, left(f, 32u), left(d, 21u) ^ e);
}

fn hash(len: u32) -> u64 {
    let k0 = u64(p.head[0].y) | (u64(p.head[0].z) << 32u);
    let k1 = u64(p.head[0].w) | (u64(p.head[1].x) << 32u);
    var v = Sip(
        k0 ^ 0x736f6d6570736575lu,
        k1 ^ 0x646f72616e646f6dlu,
        k0 ^ 0x6c7967656e657261lu,
        k1 ^ 0x7465646279746573lu,
    );
    let words = len >> 3u;
    for (var k = 0u; k <= words; k++) {
        var m = u64(len) << 56u;
        if (k < words) {
            m = fetch64(k * 8u);
        } else {
            for (var j = k * 8u; j < len; j++) {
                m = m | (u64(byte(j)) << ((j & 7u) * 8u));
            }
        }
        v.d = v.d ^ m;
        v = round(round(v));
        v.a = v.a ^ m;
    }
    v.c = v.c ^ 0xfflu;
    v = round(round(round(round(v))));
    return v.a ^ v.b ^ v.c ^ v.d;
}
