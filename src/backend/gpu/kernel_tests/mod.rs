//! The shader templates, run as they are: hand-written definitions take the place of the generator's, results are
//! compared with the CPU twins bit for bit and with naive oracles.
//!
//! Every scratch and output buffer starts as junk. Without an adapter the tests fail; none is skipped.

mod harness;
mod rows;

mod row_reduce;
mod scan;
mod sort;

/// naga does not check that barriers are reached by all invocations, so every one says why it is.
#[test]
fn every_barrier_says_why_it_is_uniform() {
    for text in [
        include_str!("../../../../shaders/lib/workgroup_scan.wgsl"),
        include_str!("../../../../shaders/row_reduce.wgsl"),
        include_str!("../../../../shaders/scan.wgsl"),
        include_str!("../../../../shaders/sort.wgsl"),
    ] {
        let barriers = || text.lines().filter(|line| line.contains("Barrier()"));
        assert!(barriers().count() > 0);
        barriers().for_each(|line| assert!(line.contains("Barrier(); // uniform: "), "{line}"));
    }
}
