//! Errors: every one names the line of the call that failed, and prints as its message.

mod common;

use ragged::{
    Axes, Combiner, DType, Device, DeviceOptions, Error, Operand, RaggedShape, RaggedTensor, Result, RowPartition,
    SparseTensor, Tensor, along, batched, descending, eval, s, shaped, weighted, with_nrows,
};

type Misuse = fn(&Subjects) -> Result<()>;

/// Tensors that the calls of [`MISUSES`] misuse.
struct Subjects {
    /// Rows of 2, 0 and 1 numbers.
    x: RaggedTensor<f32>,
    /// The same values as a tensor of run-time dtype.
    t: Tensor,
    ints: RaggedTensor<i32>,
    words: Tensor,
    flags: RaggedTensor<bool>,
    dense: RaggedTensor<f32>,
    other_rows: RaggedTensor<f32>,
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
            flags: RaggedTensor::from_nested([vec![true, false], vec![], vec![true]], device)?,
            dense: RaggedTensor::from_nested([[1.0f32, 2.0], [3.0, 4.0]], device)?,
            other_rows: RaggedTensor::from_nested([vec![1.0f32], vec![2.0], vec![3.0]], device)?,
            device: device.clone(),
        })
    }
}

/// Discards a result.
fn no<T>(result: Result<T>) -> Result<()> {
    result.map(|_| ())
}

/// Reads a result, so that conditions on the device are checked.
fn read(result: Result<Tensor>) -> Result<()> {
    no(result?.to_host())
}

const MISUSES: &[(&str, Misuse)] = &[
    ("reduce_sum", |s| no(s.x.reduce_sum(5))),
    ("reduce_sum of strings", |s| no(s.words.reduce_sum(1))),
    ("reduce_mean", |s| no(s.t.reduce_mean([1, 1]))),
    ("slice_rows", |s| no(s.x.slice_rows([0, 0, 0], [1, 0, 2]))),
    ("context_windows", |s| no(s.x.context_windows(0, 0, 1))),
    ("context_windows along an axis", |s| no(s.x.context_windows(2, 0, 2))),
    ("sequence_mask", |s| no(s.t.sequence_mask(3))),
    ("batch_scatter_add", |s| no(s.x.batch_scatter_add(&s.ints, &s.other_rows))),
    ("batch_scatter_add out of range", |s| read(s.t.batch_scatter_add(&s.ints, &s.t))),
    ("reduce_max", |s| no(s.t.reduce_max(-4))),
    ("reduce_variance", |s| no(s.words.reduce_variance(1))),
    ("reduce_logsumexp", |s| no(s.ints.erased().reduce_logsumexp(1))),
    ("reduce_euclidean_norm", |s| no(s.words.reduce_euclidean_norm(1))),
    ("count_nonzero", |s| no(s.x.count_nonzero(9))),
    ("argmax", |s| no(s.x.argmax(2))),
    ("cumsum", |s| no(s.x.cumsum(2))),
    ("cummax", |s| no(s.words.cummax(1))),
    ("sort", |s| no(s.x.sort(descending(3)))),
    ("argsort", |s| no(s.words.argsort(1))),
    ("top_k", |s| no(s.x.top_k(-1, 1))),
    ("quantile", |s| no(s.x.quantile(1.5, 1))),
    ("quantile of axes", |s| no(s.x.quantile(0.5, [0, 1]))),
    ("median", |s| no(s.x.median(7))),
    ("unique", |s| no(s.x.unique(4))),
    ("softmax", |s| no(s.x.softmax(3))),
    ("l2_normalize", |s| no(s.ints.erased().l2_normalize(1, 1e-12))),
    ("add of other rows", |s| no(s.x.add(&s.other_rows))),
    ("operator of other rows", |s| no(&s.x * &s.other_rows)),
    ("operator of dtypes", |s| no(&s.t - s.ints.erased())),
    ("operator of a number", |s| no(&s.ints * 0.5)),
    ("maximum of a number", |s| no(s.ints.maximum(1e10))),
    ("equal", |s| no(s.t.equal(&s.words))),
    ("select", |s| no(s.flags.select(&s.x, &s.other_rows))),
    ("select of a number", |s| no(s.flags.erased().select(s.ints.erased(), 0.5))),
    ("select_rows", |s| no(s.flags.select_rows(&s.x, &s.x))),
    ("where of strings", |s| no(s.words.where_indices())),
    ("sqrt", |s| no(s.words.sqrt())),
    ("cast", |s| no(s.words.cast(DType::F32))),
    ("bitcast", |s| no(s.t.bitcast(DType::F64))),
    ("clip_by_value", |s| no(s.ints.clip_by_value(0.5, 1.0))),
    ("check_numerics", |s| no(s.words.check_numerics("x"))),
    ("matmul", |s| no(s.x.matmul(&s.ints))),
    ("matmul of vectors", |s| no(s.dense.matmul(&s.x.flat_values()?))),
    ("matmul of sizes", |s| no(s.dense.matmul(&RaggedTensor::from_nested([[1.0f32; 2]; 3], &s.device)?))),
    ("matmul transposed", |s| no(s.dense.t().matmul(&RaggedTensor::from_nested([[1.0f32; 2]; 3], &s.device)?))),
    ("gather", |s| no(s.x.gather(&s.x))),
    ("gather along", |s| no(s.x.gather(along(&s.ints, 5)))),
    ("gather batched", |s| no(s.x.gather(batched(&s.ints, 3)))),
    ("gather beyond the end", |s| read(s.t.gather(&RaggedTensor::from_nested([7], &s.device)?))),
    ("batch_gather beyond the end", |s| read(s.t.batch_gather(&s.ints))),
    ("gather_nd", |s| no(s.x.gather_nd(&s.x))),
    ("embedding_lookup", |s| no(s.x.embedding_lookup(&s.ints))),
    ("embedding_lookup_sparse", |s| no(s.dense.embedding_lookup_sparse(weighted(&s.ints, &s.ints), Combiner::Sum))),
    ("boolean_mask", |s| no(s.x.boolean_mask(&s.x))),
    ("boolean_mask of rows", |s| no(s.other_rows.boolean_mask(&s.flags))),
    ("slice", |s| no(s.x.slice(s![9]))),
    ("slice of a column", |s| no(s.x.slice(s![.., 0]))),
    ("slice of too many", |s| no(s.x.slice(s![.., .., ..]))),
    ("slice by 0", |s| no(s.x.slice(s![..;0]))),
    ("row_at", |s| no(s.t.row_at(&s.t))),
    ("nth", |s| no(s.x.flat_values()?.nth(0))),
    ("nth of a short row", |s| read(s.t.nth(0))),
    ("nth_or", |s| no(s.ints.nth_or(0, 0.5))),
    ("transpose", |s| no(s.x.transpose([1, 0]))),
    ("transpose of axes", |s| no(s.dense.transpose([0, 0]))),
    ("concat", |s| no(Tensor::concat(&[&s.t, s.ints.erased()], 0))),
    ("concat of rows", |s| no(RaggedTensor::concat(&[&s.x, &s.dense], 1))),
    ("stack", |s| no(RaggedTensor::stack(&[&s.x], 9))),
    ("split", |s| no(s.x.split(2, 1))),
    ("tile", |s| no(s.x.tile(&[1]))),
    ("repeat", |s| no(s.x.repeat(-1, 0))),
    ("reverse", |s| no(s.x.reverse(5))),
    ("expand_dims", |s| no(s.x.expand_dims(5))),
    ("squeeze", |s| no(s.x.squeeze(0))),
    ("merge_dims", |s| no(s.x.merge_dims(1, 0))),
    ("reshape", |s| no(s.dense.reshape([3, 3]))),
    ("reshape to -2", |s| no(s.dense.reshape([-2, 2]))),
    ("broadcast_to", |s| no(s.dense.broadcast_to([3, 3]))),
    ("to_tensor", |s| no(s.ints.to_tensor(0.5))),
    ("to_tensor of rank", |s| no(s.x.to_tensor(shaped(0, [1])))),
    ("from_tensor", |s| no(Tensor::from_tensor(&s.dense, 2))),
    ("from_tensor_with_lengths", |s| no(Tensor::from_tensor_with_lengths(&s.dense, [1, 2, 3], 1))),
    ("one_hot", |s| no(s.t.one_hot(3, 1, 0))),
    ("range", |s| no(s.words.range())),
    ("ranges", |s| no(Tensor::ranges(0, s.dense.erased(), 1))),
    ("fill", |s| no(Tensor::fill(&RaggedShape::dense(&[2], &s.device)?, Operand::from(&s.t)))),
    ("fill_empty_rows", |s| no(s.dense.fill_empty_rows(0.0))),
    ("unsorted_segment_sum", |s| no(s.x.unsorted_segment_sum(&s.words, 3))),
    ("segment_sum", |s| no(s.x.segment_sum(&s.ints))),
    ("dynamic_partition", |s| no(s.x.dynamic_partition(&s.ints, -1))),
    ("with_values", |s| no(s.x.with_values(&s.dense))),
    ("with_flat_values", |s| no(s.x.with_flat_values(&s.dense))),
    ("row_lengths", |s| no(s.x.row_lengths(4))),
    ("values of a dense tensor", |s| no(s.dense.values())),
    ("map_flat_values", |s| no(s.x.map_flat_values(|_| s.dense.slice(s![..1])))),
    ("map_rows", |s| no(s.x.flat_values()?.erased().slice(s![0])?.map_rows(|row| Ok(row.clone())))),
    ("string_split", |s| no(s.t.string_split(" "))),
    ("string_join", |s| no(Tensor::string_join(&[&s.t], ""))),
    ("to_hash_bucket_fast", |s| no(s.words.to_hash_bucket_fast(0))),
    ("from_row_splits", |s| no(RaggedTensor::from_row_splits([1, 2], [0, 3], &s.device))),
    ("from_row_splits of a level", |s| no(Tensor::from_nested_row_splits(&s.dense, [[0, 5]]))),
    ("from_value_rowids", |s| no(RaggedTensor::from_value_rowids([1, 2], with_nrows([0, 1], 1), &s.device))),
    ("from_uniform_row_length", |s| no(RaggedTensor::from_uniform_row_length([1, 2, 3], 2, &s.device))),
    ("RowPartition", |s| no(RowPartition::from_row_lengths([1, -1], &s.device))),
    ("SparseTensor", |s| no(SparseTensor::new(&s.dense, &s.dense, &[1]))),
    ("to_vec of another dtype", |s| no(RaggedTensor::<i32>::try_from(s.t.clone()))),
    ("to_nested_vec", |s| no(s.x.to_nested_vec::<Vec<f32>>())),
    ("item", |s| no(s.x.item())),
    ("row_to_vec", |s| no(s.x.row_to_vec(9))),
    ("dense", |s| no(RaggedTensor::dense([1, 2, 3], &[2, 2], &s.device))),
    ("other device", |s| no(s.x.add(&s.x.to_device(&Device::cpu_unfused())?))),
    ("eval of other devices", |s| eval([s.x.erased(), &s.x.to_device(&Device::cpu_unfused())?])),
    ("integer division", |s| read(s.ints.erased().floordiv(0))),
    ("bounding_size", |s| no(s.t.bounding_size(3))),
    ("a size above the limit", |s| no(s.x.tile(&[1i64 << 40, 1]))),
    ("bounding_shape_of", |s| no(s.t.bounding_shape_of(Axes::from(3)))),
];

/// The line that each error names is in this file: no error names a line of the crate.
#[test]
fn errors_name_the_line_of_the_call() {
    let subjects = Subjects::new(&Device::cpu()).expect("valid tensors");
    let mut wrong = Vec::new();
    for (name, misuse) in MISUSES {
        match misuse(&subjects) {
            Ok(()) => wrong.push(format!("{name}: no error")),
            Err(e) => match e.location() {
                Some(location) if location.file().ends_with("tests/errors.rs") => {}
                location => wrong.push(format!("{name}: {location:?}: {e}")),
            },
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), MISUSES.len(), wrong.join("\n"));
}

#[test]
fn errors_print_their_message() {
    let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu()).expect("valid");
    let (e, line) = (x.reduce_sum(2).unwrap_err(), line!());
    let message =
        format!("reduce_sum: axis 2 is out of range for rank 2 (allowed: -2 to 1), at tests/errors.rs:{line}");
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
        assert!(location.file().ends_with("errors.rs") && location.line() == line, "{name}: {e}");
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
        assert!(location.file().ends_with("errors.rs") && location.line() == line, "{e}");
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
            (large.add(&other).map(Into::into), "of which none is 1: 2 and 1"),
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
