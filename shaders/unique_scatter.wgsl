// Unique scatter: out[at(i)] = value(i) for the positions i < live(), where at(i) < the capacity of `out`. No index is
// stored twice.
//
// Idea     The order of the stores does not matter. An invocation moves 4 values at a stride of 256, so that loads
//          coalesce.
// Traffic  The operands of at(i) and value(i), once; the output is cleared beforehand. Packed outputs are set by one
//          atomic `or` per element, since the elements of a word may come from different workgroups.
// Limits   capacity < 2^32 - 2^12. No workgroup memory, no barriers.
//
// Ends     Loops count to constants.
// Generated  fn live() -> u32                        number of positions; may read a buffer
//            fn at(i: u32, row: u32) -> u32          the index of position i < live(); `row` is unused
//            fn value(i: u32, row: u32) -> Elem      the value of position i < live(); `row` is unused
//            fn store(i: u32, v: Elem)
// Buffers    out    0 beforehand
// Head       head[0]  capacity of the positions, capacity of `out`
// Grid       capacity / 1024 workgroups, rounded up, folded

@compute @workgroup_size(256)
fn main(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let capacity = p.head[0].x;
    let tile = workgroup_index(wid, groups);
    if (tile > capacity / 1024u) {
        return;
    }
    let count = min(live(), capacity);
    for (var k = 0u; k < 4u; k++) {
        let i = tile * 1024u + k * 256u + t;
        if (i >= count) {
            return;
        }
        let to = at(i, 0u);
        let v = value(i, 0u);
        if (to < p.head[0].y) {
            store(to, v);
        }
    }
}
