// Computes an array elementwise from its positions and other arrays, four elements at a time.
//
// Idea     As `map.wgsl`, where elements have at most 32 bits, and arrays are read at the position of the result. An
//          invocation loads four elements of each array as one vector (4, 2 or 1 words), and stores four: a quarter of
//          the memory instructions. Loads and stores coalesce.
// Traffic  Reads the arrays once, and writes the output once, each up to 12 bytes beyond the last element.
// Limits   n < 2^31. Every array is bound whole, and its buffer extends to a multiple of 16 bytes. No conditions, no
//          workgroup memory, no barriers.
// Ends     Loops count to constants.
// Source   Vectors of loads in flat streams: Harris, Optimizing Parallel Reduction in CUDA; Luitjens, Increase
//          Performance with Vectorized Memory Access.
//
// Generated  const MAP_TILE: u32                elements per workgroup: 1024, 2048 or 4096
//            fn live() -> u32                 number of elements, at most the capacity; may read a buffer
//            fn values(q: u32) -> T           elements 4 q to 4 q + 3: values beyond the last element are arbitrary
// Buffers    out: array<T>, T being vec4<f32>, vec4<i32>, vec4<u32>, vec2<u32> or u32
// Head       head[0].x  capacity
// Grid       capacity / MAP_TILE workgroups, rounded up, folded

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
    for (var k = 0u; k < MAP_TILE / 1024u; k++) {
        let q = tile * (MAP_TILE / 4u) + k * 256u + t;
        if (q * 4u < n) {
            store_out(q, values(q));
        }
    }
}
