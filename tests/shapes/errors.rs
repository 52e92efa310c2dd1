//! Errors: at the read where only the device knows the size, else at the call; never a panic.

use ragged::opt::along;
use ragged::{DType, Device, Error, HostTensor, HostValues, Lengths, RaggedShape, Result, RowPartition, Tensor};

use crate::common::devices_and_unfused_cpu as backends;
use crate::lists::{nested, row, samples, unknown};
use crate::nest::{Random, on};

#[test]
fn device_known_errors_fail_at_the_read() {
    for (name, device) in backends() {
        let x = row(&[2, 1, 0], device);
        let host = x.to_host().expect("a read");
        let t = unknown(&host, device);
        let vector = |values: &[i32]| {
            HostTensor::dense(&[values.len()], HostValues::I32(values.to_vec())).to_device(device).expect("a vector")
        };
        // Device-known row lengths 1, 0 and 0.
        let tails = t.slice(ragged::s![.., 1..]).expect("a slice");
        let counted = unknown(&vector(&[0, 1, 2, 3]).to_host().expect("a read"), device);
        let of_lengths = |lengths: &[i64]| {
            RaggedShape::from_lengths(&[(lengths.len() as i64).into(), lengths.into()], device).expect("a shape")
        };
        let rows = RowPartition::from_row_lengths([2, 2], device).expect("rows");
        let two_rows =
            counted.broadcast_like(&counted).and_then(|c| Tensor::from_row_lengths(&c, [2, 1])).expect("recorded");
        let cases: Vec<(&str, Result<Tensor>)> = vec![
            ("squeeze of several rows", t.squeeze(0)),
            ("squeeze of rows", tails.squeeze(1)),
            ("split", t.split([1, 1], 0).map(|mut all| all.swap_remove(0))),
            ("split evenly", t.split(2, 0).map(|mut all| all.swap_remove(1))),
            ("reshape", counted.reshape([3])),
            ("reshape by 3", counted.reshape([-1, 3])),
            ("reshape to rows", counted.reshape(&of_lengths(&[2, 1]))),
            ("reshape_like", vector(&[1, 2, 3]).reshape_like(&counted)),
            ("partitions below 0", x.stack_dynamic_partitions(&vector(&[0, -1, 0]), 2)),
            ("partitions too large", x.dynamic_partition(&vector(&[0, 2, 0]), 2).map(|mut all| all.swap_remove(0))),
            ("too few partitions", t.stack_dynamic_partitions(&vector(&[0, 0]), 2)),
            ("broadcast_to", tails.broadcast_to(&of_lengths(&[1, 1, 0]))),
            (
                "zeros of a broadcast",
                tails.ragged_shape().broadcast(&of_lengths(&[0, 0, 1])).and_then(|s| Tensor::zeros(&s, DType::I32)),
            ),
            (
                "the size of a broadcast",
                tails.ragged_shape().broadcast(&of_lengths(&[0, 0, 1])).and_then(|s| s.size(0)),
            ),
            ("zeros under partitions that do not fit", {
                let inner = two_rows.partitions()[0].clone();
                RaggedShape::from_row_partitions(&[rows.clone(), inner], &[4], device)
                    .and_then(|s| Tensor::zeros(&s, DType::I32))
            }),
        ];
        for (what, got) in cases {
            match got.and_then(|t| t.to_host()) {
                // A backend that knows more sizes on the host may word the error differently.
                Err(Error::Check { .. } | Error::Shape { .. } | Error::Argument { .. } | Error::Partition { .. }) => {}
                other => panic!("{what} on {name} gave {other:?}"),
            }
        }
        assert_eq!(t.to_host().expect("inputs stay valid"), host);
    }
}

#[test]
fn host_known_errors_fail_at_the_call() {
    let device = Device::cpu();
    let x = row(&[2, 1, 0], &device);
    let dense = x.flat_values().expect("values");
    assert!(matches!(x.expand_dims(3), Err(Error::Axis { axis: 3, rank: 3, .. })));
    assert!(matches!(x.expand_dims(-4), Err(Error::Axis { .. })));
    assert!(matches!(x.merge_dims(1, 0), Err(Error::Argument { .. })));
    assert!(matches!(x.merge_dims(0, 2), Err(Error::Axis { .. })));
    for (axis, words) in [(0, "has size 3"), (1, "row 0) of 2 elements")] {
        let e = x.squeeze(axis).expect_err("no dimension of size 1").to_string();
        assert!(e.contains(words), "{e}");
    }
    assert!(matches!(x.reshape([2, 2]), Err(Error::Shape { .. })));
    assert!(matches!(x.reshape([-1, 2]), Err(Error::Shape { .. })));
    for sizes in [vec![-1, -1], vec![-1, 0], vec![-2, 3], vec![-1, -2]] {
        assert!(matches!(x.reshape(sizes.clone()), Err(Error::Argument { .. })), "{sizes:?}");
    }
    assert!(matches!(x.reshape([1i64 << 40, 1 << 40]), Err(Error::Limit { .. })));
    assert!(matches!(dense.broadcast_to([4]), Err(Error::Shape { .. })));
    assert!(matches!(dense.broadcast_to([-3]), Err(Error::Argument { .. })));
    assert!(matches!(x.broadcast_to([3, 2]), Err(Error::Shape { .. })));
    assert!(matches!(x.one_hot(along(3, 1), 1, 0), Err(Error::Argument { .. })));
    assert!(matches!(x.one_hot(along(3, 2), 1, 0.5f32), Err(Error::DTypes { .. })));
    assert!(matches!(x.one_hot(along(u32::MAX, 2), 1, 0), Err(Error::Limit { .. })));
    assert!(matches!(x.split(2, 0), Err(Error::Argument { .. })));
    assert!(matches!(x.split(0, 0), Err(Error::Argument { .. })));
    assert!(matches!(x.split([4, -1], 0), Err(Error::Argument { .. })));
    assert!(matches!(x.split([1, 1], 0), Err(Error::Argument { .. })));
    assert!(matches!(x.split([i64::MAX, i64::MAX], 0), Err(Error::Limit { .. })));
    assert!(matches!(x.split(2, 1), Err(Error::Argument { .. })));
    assert!(matches!(dense.fill_empty_rows(0), Err(Error::Argument { .. })));
    assert!(matches!(x.fill_empty_rows("a"), Err(Error::DTypes { .. })));
    assert!(matches!(x.fill_empty_rows(&dense), Err(Error::Argument { .. })));
    assert!(matches!(
        x.stack_dynamic_partitions(&dense.slice(ragged::s![..2]).expect("two"), 2),
        Err(Error::Shape { .. })
    ));
    assert!(matches!(dense.stack_dynamic_partitions(&x, 2), Err(Error::Shape { .. })));
    let other = row(&[2, 1, 0], &Device::cpu_unfused());
    assert!(matches!(x.reshape_like(&other), Err(Error::Devices { .. })));
    assert!(matches!(x.broadcast_to(other.ragged_shape()), Err(Error::Devices { .. })));
    assert!(matches!(x.ragged_shape().broadcast(other.ragged_shape()), Err(Error::Devices { .. })));
    let refused = |lengths: &[Lengths]| RaggedShape::from_lengths(lengths, &device).expect_err("no shape").to_string();
    assert!(refused(&[2.into(), [1].into()]).contains("a length for each of the 2 rows above it, but 1 are given"));
    assert!(refused(&[[1].into()]).contains("dimension 0"));
    assert!(refused(&[(-1).into()]).contains("must not be negative"));
    assert!(refused(&[1.into(), [-1].into()]).contains("must not be negative"));
    assert!(refused(&[(1 << 20).into(), (1 << 20).into()]).contains("limit"));
    let rows = RowPartition::from_row_lengths([2, 1], &device).expect("rows");
    let below = RowPartition::from_row_lengths([2, 1], &device).expect("rows");
    assert!(RaggedShape::from_row_partitions(&[rows.clone(), below], &[3], &device).is_err());
    assert!(RaggedShape::from_row_partitions(std::slice::from_ref(&rows), &[4], &device).is_err());
    assert!(RaggedShape::from_row_partitions(&[rows], &[] as &[i64], &device).is_err());
    assert!(matches!(x.ragged_shape().size(1), Err(Error::Argument { .. })));
    assert!(matches!(x.ragged_shape().size(2), Err(Error::Axis { .. })));
    assert!(matches!(x.ragged_shape().is_uniform(-3), Err(Error::Axis { .. })));
}

#[test]
fn arguments_of_all_kinds_never_panic() {
    // Whether it is an answer, or which error.
    fn kind(what: &Result<HostTensor>) -> Option<std::mem::Discriminant<Error>> {
        what.as_ref().err().map(std::mem::discriminant)
    }
    let mut random = Random::new(77);
    for x in samples(1500, 60).skip(4) {
        let mut int = |n: u32| i64::from(random.below(2 * n + 1)) - i64::from(n);
        let (a, b, c) = (int(5), int(5), int(5));
        type Run<'a> = Box<dyn Fn(&Tensor) -> Result<Tensor> + 'a>;
        let all: Vec<Run<'_>> = vec![
            Box::new(|x| x.expand_dims(a)),
            Box::new(|x| x.merge_dims(a, b)),
            Box::new(|x| x.squeeze([a, b])),
            Box::new(|x| x.squeeze(a)),
            Box::new(|x| x.reshape([a, b])),
            Box::new(|x| x.reshape([a, b, c])),
            Box::new(|x| x.broadcast_to([a, b, c])),
            Box::new(|x| x.one_hot(along(a.unsigned_abs() as u32, b), true, false)),
            Box::new(|x| {
                x.split(a, b)?.pop().ok_or(Error::Argument {
                    op: "split",
                    what: "none".into(),
                    location: std::panic::Location::caller(),
                })
            }),
            Box::new(|x| {
                x.split([a, b], c)?.pop().ok_or(Error::Argument {
                    op: "split",
                    what: "none".into(),
                    location: std::panic::Location::caller(),
                })
            }),
            Box::new(|x| x.stack_dynamic_partitions(x, a.unsigned_abs() as u32)),
            Box::new(|x| Ok(x.fill_empty_rows(a as i32)?.0)),
            Box::new(|x| Tensor::zeros(&x.ragged_shape().slice(a..b)?, DType::I32)),
            Box::new(|x| Tensor::ones(&x.ragged_shape().with_ragged_rank(a.unsigned_abs() as usize)?, DType::F32)),
            Box::new(|x| x.ragged_shape().size(a)),
        ];
        for (k, run) in all.iter().enumerate() {
            let want = run(&on(&x, &Device::cpu())).and_then(|t| t.to_host());
            let unfused = run(&on(&x, &Device::cpu_unfused())).and_then(|t| t.to_host());
            assert_eq!(kind(&want), kind(&unfused), "{k} ({a}, {b}, {c}) of {x:?}: {want:?}, {unfused:?}");
            // Device-known sizes give the same result, or an error where there is one.
            match (want, run(&unknown(&x, &Device::cpu())).and_then(|t| t.to_host())) {
                (Ok(want), Ok(got)) => assert_eq!(nested(&got), nested(&want), "{k} ({a}, {b}, {c}) of {x:?}"),
                (Err(_), Err(_)) => {}
                // Squeezing all axes of static size 1, and static indices, may depend on the sizes that the host knows.
                (want, got) => panic!("{k} ({a}, {b}, {c}) of {x:?}: {want:?} and {got:?}"),
            }
        }
    }
}
