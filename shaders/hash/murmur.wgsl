// MurmurHash64A, for row_hash.wgsl.
//
// Head     head[0].yz  the seed, low word first
// Ends     Bytes advance by 8 to a multiple of 8, then by 1.
// Source   Appleby 2008, public domain.

fn m() -> U64 {
    return join64(0x5bd1e995u, 0xc6a4a793u);
}

fn shift_mix(v: U64) -> U64 {
    return v ^ shr64(v, 47u);
}

/// The state: the hash of the bytes so far.
struct Chain {
    h: U64,
}

fn packed(c: Chain) -> array<U64, 7> {
    var words: array<U64, 7>;
    words[0] = c.h;
    return words;
}

fn unpacked(words: array<U64, 7>) -> Chain {
    return Chain(words[0]);
}

fn begin(len: u32) -> Chain {
    return Chain(join64(p.head[0].y, p.head[0].z) ^ mul64(join64(len, 0u), m()));
}

/// Hashes the 8 bytes at `at`.
fn with_word(h: U64, at: u32) -> U64 {
    return mul64(h ^ mul64(shift_mix(mul64(fetch64(at), m())), m()), m());
}

fn block(c: Chain, at: u32) -> Chain {
    var h = c.h;
    for (var k = 0u; k < 64u; k += 8u) {
        h = with_word(h, at + k);
    }
    return Chain(h);
}

fn blocks_end(len: u32) -> u32 {
    return (len >> 6u) << 6u;
}

fn end(c: Chain, len: u32) -> U64 {
    var h = c.h;
    var at = blocks_end(len);
    let words_end = (len >> 3u) << 3u;
    for (; at < words_end; at += 8u) {
        h = with_word(h, at);
    }
    if (at < len) {
        var word = join64(0u, 0u);
        for (var j = at; j < len; j++) {
            word = word | shl64(join64(byte(j), 0u), (j - at) * 8u);
        }
        h = mul64(h ^ word, m());
    }
    return shift_mix(mul64(shift_mix(h), m()));
}

fn hash(len: u32) -> U64 {
    return chained(len);
}
