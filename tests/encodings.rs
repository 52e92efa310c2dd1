//! Construction of ragged tensors and access to their parts: round trips of every encoding, errors and their messages,
//! device-known sizes, and invalid lists for unchecked constructors.

mod common;

use common::random;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use ragged::{
    ConstantOptions, DType, Device, Error, HostTensor, HostValues, Integers, Padding, RaggedShape, RaggedTensor,
    Result, RowPartition, SparseTensor, Str, Tensor, UniformRows, keep, ragged, s, shaped, with_nrows,
};

/// A dense vector of integers on a device.
fn vector(values: &[i64], device: &Device) -> Tensor {
    HostTensor::dense(&[values.len()], HostValues::I64(values.to_vec())).to_device(device).expect("a small tensor")
}

fn ints(t: &Tensor) -> Vec<i64> {
    match t.to_host().expect("a read").values {
        HostValues::I64(v) => v,
        other => panic!("{} where i64 belong", other.dtype()),
    }
}

/// `n` values in an array of device-known size.
fn unknown(n: i64, device: &Device) -> Tensor {
    let all: Vec<i64> = (-1..n).collect();
    let rows = Tensor::from_row_lengths(&vector(&all, device), [n + 1, 0]).expect("two rows");
    let out = rows.slice(s![.., 1..]).expect("a slice").values().expect("one partition");
    assert_eq!(out.shape(), [None], "the host must not know the size");
    out
}

/// The constructors from one list by name, checked and unchecked.
type Factory = (&'static str, fn(&Tensor, Integers<'_>) -> Result<Tensor>);
const CHECKED: [Factory; 5] = [
    ("row_splits", |v, g| Tensor::from_row_splits(v, g)),
    ("row_lengths", |v, g| Tensor::from_row_lengths(v, g)),
    ("row_starts", |v, g| Tensor::from_row_starts(v, g)),
    ("row_limits", |v, g| Tensor::from_row_limits(v, g)),
    ("value_rowids", |v, g| Tensor::from_value_rowids(v, g)),
];
const UNCHECKED: [Factory; 5] = [
    ("row_splits", |v, g| Tensor::from_row_splits_unchecked(v, g)),
    ("row_lengths", |v, g| Tensor::from_row_lengths_unchecked(v, g)),
    ("row_starts", |v, g| Tensor::from_row_starts_unchecked(v, g)),
    ("row_limits", |v, g| Tensor::from_row_limits_unchecked(v, g)),
    ("value_rowids", |v, g| Tensor::from_value_rowids_unchecked(v, with_nrows(g, 3))),
];

/// Invalid lists of each encoding for 4 values, and a part of the error message for a list on the host.
const REFUSED: [(usize, &[i64], &str); 24] = [
    (0, &[], "at least one entry"),
    (0, &[1, 4], "row_splits[0] is 1"),
    (0, &[0, 3, 2, 4], "row_splits[2] = 2 is below row_splits[1] = 3"),
    (0, &[0, 3], "ends at 3, but there are 4"),
    (0, &[0, 5], "ends at 5, but there are 4"),
    (0, &[-1, 4], "row_splits[0] is -1"),
    (0, &[0, i64::MAX], "but there are 4 values"),
    (1, &[2, -1, 3], "row_lengths[1] is -1"),
    (1, &[2, 1], "add up to 3, but there are 4"),
    (1, &[2, 3], "add up to 5, but there are 4"),
    (1, &[], "add up to 0, but there are 4"),
    (1, &[i64::MAX, i64::MAX], "needs"),
    (2, &[1, 2], "row_starts[0] is 1"),
    (2, &[0, 3, 2], "row_starts[2] = 2 is below row_starts[1] = 3"),
    (2, &[0, 5], "row_starts[1] is 5"),
    (2, &[], "is empty, but there are 4"),
    (3, &[-1, 4], "row_limits[0] is -1"),
    (3, &[3, 2, 4], "row_limits[1] = 2 is below row_limits[0] = 3"),
    (3, &[2, 3], "row_limits[1] is 3"),
    (3, &[], "is empty, but there are 4"),
    (4, &[0, 0, 1], "3 entries, but there are 4"),
    (4, &[0, 2, 1, 3], "value_rowids[2] = 1 is below 2"),
    (4, &[-1, 0, 0, 0], "value_rowids[0] is -1"),
    (4, &[0, 0, 0, 0, 0], "5 entries, but there are 4"),
];

#[test]
fn invalid_host_lists_are_errors_that_name_the_first_offender() {
    let values = vector(&[1, 2, 3, 4], &Device::cpu());
    for (factory, given, words) in REFUSED {
        let (name, make) = CHECKED[factory];
        let e = make(&values, given.into()).expect_err(name).to_string();
        assert!(e.contains(words), "{name} of {given:?} says {e:?}, which lacks {words:?}");
    }
}

#[test]
fn invalid_device_lists_are_errors_at_the_read() {
    for (label, device) in common::devices().into_iter().filter(|(_, d)| common::has(d, DType::I64)) {
        let values = vector(&[1, 2, 3, 4], &device);
        for (factory, given, _) in REFUSED {
            let (name, make) = CHECKED[factory];
            let on_device = vector(given, &device);
            let outcome = make(&values, (&on_device).into()).and_then(|t| t.to_host());
            assert!(outcome.is_err(), "{label}: {name} of {given:?} on the device gives {outcome:?}");
        }
    }
}

#[test]
fn invalid_lists_for_a_device_known_number_of_values_are_errors() {
    for (label, device) in common::devices().into_iter().filter(|(_, d)| common::has(d, DType::I64)) {
        for (factory, given, _) in REFUSED {
            let (name, make) = CHECKED[factory];
            let outcome = make(&unknown(4, &device), given.into()).and_then(|t| t.to_host());
            assert!(outcome.is_err(), "{label}: {name} of {given:?} for unknown values gives {outcome:?}");
        }
        let uniform = |len, nrows| {
            Tensor::from_uniform_row_length(&unknown(4, &device), UniformRows { length: len, nrows })?.to_host()
        };
        assert!(uniform(3, None).is_err() && uniform(2, Some(3)).is_err() && uniform(0, None).is_err(), "{label}");
        assert_eq!(uniform(2, None).expect("two rows").nested_row_splits, [[0, 2, 4]], "{label}");
    }
}

#[test]
fn a_failed_condition_names_the_call() {
    let device = Device::cpu();
    let splits = vector(&[0, 3, 2, 4], &device);
    let x = Tensor::from_row_splits(&vector(&[1, 2, 3, 4], &device), &splits).expect("recorded");
    let Err(Error::Check { op, at, location, .. }) = x.to_host() else { panic!("the condition must fail") };
    assert_eq!((op, at), ("from_row_splits", 1));
    assert!(location.file().contains("encodings.rs"), "{location}");
    assert!(x.to_string().starts_with("<ragged.RaggedTensor: from_row_splits: "), "{x}");
    // The arguments stay valid.
    assert_eq!(ints(&splits), [0, 3, 2, 4]);
}

#[test]
fn unchecked_constructors_accept_any_list() {
    let device = Device::cpu();
    let values = vector(&[1, 2, 3, 4], &device);
    for (factory, given, _) in REFUSED {
        let (name, make) = UNCHECKED[factory];
        let on_device = vector(given, &device);
        for x in [make(&values, given.into()), make(&values, (&on_device).into())] {
            let Ok(x) = x else { continue };
            let splits = &x.to_host().expect(name).nested_row_splits[0];
            assert!(splits.windows(2).all(|w| w[0] <= w[1]), "{name} of {given:?}: {splits:?}");
            assert!(splits[0] == 0 && splits[splits.len() - 1] == 4, "{name} of {given:?}: {splits:?}");
            // Subsequent operations must not fault either.
            x.to_tensor(Padding::Zero).and_then(|t| t.to_host()).expect(name);
            x.value_rowids().and_then(|t| t.to_host()).expect(name);
        }
    }
    let good: [&[i64]; 5] = [&[0, 1, 1, 4], &[1, 0, 3], &[0, 1, 1], &[1, 1, 4], &[0, 2, 2, 2]];
    for ((name, make), given) in UNCHECKED.into_iter().zip(good) {
        for given in [given.into(), Integers::from(&vector(given, &device))] {
            let x = make(&values, given).and_then(|t| t.to_host()).expect(name);
            assert_eq!(x.nested_row_splits, [[0, 1, 1, 4]], "{name}");
        }
    }
    let nested = Tensor::from_nested_row_lengths_unchecked(&values, [[2, 0].as_slice(), &[1, 3]]).expect("two levels");
    assert_eq!(nested.to_string(), "<ragged.RaggedTensor [[[1], [2, 3, 4]], []]>");
}

#[test]
fn unchecked_rows_hold_all_values() {
    const N: i64 = 4096;
    let lists: [(usize, &[i64]); 9] = [
        (0, &[0, 1]),
        (0, &[0, 3, 1]),
        (0, &[0]),
        (1, &[1, 2]),
        (1, &[]),
        (2, &[0, 9, 5000]),
        (2, &[]),
        (3, &[1, 7]),
        (3, &[]),
    ];
    let mut first: Option<Vec<_>> = None;
    for (label, device) in common::devices().into_iter().filter(|(_, d)| common::has(d, DType::I64)) {
        let mut results = Vec::new();
        let values = vector(&vec![1; N as usize], &device);
        // Contents that another tensor leaves in pooled buffers of this size.
        let poison = || {
            let other = vector(&vec![0x00C0_FFEE; N as usize], &device);
            for t in [other.add(1i64), other.multiply(2i64), other.subtract(1i64)] {
                t.and_then(|t| t.eval()).expect("computed");
            }
        };
        let mut check = |x: Result<Tensor>, what: &str| {
            type Operation = (&'static str, fn(&Tensor) -> Result<Tensor>);
            let operations: [Operation; 5] = [
                ("splits", |x| x.row_splits()),
                ("cumsum", |x| x.cumsum(1)),
                ("sort", |x| x.sort(1)),
                ("argsort", |x| x.argsort(1)),
                ("center", |x| x.subtract(&x.reduce_max(keep(1))?)),
            ];
            for (name, operation) in operations {
                poison();
                let result = x.as_ref().map_err(ToString::to_string);
                let result = result.and_then(|x| operation(x).and_then(|x| x.to_host()).map_err(|e| e.to_string()));
                if let Ok(HostTensor { values: HostValues::I64(got), .. }) = &result {
                    let most = got.iter().copied().max().unwrap_or(0);
                    assert!(most <= N, "{label}: {name} of {what}: a value of another tensor, {most}");
                    if name == "splits" && got.len() > 1 {
                        assert_eq!((got[0], got[got.len() - 1]), (0, N), "{label}: {what}: {got:?}");
                    }
                }
                if let Err(e) = &result {
                    assert!(e.contains("no rows"), "{label}: {name} of {what}: {e}");
                }
                results.push((format!("{name} of {what}"), result.map_err(drop)));
            }
        };
        let unknown_values = || unknown(N, &device).multiply(0i64)?.add(1i64);
        for (factory, given) in lists {
            let (name, make) = UNCHECKED[factory];
            let list = vector(given, &device);
            check(make(&values, (&list).into()), &format!("{name} of {given:?}"));
            check(
                unknown_values().and_then(|v| make(&v, (&list).into())),
                &format!("{name} of {given:?} for unknown values"),
            );
            check(
                unknown_values().and_then(|v| make(&v, given.into())),
                &format!("{name} of {given:?}, a host list, for unknown values"),
            );
        }
        // A list of device-known length.
        for n in [3i64, 1, 0] {
            let list = vector(&[0, 1, 2], &device);
            let list = list.less(n).and_then(|mask| list.boolean_mask(&mask)).expect("a mask");
            check(Tensor::from_row_splits_unchecked(&values, &list), &format!("{n} splits"));
            check(Tensor::from_row_lengths_unchecked(&values, &list), &format!("{n} lengths"));
        }
        // The number of row ids differs from that of the values.
        let ids = vector(&[0, 0, 1], &device);
        for nrows in [0, 1, 3] {
            check(
                unknown_values().and_then(|v| Tensor::from_value_rowids_unchecked(&v, with_nrows(&ids, nrows))),
                &format!("ids in {nrows} rows"),
            );
            check(
                unknown_values().and_then(|v| Tensor::from_value_rowids_unchecked(&v, with_nrows([0, 0, 0], nrows))),
                &format!("host ids in {nrows} rows"),
            );
        }
        match &first {
            Some(first) => results.iter().zip(first).for_each(|(got, cpu)| assert_eq!(got, cpu, "{label}")),
            None => first = Some(results),
        }
    }
}

#[test]
fn inconsistent_host_tensors_print_without_a_panic() {
    let ints = |n: i32| HostValues::I32((1..=n).collect());
    let splits =
        |splits: &[&[u32]], n| HostTensor::from_nested_row_splits(splits.iter().map(|s| s.to_vec()).collect(), ints(n));
    let shaped = |shape: &[usize], n| HostTensor::dense(shape, ints(n));
    let odd = |t: HostTensor, shape: &[usize]| HostTensor { inner_shape: shape.to_vec(), ..t };
    let cases = [
        (splits(&[&[]], 0), "[]"),
        (splits(&[&[0, 5]], 1), "[[1]]"),
        (splits(&[&[0, 2, 1, 9]], 3), "[[1, 2], [], [2, 3]]"),
        (splits(&[&[0, 2], &[0, 1]], 1), "[[[1]]]"),
        (splits(&[&[0, u32::MAX], &[]], 1), "[[]]"),
        (odd(splits(&[&[0, 1, 2]], 1), &[]), "[1, []]"),
        (odd(splits(&[&[0, 2]], 2), &[2, 3]), "[[]]"),
        (odd(splits(&[&[0, 2]], 2), &[2, 0]), "[[[], []]]"),
        (odd(splits(&[&[0, 1]], 3), &[usize::MAX, 2, usize::MAX]), "[[]]"),
        (shaped(&[2, 2], 1), "[]"),
        (shaped(&[2, 2], 3), "[[1, 2]]"),
        (shaped(&[], 0), "[]"),
        (shaped(&[usize::MAX, usize::MAX], 1), "[]"),
    ];
    for (host, text) in cases {
        assert_eq!(host.to_string(), text, "{host:?}");
        assert_eq!(host.to_nested().to_string(), text, "{host:?}");
        assert!(host.to_device(&Device::cpu()).is_err() || host.inner_shape == [2, 0], "{host:?}");
    }
}

#[test]
fn lists_without_values_are_printed_in_part() {
    for device in common::devices().into_iter().map(|(_, device)| device) {
        let zeros = |dims: &[u64]| {
            let shape = RaggedShape::dense(dims, &device).expect("a shape");
            Tensor::zeros(&shape, DType::F32).expect("no values").to_string()
        };
        assert_eq!(
            zeros(&[4_000_000_000, 0]),
            "tensor([[], [], [], ..., [], [], []], shape=(4000000000, 0), dtype=f32)"
        );
        assert_eq!(zeros(&[2, 0]), "tensor([[], []], shape=(2, 0), dtype=f32)");
        assert!(zeros(&[[2; 30].as_slice(), &[0]].concat()).len() < 1 << 20);
    }
    let none = HostTensor::from_row_splits(vec![0; 5_000_000], HostValues::I32(Vec::new()));
    assert_eq!(none.to_string(), "[[], [], [], ..., [], [], []]");
}

#[test]
fn scalars_and_floats_are_no_row_partitions() {
    let device = Device::cpu();
    let scalar = HostTensor::dense(&[], HostValues::I32(vec![5])).to_device(&device).expect("a scalar");
    let values = vector(&[1, 2], &device);
    let floats = HostTensor::dense(&[2], HostValues::F32(vec![0.0, 2.0])).to_device(&device).expect("floats");
    let matrix = HostTensor::dense(&[1, 2], HostValues::I32(vec![0, 2])).to_device(&device).expect("a matrix");
    for (name, make) in CHECKED {
        assert!(make(&scalar, [0, 1].into()).is_err(), "{name}");
        assert!(make(&values, (&floats).into()).is_err(), "{name}");
        assert!(make(&values, (&matrix).into()).is_err(), "{name}");
    }
    assert!(Tensor::from_uniform_row_length(&scalar, 1).is_err());
    assert!(Tensor::from_uniform_row_length(&values, -1).is_err());
    assert!(Tensor::from_uniform_row_length(&values, with_nrows(1, -2)).is_err());
    assert!(Tensor::from_value_rowids(&values, with_nrows([0, 1], 1)).is_err());
    assert!(Tensor::from_value_rowids(&values, with_nrows([0, 1], -1)).is_err());
    assert!(Tensor::from_value_rowids(&values, [0, i64::MAX]).is_err());
}

#[test]
fn inconsistent_levels_are_errors() {
    let values = vector(&[1, 2, 3], &Device::cpu());
    let e = Tensor::from_nested_row_splits(&values, [[0, 3].as_slice(), &[0, 2, 3]]).expect_err("three rows of two");
    assert!(e.to_string().contains("at level 0") && e.to_string().contains("there are 2 values"), "{e}");
    let rows = RowPartition::from_row_lengths([1, 1], &Device::cpu()).expect("rows");
    assert!(Tensor::from_row_partitions(&values, &[rows]).is_err());
    let rows = RowPartition::from_row_lengths([1, 2], &Device::cpu()).expect("rows");
    let outer = RowPartition::from_uniform_row_length(2, 2, &Device::cpu()).expect("rows");
    let x = Tensor::from_row_partitions(&values, &[outer, rows]).expect("fits");
    assert_eq!(x.to_string(), "<ragged.RaggedTensor [[[1], [2, 3]]]>");
}

#[test]
fn values_of_every_kind() {
    let device = Device::cpu();
    let strings = RaggedTensor::<Str>::from_row_lengths(vec![b"a".to_vec(), b"\xff".to_vec()], [1u32, 1], &device);
    assert_eq!(strings.expect("strings").to_string(), r"<ragged.RaggedTensor [[b'a'], [b'\xff']]>");
    let x = ragged![["it's"], [], ["a", "b"]].expect("a literal");
    assert_eq!(x.to_string(), "<ragged.RaggedTensor [[b\"it's\"], [], [b'a', b'b']]>");
    let x = RaggedTensor::from_nested(vec![vec![1.0f32, 0.1], vec![f32::NAN]], &device).expect("floats");
    assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1.0, 0.1], [nan]]>");
    let x = RaggedTensor::from_nested([vec![true], vec![false]], &device).expect("bools");
    assert_eq!(x.to_string(), "<ragged.RaggedTensor [[True], [False]]>");
    let x = RaggedTensor::from_nested([[true], [false]], &device).expect("bools");
    assert_eq!(x.to_string(), "tensor([[True], [False]], shape=(2, 1), dtype=bool)");
    let long = RaggedTensor::from_row_lengths((0..2000).collect::<Vec<i32>>(), [1, 1999], &device).expect("long");
    assert_eq!(long.to_string(), "<ragged.RaggedTensor [[0], [1, 2, 3, ..., 1997, 1998, 1999]]>");
    let rows: Vec<Vec<Vec<u8>>> = ragged![["x"], []].expect("a literal").to_nested_vec().expect("a read");
    assert_eq!(rows, [vec![b"x".to_vec()], vec![]]);
    let none = RaggedTensor::<i32>::from_nested(Vec::<Vec<Vec<i32>>>::new(), &device).expect("no rows");
    assert_eq!(none.shape(), [Some(0), None, None]);
    let scalar = RaggedTensor::from_nested(5, &device).expect("a scalar");
    assert_eq!(scalar.to_string(), "tensor(5, shape=(), dtype=i32)");
}

#[test]
fn invalid_constants_are_errors() {
    let refuse = |value: ragged::Nested, dtype: Option<DType>| {
        let options = ConstantOptions { dtype, ..Default::default() };
        Tensor::constant(&value, &options, &Device::cpu()).expect_err("refused").to_string()
    };
    use ragged::Nested::{Bool, Int, List};
    assert!(refuse(List(vec![List(vec![Int(1)]), Int(2)]), None).contains("depth"));
    assert!(refuse(List(vec![Bool(true), Int(2)]), None).contains("mixed"));
    assert!(refuse(vec![1.5f64].into(), Some(DType::I32)).contains("no i32"));
    assert!(refuse(vec![300].into(), Some(DType::U8)).contains("no u8"));
    assert!(refuse(vec![1i64 << 40].into(), Some(DType::I32)).contains("no i32"));
}

#[test]
fn device_known_sizes() {
    for (label, device) in common::devices().into_iter().filter(|(_, d)| common::has(d, DType::I64)) {
        let rows = Tensor::from_row_lengths(&unknown(4, &device), [1, 0, 3]).expect("recorded");
        let values = rows.slice(s![1..]).and_then(|t| t.slice(s![.., 1..])).expect("a slice");
        assert_eq!(ints(&values.values().expect("values")), [2, 3], "{label}");
        // Two levels: the number of inner rows is device-known.
        let x = Tensor::from_row_lengths(&vector(&[1, 2, 3, 4, 5], &device), [2, 0, 3]).expect("rows");
        let x = Tensor::from_row_lengths(&x, [3, 0]).expect("rows").slice(s![.., 1..]).expect("a slice");
        let x = x.values().expect("one partition");
        assert_eq!(x.shape(), [None, None], "{label}");
        assert_eq!(ints(&x.nrows().expect("nrows")), [2], "{label}");
        assert_eq!(ints(&x.size().expect("size")), [3], "{label}");
        assert_eq!(ints(&x.row_splits().expect("splits")), [0, 0, 3], "{label}");
        assert_eq!(ints(&x.row_lengths(1).expect("lengths")), [0, 3], "{label}");
        assert_eq!(ints(&x.row_starts().expect("starts")), [0, 0], "{label}");
        assert_eq!(ints(&x.row_limits().expect("limits")), [0, 3], "{label}");
        assert_eq!(ints(&x.value_rowids().expect("rowids")), [1, 1, 1], "{label}");
        assert_eq!(ints(&x.bounding_shape().expect("sizes")), [2, 3], "{label}");
        assert_eq!(ints(&x.to_tensor(-1i64).expect("dense")), [-1, -1, -1, 3, 4, 5], "{label}");
        assert_eq!(ints(&x.to_tensor(shaped(-1i64, [3, 1])).expect("dense")), [-1, 3, -1], "{label}");
        let sparse = x.to_sparse().expect("sparse");
        assert_eq!((sparse.dense_shape(), ints(sparse.indices())), (&[2, 3][..], vec![1, 0, 1, 1, 1, 2]), "{label}");
        assert!(x.with_flat_values(&vector(&[7, 8, 9], &device)).and_then(|t| t.to_host()).is_ok(), "{label}");
        assert!(x.with_flat_values(&vector(&[7, 8], &device)).and_then(|t| t.to_host()).is_err(), "{label}");
    }
}

#[test]
fn invalid_conversions_are_errors() {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device).expect("rows");
    assert!(matches!(x.to_tensor(0.5f32), Err(Error::Argument { .. })));
    assert!(matches!(x.to_tensor(shaped(0, [-1])), Err(Error::Shape { .. })));
    assert!(matches!(x.to_tensor(shaped(0, [1 << 20, 1 << 20])), Err(Error::Limit { .. })));
    let pair = HostTensor::dense(&[2], HostValues::I32(vec![1, 2])).to_device(&device).expect("a vector");
    assert!(matches!(x.to_tensor(&pair), Err(Error::Shape { .. })));
    assert!(Tensor::from_tensor(x.erased(), 1).is_err());
    // A gap in the columns, descending rows, a row out of range: the rows are not filled from their start.
    for indices in [vec![0, 0, 0, 2], vec![1, 0, 0, 0], vec![0, 0, 5, 0], vec![0, 1, 1, 0], vec![-1, 0, 0, 0]] {
        let indices = HostTensor::dense(&[2, 2], HostValues::I64(indices)).to_device(&device).expect("indices");
        let sparse = SparseTensor::new(&indices, &pair, &[3, 3]).expect("a sparse tensor");
        let outcome = Tensor::from_sparse(&sparse).and_then(|t| t.to_host());
        assert!(matches!(outcome, Err(Error::Check { .. })), "{outcome:?}");
    }
}

#[test]
fn trailing_padding_of_strings_is_stripped() {
    let words = ["a", "pad", "", "pad", "pad", "pa"].map(|w| w.as_bytes().to_vec()).to_vec();
    for (label, device) in common::devices() {
        let dense = HostTensor::dense(&[2, 3], HostValues::Str(words.clone())).to_device(&device).expect("words");
        let strip = |pad: &str| {
            let pad = HostTensor::dense(&[], HostValues::Str(vec![pad.into()])).to_device(&device)?;
            Ok::<_, Error>(Tensor::from_tensor_with_padding(&dense, &pad, 1)?.to_host()?.nested_row_splits.remove(0))
        };
        assert_eq!(strip("pad").expect("a read"), [0, 3, 6], "{label}");
        assert_eq!(strip("").expect("a read"), [0, 2, 5], "{label}");
        assert_eq!(strip("pa").expect("a read"), [0, 3, 5], "{label}");
    }
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: Some(Box::new(FileFailurePersistence::Off)), ..ProptestConfig::default() }
}

/// The tensor, constructed from every encoding of its outermost partition.
fn rebuilt(x: &Tensor) -> Result<Vec<(&'static str, Tensor)>> {
    let values = x.values()?;
    let nrows = ints(&x.nrows()?)[0];
    let (splits, lengths) = (x.row_splits()?, x.row_lengths(1)?);
    let (starts, limits, ids) = (x.row_starts()?, x.row_limits()?, x.value_rowids()?);
    let mut out = vec![
        ("row_splits", Tensor::from_row_splits(&values, ints(&splits))?),
        ("row_lengths", Tensor::from_row_lengths(&values, ints(&lengths))?),
        ("value_rowids", Tensor::from_value_rowids(&values, with_nrows(ints(&ids), nrows))?),
        ("row_splits on the device", Tensor::from_row_splits(&values, &splits)?),
        ("row_lengths on the device", Tensor::from_row_lengths(&values, &lengths)?),
        ("value_rowids on the device", Tensor::from_value_rowids(&values, with_nrows(&ids, nrows))?),
    ];
    if nrows > 0 {
        out.push(("row_starts", Tensor::from_row_starts(&values, ints(&starts))?));
        out.push(("row_limits", Tensor::from_row_limits(&values, ints(&limits))?));
        out.push(("row_starts on the device", Tensor::from_row_starts(&values, &starts)?));
        out.push(("row_limits on the device", Tensor::from_row_limits(&values, &limits)?));
    }
    Ok(out)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn encodings_there_and_back(host in random::tensor_of(DType::I32, 2, &[])) {
        let x = host.to_device(&Device::cpu())?;
        for (name, again) in rebuilt(&x)? {
            prop_assert_eq!(&again.to_host()?, &*host, "{}", name);
        }
        let nested = |t: Vec<Tensor>| t.iter().map(ints).collect::<Vec<_>>();
        let flat = x.flat_values()?;
        prop_assert_eq!(&Tensor::from_nested_row_splits(&flat, nested(x.nested_row_splits()?))?.to_host()?, &*host);
        prop_assert_eq!(&Tensor::from_nested_row_lengths(&flat, nested(x.nested_row_lengths()?))?.to_host()?, &*host);
        let nrows: Vec<i64> = host.nested_row_splits.iter().map(|s| s.len() as i64 - 1).collect();
        let ids = nested(x.nested_value_rowids()?);
        prop_assert_eq!(&Tensor::from_nested_value_rowids(&flat, ids.iter().zip(&nrows).map(|(ids, &n)| with_nrows(ids, n)))?.to_host()?, &*host);
        prop_assert_eq!(&Tensor::from_row_partitions(&flat, x.partitions())?.to_host()?, &*host);
    }

    #[test]
    fn nested_lists_there_and_back(host in random::tensor_of(DType::I64, 2, &[])) {
        let x = RaggedTensor::<i64>::try_from(host.to_device(&Device::cpu())?)?;
        let rows: Vec<Vec<Vec<i64>>> = x.to_nested_vec()?;
        prop_assert_eq!(&RaggedTensor::from_nested(rows, &Device::cpu())?.erased().to_host()?, &*host);
        let options = ConstantOptions { dtype: Some(DType::I64), ragged_rank: Some(2), inner_shape: None };
        let again = Tensor::constant(&x.erased().to_nested()?, &options, &Device::cpu());
        prop_assert_eq!(&again?.to_host()?, &*host);
    }

    #[test]
    fn dense_and_sparse_there_and_back(host in random::tensor_of(DType::Str, 1, &[])) {
        let x = host.to_device(&Device::cpu())?;
        prop_assert_eq!(&Tensor::from_sparse(&x.to_sparse()?)?.to_host()?, &*host);
        let dense = x.to_tensor("")?;
        let again = Tensor::from_tensor_with_lengths(&dense, &x.row_lengths(1)?, 1)?;
        prop_assert_eq!(&again.to_host()?, &*host);
        // A padding value of a length that no value has is removed again.
        let pad = HostTensor::dense(&[], HostValues::Str(vec![vec![b'*'; 10]])).to_device(&Device::cpu())?;
        let again = Tensor::from_tensor_with_padding(&x.to_tensor(&pad)?, &pad, 1)?;
        prop_assert_eq!(&again.to_host()?, &*host);
    }

    #[test]
    fn segment_ids_there_and_back(host in random::tensor_of(DType::Bool, 1, &[])) {
        let x = host.to_device(&Device::cpu())?;
        let nrows = host.nested_row_splits[0].len() as i64 - 1;
        let splits = x.row_splits()?;
        let ids = splits.row_splits_to_segment_ids()?;
        prop_assert_eq!(ints(&ids), ints(&x.value_rowids()?));
        prop_assert_eq!(ints(&ids.segment_ids_to_row_splits_of(nrows)?), ints(&splits));
    }
}
