//! Unsorted, repeated, negative and too large coordinates, and arguments that do not fit: clear errors, after which the
//! tensors are as before.

use ragged::arguments::Axes;
use ragged::opt::expanding;
use ragged::{DType, Device, Error, HostTensor, HostValues, Result, SparseTensor, Tensor};

use crate::each_device;
use crate::twin::Twin;

/// Reads all that an operation gives.
fn read(x: &SparseTensor) -> Result<()> {
    ragged::to_host([x.indices(), x.values()]).map(drop)
}

fn dense(x: Result<Tensor>) -> Result<()> {
    x?.to_host().map(drop)
}

fn flags(x: &SparseTensor) -> Result<Tensor> {
    x.values().not_equal(-99)
}

type Operation = (&'static str, fn(&SparseTensor, &Tensor) -> Result<()>);

/// Every operation on a matrix of i32 of 3 by 4; the second argument is a dense matrix of this shape.
const OPERATIONS: [Operation; 30] = [
    ("to_dense", |x, _| dense(x.to_dense(0))),
    ("add_dense", |x, y| dense(x.add_dense(y))),
    ("matmul", |x, y| dense(x.matmul(y.t()))),
    ("values_by_row", |x, _| dense(x.values_by_row())),
    ("softmax", |x, _| read(&x.map_values(|v| v.cast(DType::F32))?.softmax()?)),
    ("maximum", |x, _| read(&x.maximum(x)?)),
    ("minimum", |x, _| read(&x.minimum(x)?)),
    ("reorder", |x, _| read(&x.reorder()?)),
    ("coalesce", |x, _| read(&x.coalesce()?)),
    ("transpose", |x, _| read(&x.transpose(..)?)),
    ("transpose in place", |x, _| read(&x.transpose([0, 1])?)),
    ("reshape", |x, _| read(&x.reshape(&[4, 3])?)),
    ("reshape to a vector", |x, _| read(&x.reshape(&[-1])?)),
    ("expand_dims", |x, _| read(&x.expand_dims(0)?)),
    ("reset_shape", |x, _| read(&x.reset_shape(&[30, 40])?.reorder()?)),
    ("shrink_shape", |x, _| read(&x.shrink_shape()?)),
    ("concat", |x, _| read(&SparseTensor::concat(&[x, x], 1)?)),
    ("concat of one", |x, _| read(&SparseTensor::concat(&[x], 0)?)),
    ("concat of rows", |x, _| read(&SparseTensor::concat(&[x, x], expanding(0))?)),
    ("slice", |x, _| read(&x.slice(&[0, 1], &[2, 2])?)),
    ("split", |x, _| x.split(2, 1)?.iter().try_for_each(read)),
    ("retain", |x, _| read(&x.retain(&flags(x)?)?)),
    ("mask", |x, _| read(&x.mask(&x.values().slice(ragged::s![..1])?)?)),
    ("fill_empty_rows", |x, _| read(&x.fill_empty_rows(7)?.0)),
    ("fill_empty_rows, indicator", |x, _| dense(Ok(x.fill_empty_rows(7)?.1))),
    ("reduce_sum", |x, _| dense(x.reduce_sum(0))),
    ("reduce_max of all", |x, _| dense(x.reduce_max(..))),
    ("reduce_sum_sparse", |x, _| read(&x.reduce_sum_sparse(1)?)),
    ("to_indicator", |x, _| dense(x.to_indicator(100))),
    ("add", |x, _| read(&x.add(x)?)),
];

/// The operations of `OPERATIONS` before this index need row-major order; those before the next, distinct coordinates.
const NEED_ORDER: [&str; 5] = ["to_dense", "add_dense", "matmul", "values_by_row", "softmax"];
const NEED_DISTINCT: [&str; 4] = ["to_dense", "add_dense", "maximum", "minimum"];

/// Runs every operation on the tensor, and compares which fail; the errors contain one of the texts.
fn check(x: &Twin<i32>, fails: impl Fn(&str) -> bool, texts: &[&str]) {
    for (name, device) in each_device() {
        let sparse = x.on(device);
        let y = HostTensor::dense(&[3, 4], HostValues::I32((0..12).collect())).to_device(device).expect("a matrix");
        for (op, run) in OPERATIONS {
            let outcome = run(&sparse, &y);
            match &outcome {
                Ok(()) => assert!(!fails(op), "{op} on {name} succeeds"),
                Err(Error::Check { what, location, .. }) => {
                    assert!(fails(op), "{op} on {name}: {what}");
                    assert!(texts.iter().any(|text| what.contains(text)), "{op} on {name}: {what}");
                    let file = location.file();
                    assert!(file.contains("tests/sparse/"), "{op} on {name} names {file}");
                }
                Err(e) => panic!("{op} on {name}: {e}"),
            }
        }
        // The tensor is as before.
        assert_eq!(Twin::read(&sparse).expect("read"), *x, "{name}");
    }
}

#[test]
fn valid_tensors_pass() {
    check(&Twin::of(&[&[0, 1], &[0, 3], &[2, 0]], &[1, 2, 3], &[3, 4]), |_| false, &[]);
    check(&Twin::of(&[], &[], &[3, 4]), |_| false, &[]);
}

#[test]
fn coordinates_outside_of_the_dense_shape() {
    for c in [[3, 0], [0, 4], [-1, 0], [2, -1], [i64::MIN, 0], [0, i64::MAX], [1 << 32, 0], [0, 1 << 40]] {
        let x = Twin::of(&[&[0, 1], &c, &[2, 3]], &[1, 2, 3], &[3, 4]);
        check(&x, |_| true, &["indices must be at least 0 and below the dense shape", "row-major", "distinct"]);
    }
}

#[test]
fn unsorted_coordinates() {
    for (a, b) in [([2, 0], [0, 1]), ([1, 3], [1, 0])] {
        let x = Twin::of(&[&a, &b], &[1, 2], &[3, 4]);
        let by_rows = a[0] > b[0];
        let fails = |op: &str| NEED_ORDER.contains(&op) && (by_rows || op == "to_dense" || op == "add_dense");
        check(&x, fails, &["the entries must be in row-major order; reorder sorts them"]);
        for (name, device) in each_device() {
            let dense = x.on(device).reorder().and_then(|x| x.to_dense(0)).and_then(|t| t.to_host());
            assert_eq!(dense.expect("the remedy").values, HostValues::I32(x.dense(&0)), "{name}");
        }
    }
}

#[test]
fn repeated_coordinates() {
    let x = Twin::of(&[&[0, 1], &[1, 2], &[1, 2]], &[1, 2, 3], &[3, 4]);
    check(&x, |op| NEED_DISTINCT.contains(&op), &["must be distinct; coalesce adds up"]);
    for (name, device) in each_device() {
        let dense = x.on(device).coalesce().and_then(|x| x.to_dense(0)).and_then(|t| t.to_host());
        assert_eq!(dense.expect("the remedy").values, HostValues::I32(x.grouped(crate::twin::sum).dense(&0)), "{name}");
        // Sorting does not make them distinct.
        let outcome = x.on(device).reorder().and_then(|x| x.to_dense(0)).and_then(|t| t.to_host());
        assert!(matches!(outcome, Err(Error::Check { .. })), "{name}: {outcome:?}");
    }
}

#[test]
fn first_offender_is_named() {
    let x = Twin::of(&[&[0, 1], &[0, 2], &[0, 9]], &[1, 2, 3], &[3, 4]);
    for (name, device) in each_device() {
        match x.on(device).reorder().and_then(|x| x.values().to_host()) {
            Err(Error::Check { op, at, .. }) => assert_eq!((op, at), ("SparseTensor::new", 2), "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    let outcome = SparseTensor::from_entries(&[[0, 1], [0, 9]], [1, 2], [3, 4], &Device::cpu()).expect_err("outside");
    assert!(outcome.to_string().contains("the coordinates [0, 9] of entry 1"), "{outcome}");
}

#[test]
fn arguments() {
    for (name, device) in each_device() {
        let x = Twin::of(&[&[0, 1], &[2, 0]], &[1, 2], &[3, 4]).on(device);
        let elsewhere = if *device == Device::cpu() { Device::cpu_unfused() } else { Device::cpu() };
        let words = Twin::of(&[&[0, 1]], &[b"a".to_vec()], &[3, 4]).on(device);
        let floats = x.map_values(|v| v.cast(DType::F32)).expect("floats");
        let deep = Twin::of(&[&[0, 1, 0]], &[1], &[3, 4, 2]).on(device);
        let other = Twin::of(&[&[0, 1]], &[1], &[4, 4]).on(device);
        let scalar = Twin::of(&[&[]], &[1], &[]).on(device);
        let mask =
            |n: usize| HostTensor::dense(&[n], HostValues::Bool(vec![true; n])).to_device(device).expect("a mask");
        let matrix = |m: usize, n: usize| {
            HostTensor::dense(&[m, n], HostValues::I32(vec![1; m * n])).to_device(device).expect("a matrix")
        };
        let wrong: Vec<(&str, Result<()>)> = vec![
            ("add of shapes", x.add(&other).map(drop)),
            ("add of dtypes", x.add(&floats).map(drop)),
            ("add of strings", words.add(&words).map(drop)),
            ("add of devices", x.add(&x.to_device(&elsewhere).expect("a copy")).map(drop)),
            ("maximum of shapes", x.maximum(&other).map(drop)),
            ("minimum of strings", words.minimum(&words).map(drop)),
            ("add_dense of another shape", x.add_dense(&matrix(4, 3)).map(drop)),
            ("to_dense of another dtype", x.to_dense("a").map(drop)),
            ("to_dense of a fraction", x.to_dense(0.5).map(drop)),
            ("matmul of sizes", x.matmul(&matrix(3, 2)).map(drop)),
            ("matmul of dtypes", floats.matmul(&matrix(4, 2)).map(drop)),
            ("matmul of rank 3", deep.matmul(&matrix(4, 2)).map(drop)),
            ("matmul of a vector", x.matmul(&mask(4)).map(drop)),
            ("concat of nothing", SparseTensor::concat(&[] as &[&SparseTensor], 0).map(drop)),
            ("concat of ranks", SparseTensor::concat(&[&x, &deep], expanding(0)).map(drop)),
            ("concat of shapes", SparseTensor::concat(&[&x, &other], 1).map(drop)),
            ("concat of dtypes", SparseTensor::concat(&[&x, &words], 1).map(drop)),
            ("concat of an axis", SparseTensor::concat(&[&x, &x], 2).map(drop)),
            ("retain of another length", x.retain(&mask(3)).map(drop)),
            ("retain of numbers", x.retain(x.values()).map(drop)),
            ("mask of floats", x.mask(floats.values()).map(drop)),
            ("mask of a scalar", scalar.mask(x.values()).map(drop)),
            ("slice of a dimension", x.slice(&[0], &[1]).map(drop)),
            ("slice from -1", x.slice(&[-1, 0], &[1, 1]).map(drop)),
            ("split of an axis", x.split(1, 2).map(drop)),
            ("split into none", x.split(0, 0).map(drop)),
            ("split into too many", x.split(4, 0).map(drop)),
            ("reshape", x.reshape(&[5, -1]).map(drop)),
            ("reshape to -2", x.reshape(&[-2, -6]).map(drop)),
            ("transpose", x.transpose([0, 0]).map(drop)),
            ("transpose of axes", x.transpose(Axes::List(vec![0])).map(drop)),
            ("expand_dims", x.expand_dims(4).map(drop)),
            ("reset_shape to less", x.reset_shape(&[3, 3]).map(drop)),
            ("reset_shape of a dimension", x.reset_shape(&[3]).map(drop)),
            ("fill_empty_rows of a dtype", x.fill_empty_rows("a").map(drop)),
            ("fill_empty_rows of a scalar", scalar.fill_empty_rows(1).map(drop)),
            ("reduce_sum of an axis", x.reduce_sum(2).map(drop)),
            ("reduce_sum of an axis twice", x.reduce_sum([0, -2]).map(drop)),
            ("reduce_max of strings", words.reduce_max(0).map(drop)),
            ("softmax of integers", x.softmax().map(drop)),
            ("to_indicator of -1", x.to_indicator(-1).map(drop)),
            ("to_indicator of strings", words.to_indicator(3).map(drop)),
            ("map_values to fewer", x.map_values(|v| v.slice(ragged::s![..1])).map(drop)),
            ("map_values to a matrix", x.map_values(|_| Ok(matrix(2, 1))).map(drop)),
            ("from_dense of rows", SparseTensor::from_dense(&x.values_by_row().expect("rows")).map(drop)),
            ("values_by_row", deep.values_by_row().map(drop)),
            ("eye", SparseTensor::eye(-1, 2, DType::F32, device).map(drop)),
            ("eye of strings", SparseTensor::eye(2, 2, DType::Str, device).map(drop)),
            ("cross of floats", Tensor::cross([&floats]).map(drop)),
            ("cross of rank 3", SparseTensor::cross([&deep]).map(drop)),
            ("sparse_to_dense", floats.values().sparse_to_dense(&[3], 1, 0).map(drop)),
            ("sparse_to_dense of sizes", x.values().sparse_to_dense(&[3], &mask(3), false).map(drop)),
            ("segments", x.values().sparse_segment_sum(x.values(), ragged::opt::with_nrows(x.values(), -1)).map(drop)),
        ];
        for (what, outcome) in wrong {
            let error = outcome.err().unwrap_or_else(|| panic!("{what} succeeds on {name}"));
            let at = error.location().map(|l| l.file());
            assert!(at.is_none_or(|file| file.contains("tests/sparse/")), "{what} names {at:?}");
        }
    }
}

#[test]
fn segments_out_of_range() {
    for (name, device) in each_device() {
        let column =
            |v: Vec<i32>| HostTensor::dense(&[v.len()], HostValues::I32(v)).to_device(device).expect("a column");
        let x = column(vec![1, 2, 3]);
        for (at, ids, n) in [
            (vec![0, 3], vec![0, 1], 2),
            (vec![0, -1], vec![0, 1], 2),
            (vec![0, 1], vec![0, 2], 2),
            (vec![0, 1], vec![1, 0], 2),
            (vec![0, 1], vec![-1, 0], 2),
        ] {
            let (at, ids) = (column(at), column(ids));
            let sums = x.sparse_segment_sum(&at, ragged::opt::with_nrows(&ids, n)).and_then(|t| t.to_host());
            assert!(matches!(sums, Err(Error::Check { .. })), "{name}: {sums:?}");
        }
    }
}

#[test]
fn indicator_values_out_of_range() {
    for (name, device) in each_device() {
        for v in [-1, 5, i32::MAX, i32::MIN] {
            let x = Twin::of(&[&[0, 1]], &[v], &[2, 2]).on(device);
            let outcome = x.to_indicator(5).and_then(|t| t.to_host());
            assert!(matches!(outcome, Err(Error::Check { .. })), "{name}: {outcome:?}");
        }
        for v in [f32::NAN, f32::INFINITY, -1.0, 5.0] {
            let x = Twin::of(&[&[1]], &[v], &[2]).on(device);
            let outcome = x.to_indicator(5).and_then(|t| t.to_host());
            assert!(matches!(outcome, Err(Error::Check { .. })), "{name}: {outcome:?}");
        }
    }
}

/// An operation that does not read the coordinates still fails, also after steps that change them.
#[test]
fn the_range_check_holds_after_any_step() -> Result<()> {
    type Step = fn(&SparseTensor) -> Result<SparseTensor>;
    let steps: [(&str, Step); 8] = [
        ("expand_dims", |x| x.expand_dims(0)),
        ("reshape", |x| x.reshape(&[-1])),
        ("retain", |x| x.retain(&x.values().not_equal(-99)?)),
        ("transpose", |x| x.transpose(..)),
        ("concat", |x| SparseTensor::concat(&[x, x], 0)),
        ("coalesce", SparseTensor::coalesce),
        ("reorder", SparseTensor::reorder),
        ("reduce_sum_sparse", |x| x.reduce_sum_sparse(0)),
    ];
    for (device_name, device) in each_device() {
        let indices = HostTensor::dense(&[1, 2], HostValues::I64(vec![5, 0])).to_device(device)?;
        let values = HostTensor::dense(&[1], HostValues::I32(vec![7])).to_device(device)?;
        let x = SparseTensor::new(&indices, &values, &[2, 3])?;
        for (name, step) in steps {
            assert!(step(&x)?.reduce_sum(..)?.to_host().is_err(), "{device_name}: {name}");
        }
    }
    Ok(())
}

#[test]
fn sizes_beyond_i64_are_errors() {
    let sizes = SparseTensor::from_entries(&[[0]], [1], [u64::MAX], &Device::cpu());
    assert!(matches!(sizes, Err(Error::Argument { .. })));
}

#[test]
fn numbers_of_entries_may_be_known_to_the_device_only() -> Result<()> {
    for (name, device) in each_device() {
        let indices = HostTensor::dense(&[2, 1], HostValues::I64(vec![3, 0])).to_device(device)?;
        let values = HostTensor::dense(&[3], HostValues::I32(vec![7, 8, 9])).to_device(device)?;
        let two = SparseTensor::new(&indices, &values.boolean_mask(&values.not_equal(8)?)?, &[4])?;
        assert_eq!(two.reorder()?.to_dense(0)?.to_host()?.values, HostValues::I32(vec![9, 0, 0, 7]), "{name}");
        let one = SparseTensor::new(&indices, &values.boolean_mask(&values.equal(8)?)?, &[4])?;
        assert!(matches!(one.reduce_sum(..)?.to_host(), Err(Error::Check { .. })), "{name}");
    }
    Ok(())
}
