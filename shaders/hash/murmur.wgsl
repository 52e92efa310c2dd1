// MurmurHash64A. A piece of row_hash.wgsl.
//
// Head     head[0].yz  the seed, low word first
// Source   Appleby 2008, public domain.

const M = 0xc6a4a7935bd1e995lu;

fn hash(len: u32) -> u64 {
    let seed = u64(p.head[0].y) | (u64(p.head[0].z) << 32u);
    var h = seed ^ (u64(len) * M);
    let words = len >> 3u;
    for (var k = 0u; k < words; k++) {
        let m = fetch64(k * 8u) * M;
        h = (h ^ ((m ^ (m >> 47u)) * M)) * M;
    }
    if ((len & 7u) != 0u) {
        var m = 0lu;
        for (var j = words * 8u; j < len; j++) {
            m = m | (u64(byte(j)) << ((j & 7u) * 8u));
        }
        h = (h ^ m) * M;
    }
    h = (h ^ (h >> 47u)) * M;
    return h ^ (h >> 47u);
}
