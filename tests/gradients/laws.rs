//! The kernels of gradients, and the law of adjoints.

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
    let without: [(&str, F); 17] = [
        ("slice", |x| x.slice(s![.., 1..])),
        ("slice of steps", |x| x.slice(s![.., ..;2])),
        ("slice of rows", |x| x.slice(s![3..20])),
        ("reverse", |x| x.reverse(1)),
        ("reverse of rows", |x| x.reverse(0)),
        ("concat", |x| Tensor::concat(&[x, &x.exp()?], 0)),
        ("concat within rows", |x| Tensor::concat(&[x, &x.exp()?], 1)),
        ("to_tensor", |x| x.to_tensor(0)),
        ("tile", |x| x.tile(&[1, 3])),
        ("tile of rows", |x| x.tile(&[2, 1])),
        ("repeat", |x| x.repeat(3, 1)),
        ("mask", |x| x.boolean_mask(&x.less(1.0)?)),
        ("broadcast", |x| x.multiply(&x.reduce_sum(ragged::opt::keep(1))?)),
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

/// `<A x, y> = <x, At y>`, exactly: all sums are of whole numbers.
#[test]
fn adjoints() {
    let linear: [(&str, F); 19] = [
        ("slice", |x| x.slice(s![.., 1..])),
        ("slice of the ends", |x| x.slice(s![.., -2..])),
        ("slice of steps", |x| x.slice(s![.., ..;2])),
        ("slice of steps from the end", |x| x.slice(s![..;3, ..;-2])),
        ("slice of rows", |x| x.slice(s![1..])),
        ("reverse", |x| x.reverse(1)),
        ("reverse of rows", |x| x.reverse(0)),
        ("concat", |x| Tensor::concat(&[x, x, x, x, x], 0)),
        ("concat within rows", |x| Tensor::concat(&[x, &x.reverse(1)?], 1)),
        ("to_tensor", |x| x.to_tensor(0)),
        ("tile", |x| x.tile(&[2, 3])),
        ("repeat", |x| x.repeat(3, 1)),
        ("repeat of rows", |x| x.repeat(2, 0)),
        ("mask", |x| x.boolean_mask(&x.less(2)?)),
        ("row sums", |x| x.reduce_sum(1)),
        ("column sums", |x| x.reduce_sum(0)),
        ("cumsum", |x| x.cumsum(1)),
        ("windows", |x| x.sliding_windows(3, 1)?.reduce_sum(2)),
        ("sort", |x| x.sort(1)),
    ];
    let whole = |x: &Tensor| x.multiply(8.0)?.floor();
    for device in devices().into_iter().map(|(_, device)| device) {
        for lengths in [&[4u32, 0, 1, 7, 3, 0][..], &[0, 0], &[600, 1, 0, 300]] {
            let x = whole(&rows(lengths, &device)).unwrap();
            for (name, f) in linear {
                let y = |x: &Tensor| -> Result<Tensor> {
                    let flat = f(x)?.flat_values()?.reshape([-1])?;
                    let weights = flat.ones_like()?.cumsum(0)?.multiply(7.0)?.floormod(11.0)?;
                    flat.multiply(&weights)?.reduce_sum(..)
                };
                let (value, g) = value_and_grad(|x| y(&x[0]), [&x]).unwrap_or_else(|e| panic!("{name}: {e}"));
                let product = g[0].multiply(&x).unwrap().reduce_sum(..).unwrap();
                assert_eq!(numbers(&product).unwrap(), numbers(&value).unwrap(), "{name} of rows {lengths:?}");
            }
        }
    }
}
