// A 64-bit hash of every row of bytes. Twin of backend/cpu/row_hash.rs.
//
// Idea     One invocation hashes one string, since the hash functions are sequential by definition. A string of more
//          than head[1].y bytes is deferred to row_hash_long.wgsl: `defer` assigns it a slot of scratch state.
// Traffic  Reads every byte of a string once or twice (Fingerprint64 reads short ones from both ends); writes 8 bytes
//          per row.
// Limits   Rows below 2^32 bytes. No workgroup memory, no barriers.
//
// Ends     A string advances by 64 bytes to a multiple of 64.
// Uses       longs.wgsl or pairs.wgsl
//            one file of hash/, which reads the current string by byte, fetch32 and fetch64, and defines
//              fn hash(len: u32) -> U64               the hash of a string; calls `chained` for a long one
//              struct Chain                           the state between blocks of 64 bytes
//              fn begin(len: u32) -> Chain            the initial state
//              fn block(c: Chain, at: u32) -> Chain   hashes the 64 bytes from `at` on
//              fn blocks_end(len: u32) -> u32         end of the last such block
//              fn end(c: Chain, len: u32) -> U64      hashes the bytes after the last block
// Generated  fn splits_at(i: u32) -> u32              i <= rows; rows beyond the live ones are empty
//            fn load(i: u32, row: u32) -> u32         the byte at position i
//            fn store(row: u32, v: U64)
//            fn defer(row: u32, first: u32, len: u32) assigns a slot to a row of more than head[1].y bytes
// Head       head[0].x  rows (capacity); head[1].y  the maximum length of a string hashed in one dispatch; head[0].yzw
//            and head[1].x belong to the hash function, the rest to row_hash_long.wgsl
// Grid       rows / 256 workgroups, rounded up, folded

/// Start of the current string, and its row.
var<private> start: u32;
var<private> own_row: u32;

fn byte(at: u32) -> u32 {
    return load(start + at, own_row);
}

fn fetch32(at: u32) -> u32 {
    return byte(at) | (byte(at + 1u) << 8u) | (byte(at + 2u) << 16u) | (byte(at + 3u) << 24u);
}

fn fetch64(at: u32) -> U64 {
    return join64(fetch32(at), fetch32(at + 4u));
}

/// The hash of a string of one or more blocks.
fn chained(len: u32) -> U64 {
    var c = begin(len);
    let last = blocks_end(len);
    for (var at = 0u; at < last; at += 64u) {
        c = block(c, at);
    }
    return end(c, len);
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    rg_begin();
    let row = workgroup_index(wid, grid) * 256u + t;
    if (row >= p.head[0].x) {
        return;
    }
    start = splits_at(row);
    own_row = row;
    // Where arrays are bound in part, a surplus workgroup may load a row's start but not its end: then the row is
    // empty.
    let len = max(splits_at(row + 1u), start) - start;
    if (len > p.head[1].y) {
        defer(row, start, len);
        return;
    }
    store(row, hash(len));
}
