//! Errors: every one names the line of the call that failed, and prints as its message.

mod amounts;
#[path = "../common/mod.rs"]
mod common;
mod compile_errors;
mod composed;
mod debug;
mod devices;
mod elementwise;
mod records;
mod rows;
mod tensors;

use ragged::{
    DType, Device, DeviceOptions, Error, LodTensor, RaggedShape, RaggedTensor, Result, SparseTensor, Str,
    StructuredTensor, Tensor, s,
};

type Misuse = fn(&Subjects) -> Result<()>;

/// Tensors that the calls misuse.
struct Subjects {
    /// Rows of 2, 0 and 1 numbers.
    x: RaggedTensor<f32>,
    /// The same values as a tensor of run-time dtype.
    t: Tensor,
    ints: RaggedTensor<i32>,
    words: Tensor,
    /// One string per row.
    other_words: Tensor,
    flags: RaggedTensor<bool>,
    dense: RaggedTensor<f32>,
    other_rows: RaggedTensor<f32>,
    sparse: SparseTensor,
    other_sparse: SparseTensor,
    records: StructuredTensor,
    lod: LodTensor,
    device: Device,
}

impl Subjects {
    fn new(device: &Device) -> Result<Self> {
        let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![], vec![3.0]], device)?;
        Ok(Self {
            t: x.erased().clone(),
            x,
            ints: RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], device)?,
            words: RaggedTensor::from_nested([vec!["a b", "c"], vec![], vec!["d"]], device)?.into_erased(),
            other_words: RaggedTensor::from_nested([vec!["a"], vec!["b"], vec!["c"]], device)?.into_erased(),
            flags: RaggedTensor::from_nested([vec![true, false], vec![], vec![true]], device)?,
            dense: RaggedTensor::from_nested([[1.0f32, 2.0], [3.0, 4.0]], device)?,
            other_rows: RaggedTensor::from_nested([vec![1.0f32], vec![2.0], vec![3.0]], device)?,
            sparse: SparseTensor::from_entries(&[[0, 1], [2, 0]], [1, 2], [3, 5], device)?,
            other_sparse: SparseTensor::from_entries(&[[0, 1]], [1], [3, 4], device)?,
            records: StructuredTensor::from_fields([("a", &RaggedTensor::from_nested([1, 2], device)?)], [2])?,
            lod: LodTensor::from_lengths(&RaggedTensor::from_nested([[1], [2], [3]], device)?, [[2, 1]])?,
            device: device.clone(),
        })
    }
}

impl Subjects {
    /// A tensor with a check that fails on the device.
    #[track_caller]
    fn failing(&self) -> Result<Tensor> {
        self.ints.erased().floordiv(&self.ints.erased().multiply(0)?)
    }
}

/// The tensor as strings.
#[track_caller]
fn strings(t: &Tensor) -> Result<RaggedTensor<Str>> {
    t.clone().try_into()
}

/// Discards a result.
fn no<T>(result: Result<T>) -> Result<()> {
    result.map(|_| ())
}

/// Reads a result, so that conditions on the device are checked.
fn read(result: Result<Tensor>) -> Result<()> {
    no(result?.to_host())
}

/// Runs the misuses on a device; returns those whose error does not name a line of these tests.
fn unplaced(device: &Device, all: &[(&str, Misuse)]) -> Vec<String> {
    let subjects = Subjects::new(device).expect("valid tensors");
    let mut wrong = Vec::new();
    for (name, misuse) in all {
        match misuse(&subjects) {
            Ok(()) => wrong.push(format!("{name}: no error")),
            Err(e) => match e.location() {
                Some(location) if location.file().contains("tests/errors/") => {}
                location => wrong.push(format!("{name}: {location:?}: {e}")),
            },
        }
    }
    wrong
}

/// All misuses but those of reads.
fn misuses_of_calls() -> Vec<(&'static str, Misuse)> {
    let families: [&[(&str, Misuse)]; 16] = [
        tensors::MISUSES,
        elementwise::UNARY,
        elementwise::BINARY,
        elementwise::TYPED,
        elementwise::AXES,
        elementwise::SEGMENTS,
        elementwise::OTHERS,
        rows::STRINGS,
        rows::OTHERS,
        records::SHAPES,
        records::ENCODINGS,
        records::CONSTRUCTION,
        records::SPARSE,
        records::RECORDS,
        records::LOD,
        records::PROGRAMS,
    ];
    families.concat()
}

/// All misuses.
fn misuses() -> Vec<(&'static str, Misuse)> {
    misuses_of_calls().into_iter().chain(records::READS.iter().copied()).collect()
}

/// An error begins with the name of the function that was called: that of a tensor's method alone, that of another function
/// after its type. The functions of `Tensor`, `RaggedTensor` and `Row` have no type before them, since they have one name on
/// all three.
#[test]
fn errors_name_the_function_that_was_called() {
    let subjects = Subjects::new(&Device::cpu()).expect("valid tensors");
    // Names with spaces say what is wrong.
    let is_function = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b':');
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (name, misuse) in misuses_of_calls().iter().filter(|(name, _)| is_function(name)) {
        let Err(error) = misuse(&subjects) else { continue };
        let message = error.to_string();
        let begins = message.split(' ').next().expect("a word").trim_end_matches(':');
        if begins != *name {
            wrong.push(format!("{name}: {message:.100}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 300, "only {count} functions");
}

/// The line that each error names is in these files: no error names a line of the crate. `layering` checks that every
/// public function that can fail is among them.
#[test]
fn errors_name_the_line_of_the_call() {
    let all = misuses();
    let wrong = unplaced(&Device::cpu(), &all);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

/// Errors that only a GPU has.
#[test]
fn errors_of_a_gpu_name_the_line_of_the_call() {
    for (name, device) in common::gpus() {
        let (wgpu, _) = device.as_wgpu().expect("a GPU");
        let buffer = |size, usage| {
            wgpu.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        let (copied, small) = (buffer(16, wgpu::BufferUsages::COPY_SRC), buffer(8, wgpu::BufferUsages::STORAGE));
        for wrong in [copied, small] {
            let (e, line) = (Tensor::from_wgpu_buffer(&wrong, DType::F32, &[4], &device).unwrap_err(), line!());
            assert!(e.location().is_some_and(|at| at.file() == file!() && at.line() == line), "{name}: {e}");
        }
        let wrong = unplaced(&device, rows::OF_A_GPU);
        assert!(wrong.is_empty(), "{name}: {}", wrong.join("\n"));
    }
}

#[test]
fn errors_print_their_message() {
    let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu()).expect("valid");
    let (e, line) = (x.reduce_sum(2).unwrap_err(), line!());
    let message =
        format!("reduce_sum: axis 2 is out of range for rank 2 (allowed: -2 to 1), at tests/errors/main.rs:{line}");
    assert_eq!((e.to_string(), format!("{e:?}")), (message.clone(), message));
}

/// Shape errors name the first difference, with both values.
#[test]
fn shape_errors_name_both_values() {
    let subjects = Subjects::new(&Device::cpu()).expect("valid tensors");
    let e = subjects.x.add(&subjects.other_rows).unwrap_err();
    assert!(matches!(e, Error::Shape { .. }), "{e}");
    assert!(e.to_string().contains("row 0 has 2 elements on the left, 1 on the right"), "{e}");
}

#[test]
fn errors_on_the_device_name_the_line_that_recorded_them() {
    for (name, device) in common::devices() {
        let table = RaggedTensor::from_nested([1.0f32, 2.0, 3.0], &device).expect("valid");
        let ids = RaggedTensor::from_nested([0, 7], &device).expect("valid");
        let (gathered, line) = (table.gather(&ids).expect("recorded"), line!());
        let e = gathered.to_vec().unwrap_err();
        let location = e.location().expect("a location");
        assert!(location.file().ends_with("errors/main.rs") && location.line() == line, "{name}: {e}");
    }
}

/// Limits of a device, found while kernels run, name the read.
#[test]
fn limits_of_a_device_name_the_line_of_the_read() {
    let Some(device) = common::gpu_with(&DeviceOptions::default().max_memory(1 << 20)) else { return };
    let x = RaggedTensor::from_nested(vec![1.0f32; 1000], &device).expect("fits");
    let large = x.tile(&[1000]).expect("recorded");
    for (e, line) in [(large.eval().unwrap_err(), line!()), (large.to_vec().unwrap_err(), line!())] {
        assert!(matches!(e, Error::Limit { .. }), "{e}");
        let location = e.location().expect("a location");
        assert!(location.file().ends_with("errors/main.rs") && location.line() == line, "{e}");
    }
}

/// A check that fails on the device names the integers that it compares, from whichever read evaluates it.
#[test]
fn checks_name_the_compared_values() {
    for (name, device) in common::devices() {
        let x = RaggedTensor::from_nested([vec![1, 5, 7], vec![2, 6], vec![]], &device).expect("valid");
        // Rows whose lengths only the device knows: [[5, 7], [6], []] and [[1], [2, 6], []].
        let large = x.boolean_mask(&x.greater(4).expect("recorded")).expect("recorded");
        let other = x.boolean_mask(&x.not_equal(5).expect("recorded")).expect("recorded");
        let other = other.boolean_mask(&other.not_equal(7).expect("recorded")).expect("recorded");
        let ids = RaggedTensor::from_nested([0, -4, 7], &device).expect("valid");
        let square = large.slice(s![..2]).and_then(|m| m.expand_dims(0)).expect("recorded");
        let text = |of: Result<Tensor>| match of.and_then(|t| t.to_host()) {
            Ok(values) => format!("no error: {values:?}"),
            Err(e) => e.to_string(),
        };
        let parts = RaggedTensor::from_nested([0, 5, 1, 0, 1], &device).expect("valid");
        let partitioned = x.flat_values().and_then(|values| values.dynamic_partition(&parts, 2));
        let failed: [(Result<Tensor>, &str); 9] = [
            (partitioned.map(|all| all[0].clone().into()), "not below 2: 5 for size 2 (first at position 1)"),
            (
                x.flat_values().and_then(|values| values.gather(&ids)).map(Into::into),
                "an index is out of range: -4 for size 5 (first at position 1)",
            ),
            (x.gather(&ids).map(Into::into), "an index is out of range: -4 for size 3 (first at position 1)"),
            (large.nth(1).map(Into::into), "a row has no element 1: 1 for size 1 (first at position 1)"),
            (large.nth(-2).map(Into::into), "a row has no element -2: 2 exceeds 1 (first at position 1)"),
            (large.add(&other).map(Into::into), "and neither was recorded as 1: 2 and 1"),
            (large.reshape_like(&x).map(Into::into), "3 and 5"),
            (large.squeeze(1).map(Into::into), "dimension 1 must have size 1: 2 and 1 (first at position 0)"),
            (square.matmul(&square).map(Into::into), "differ in length: 2 and 1 (first at position 0)"),
        ];
        for (of, says) in failed {
            let message = text(of);
            assert!(message.contains(says), "{name}: {message}, without {says}");
        }
    }
}

/// Messages name the operation that was called, the arguments as given, and what can be written.
#[test]
fn messages_name_the_call_and_its_arguments() {
    let s = Subjects::new(&Device::cpu()).expect("valid tensors");
    let long = RaggedTensor::from_nested(vec![(0..100_000).collect::<Vec<i32>>()], &s.device).expect("valid");
    let flat = s.ints.flat_values().expect("values");
    let numbers = || RaggedTensor::from_nested(["12", "1x", " 3 "], &s.device).expect("valid");
    let failed: [(Result<()>, &str); 18] = [
        (no(&s.ints * 0.5), "multiply: "),
        (no(0.5 - s.ints.erased()), "subtract: "),
        (no(&s.flags.erased().clone() & 3), "logical_and: "),
        (no(RaggedTensor::dense([1, 2, 3], &[2, 2], &s.device)), "dense: "),
        (no(s.dense.broadcast_to([100_000_000_000i64])), "broadcast_to needs 100000000000 elements"),
        (no(s.ints.to_ndarray(0.5)), "to_ndarray: "),
        (s.x.reduce_sum(1).and_then(|sums| no(s.x.add(&sums))), "(keep, expand_dims)"),
        (no(s.x.combinations(i64::MAX, 1)), "but is 9223372036854775807"),
        (no(long.combinations(3, 1)), "combinations needs 166661666700000 elements"),
        (
            no(RaggedShape::from_row_partitions(s.x.partitions(), &[-2], &s.device)),
            "RaggedShape::from_row_partitions: ",
        ),
        (
            no(numbers().string_to_number::<i32>().and_then(|x| x.to_vec())),
            "not a number of i32: \"1x\" (first at position 1)",
        ),
        (
            no(numbers().string_to_number::<f32>()),
            "string_to_number: a string is not a number of f32: \"1x\" (first at position 1)",
        ),
        (no(s.words.bytes_split().and_then(|x| x.string_to_number(DType::F64))), "f64: \"a\" (first at position 0)"),
        (no(RaggedTensor::ranges(&s.x, 1.0, 1.0)), "ranges: "),
        (no(Tensor::ranges(&flat, 5, 0).and_then(|x| x.to_host())), "ranges: a delta is 0"),
        (no(numbers().string_to_number::<i8>().and_then(|x| x.reduce_sum(..)?.to_vec())), "not a number of i8"),
        (no(numbers().bytes_split().and_then(|x| x.string_to_number::<i64>()?.to_vec())), "not a number of i64: \"x\""),
        (no(Err::<(), _>(s.failing().expect("recorded").to_host().unwrap_err())), "floordiv: "),
    ];
    for (result, says) in failed {
        let message = result.map_or_else(|e| e.to_string(), |()| "no error".into());
        assert!(message.contains(says), "{message}, without {says}");
    }
    let printed = s.failing().expect("recorded").to_string();
    let says = "<ragged.RaggedTensor without values, since computing them failed: floordiv: ";
    assert!(printed.starts_with(says), "{printed}");
}
