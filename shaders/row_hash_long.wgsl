// Hashes strings that exceed one dispatch, over several dispatches. Complements row_hash.wgsl.
//
// Idea     A dispatch must end within the driver's time limit (Mesa's software driver ends an invocation's loops after
//          65,535 iterations), and may not have a whole string bound (arrays larger than a binding are bound in part).
//          So a long string is hashed by several dispatches of `advance`: each continues where the previous one
//          stopped, for a fixed number of blocks, or up to a block that is not bound. The state between them lies in
//          the string's slot of `states`, number start / head[1].y: each of these strings is longer than that, so no
//          two share a slot.
//            clear    marks all slots free
//            main     of row_hash.wgsl: a long string takes its slot
//            advance  as often as the longest string may need; where arrays are bound in part, for each part in order
//            finish   copies hashes from the slots to their rows
// Traffic  Besides the strings' bytes, 8 bytes per slot and dispatch of `advance`, and 72 both ways if the slot is
//          taken. A slot covers head[1].y bytes: 256 KiB or more, unless a binding is less.
// Limits   As row_hash.wgsl.
//
// Uses       row_hash.wgsl and all that it uses, and of its piece
//              fn packed(c: Chain) -> array<U64, 7>, fn unpacked(words: array<U64, 7>) -> Chain
// Generated  fn is_bound() -> bool        whether all bytes that this invocation has read were bound
//            const DISPATCH_BYTES: u32    bytes of a string per dispatch of `advance`: a multiple of 64
// Buffers    states: array<U64>           SLOT_WORDS words of 64 bits per slot
// Head       head[1].y  as in row_hash.wgsl; head[1].z  number of slots
// Grid       slots / 256 workgroups, rounded up, folded

/// Words of a slot: the row plus 1, or 0 if the slot is free, and the row's length; its start, and the number of its
/// bytes done; the state of the hash.
const SLOT_WORDS: u32 = 9u;

/// Number of bytes done where the first word of the state is the hash.
const DONE: u32 = 0xffffffffu;

/// Gives a slot to the string of that row.
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
    while (at < stop) {
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
    let own = workgroup_index(wid, grid) * 256u + t;
    if (own >= p.head[1].z) {
        return;
    }
    let row = low64(load_states(own * SLOT_WORDS));
    if (row > 0u) {
        store(row - 1u, load_states(own * SLOT_WORDS + 2u));
    }
}
