//! The kernels of gradients, and the law of adjoints.

use ragged::opt::keep;
use ragged::{Device, Explain, RaggedTensor, Result, Tensor, explain, grad, s, value_and_grad};

use crate::common::devices;
use crate::differences::{numbers, rows, shaped};

type F = fn(&Tensor) -> Result<Tensor>;

/// Number of kernels that sort in the gradient of the sum of the squares of `f`, besides those of `f`.
fn sorts(x: &Tensor, f: impl Fn(&Tensor) -> Result<Tensor>) -> usize {
    let gradients = grad(|x| f(&x[0])?.square()?.reduce_sum(..), x).unwrap();
    let explained = explain(&gradients).unwrap();
    let all = |explained: &Explain| explained.kernels.iter().filter(|kernel| kernel.kind.contains("sort")).count();
    all(&explained) - all(&explain(f(x).unwrap()).unwrap())
}

#[test]
fn gradients_without_a_sort() {
    let device = Device::cpu();
    let long: Vec<u32> = (0..300).map(|k| k % 7).collect();
    let x = rows(&long, &device);
    let dense = shaped(&[], &[40, 30], &device);
    let ids = RaggedTensor::from_nested((0..300).map(|k| k * 7 % 300).collect::<Vec<i32>>(), &device).unwrap();
    let without: [(&str, F); 18] = [
        ("slice", |x| x.slice(s![.., 1..])),
        ("slice of steps", |x| x.slice(s![.., ..;2])),
        ("slice of rows", |x| x.slice(s![3..20])),
        ("reverse", |x| x.reverse(1)),
        ("reverse of rows", |x| x.reverse(0)),
        ("concat", |x| Tensor::concat(&[x, &x.exp()?], 0)),
        ("concat within rows", |x| Tensor::concat(&[x, &x.exp()?], 1)),
        ("to_tensor", |x| x.to_tensor(0)),
        ("pad_rows", |x| x.pad_rows(3, 0.0, 1)),
        ("tile", |x| x.tile(&[1, 3])),
        ("tile of rows", |x| x.tile(&[2, 1])),
        ("repeat", |x| x.repeat(3, 1)),
        ("mask", |x| x.boolean_mask(&x.less(1.0)?)),
        ("broadcast", |x| x.multiply(&x.reduce_sum(keep(1))?)),
        ("row reduction", |x| x.reduce_logsumexp(1)),
        ("cumsum", |x| x.cumsum(1)),
        ("windows", |x| x.sliding_windows(3, 1)?.reduce_sum(2)),
        ("shift", |x| x.shift(1, 0.0, 1)),
    ];
    let mut wrong = Vec::new();
    let mut expect = |name: &str, found: usize, wanted: usize| {
        if found != wanted {
            wrong.push(format!("{name}: {found} sorts, not {wanted}"));
        }
    };
    for (name, f) in without {
        expect(name, sorts(&x, f), 0);
    }
    let of_dense: [(&str, usize, F); 2] =
        [("columns", 0, |x| x.reduce_sum(0)), ("broadcast of rows", 0, |x| x.add(&x.reduce_mean(1)?.expand_dims(1)?))];
    for (name, wanted, f) in of_dense {
        expect(name, sorts(&dense, f), wanted);
    }
    let few = ids.erased().less(40).unwrap().select(ids.erased(), 0).unwrap();
    expect("gather", sorts(&x, |x| x.gather(ids.erased())), 1);
    expect("gather of dense rows", sorts(&dense, |x| x.gather(&few)), 1);
    let segments = |x: &Tensor| x.unsorted_segment_sum(ids.erased(), 1000);
    expect("segment_sum", sorts(&x, segments), 0);
    expect("sort", sorts(&x, |x| x.sort(1)), 0);
    expect("sort and slice", sorts(&x, |x| x.sort(1)?.slice(s![.., ..2])), 0);
    expect("top_k", sorts(&x, |x| Ok(x.top_k(2, -1)?.0)), 0);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Linear operations, on rows, rows of rows and dense tensors.
const LINEAR: &[(&str, F)] = &[
    ("slice", |x| x.slice(s![.., 1..])),
    ("slice of the ends", |x| x.slice(s![.., -2..])),
    ("slice of steps", |x| x.slice(s![.., ..;2])),
    ("slice of steps from the end", |x| x.slice(s![..;3, ..;-2])),
    ("slice of rows", |x| x.slice(s![1..])),
    ("reverse", |x| x.reverse(1)),
    ("reverse of rows", |x| x.reverse(0)),
    ("concat", |x| Tensor::concat(&[x, x, x, x, x], 0)),
    ("concat within rows", |x| Tensor::concat(&[x, &x.reverse(1)?], 1)),
    ("concat of several within rows", |x| Tensor::concat(&[x, &x.reverse(1)?, &x.multiply(3)?, &x.multiply(5)?], 1)),
    ("stack", |x| Tensor::stack(&[x, &x.reverse(1)?, x], 0)),
    ("stack within rows", |x| Tensor::stack(&[x, &x.reverse(0)?.reverse(0)?], 1)),
    ("to_tensor", |x| x.to_tensor(0)),
    ("pad_rows", |x| x.pad_rows(3, 0.0, 1)),
    ("tile", |x| x.tile(&[vec![2, 3], vec![1; x.rank() - 2]].concat())),
    ("tile of all dimensions", |x| x.tile(&vec![2; x.rank()])),
    ("tile of nothing", |x| x.tile(&[vec![2, 0], vec![1; x.rank() - 2]].concat())),
    ("repeat", |x| x.repeat(3, 1)),
    ("repeat of rows", |x| x.repeat(2, 0)),
    ("mask", |x| x.boolean_mask(&x.less(2)?)),
    ("row sums", |x| x.reduce_sum(1)),
    ("column sums", |x| x.reduce_sum(0)),
    ("cumsum", |x| x.cumsum(1)),
    ("windows", |x| x.sliding_windows(3, 1)?.reduce_sum(2)),
    ("sort", |x| x.sort(-1)),
    ("top_k", |x| Ok(x.top_k(2, -1)?.0)),
    ("gather", |x| x.gather(&rows_read(x)?)),
    ("gather of flat values", |x| x.flat_values()?.gather(&rows_read(&x.flat_values()?)?)),
    ("gather within rows", |x| x.batch_gather(&x.local_index(1)?.floordiv(2)?)),
    ("segment sum", |x| {
        let flat = x.flat_values()?;
        flat.unsorted_segment_sum(&flat.reduce_sum(1).unwrap_or(flat.clone()).local_index(0)?.floormod(3)?, 4)
    }),
    ("segment sum of rows", |x| x.unsorted_segment_sum(&x.local_index(0)?.floormod(2)?, 3)),
    ("scatter within rows", |x| x.zeros_like()?.batch_scatter_add(&x.local_index(1)?.floordiv(2)?, x)),
    ("broadcast", |x| x.reduce_sum(keep(-1))?.broadcast_like(x)),
    ("broadcast of rows", |x| x.expand_dims(0)?.multiply(&one_two_three(x)?)),
    ("broadcast of numbers", |x| x.expand_dims(-1)?.multiply(&one_two_three(x)?.reshape([-1])?)),
    ("transpose", |x| x.to_tensor(0).unwrap_or(x.clone()).transpose(..)),
    ("transpose of rows", Tensor::transpose_rows),
    ("nth", |x| x.nth_or(1, 0.0)),
    ("nth from the end", |x| x.nth_or(-1, 0.0)),
    ("shift", |x| x.shift(1, 0.0, 1)),
    ("roll", |x| x.roll(2, 1)),
    ("diff", |x| x.diff(1)),
    ("merge", |x| x.merge_dims(0, 1)),
    ("expand", |x| x.expand_dims(1)),
];

/// Operations that are compared on every device. Software GPUs compile the others for minutes.
const ON_EVERY_DEVICE: [&str; 19] = [
    "slice",
    "slice of the ends",
    "slice of steps",
    "slice of steps from the end",
    "slice of rows",
    "reverse",
    "reverse of rows",
    "concat",
    "concat within rows",
    "to_tensor",
    "tile",
    "repeat",
    "repeat of rows",
    "mask",
    "row sums",
    "column sums",
    "cumsum",
    "windows",
    "sort",
];

/// Layouts that operations do not take.
const NOT_TAKEN: &[(&str, &str)] = &[
    ("scatter within rows", "wide"),
    ("scatter within rows", "levels"),
    ("shift", "levels"),
    ("pad_rows", "levels"),
    ("diff", "levels"),
    ("nth", "levels"),
    ("nth from the end", "levels"),
];

/// Some of the rows, several of them more than once.
fn rows_read(x: &Tensor) -> Result<RaggedTensor<i32>> {
    let n = x.shape()[0].expect("the host has the number of rows") as i32;
    let read = (0..if n == 0 { 0 } else { 9 }).map(|k| k * 7 % n * (k % 3).min(1));
    RaggedTensor::from_nested(read.collect::<Vec<i32>>(), &x.device())
}

fn one_two_three(x: &Tensor) -> Result<Tensor> {
    let numbers = RaggedTensor::from_nested([1.0f64, 2.0, 3.0], &x.device())?;
    Ok(numbers.reshape([vec![3i64], vec![1; x.rank()]].concat())?.into_erased())
}

/// `<A x, y> = <x, At y>`, exactly: all sums are of whole numbers.
fn check_law(name: &str, f: F, x: &Tensor, at: &str) {
    let y = |x: &Tensor| -> Result<Tensor> {
        let flat = f(x)?.flat_values()?.reshape([-1])?;
        let weights = flat.ones_like()?.cumsum(0)?.multiply(7.0)?.floormod(11.0)?;
        flat.multiply(&weights)?.reduce_sum(..)
    };
    let (value, g) = value_and_grad(|x| y(&x[0]), [x]).unwrap_or_else(|e| panic!("{name} of {at}: {e}"));
    let product = g[0].flat_values().unwrap().multiply(&x.flat_values().unwrap()).unwrap().reduce_sum(..).unwrap();
    assert_eq!(numbers(&product).unwrap(), numbers(&value).unwrap(), "{name} of {at}");
}

/// The law for all operations that take the layout.
fn check_laws(layout: &str, devices: Vec<(String, Device)>, of: impl Fn(&Device) -> Tensor) {
    let mut wrong = Vec::new();
    for (name, device) in devices {
        let x = of(&device).multiply(8.0).and_then(|x| x.floor()).expect("whole numbers");
        for (op, f) in LINEAR.iter().filter(|(op, _)| device.is_cpu() || ON_EVERY_DEVICE.contains(op)) {
            let taken = f(&x).map_err(|e| e.to_string());
            if taken.is_ok() == NOT_TAKEN.contains(&(*op, layout)) {
                wrong.push(format!("{op} of {layout} on {name}: {:?}", taken.as_ref().map(|_| "taken")));
            } else if taken.is_ok() {
                check_law(op, *f, &x, &format!("{layout} on {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn cpu() -> Vec<(String, Device)> {
    vec![("cpu".to_owned(), Device::cpu())]
}

#[test]
fn adjoints_of_rows() {
    check_laws("rows", devices(), |device| rows(&[4, 0, 1, 7, 3, 0], device));
}

#[test]
fn adjoints_of_empty_and_of_long_rows() {
    check_laws("rows", devices(), |device| rows(&[0, 0], device));
    check_laws("rows", devices(), |device| rows(&[600, 1, 0, 300], device));
}

#[test]
fn adjoints_of_rows_of_rows() {
    check_laws("levels", cpu(), |device| shaped(&[&[2, 0, 3, 1], &[2, 1, 0, 3, 2, 0]], &[], device));
}

#[test]
fn adjoints_of_rows_of_vectors() {
    check_laws("wide", cpu(), |device| shaped(&[&[2, 0, 3, 1]], &[2], device));
}

#[test]
fn adjoints_of_dense_tensors() {
    check_laws("dense", cpu(), |device| shaped(&[], &[5, 4], device));
}
