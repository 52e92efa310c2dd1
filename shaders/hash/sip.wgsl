// SipHash-2-4. A piece of row_hash.wgsl.
//
// Head     head[0].yz, head[0].w and head[1].x  the key's two halves, low word first
// Source   Aumasson and Bernstein 2012.

struct Sip {
    a: U64,
    b: U64,
    c: U64,
    d: U64,
}

fn left(v: U64, by: u32) -> U64 {
    return rotate64(v, 64u - by);
}

fn round(v: Sip) -> Sip {
    let a = add64(v.a, v.b);
    let c = add64(v.c, v.d);
    let b = left(v.b, 13u) ^ a;
    let d = left(v.d, 16u) ^ c;
    let e = add64(left(a, 32u), d);
    let f = add64(c, b);
    return Sip(e, left(b, 17u) ^ f, left(f, 32u), left(d, 21u) ^ e);
}

fn hash(len: u32) -> U64 {
    let k0 = join64(p.head[0].y, p.head[0].z);
    let k1 = join64(p.head[0].w, p.head[1].x);
    var v = Sip(
        k0 ^ join64(0x70736575u, 0x736f6d65u),
        k1 ^ join64(0x6e646f6du, 0x646f7261u),
        k0 ^ join64(0x6e657261u, 0x6c796765u),
        k1 ^ join64(0x79746573u, 0x74656462u),
    );
    let words = len >> 3u;
    for (var k = 0u; k <= words; k++) {
        var m = join64(0u, len << 24u);
        if (k < words) {
            m = fetch64(k * 8u);
        } else {
            for (var j = k * 8u; j < len; j++) {
                m = m | shl64(join64(byte(j), 0u), (j & 7u) * 8u);
            }
        }
        v.d = v.d ^ m;
        v = round(round(v));
        v.a = v.a ^ m;
    }
    v.c = v.c ^ join64(0xffu, 0u);
    v = round(round(round(round(v))));
    return v.a ^ v.b ^ v.c ^ v.d;
}
