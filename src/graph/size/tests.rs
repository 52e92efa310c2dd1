//! Arithmetic, counts, and sizes of many operations.

use super::*;
use crate::graph::Extent;

fn input(k: u32, value: u32) -> Size {
    Size::input(Digest::of("test", k), value)
}

#[test]
fn sizes_compare_by_structure() {
    let (a, b) = (input(1, 7), input(2, 7));
    assert_ne!(a, b);
    assert_eq!(a, input(1, 9));
    assert_eq!(a.add(&b), input(1, 3).add(input(2, 4)));
    assert_ne!(a.add(&b), a.mul(&b));
    assert_eq!((a.add(&b).capacity(), a.mul(3).sub(2).capacity(), a.sub(9).capacity()), (14, 19, 0));
    assert_eq!(a.mul(1), a);
    assert_eq!(a.add(0), a);
    assert_eq!(Size::from(3).mul(4), Size::from(12));
}

/// An array of one word, which holds a count.
fn counted(value: u32) -> Node {
    let device = crate::Device::cpu();
    let backend = device.backend();
    let data = backend.upload(crate::dtype::DType::U32, bytemuck::bytes_of(&value)).expect("uploaded");
    Node::source(backend, crate::dtype::DType::U32, 1, data)
}

#[test]
fn equal_counts_are_one_object() {
    let array = counted(5);
    let count = |bound: u32| Size::count(array.clone(), Size::Const(0), Size::Const(bound));
    let (a, b) = (count(9), count(9).add(1));
    let Some(SizeKind::Count(of_a)) = a.kind() else { panic!("a count") };
    of_a.set_exact(5);
    assert_eq!((a.host_value(), b.host_value(), count(7).host_value()), (Some(5), Some(6), Some(5)));
    drop((a, b));
    assert_eq!(count(7).host_value(), None, "a dropped count is forgotten");
}

#[test]
fn a_count_that_was_read_decides_no_type() {
    let array = counted(1);
    let count = Size::count(array, Size::Const(0), Size::Const(9));
    let deep = (0..2 * MAX_DEPTH).fold(count.clone(), |sum, k| sum.add(input(k, 1)));
    let Some(SizeKind::Count(of_count)) = count.kind() else { panic!("a count") };
    of_count.set_exact(1);
    let deep_after = (0..2 * MAX_DEPTH).fold(count.clone(), |sum, k| sum.add(input(k, 1)));
    for size in [&count, &count.add(1), &count.min(1), &deep, &deep_after] {
        assert_eq!(size.as_known(), None);
        assert!(size.contains_count());
    }
    assert_eq!((count.host_value(), deep_after.host_value()), (Some(1), Some(1 + 2 * MAX_DEPTH)));
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "bug: the index of a count contains a count")]
fn the_index_of_a_count_contains_no_count() {
    let index = Size::count(counted(0), Size::Const(0), Size::Const(1));
    let _ = Size::count(counted(3), index, Size::Const(9));
}

#[test]
fn sums_of_many_counts_contain_each_once() {
    let array = counted(5);
    let count = |k: u32| Size::count(array.clone(), Size::Const(k), Size::Const(9));
    let mut sizes: Vec<Size> = (0..1 << 16).map(|k| count(k % 50_000)).collect();
    while sizes.len() > 1 {
        sizes = sizes.chunks(2).map(|pair| pair[0].add(&pair[1])).collect();
    }
    assert_eq!(sizes[0].counts().len(), 50_000);
    assert_eq!(count(0).add(count(1)).add(count(0)).counts(), [&count(0), &count(1)]);
}

/// Each count is bounded by the one before it. Those of a trace stay bounds, however long the chain.
#[test]
fn chains_of_traced_counts_are_dropped_on_a_small_stack() {
    let backend = crate::Device::of_traces().backend().clone();
    let chain = move || {
        let first = Size::traced(&backend, Digest::of("test", "first"));
        let count = |bound: Size, k: u32| {
            let node = Node::traced(&backend, Digest::of("test", ("node", k)), crate::DType::U32, Extent::known(1));
            Size::count(node, Size::Const(0), bound)
        };
        drop((0..100_000).fold(first, count));
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(chain);
    thread.expect("a thread").join().expect("dropped");
}

#[test]
fn long_chains_stay_flat() {
    let mut sum = input(0, 1);
    for k in 1..100_000 {
        sum = sum.add(input(k, 1));
        assert!(sum.depth() <= MAX_DEPTH);
    }
    assert_eq!(sum.capacity(), 100_000);
}
