// Computes every element of an array from its position alone: out[i] = value(i).
//
// Idea     One invocation computes 4, 8 or 16 elements, at a stride of 256, so that loads and stores coalesce. Where
//          elements are packed, an invocation computes whole words instead. The generated function `place` decides.
// Traffic  Reads the operands of value(i) once, and writes the output once.
// Limits   n < 2^32 - MAP_TILE. No workgroup memory, no barriers.
//
// Ends     Loops count to constants.
// Generated  const MAP_TILE: u32                elements per workgroup: 1024, 2048 or 4096
//            fn live() -> u32                 number of elements, at most the capacity; may read a buffer
//            fn place(tile: u32, t: u32, k: u32) -> u32   the k-th element of invocation t
//            fn value(i: u32, row: u32) -> Elem           `row` is unused
//            fn store(i: u32, row: u32, v: Elem)          packed types: called for the elements of a word in order
// Head       head[0].x  capacity
// Grid       capacity / MAP_TILE workgroups, rounded up, folded; or part of them

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    rg_begin();
    let tile = workgroup_index(wid, grid);
    let n = min(live(), p.head[0].x);
    if (tile > n / MAP_TILE) {
        return;
    }
    for (var k = 0u; k < MAP_TILE / 256u; k++) {
        let i = place(tile, t, k);
        if (i < n) {
            store(i, 0u, value(i, 0u));
        }
    }
}
