//! Misuse of shapes, sparse tensors, records, LoD tensors, construction, reads and devices.

use pollster::block_on;
use ragged::opt::{ConstantOptions, Pool};
use ragged::{
    CpuOptions, DType, Device, FieldValue, JsonLines, Key, Lengths, LoadOptions, LodTensor, Nested, Program,
    RaggedShape, RaggedTensor, Result, RowPartition, SavedModel, SparseTensor, StructuredTensor, Tensor, TensorSpec,
    Update, keys, record_async, s, to_host, to_host_async, to_vecs,
};

use crate::{Misuse, Subjects, no, read};

pub const SHAPES: &[(&str, Misuse)] = &[
    ("RaggedShape::dense", |s| no(RaggedShape::dense(&[-1], &s.device))),
    ("RaggedShape::from_row_partitions", |s| {
        let (a, b) =
            (RowPartition::from_row_lengths([1, 1], &s.device)?, RowPartition::from_row_lengths([5, 3], &s.device)?);
        no(RaggedShape::from_row_partitions(&[a, b.clone(), b], &[10], &s.device))
    }),
    ("from_row_partitions: inner shape", |s| no(RaggedShape::from_row_partitions(s.x.partitions(), &[9], &s.device))),
    ("from_row_partitions", |s| no(Tensor::from_row_partitions(&s.dense, s.x.partitions()))),
    ("RaggedShape::from_lengths", |s| no(RaggedShape::from_lengths(&[Lengths::from(-1)], &s.device))),
    ("from_lengths of rows", |s| no(RaggedShape::from_lengths(&[2.into(), [2, -1].into()], &s.device))),
    ("RaggedShape::is_uniform", |s| no(s.x.ragged_shape().is_uniform(7))),
    ("RaggedShape::with_ragged_rank", |s| no(s.x.ragged_shape().with_ragged_rank(0))),
    ("RaggedShape::slice", |s| no(s.x.ragged_shape().slice(1..))),
    ("RaggedShape::broadcast", |s| no(s.x.ragged_shape().broadcast(s.other_rows.ragged_shape()))),
    ("RaggedShape::equals", |s| no(s.x.ragged_shape().equals(s.x.to_device(&Device::cpu_unfused())?.ragged_shape()))),
    ("RowPartition::offsets_in_rows", |s| no(s.x.partitions()[0].offsets_in_rows(&Device::cpu_unfused()))),
    ("RaggedShape::size", |s| no(s.x.ragged_shape().size(1))),
    ("RowPartition::row_splits", |s| no(s.x.partitions()[0].row_splits(&Device::cpu_unfused()))),
    ("RowPartition::row_lengths", |s| no(s.x.partitions()[0].row_lengths(&Device::cpu_unfused()))),
    ("RowPartition::row_starts", |s| no(s.x.partitions()[0].row_starts(&Device::cpu_unfused()))),
    ("RowPartition::row_limits", |s| no(s.x.partitions()[0].row_limits(&Device::cpu_unfused()))),
    ("RowPartition::value_rowids", |s| no(s.x.partitions()[0].value_rowids(&Device::cpu_unfused()))),
    ("RowPartition::equals", |s| {
        no(s.x.partitions()[0].equals(&s.x.to_device(&Device::cpu_unfused())?.partitions()[0]))
    }),
    ("broadcast_like", |s| no(s.x.broadcast_like(&s.other_rows))),
    ("RowPartition::from_row_starts", |s| no(RowPartition::from_row_starts([1, 0], 2, &s.device))),
    ("RowPartition::from_row_limits", |s| no(RowPartition::from_row_limits([1, 0], &s.device))),
    ("RowPartition::from_row_splits", |s| no(RowPartition::from_row_splits([1, 0], &s.device))),
    ("RowPartition::from_value_rowids", |s| no(RowPartition::from_value_rowids([1, 0], &s.device))),
    ("RowPartition::from_uniform_row_length", |s| no(RowPartition::from_uniform_row_length(2, 3, &s.device))),
];

/// Encodings of the wrong number of values.
macro_rules! encodings {
    ($($name:ident $nested:ident $unchecked:ident $nested_unchecked:ident;)+) => {
        &[$(
            (stringify!($name), |s| no(Tensor::$name(&s.words, [7, 3]))),
            (stringify!($nested), |s| no(Tensor::$nested(&s.words, [[7, 3]]))),
            (stringify!($unchecked), |s| no(Tensor::$unchecked(&s.words.slice(s![0, 0])?, [0, 1]))),
            (stringify!($nested_unchecked), |s| no(Tensor::$nested_unchecked(&s.words.slice(s![0, 0])?, [[0, 1]]))),
        )+]
    };
}
pub const ENCODINGS: &[(&str, Misuse)] = encodings! {
    from_row_splits from_nested_row_splits from_row_splits_unchecked from_nested_row_splits_unchecked;
    from_row_lengths from_nested_row_lengths from_row_lengths_unchecked from_nested_row_lengths_unchecked;
    from_value_rowids from_nested_value_rowids from_value_rowids_unchecked from_nested_value_rowids_unchecked;
};

pub const CONSTRUCTION: &[(&str, Misuse)] = &[
    ("from_row_starts", |s| no(Tensor::from_row_starts(&s.dense, [1, 0]))),
    ("from_row_starts_unchecked", |s| no(Tensor::from_row_starts_unchecked(&s.words.slice(s![0, 0])?, [0]))),
    ("from_row_limits", |s| no(Tensor::from_row_limits(&s.dense, [1, 0]))),
    ("from_row_limits_unchecked", |s| no(Tensor::from_row_limits_unchecked(&s.words.slice(s![0, 0])?, [1]))),
    ("from_uniform_row_length", |s| no(Tensor::from_uniform_row_length(&s.dense, 3))),
    ("from_uniform_row_length_unchecked", |s| {
        no(Tensor::from_uniform_row_length_unchecked(&s.words.slice(s![0, 0])?, 1))
    }),
    ("row ids beyond memory", |_| {
        let small = Device::cpu_with(&CpuOptions::default().max_memory(1 << 20));
        no(RaggedTensor::from_value_rowids(vec![1f32; 3], [0i64, 0, 1 << 22], &small))
    }),
    ("an upload beyond the budget", |_| {
        let small = Device::cpu_with(&CpuOptions::default().max_memory(1 << 20));
        no(RaggedTensor::from_nested(vec![1f32; 1 << 20], &small))
    }),
    ("constant", |s| {
        no(Tensor::constant(
            &Nested::List(vec![1.into(), Nested::List(vec![])]),
            &ConstantOptions::default(),
            &s.device,
        ))
    }),
    ("LodTensor::from_nested", |_| {
        let small = Device::cpu_with(&CpuOptions::default().max_memory(8));
        no(LodTensor::from_nested(vec![vec![[1], [2]], vec![]], &small))
    }),
    ("from_ndarray, to_ndarray", |s| no(s.x.to_ndarray(ragged::opt::shaped(0.0, [1])))),
    ("from_tensor_with_nested_lengths", |s| no(Tensor::from_tensor_with_nested_lengths(&s.dense, &[&[1, 2, 3]]))),
    ("from_tensor_with_padding", |s| no(Tensor::from_tensor_with_padding(&s.dense, &s.words))),
    ("zeros_like, ones_like", |s| no(s.words.ones_like())),
    ("fill_rows", |s| no(s.dense.erased().slice(s![0, 0])?.fill_rows(1, 0))),
    ("row_splits", |s| no(s.dense.row_splits())),
    ("row_starts", |s| no(s.dense.row_starts())),
    ("row_limits", |s| no(s.dense.row_limits())),
    ("value_rowids", |s| no(s.dense.value_rowids())),
    ("nrows", |s| no(s.dense.slice(s![0, 0])?.nrows())),
];

pub const SPARSE: &[(&str, Misuse)] = &[
    ("SparseTensor::from_entries", |s| no(SparseTensor::from_entries(&[[0, 7]], [1], [3, 5], &s.device))),
    ("SparseTensor::new", |s| {
        no(SparseTensor::new(&RaggedTensor::from_nested([[0i64, 0]], &s.device)?, &s.x, &[-1, 1]))
    }),
    ("add", |s| no(s.sparse.add(&s.other_sparse))),
    ("maximum", |s| no(s.sparse.maximum(&s.other_sparse))),
    ("minimum", |s| no(s.sparse.minimum(&s.other_sparse))),
    ("softmax", |s| no(s.sparse.softmax())),
    ("matmul", |s| no(s.sparse.matmul(&s.dense))),
    ("transpose", |s| no(s.sparse.transpose([0, 0]))),
    ("fill_empty_rows", |s| no(s.sparse.fill_empty_rows(0.5))),
    ("slice", |s| no(s.sparse.slice(&[-1, 0], &[1, 1]))),
    ("split", |s| no(s.sparse.split(2, 7))),
    ("SparseTensor::concat", |s| no(SparseTensor::concat(&[&s.sparse, &s.other_sparse], 0))),
    ("to_dense", |s| no(s.sparse.to_dense("x"))),
    ("add_dense", |s| no(s.sparse.add_dense(&s.dense))),
    ("SparseTensor::from_dense", |s| no(SparseTensor::from_dense(&s.x))),
    ("sparse_to_dense", |s| no(s.words.sparse_to_dense(&[3], 1, 0))),
    ("SparseTensor::eye", |s| no(SparseTensor::eye(-1, 2, DType::I32, &s.device))),
    ("to_indicator", |s| no(s.sparse.to_indicator(-1))),
    ("retain", |s| no(s.sparse.retain(&s.flags))),
    ("mask", |s| no(s.sparse.mask(&s.x))),
    ("map_values", |s| no(s.sparse.map_values(|_| Ok(s.t.clone())))),
    ("reduce_sum", |s| no(s.sparse.reduce_sum(7))),
    ("reduce_max", |s| no(s.sparse.reduce_max(7))),
    ("reduce_sum_sparse", |s| no(s.sparse.reduce_sum_sparse(7))),
    ("reduce_max_sparse", |s| no(s.sparse.reduce_max_sparse(7))),
    ("reshape", |s| no(s.sparse.reshape(&[7]))),
    ("reset_shape", |s| no(s.sparse.reset_shape(&[1, 1]))),
    ("expand_dims", |s| no(s.sparse.expand_dims(7))),
    ("from_sparse, on the device", |s| read(Tensor::from_sparse(&s.sparse))),
    ("to_sparse", |s| no(s.x.erased().slice(s![0, 0])?.to_sparse())),
    ("to_ragged, on the device", |s| read(s.sparse.to_ragged())),
    ("values_by_row", |s| no(s.sparse.reduce_sum_sparse([0, 1]).and_then(|x| x.values_by_row()))),
    ("to_host of sparse", |s| {
        let indices = RaggedTensor::from_nested([[0i64, 7]], &s.device)?;
        no(SparseTensor::new(&indices, &RaggedTensor::from_nested([1], &s.device)?, &[1, 1])?.to_host())
    }),
    ("to_host_async of sparse", |s| {
        let indices = RaggedTensor::from_nested([[0i64, 7]], &s.device)?;
        no(block_on(SparseTensor::new(&indices, &RaggedTensor::from_nested([1], &s.device)?, &[1, 1])?.to_host_async()))
    }),
    ("to_device of sparse", |s| {
        no(ragged::HostSparseTensor { indices: vec![1], ..s.sparse.to_host()? }.to_device(&s.device))
    }),
    ("bincount_sparse", |s| no(s.words.bincount_sparse(1, 3))),
    ("bincount_sparse of entries", |s| no(s.sparse.bincount_sparse(7, 3))),
    ("bincount of entries", |s| no(s.sparse.bincount(7, 3))),
    ("bincount_weighted of entries", |s| no(s.sparse.bincount_weighted(&s.other_sparse, 7, 3))),
    ("bincount_sparse_weighted of entries", |s| no(s.sparse.bincount_sparse_weighted(&s.other_sparse, 7, 3))),
];

/// Records on another device than the others.
#[track_caller]
fn records_elsewhere() -> Result<StructuredTensor> {
    let a = RaggedTensor::from_nested([1, 2], &Device::cpu_unfused())?;
    StructuredTensor::from_fields([("a", &a)], [2])
}

/// A tensor whose number of rows depends on a check that fails on the device.
#[track_caller]
fn failing_rows(s: &Subjects) -> Result<Tensor> {
    s.ints.erased().flat_values()?.boolean_mask(&s.failing()?.flat_values()?.equal(0)?)
}

pub const RECORDS: &[(&str, Misuse)] = &[
    ("StructuredTensor::from_fields", |s| no(StructuredTensor::from_fields([("a", &s.x)], [7]))),
    ("from_fields of other rows", |s| no(StructuredTensor::from_fields([("a", &s.x), ("b", &s.other_rows)], [-1, -1]))),
    ("StructuredTensor::from_fields_and_rank", |s| no(StructuredTensor::from_fields_and_rank([("a", &s.x)], 7))),
    ("field_value", |s| no(s.records.field_value("z"))),
    ("get", |s| no(s.records.get(keys![9]))),
    ("get below a field", |s| no(s.records.get([Key::Field("a".into()), Key::Index(9.into())]))),
    ("get of a field's value", |s| no(s.records.field_value("a")?.get(keys![9]))),
    ("tensor", |s| no(FieldValue::from(s.records.clone()).tensor())),
    ("records", |s| no(FieldValue::from(&s.x).records())),
    ("gather", |s| no(s.records.gather(&s.x))),
    ("gather, on the device", |s| {
        let far = RaggedTensor::from_nested([9], &s.device)?.add(0)?;
        read(s.records.gather(&far)?.field_value("a")?.tensor())
    }),
    ("row_at of records", |s| no(s.records.row_at(&s.x))),
    ("row_at of records, on the device", |s| {
        let far = RaggedTensor::from_nested([9], &s.device)?.reduce_sum(..)?;
        read(s.records.row_at(&far)?.field_value("a")?.tensor())
    }),
    ("slice_rows of records", |s| no(s.records.slice_rows([0, 0], [1, 1]))),
    ("StructuredTensor::concat", |s| no(StructuredTensor::concat(&[&s.records, &s.records], 7))),
    ("merge_dims", |s| no(s.records.merge_dims(0, 7))),
    ("expand_dims", |s| no(s.records.expand_dims(9))),
    ("partition_outer_dimension", |s| no(s.records.partition_outer_dimension(&s.other_rows.partitions()[0].clone()))),
    ("promote", |s| no(s.records.promote("a", "b"))),
    ("with_updates", |s| no(s.records.with_updates([Update::remove("z")]))),
    ("field", |s| no(s.records.field::<f32>("a"))),
    ("field of none", |s| no(s.records.field::<f32>("z"))),
    ("rows", |s| no(s.records.row_at(&s.ints.reduce_sum(..)?)?.rows())),
    ("StructuredTensor::from_serialize", |s| no(StructuredTensor::from_serialize(&[1, 2], &s.device))),
    ("StructuredTensor::from_serialize_with", |s| {
        let options = ragged::JsonOptions::default().ignore_unknown_fields(true);
        no(StructuredTensor::from_serialize_with(&[None::<i32>], &options, &s.device))
    }),
    ("StructuredTensor::from_serialize_with_schema", |s| {
        no(StructuredTensor::from_serialize_with_schema(&[1], &ragged::JsonType::from(DType::I32), &s.device))
    }),
    ("FieldValue::from_serialize_with_schema", |s| {
        let unnamed = ragged::JsonType::record([("", DType::I32)]);
        no(FieldValue::from_serialize_with_schema(&[1], &unnamed, &s.device))
    }),
    ("FieldValue::from_serialize", |s| no(FieldValue::from_serialize(&None::<i32>, &s.device))),
    ("to_value", |s| {
        let x = RaggedTensor::from_nested([f32::NAN], &s.device)?;
        no(StructuredTensor::from_fields([("a", &x)], [1])?.to_value())
    }),
    ("deserialize", |s| no(s.records.deserialize::<Vec<u8>>())),
    ("equals of records", |s| no(s.records.equals(&records_elsewhere()?))),
    ("len of records", |s| no(s.records.get(keys![0])?.records()?.len())),
    ("is_empty of records", |s| no(s.records.get(keys![0])?.records()?.is_empty())),
    ("len_async of records", |s| no(block_on(s.records.get(keys![0])?.records()?.len_async()))),
    ("JsonLines::open", |_| no(JsonLines::open("no such file"))),
    ("JsonLines::read", |s| no(JsonLines::new(&b"[1"[..]).read(&s.device))),
];

pub const LOD: &[(&str, Misuse)] = &[
    ("LodTensor::from_lengths", |s| no(LodTensor::from_lengths(&s.dense, [[7]]))),
    ("LodTensor::from_lod", |s| no(LodTensor::from_lod(&s.dense, [[0, 7]]))),
    ("with_lod", |s| no(s.lod.with_lod([[0, 7]]))),
    ("LodTensor::sequence_concat", |_| no(LodTensor::sequence_concat(&[] as &[LodTensor]))),
    ("sequence_conv", |s| no(s.lod.sequence_conv(&s.x, 3))),
    ("sequence_enumerate", |s| no(s.lod.sequence_enumerate(0, 0))),
    ("sequence_expand", |s| no(s.lod.sequence_expand(&s.lod, 7))),
    ("sequence_expand_as", |s| no(s.lod.sequence_expand_as(&LodTensor::from_lengths(&s.dense, [[2]])?))),
    ("LodTensor::from_list", |s| no(LodTensor::from_list(&[s.t.slice(s![0, 0])?]))),
    ("offsets", |s| no(s.lod.offsets(7))),
    ("sequence_pad", |s| no(s.lod.sequence_pad("x", 1))),
    ("sequence_unpad", |s| no(s.lod.sequence_unpad([1, 2, 3]))),
    ("sequence_pool", |s| no(s.lod.sequence_pool(Pool::Sum, "x"))),
    ("sequence_reshape", |s| no(s.lod.sequence_reshape(0))),
    ("sequence_scatter", |s| no(s.lod.sequence_scatter(&s.lod, &s.lod))),
    ("sequence_slice", |s| no(s.lod.sequence_slice([9, 9], [9, 9]))),
    ("sequence_softmax", |s| no(s.lod.sequence_softmax())),
];

pub const PROGRAMS: &[(&str, Misuse)] = &[
    ("value_and_grad", |s| no(ragged::value_and_grad(|x| x[0].reduce_sum(..), &s.ints))),
    ("value_and_grad of rows", |s| no(ragged::value_and_grad(|x| x[0].reduce_sum(1), &s.x))),
    ("grad", |s| no(ragged::grad(|x| x[0].reduce_sum(..), &s.ints))),
    ("Program::trace", |s| {
        let spec = TensorSpec::of(&s.x).ragged_rank(2);
        no(Program::trace(&[spec], |x| Ok([x[0].clone()])).map(|_| s.t.clone()))
    }),
    ("trace of a read", |s| {
        no(Program::trace(&[TensorSpec::of(&s.x)], |x| x[0].to_host().map(|_| [x[0].clone()])).map(|_| s.t.clone()))
    }),
    ("Program::run of another input", |s| {
        no(Program::trace(&[TensorSpec::of(&s.x)], |x| Ok([x[0].clone()]))?.run(&s.ints))
    }),
    ("Program::run_on", |s| no(Program::trace(&[TensorSpec::of(&s.x)], |x| Ok([x[0].clone()]))?.run_on(&s.device))),
    ("Program::explain", |s| {
        let program = Program::trace(&[TensorSpec::of(&s.x)], |x| Ok([x[0].clone()]))?;
        no(program.explain([&s.t, &s.t]))
    }),
    ("Program::grad", |s| {
        no(Program::trace(&[TensorSpec::of(&s.x)], |x| x[0].reduce_sum(1))?.grad([0]).map(|_| s.t.clone()))
    }),
    ("Program::value_and_grad", |s| {
        no(Program::trace(&[TensorSpec::of(&s.ints)], |x| x[0].reduce_sum(..))?
            .value_and_grad([0])
            .map(|_| s.t.clone()))
    }),
    ("RowPartition::splits_buffer", |s| no(s.x.partitions()[0].splits_buffer(&s.device))),
    ("SavedModel::save", |s| no(SavedModel::new().with_tensor("x", &s.x).save("/nowhere/x.safetensors"))),
    ("SavedModel::to_bytes of a failed check", |s| no(SavedModel::new().with_tensor("x", &s.failing()?).to_bytes())),
    ("SavedModel::load", |_| no(SavedModel::load("/nowhere/x.safetensors"))),
    ("SavedModel::from_bytes", |_| no(SavedModel::from_bytes(b"nothing".to_vec()))),
    ("LoadOptions::load", |_| no(LoadOptions::new().load("/nowhere/x.safetensors"))),
    ("LoadOptions::from_bytes", |_| no(LoadOptions::new().from_bytes(b"nothing".to_vec()))),
    ("SavedModel::program", |_| no(SavedModel::new().program("x"))),
    ("SavedModel::tensor", |s| no(SavedModel::new().tensor("x", &s.device))),
];

/// Reads, whose errors name the operation of which a check failed.
pub const READS: &[(&str, Misuse)] = &[
    ("eval", |s| read(s.failing())),
    ("check", |s| s.failing()?.check()),
    ("check_async", |s| block_on(s.failing()?.check_async())),
    ("to_host_async", |s| no(block_on(s.failing()?.to_host_async()))),
    ("to_nested", |s| no(s.failing()?.to_nested())),
    ("to_nested_async", |s| no(block_on(s.failing()?.to_nested_async()))),
    ("to_device", |s| no(s.failing()?.to_device(&Device::cpu_unfused()))),
    ("to_device_async", |s| no(block_on(s.failing()?.to_device_async(&Device::cpu_unfused())))),
    ("to_vec", |s| no(RaggedTensor::<i32>::try_from(s.failing()?)?.to_vec())),
    ("to_vec_async", |s| no(block_on(RaggedTensor::<i32>::try_from(s.failing()?)?.to_vec_async()))),
    ("to_nested_vec_async", |s| no(block_on(s.x.to_nested_vec_async::<Vec<f32>>()))),
    ("row_to_host", |s| no(s.t.row_to_host(9))),
    ("row_to_host_async", |s| no(block_on(s.t.row_to_host_async(9)))),
    ("rows_to_host", |s| no(s.t.rows_to_host(1..9))),
    ("rows_to_host_async", |s| no(block_on(s.t.rows_to_host_async(1..9)))),
    ("len", |s| no(failing_rows(s)?.len())),
    ("len of a scalar", |s| no(s.x.reduce_sum(..)?.len())),
    ("is_empty", |s| no(failing_rows(s)?.is_empty())),
    ("len_async", |s| no(block_on(failing_rows(s)?.len_async()))),
    ("rows", |s| no(s.x.reduce_sum(..)?.rows())),
    ("rows of a failed check", |s| no(RaggedTensor::<i32>::try_from(s.failing()?)?.rows())),
    ("rows_async", |s| no(block_on(s.x.reduce_sum(..)?.rows_async()))),
    ("equals", |s| no(s.failing()?.equals(&s.failing()?))),
    ("row_to_vec_async", |s| no(block_on(s.x.row_to_vec_async(9)))),
    ("to_host of several", |s| no(to_host([&s.failing()?]))),
    ("to_host_async of several", |s| no(block_on(to_host_async([&s.failing()?])))),
    ("to_vecs", |s| no(to_vecs((&s.x, &RaggedTensor::<i32>::try_from(s.failing()?)?)))),
    ("explain", |s| no(ragged::explain([&s.t, &s.t.to_device(&Device::cpu_unfused())?]))),
    ("explain_timed", |s| no(ragged::explain_timed([&s.t, &s.t.to_device(&Device::cpu_unfused())?]))),
    ("record_async", |s| no(block_on(record_async(|| s.x.to_tensor("x"))))),
    ("values_buffer", |s| no(s.t.values_buffer())),
];
