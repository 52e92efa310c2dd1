// Measures peak memory bandwidth, with which the other kernels are compared.
//
// Idea     An invocation moves 4 elements at a stride of a workgroup, so that accesses coalesce. `copy_all` reads and
//          writes. `read_all` reads, and writes only if the bits equal p.y, so that no compiler can remove the loads.
//          `write_all` writes.
// Traffic  Every element of `source`, every element of `goal`, or both, once.
// Limits   Elements below 2^32 - 4096. No barriers.
// Source   STREAM (McCalpin 1995).
//
// Generated  alias Elem: u32 or vec4<u32>; fn same(a: Elem, b: Elem) -> bool
//            const GROUP: u32                             invocations per workgroup
// Buffers    source: array<Elem>                          read, or read_write though it is only read
//            goal: array<Elem>
// Params     p.x  elements; p.y  the word that `write_all` writes, and with which `read_all` compares
// Grid       elements / (4 * GROUP) workgroups, rounded up, folded

@compute @workgroup_size(GROUP)
fn copy_all(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let first = (wid.x + wid.y * grid.x) * GROUP * 4u + t;
    for (var k = 0u; k < 4u; k++) {
        let i = first + k * GROUP;
        if (i < p.x) {
            goal[i] = source[i];
        }
    }
}

@compute @workgroup_size(GROUP)
fn read_all(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let first = (wid.x + wid.y * grid.x) * GROUP * 4u + t;
    var seen = Elem();
    for (var k = 0u; k < 4u; k++) {
        let i = first + k * GROUP;
        if (i < p.x) {
            seen |= source[i];
        }
    }
    if (same(seen, Elem(p.y))) {
        goal[0] = seen;
    }
}

@compute @workgroup_size(GROUP)
fn write_all(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let first = (wid.x + wid.y * grid.x) * GROUP * 4u + t;
    for (var k = 0u; k < 4u; k++) {
        let i = first + k * GROUP;
        if (i < p.x) {
            goal[i] = Elem(p.y);
        }
    }
}
