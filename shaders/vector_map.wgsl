// Computes every element of an array from its position and what other arrays hold there, four at a time.
//
// Idea     What `map.wgsl` does, where elements are of 32 bits at most, and read at the position of the one computed.
//          An invocation loads four of each array, and stores four: a vector of four words, of two, or one word. That
//          is a quarter of the instructions that wait for memory; and invocations side by side are at vectors side by
//          side, so that loads and stores coalesce.
// Traffic  The arrays, once, and the output, once; of all of them up to 12 bytes behind the last element that there is.
// Limits   n < 2^31. Every array is bound whole, and its buffer goes on to a multiple of 16 bytes. No conditions, no
//          workgroup memory, no barriers.
// Source   Vectors of loads in flat streams: Harris, Optimizing Parallel Reduction in CUDA; Luitjens, Increase
//          Performance with Vectorized Memory Access.
//
// Generated  const MAP_TILE: u32                elements of a workgroup: 1024, 2048 or 4096
//            fn live() -> u32                 elements there are, at most the capacity; may read a buffer
//            fn values(q: u32) -> T           elements 4 q to 4 q + 3: what is not there may be anything
// Buffers    out: array<T>, T being vec4<f32>, vec4<i32>, vec4<u32>, vec2<u32> or u32
// Head       head[0].x  capacity
// Grid       capacity / MAP_TILE workgroups, rounded up, folded

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let tile = wid.x + wid.y * grid.x;
    let n = min(live(), p.head[0].x);
    if (tile > n / MAP_TILE) {
        return;
    }
    for (var k = 0u; k < MAP_TILE / 1024u; k++) {
        let q = tile * (MAP_TILE / 4u) + k * 256u + t;
        if (q * 4u < n) {
            out[q] = values(q);
        }
    }
}
