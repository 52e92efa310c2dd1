// MurmurHash64A. A piece of row_hash.wgsl.
//
// Head     head[0].yz  the seed, low word first
// Source   Appleby 2008, public domain.

fn m() -> U64 {
    return join64(0x5bd1e995u, 0xc6a4a793u);
}

fn shift_mix(v: U64) -> U64 {
    return v ^ shr64(v, 47u);
}

fn hash(len: u32) -> U64 {
    let seed = join64(p.head[0].y, p.head[0].z);
    var h = seed ^ mul64(join64(len, 0u), m());
    let words = len >> 3u;
    for (var k = 0u; k < words; k++) {
        let word = mul64(shift_mix(mul64(fetch64(k * 8u), m())), m());
        h = mul64(h ^ word, m());
    }
    if ((len & 7u) != 0u) {
        var word = join64(0u, 0u);
        for (var j = words * 8u; j < len; j++) {
            word = word | shl64(join64(byte(j), 0u), (j & 7u) * 8u);
        }
        h = mul64(h ^ word, m());
    }
    return shift_mix(mul64(shift_mix(h), m()));
}
