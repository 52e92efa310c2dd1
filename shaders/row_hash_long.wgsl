// Hashes long strings in several dispatches. Complements row_hash.wgsl.
//
// Idea     A dispatch must end within the driver's time limit (Mesa's software driver ends an invocation's loops after
//          65,535 iterations), and may have only part of a string bound (see the windows of arrays larger than a
//          binding). So a long string is hashed by several dispatches of `advance`: each continues where the previous
//          one stopped, for a fixed number of blocks, or up to a block that is not bound. The state between dispatches
//          lies in slot start / head[1].y of `states`. Long strings have more than head[1].y bytes, so no two share a
//          slot.
//            clear    marks all slots free
//            main     of row_hash.wgsl: assigns slots to the long strings
//            advance  as often as the longest string may need; where arrays are bound in part, for each part in order
//            finish   copies hashes from the slots to their rows
// Traffic  Besides the strings' bytes, reads 8 bytes per slot and dispatch of `advance`, and reads and writes 72 if the
//          slot is assigned. A slot covers head[1].y bytes: 256 KiB or more, unless a binding is less.
// Limits   As row_hash.wgsl.
//
// Ends     `advance` counts to a constant.
// Uses       row_hash.wgsl and the files that it uses, and of the file of hash/
//              fn packed(c: Chain) -> array<U64, 7>, fn unpacked(words: array<U64, 7>) -> Chain
// Generated  fn is_bound() -> bool        whether all bytes that this invocation has read were bound
//            const DISPATCH_BYTES: u32    bytes of a string per dispatch of `advance`: a multiple of 64
// Buffers    states: array<U64>           SLOT_WORDS words of 64 bits per slot
// Head       head[1].y  as in row_hash.wgsl; head[1].z  number of slots
// Grid       slots / 256 workgroups, rounded up, folded

/// Words of a slot: the row plus 1 (0 if the slot is free), and the row's length; the row's start, and the number of
/// bytes hashed; the state of the hash.
const SLOT_WORDS: u32 = 9u;

/// In place of the number of bytes hashed: the first word of the state is the final hash.
const DONE: u32 = 0xffffffffu;

/// Assigns a slot to a row's string.
fn defer(row: u32, first: u32, len: u32) {
    let at = first / p.head[1].y * SLOT_WORDS;
    store_states(at, join64(row + 1u, len));
    store_states(at + 1u, join64(first, 0u));
    let words = packed(begin(len));
    for (var k = 0u; k < 7u; k++) {
        store_states(at + 2u + k, words[k]);
    }
}

fn high64(v: U64) -> u32 {
    return low64(shr64(v, 32u));
}

@compute @workgroup_size(256)
fn clear(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    rg_begin();
    let own = workgroup_index(wid, grid) * 256u + t;
    if (own < p.head[1].z) {
        store_states(own * SLOT_WORDS, join64(0u, 0u));
    }
}

@compute @workgroup_size(256)
fn advance(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    rg_begin();
    let own = workgroup_index(wid, grid) * 256u + t;
    if (own >= p.head[1].z) {
        return;
    }
    let base = own * SLOT_WORDS;
    let row_len = load_states(base);
    let start_at = load_states(base + 1u);
    if (low64(row_len) == 0u || high64(start_at) == DONE) {
        return;
    }
    let len = high64(row_len);
    own_row = low64(row_len) - 1u;
    start = low64(start_at);
    var at = high64(start_at);
    var words: array<U64, 7>;
    for (var k = 0u; k < 7u; k++) {
        words[k] = load_states(base + 2u + k);
    }
    var c = unpacked(words);
    let last = blocks_end(len);
    let stop = at + min(last - at, DISPATCH_BYTES);
    for (var k = 0u; k < DISPATCH_BYTES / 64u && at < stop; k++) {
        let next = block(c, at);
        if (!is_bound()) {
            break;
        }
        c = next;
        at += 64u;
    }
    words = packed(c);
    if (at == last) {
        let whole = end(c, len);
        if (is_bound()) {
            words[0] = whole;
            at = DONE;
        }
    }
    store_states(base + 1u, join64(start, at));
    for (var k = 0u; k < 7u; k++) {
        store_states(base + 2u + k, words[k]);
    }
}

@compute @workgroup_size(256)
fn finish(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    rg_begin();
    let own = workgroup_index(wid, grid) * 256u + t;
    if (own >= p.head[1].z) {
        return;
    }
    let row = low64(load_states(own * SLOT_WORDS));
    if (row > 0u) {
        store(row - 1u, load_states(own * SLOT_WORDS + 2u));
    }
}
