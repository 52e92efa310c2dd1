// A 64-bit hash of every row of bytes. Twin of backend/cpu/row_hash.rs.
//
// Idea     One invocation hashes one string. These hashes are chains over the string's bytes by definition, so a long
//          string takes one invocation as long as it takes; the strings of a text are short.
// Traffic  Reads every byte of a string once or twice (Fingerprint64 reads short ones from both ends); writes 8 bytes a
//          row.
// Limits   Rows below 2^32 bytes; where the driver ends an invocation's loops early, 128 KiB, and where the bytes of
//          all rows do not fit the bindings at once, those of one binding: both are conditions of the step. No
//          workgroup memory, no barriers.
//
// Uses       longs.wgsl or pairs.wgsl
//            one piece of hash/, which defines fn hash(len: u32) -> U64 of the string at hand by fetch32, fetch64 and
//            byte
// Generated  fn splits_at(i: u32) -> u32          i <= rows; rows beyond the live ones are empty
//            fn load(i: u32, row: u32) -> u32     the byte at position i
//            fn store(row: u32, v: U64)
// Head       head[0]  rows (capacity); head[1].xyz and head[0].yzw are the piece's
// Grid       rows / 256 workgroups, rounded up, folded

/// Where the string at hand starts, and its row.
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

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let row = (wid.x + wid.y * grid.x) * 256u + t;
    if (row >= p.head[0].x) {
        return;
    }
    start = splits_at(row);
    own_row = row;
    let len = splits_at(row + 1u) - start;
    store(row, hash(len));
}
