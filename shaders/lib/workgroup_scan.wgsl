// Exclusive prefix sum over the 256 invocations of a workgroup.
//
// Idea     Kogge and Stone: eight doubling steps that alternate between the two halves of one array, so that each step
//          costs a single barrier. Needs no subgroups: the same code and the same result on every device.
// Memory   2 KiB of workgroup memory. Sums wrap; two 16-bit sums packed into a word work as long as neither overflows.
// Ends     The reach doubles up to a constant.
// Barriers Ten. Call it in uniform control flow, from all 256 invocations.

var<workgroup> wg_scan: array<u32, 512>;

/// The sum of `v` over the invocations before `t`.
fn wg_exclusive_scan(t: u32, v: u32) -> u32 {
    workgroupBarrier(); // uniform: see above; the last call's total has been read
    wg_scan[t] = v;
    workgroupBarrier(); // uniform: see above
    var sum = v;
    var side = 0u;
    for (var reach = 1u; reach < 256u; reach <<= 1u) {
        if (t >= reach) {
            sum += wg_scan[side + t - reach];
        }
        side ^= 256u;
        wg_scan[side + t] = sum;
        workgroupBarrier(); // uniform: literal loop bounds
    }
    return sum - v;
}

/// The total of the latest scan, over all invocations. Valid until the next scan.
fn wg_scan_total() -> u32 {
    return wg_scan[255]; // after an even number of steps the result lies in the first half
}
