//! The pool of buffers: buffers that the program holds, or owns, are not reused.

use ragged::RaggedTensor;

use crate::program::{contents, exclusive, filled, programs_and_ours};

#[test]
fn a_buffer_that_the_program_holds_is_not_reused() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let (device, queue) = mine.as_wgpu().expect("a GPU");
        let data: Vec<u32> = (0..4096).collect();
        let x = RaggedTensor::from_nested(data.clone(), &mine).and_then(|x| &x + 1).expect("recorded");
        let held = x.values_buffer().expect("computed");
        let level = mine.stats().buffer_bytes;
        drop(x);
        assert_eq!(mine.stats().buffer_bytes, level, "{label}: held by the program alone");
        // Arrays of the same size are created and dropped.
        for round in 0..5u32 {
            let other = RaggedTensor::from_nested(data.clone(), &mine).and_then(|y| &y * round).expect("recorded");
            other.eval().expect("computes");
            assert!(other.values_buffer().expect("there").buffer() != held.buffer(), "{label}");
        }
        let bytes = contents(device, queue, held.buffer(), held.size());
        let want: Vec<u32> = data.iter().map(|v| v + 1).collect();
        assert_eq!(bytemuck::cast_slice::<u8, u32>(&bytes), want, "{label}");
        let ours = held.buffer().clone();
        drop(held);
        // The buffer is in the pool again, and is reused: for an input or for a result, which are all held.
        let again: Vec<_> = (0..8)
            .flat_map(|k| {
                let y = RaggedTensor::from_nested(data.clone(), &mine).expect("uploaded");
                let z = (&y + k).expect("recorded");
                [y, z].map(|x| x.values_buffer().expect("computed"))
            })
            .collect();
        assert!(again.iter().any(|held| *held.buffer() == ours), "{label}: pooled");
    }
}

#[test]
fn an_engine_buffer_given_as_input_is_not_reused() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let data: Vec<u32> = (0..4096).collect();
        let x = RaggedTensor::from_nested(data.clone(), &mine).and_then(|x| &x + 1).expect("recorded");
        let held = x.values_buffer().expect("computed");
        let y = RaggedTensor::<u32>::from_wgpu_buffer(held.buffer(), &[4096], &mine).expect("adopted");
        let z = RaggedTensor::<u32>::from_wgpu_buffer(held.buffer(), &[64, 64], &mine).expect("adopted twice");
        let ours = held.buffer().clone();
        drop((x, held, z));
        let others: Vec<_> = (0..8u32)
            .map(|k| {
                let other = RaggedTensor::from_nested(data.clone(), &mine).and_then(|y| &y * k).expect("recorded");
                let other = other.values_buffer().expect("computed");
                assert!(*other.buffer() != ours, "{label}");
                other
            })
            .collect();
        drop(others);
        let want: Vec<u32> = data.iter().map(|v| v + 1).collect();
        assert_eq!(y.to_vec().expect("reads"), want, "{label}");
        drop(y);
        // Dropped in the other order, the buffer returns to the pool.
        let before = mine.stats();
        let x = RaggedTensor::from_nested(data.clone(), &mine).and_then(|x| &x + 2).expect("recorded");
        let held = x.values_buffer().expect("computed");
        drop(RaggedTensor::<u32>::from_wgpu_buffer(held.buffer(), &[4096], &mine).expect("adopted"));
        drop((x, held));
        assert_eq!(mine.stats().buffer_bytes, before.buffer_bytes, "{label}");
    }
}

#[test]
fn a_programs_buffer_never_enters_the_pool() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let gpu = mine.as_wgpu().expect("a GPU");
        let data: Vec<u32> = (0..4096).collect();
        let theirs = filled(gpu, &data);
        let before = mine.stats();
        let x = RaggedTensor::<u32>::from_wgpu_buffer(&theirs, &[4096], &mine).expect("adopted");
        assert_eq!(mine.stats().buffer_bytes, before.buffer_bytes, "{label}: not ours");
        assert_eq!(mine.stats().memory_bytes, before.memory_bytes, "{label}: not ours");
        assert_eq!((&x + 1).and_then(|x| x.to_vec()).expect("reads")[4095], 4096, "{label}");
        drop(x);
        let made: Vec<_> = (0..32)
            .map(|k| {
                let y = RaggedTensor::from_nested(data.clone(), &mine).and_then(|y| &y * k).expect("recorded");
                y.values_buffer().expect("computed")
            })
            .collect();
        assert!(made.iter().all(|held| *held.buffer() != theirs), "{label}");
        // The contents are unchanged, and the buffer is writable.
        let bytes = contents(gpu.0, gpu.1, &theirs, 4096 * 4);
        assert_eq!(bytemuck::cast_slice::<u8, u32>(&bytes), data, "{label}");
        let second: Vec<u32> = data.iter().rev().copied().collect();
        gpu.1.write_buffer(&theirs, 0, bytemuck::cast_slice(&second));
        let x = RaggedTensor::<u32>::from_wgpu_buffer(&theirs, &[4096], &mine).expect("adopted");
        assert_eq!((&x + 1).and_then(|x| x.to_vec()).expect("reads")[4095], 1, "{label}");
    }
}
