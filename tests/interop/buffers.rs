//! Tensors in buffers of the program, and the layout of buffers.

use ragged::{DType, Device, Error, HostTensor, HostValues, RaggedTensor, Tensor, s, wgpu};

use crate::common;
use crate::program::{Program, USED, buffer, contents, exclusive, filled, programs_and_ours, refused};

#[test]
fn tensors_lie_in_the_programs_buffers() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let gpu = mine.as_wgpu().expect("a GPU");
        let values: Vec<f32> = (0..1000).map(|i| i as f32 / 8.0).collect();
        let splits: Vec<u32> = (0..=100).map(|r| r * r / 10).collect();
        let cpu = Device::cpu();
        let want = RaggedTensor::from_row_splits(&values, &splits, &cpu).expect("valid");
        let want = want.reduce_sum(1).and_then(|x| x.to_vec()).expect("reads");
        let before = mine.stats();
        let (flat, rows) = (filled(gpu, &values), filled(gpu, &splits));
        let flat = RaggedTensor::<f32>::from_wgpu_buffer(&flat, &[1000], &mine).expect("adopted");
        let rows = RaggedTensor::<u32>::from_wgpu_buffer(&rows, &[101], &mine).expect("adopted");
        let x = Tensor::from_row_splits(&flat, &rows).expect("recorded");
        assert_eq!(x.shape_text(), "[100, None]");
        let sums = x.reduce_sum(1).and_then(|x| x.to_host()).expect("reads");
        assert_eq!(sums.values, HostValues::F32(want), "{label}");
        let spent = mine.stats() - before;
        assert_eq!((spent.bytes_uploaded, spent.waits, spent.submissions), (0, 1, 1), "{label}: {spent:?}");
        // The tensor's values buffer is the given buffer.
        assert!(flat.values_buffer().expect("there").buffer().size() == 4000, "{label}");
        assert_eq!(flat.to_vec().expect("reads"), values, "{label}");
        // Invalid splits on the device are errors of the read.
        let bad = filled(gpu, &[0u32, 7, 5, 1000]);
        let bad = RaggedTensor::<u32>::from_wgpu_buffer(&bad, &[4], &mine).expect("adopted");
        let outcome = Tensor::from_row_splits(&flat, &bad).and_then(|x| x.reduce_sum(1)?.to_host());
        match outcome {
            Err(Error::Check { op: "from_row_splits", what, at: 1, .. }) => {
                assert!(what.contains("decrease"), "{what}");
            }
            other => panic!("{label}: {other:?}"),
        }
    }
}

#[test]
fn traced_programs_read_buffers_without_padding() {
    let _guard = exclusive();
    let spec = ragged::TensorSpec::new(DType::F32, [None]);
    let program = ragged::Program::trace(&[spec], |x| x[0].multiply(2.0)).expect("traced");
    for (label, mine) in programs_and_ours() {
        let gpu = mine.as_wgpu().expect("a GPU");
        for n in [1000, 1001, 1003] {
            let values: Vec<f32> = (0..n).map(|i| i as f32 / 8.0).collect();
            let theirs = filled(gpu, &values);
            let x = Tensor::from_wgpu_buffer(&theirs, DType::F32, &[n], &mine).expect("adopted");
            let got = program.run(&x).and_then(|out| out[0].to_host()).expect("reads");
            assert_eq!(got.values, HostValues::F32(values.iter().map(|v| v * 2.0).collect()), "{label}: {n} values");
        }
    }
}

#[test]
fn every_dtype_has_the_buffer_layout_of_the_engine() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let gpu = mine.as_wgpu().expect("a GPU");
        for dtype in common::bools_and_numbers().filter(|&dtype| common::has(&mine, dtype)) {
            // Sizes that end within a word, and within 16 bytes.
            for n in [1usize, 3, 5, 8, 16, 257, 1040] {
                let ints = HostTensor::dense(&[n], HostValues::I32((0..n as i32).map(|i| i % 2).collect()));
                let ours = ints.to_device(&mine).and_then(|x| x.cast(dtype)).expect("cast");
                let bytes = {
                    let held = ours.values_buffer().expect("computed");
                    assert_eq!((held.len(), held.dtype(), held.offset()), (Some(n as u32), dtype, 0));
                    assert_eq!(held.size(), (n * dtype.size()) as u64);
                    contents(gpu.0, gpu.1, held.buffer(), held.size().next_multiple_of(4))
                };
                let theirs = filled(gpu, &bytes);
                let theirs = Tensor::from_wgpu_buffer(&theirs, dtype, &[n], &mine).expect("adopted");
                let what = format!("{label} {dtype} {n}");
                assert_eq!(theirs.to_host().expect("reads"), ours.to_host().expect("reads"), "{what}");
                let twice = |x: &Tensor| Tensor::concat(&[x, &x.reverse(0)?], 0)?.cast(DType::I32)?.to_host();
                assert_eq!(twice(&theirs).expect("reads"), twice(&ours).expect("reads"), "{what}");
                // Flat, so that kernels may use vector loads: they must not read beyond the last element.
                let sums = |x: &Tensor| (x.cast(DType::F32)? * 2f32)?.add(&ours.cast(DType::F32)?)?.to_host();
                assert_eq!(sums(&theirs).expect("reads"), sums(&ours).expect("reads"), "{what}");
            }
        }
    }
}

#[test]
fn invalid_buffers_are_errors() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let (device, _) = mine.as_wgpu().expect("a GPU");
        let of = |b: &wgpu::Buffer, dtype, shape: &[usize]| Tensor::from_wgpu_buffer(b, dtype, shape, &mine);
        let copied = buffer(device, wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST, 64);
        refused(&label, of(&copied, DType::F32, &[4]), "must have STORAGE");
        let good = buffer(device, USED, 64);
        refused(&label, of(&good, DType::F32, &[17]), "68 bytes, but the buffer has 64");
        refused(&label, of(&good, DType::I64, &[3, 3]), "72 bytes, but the buffer has 64");
        assert!(matches!(of(&good, DType::F32, &[1 << 20, 1 << 20]), Err(Error::Limit { .. })), "{label}");
        assert!(matches!(of(&good, DType::F32, &[usize::MAX]), Err(Error::Limit { .. })), "{label}");
        assert!(matches!(of(&good, DType::Str, &[1]), Err(Error::Unsupported { .. })), "{label}");
        refused(&label, of(&buffer(device, USED, 10), DType::U8, &[10]), "multiple of 4");
        // An empty tensor and a part of a buffer are valid.
        assert_eq!(of(&good, DType::F32, &[0, 7]).and_then(|x| x.to_host()).expect("empty").inner_shape, [0, 7]);
        assert_eq!(of(&good, DType::F32, &[2, 3]).and_then(|x| x.to_host()).expect("reads").inner_shape, [2, 3]);
        assert_eq!(of(&good, DType::F32, &[]).and_then(|x| x.to_host()).expect("reads").values.len(), 1);
        // Without COPY_SRC, a tensor can be an operand but cannot be read.
        let unread = buffer(device, wgpu::BufferUsages::STORAGE, 64);
        let x = of(&unread, DType::I32, &[16]).expect("adopted");
        match x.to_host() {
            Err(Error::Argument { op: "a read", what, .. }) => assert!(what.contains("COPY_SRC"), "{label}: {what}"),
            other => panic!("{label}: {other:?}"),
        }
        let sum = x.add(1).and_then(|x| x.to_host()).expect("reads");
        assert_eq!(sum.values, HostValues::I32(vec![1; 16]), "{label}");
        // What the program did to it after all is an error, and no other tensor's.
        good.destroy();
        let gone = of(&good, DType::F32, &[4]).and_then(|x| x.to_host());
        assert!(gone.is_err(), "{label}: {gone:?}");
        assert_eq!(x.add(2).and_then(|x| x.to_host()).expect("reads").values, HostValues::I32(vec![2; 16]), "{label}");
    }
    let cpu = Device::cpu();
    let x = RaggedTensor::from_nested(vec![vec![1.0f32]], &cpu).expect("valid");
    assert!(matches!(x.values_buffer(), Err(Error::Argument { op: "values_buffer", .. })));
    assert!(matches!(
        x.partitions()[0].splits_buffer(&cpu),
        Err(Error::Argument { op: "RowPartition::splits_buffer", .. })
    ));
    assert!(cpu.as_wgpu().is_none());
}

#[test]
fn a_buffer_of_another_instance_does_not_panic() {
    let _guard = exclusive();
    let (Some(a), Some(b)) = (Program::plain(), Program::plain()) else { return };
    // The other instance has created more objects, so that its ids are invalid here.
    let many: Vec<_> = (0..2000).map(|_| buffer(&b.device, USED, 64)).collect();
    let mine = a.ragged();
    let last = many.last().expect("some");
    refused("another instance", Tensor::from_wgpu_buffer(last, DType::F32, &[4], &mine), "");
    let x = RaggedTensor::from_nested(vec![vec![1, 2], vec![], vec![3]], &mine).expect("uploads");
    assert_eq!(x.reduce_sum(1).and_then(|x| x.to_vec()).expect("goes on"), [3, 0, 3]);
}

#[test]
fn device_known_sizes_are_in_the_splits() {
    let _guard = exclusive();
    for (label, mine) in programs_and_ours() {
        let (device, queue) = mine.as_wgpu().expect("a GPU");
        let x = RaggedTensor::from_nested(vec![vec![5, 1], vec![], vec![7, 8, 2]], &mine).expect("uploads");
        let kept = x.boolean_mask(&x.greater(2).expect("recorded")).expect("recorded");
        let (values, splits) = (kept.values_buffer(), kept.partitions()[0].splits_buffer(&mine));
        let (values, splits) = (values.expect("computed"), splits.expect("computed"));
        assert_eq!((values.len(), values.capacity(), splits.len()), (None, 5, Some(4)), "{label}");
        let read = |held: &ragged::DeviceBuffer| {
            let bytes = contents(device, queue, held.buffer(), held.size());
            bytemuck::pod_collect_to_vec::<u8, u32>(&bytes)
        };
        let ends = read(&splits);
        assert_eq!(ends, [0, 1, 1, 3], "{label}");
        assert_eq!(read(&values)[..ends[3] as usize], [5, 7, 8], "{label}");
        // Uniform rows have splits on request.
        let even = x.to_tensor(0).and_then(|x| x.slice(s![.., ..2])).expect("recorded");
        let rows = Tensor::from_uniform_row_length(even.flat_values().expect("dense").erased(), 1);
        let rows = rows.expect("recorded");
        let ends = read(&rows.partitions()[0].splits_buffer(&mine).expect("computed"));
        assert_eq!(ends, [0, 1, 2, 3], "{label}");
    }
}
