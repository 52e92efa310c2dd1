// Stream compaction: stores the values at the selected positions, in order. out[rank of i * inner + d] = value(i *
// inner + d) where position i is selected.
//
// Idea     rank_bitmap.wgsl has ranked the selected positions, so the output position of every value is known. An
//          invocation moves 4 values at a stride of 256, so that loads and stores coalesce.
// Traffic  Reads the rank bitmap, a quarter of a byte per position, and the operands of value(i) at selected positions,
//          once; writes the output once. Packed outputs must be zeroed beforehand, and are set by one atomic `or` per
//          element, since the elements of a word may come from different workgroups.
// Limits   capacity < 2^32 - 2^12; capacity * inner < 2^32 - 2^12. No workgroup memory, no barriers.
//
// Ends     Loops count to constants.
// Generated  fn live() -> u32                        number of positions; may read a buffer
//            fn value(i: u32, row: u32) -> Elem      called for selected positions only; `row` is unused
//            fn store(i: u32, v: Elem)
//            fn bitmap(k: u32) -> u32                word k of the rank bitmap
// Head       head[0]  capacity of the positions, inner, tiles of the rank bitmap, capacity of `out`
// Grid       capacity * inner / 1024 workgroups, rounded up, folded

@compute @workgroup_size(256)
fn main(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let inner = p.head[0].y;
    let tiles = p.head[0].z;
    let numbers = p.head[0].w;
    let count = min(live(), p.head[0].x) * inner;
    let first = workgroup_index(wid, groups) * 1024u + t;
    for (var k = 0u; k < 4u; k++) {
        let i = first + k * 256u;
        if (i >= count) {
            return;
        }
        var position = i;
        var d = 0u;
        if (inner > 1u) {
            position = i / inner;
            d = i - position * inner;
        }
        let word = bitmap(tiles + 1u + (position >> 4u));
        let bit = 1u << (position & 15u);
        if ((word & bit) != 0u) {
            let rank = bitmap(position >> 11u) + (word >> 16u) + countOneBits(word & (bit - 1u));
            let at = rank * inner + d;
            if (at < numbers) {
                store(at, value(i, 0u));
            }
        }
    }
}
