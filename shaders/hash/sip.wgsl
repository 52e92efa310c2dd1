// SipHash-2-4, for row_hash.wgsl.
//
// Head     head[0].yz, head[0].w and head[1].x  the key's two halves, low word first
// Ends     Bytes advance by 8 to a multiple of 8, then by 1.
// Source   Aumasson and Bernstein 2012.

/// The four words of state.
struct Chain {
    a: U64,
    b: U64,
    c: U64,
    d: U64,
}

fn left(v: U64, by: u32) -> U64 {
    return rotate64(v, 64u - by);
}

fn sip_round(v: Chain) -> Chain {
    let a = add64(v.a, v.b);
    let c = add64(v.c, v.d);
    let b = left(v.b, 13u) ^ a;
    let d = left(v.d, 16u) ^ c;
    let e = add64(left(a, 32u), d);
    let f = add64(c, b);
    return Chain(e, left(b, 17u) ^ f, left(f, 32u), left(d, 21u) ^ e);
}

fn packed(c: Chain) -> array<U64, 7> {
    let none = join64(0u, 0u);
    return array<U64, 7>(c.a, c.b, c.c, c.d, none, none, none);
}

fn unpacked(words: array<U64, 7>) -> Chain {
    return Chain(words[0], words[1], words[2], words[3]);
}

fn begin(len: u32) -> Chain {
    let k0 = join64(p.head[0].y, p.head[0].z);
    let k1 = join64(p.head[0].w, p.head[1].x);
    return Chain(
        k0 ^ join64(0x70736575u, 0x736f6d65u),
        k1 ^ join64(0x6e646f6du, 0x646f7261u),
        k0 ^ join64(0x6e657261u, 0x6c796765u),
        k1 ^ join64(0x79746573u, 0x74656462u),
    );
}

fn with_word(c: Chain, m: U64) -> Chain {
    var v = c;
    v.d = v.d ^ m;
    v = sip_round(sip_round(v));
    v.a = v.a ^ m;
    return v;
}

fn block(c: Chain, at: u32) -> Chain {
    var v = c;
    for (var k = 0u; k < 64u; k += 8u) {
        v = with_word(v, fetch64(at + k));
    }
    return v;
}

fn blocks_end(len: u32) -> u32 {
    return (len >> 6u) << 6u;
}

fn end(c: Chain, len: u32) -> U64 {
    var v = c;
    var at = blocks_end(len);
    let words_end = (len >> 3u) << 3u;
    for (; at < words_end; at += 8u) {
        v = with_word(v, fetch64(at));
    }
    // The last word holds the length in its highest byte.
    var m = join64(0u, len << 24u);
    for (var j = at; j < len; j++) {
        m = m | shl64(join64(byte(j), 0u), (j - at) * 8u);
    }
    v = with_word(v, m);
    v.c = v.c ^ join64(0xffu, 0u);
    v = sip_round(sip_round(sip_round(sip_round(v))));
    return v.a ^ v.b ^ v.c ^ v.d;
}

fn hash(len: u32) -> U64 {
    return chained(len);
}
