//! What gradients cost: sorts and bytes, by the plans of the value with its gradient, on every device.

use ragged::opt::{exclusive, keep, reversed, shaped as padded};
use ragged::{Device, Explain, RaggedTensor, Result, Tensor, explain, grad, s, value_and_grad};

use crate::common::devices;
use crate::differences::{rows, shaped};

type F = fn(&Tensor) -> Result<Tensor>;

/// The layouts that an operation is differentiated in.
struct Layouts {
    /// Rows of various lengths, empty ones among them.
    rows: Tensor,
    /// Such rows of elements of 3 numbers.
    wide: Tensor,
    /// Two levels of rows.
    levels: Tensor,
    /// Columns of a number that the recording contains.
    dense: Tensor,
    /// Three dimensions.
    cube: Tensor,
    /// Columns of a number that is a parameter of the plan.
    given: Tensor,
    /// Uniform rows as a partition.
    uniform: Tensor,
}

impl Layouts {
    fn new(device: &Device) -> Self {
        let lengths: Vec<u32> = (0..300).map(|k| k % 7).collect();
        let dense = shaped(&[], &[40, 30], device);
        Self {
            rows: rows(&lengths, device),
            wide: shaped(&[&lengths], &[3], device),
            levels: shaped(&[&lengths, &(0..897).map(|k| k % 5).collect::<Vec<u32>>()], &[], device),
            cube: shaped(&[], &[10, 6, 5], device),
            given: rows(&lengths, device).to_tensor(0).unwrap(),
            uniform: Tensor::from_tensor(&dense, 1).unwrap(),
            dense,
        }
    }

    fn named(&self) -> [(&'static str, &Tensor); 7] {
        [
            ("rows", &self.rows),
            ("wide", &self.wide),
            ("levels", &self.levels),
            ("dense", &self.dense),
            ("cube", &self.cube),
            ("given", &self.given),
            ("uniform", &self.uniform),
        ]
    }
}

/// The kernels that sort.
fn sorts(explained: &Explain) -> usize {
    explained.kernels.iter().filter(|kernel| kernel.kind.contains("sort")).count()
}

/// The plan of the sum of the squares of `f` with its gradient, and the plan of the sum alone.
fn plans(x: &Tensor, f: F) -> Result<[Explain; 2]> {
    let loss = |x: &Tensor| f(x)?.flat_values()?.square()?.reduce_sum(..);
    let (value, gradients) = value_and_grad(|x| loss(&x[0]), [x])?;
    Ok([explain([&value, &gradients[0]])?, explain(&loss(x)?)?])
}

/// Operations that move, repeat, fold or scan numbers. Layouts that one of them does not take are left out.
const OPERATIONS: &[(&str, F)] = &[
    ("slice", |x| x.slice(s![.., 1..])),
    ("slice ends", |x| x.slice(s![.., -2..])),
    ("slice steps", |x| x.slice(s![.., ..;2])),
    ("slice steps from 1", |x| x.slice(s![.., 1..;2])),
    ("slice neg steps", |x| x.slice(s![.., ..;-2])),
    ("slice neg", |x| x.slice(s![.., ..;-1])),
    ("slice rows", |x| x.slice(s![3..20])),
    ("slice rows one", |x| x.slice(s![3])),
    ("slice rows steps", |x| x.slice(s![..;3])),
    ("slice rows neg steps", |x| x.slice(s![..;-2])),
    ("slice rows neg", |x| x.slice(s![..;-1])),
    ("slice both steps", |x| x.slice(s![..;3, ..;2])),
    ("slice both neg steps", |x| x.slice(s![..;-3, ..;-2])),
    ("reverse0", |x| x.reverse(0)),
    ("reverse1", |x| x.reverse(1)),
    ("reverse all", |x| x.reverse(..)),
    ("concat0", |x| Tensor::concat(&[x, &x.exp()?, x], 0)),
    ("concat1", |x| Tensor::concat(&[x, &x.exp()?, x], 1)),
    ("concat-1", |x| Tensor::concat(&[x, &x.exp()?], -1)),
    ("concat1 of several", |x| Tensor::concat(&[x, &x.exp()?, &x.sin()?, &x.cos()?], 1)),
    ("stack0", |x| Tensor::stack(&[x, &x.exp()?], 0)),
    ("stack1", |x| Tensor::stack(&[x, &x.exp()?], 1)),
    ("to_tensor", |x| x.to_tensor(0)),
    ("pad_rows", |x| x.pad_rows(3, 0.5, 1)),
    ("to_tensor crop", |x| x.to_tensor(padded(0, [-1i64].repeat(x.rank())))),
    ("from_tensor", |x| Tensor::from_tensor(x, 1)),
    ("to and from", |x| Tensor::from_tensor_with_padding(&x.to_tensor(0)?, 0)),
    ("tile0", |x| x.tile(&[vec![2], vec![1; x.rank() - 1]].concat())),
    ("tile1", |x| x.tile(&[vec![1, 3], vec![1; x.rank() - 2]].concat())),
    ("tile01", |x| x.tile(&[vec![2, 3], vec![1; x.rank() - 2]].concat())),
    ("tile last", |x| x.tile(&[vec![1; x.rank() - 1], vec![20]].concat())),
    ("tile all", |x| x.tile(&vec![2; x.rank()])),
    ("tile all of concat", |x| Tensor::concat(&[x, &x.exp()?], 0)?.tile(&vec![2; x.rank()])),
    ("tile all of concat1", |x| Tensor::concat(&[x, &x.exp()?], 1)?.tile(&vec![2; x.rank()])),
    ("repeat0", |x| x.repeat(3, 0)),
    ("repeat1", |x| x.repeat(3, 1)),
    ("repeat-1", |x| x.repeat(20, -1)),
    ("mask", |x| x.boolean_mask(&x.less(1.0)?)),
    ("mask rows", |x| {
        x.boolean_mask(&x.ones_like()?.reduce_sum(1)?.reduce_sum(1).or_else(|_| x.reduce_sum(1))?.less(9.0)?)
    }),
    ("broadcast", |x| x.multiply(&x.reduce_sum(keep(1))?)),
    ("broadcast all", |x| x.multiply(&x.reduce_sum(..)?)),
    ("broadcast row", |x| x.add(&x.reduce_mean(1)?.expand_dims(1)?)),
    ("broadcast_like", |x| x.reduce_sum(keep(-1))?.broadcast_like(x)),
    ("broadcast_to", |x| x.reduce_sum(keep(1))?.broadcast_to(x.ragged_shape())),
    ("sum0", |x| x.reduce_sum(0)),
    ("sum1", |x| x.reduce_sum(1)),
    ("sum-1", |x| x.reduce_sum(-1)),
    ("mean1", |x| x.reduce_mean(1)),
    ("lse", |x| x.reduce_logsumexp(1)),
    ("max1", |x| x.reduce_max(1)),
    ("prod1", |x| x.reduce_prod(1)),
    ("std1", |x| x.reduce_variance(1)),
    ("softmax", |x| x.softmax(-1)),
    ("cumsum1", |x| x.cumsum(1)),
    ("cumsum0", |x| x.cumsum(0)),
    ("cumsum-1 rev", |x| x.cumsum(exclusive(reversed(-1)))),
    ("cumprod1", |x| x.cumprod(1)),
    ("cumprod0", |x| x.cumprod(0)),
    ("cummax1", |x| x.cummax(1)),
    ("cummax0", |x| x.cummax(0)),
    ("cummax rev", |x| x.cummax(exclusive(reversed(1)))),
    ("cummin-1", |x| x.cummin(-1)),
    ("windows", |x| x.sliding_windows(3, 1)),
    ("windows sum", |x| x.sliding_windows(3, 1)?.reduce_sum(2)),
    ("windows20", |x| x.sliding_windows(20, 1)?.reduce_sum(2)),
    ("shift", |x| x.shift(1, 0.0, 1)),
    ("roll", |x| x.roll(2, 1)),
    ("diff", |x| x.diff(1)),
    ("transpose", |x| x.transpose(..)),
    ("padded transpose", |x| x.to_tensor(0)?.transpose(..)),
    ("swapped axes", |x| {
        let last = x.rank() as i64 - 1;
        let axes: Vec<i64> = (0..last - 1).chain([last, last - 1]).collect();
        x.transpose(axes)
    }),
    ("expand", |x| x.expand_dims(1)),
    ("merge", |x| x.merge_dims(0, 1)),
    ("nth", |x| x.nth_or(1, 0.0)),
    ("split", |x| Ok(x.split(2, 0)?.swap_remove(1))),
    ("sort", |x| x.sort(-1)),
    ("sort1", |x| x.sort(1)),
    ("sort slice", |x| x.sort(-1)?.slice(s![.., ..2])),
    ("top_k", |x| Ok(x.top_k(2, -1)?.0)),
    ("segment_sum", |x| {
        let n = x.flat_values()?.reshape([-1])?;
        let ids = n.ones_like()?.cumsum(0)?.multiply(7.0)?.floormod(300.0)?.cast(ragged::DType::I32)?;
        n.unsorted_segment_sum(&ids, 300)
    }),
];

/// Layouts that operations do not take.
const NOT_TAKEN: &[(&str, &str)] = &[
    ("from_tensor", "rows"),
    ("from_tensor", "wide"),
    ("from_tensor", "levels"),
    ("from_tensor", "uniform"),
    ("shift", "levels"),
    ("pad_rows", "levels"),
    ("diff", "levels"),
    ("swapped axes", "rows"),
    ("swapped axes", "wide"),
    ("swapped axes", "levels"),
    ("swapped axes", "uniform"),
    ("nth", "levels"),
];

#[test]
fn values_and_gradients_have_the_sorts_of_the_value() {
    let mut wrong = Vec::new();
    for (name, device) in devices() {
        let layouts = Layouts::new(&device);
        for (op, f) in OPERATIONS {
            for (layout, x) in layouts.named() {
                let taken = f(x).map_err(|e| e.to_string());
                if taken.is_ok() == NOT_TAKEN.contains(&(*op, layout)) {
                    wrong.push(format!("{op} of {layout} on {name}: {:?}", taken.as_ref().map(|_| "taken")));
                }
                if taken.is_err() {
                    continue;
                }
                let [both, value] = match plans(x, *f) {
                    Ok(plans) => plans,
                    Err(e) => {
                        wrong.push(format!("{op} of {layout} on {name}: {e}"));
                        continue;
                    }
                };
                let more = sorts(&both).saturating_sub(sorts(&value));
                if more != 0 {
                    wrong.push(format!("{op} of {layout} on {name}: {more} sorts more than the value"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The number of elements of each sort.
fn sorted(explained: &Explain) -> Vec<u64> {
    explained.kernels.iter().filter(|kernel| kernel.kind.contains("sort")).map(|kernel| kernel.elements).collect()
}

#[test]
fn gathers_sort_the_rows_once() {
    for (name, device) in devices() {
        let layouts = Layouts::new(&device);
        let ids = RaggedTensor::from_nested((0..2000).map(|k| k * 7 % 40).collect::<Vec<i32>>(), &device).unwrap();
        // The few rows of the cube are folded in tiles, without a sort.
        for (layout, x) in layouts.named().into_iter().filter(|(layout, _)| *layout != "cube") {
            let loss = |x: &Tensor| x.gather(ids.erased())?.flat_values()?.square()?.reduce_sum(..);
            let (value, first) = value_and_grad(|x| loss(&x[0]), [x]).unwrap();
            let of_first = sorted(&explain([&value, &first[0]]).unwrap());
            if layout == "levels" {
                // The rows of the level below.
                assert_eq!(of_first.len(), 1, "{layout} on {name}");
                continue;
            }
            assert_eq!(of_first, [2000], "{layout} on {name}");
            let slope = |x: &Tensor| grad(|x| loss(&x[0]), [x])?[0].flat_values()?.square()?.reduce_sum(..);
            let (slope, second) = value_and_grad(|x| slope(&x[0]), [x]).unwrap();
            let all = explain([&value, &first[0], &slope, &second[0]]).unwrap();
            assert_eq!(sorted(&all), [2000], "second derivative of {layout} on {name}");
        }
    }
}

#[test]
fn segment_sums_sort_their_ids_once() {
    for (name, device) in devices() {
        let x = shaped(&[], &[2000, 3], &device);
        let ids = RaggedTensor::from_nested((0..2000).map(|k| k * 7919 % 5000).collect::<Vec<i32>>(), &device).unwrap();
        let loss = |x: &Tensor| x.unsorted_segment_sum(&ids, 5000)?.square()?.reduce_sum(..);
        assert_eq!(sorted(&loss(&x).unwrap().explain().unwrap()), [2000], "{name}");
        assert_eq!(sorted(&both_passes(loss, &x)), [2000], "{name}: with the gradient");
    }
}

/// The plan of a value with its gradient.
fn both_passes(loss: impl Fn(&Tensor) -> Result<Tensor>, x: &Tensor) -> Explain {
    let (value, gradients) = value_and_grad(|x| loss(&x[0]), [x]).unwrap();
    explain([&value, &gradients[0]]).unwrap()
}

/// The least of both passes: inputs and cotangents are read once in each pass, the value and the gradient are written once.
/// A look-up has one sort, which is part of it.
#[test]
fn bytes_of_both_passes() {
    for (name, device) in devices() {
        let lengths: Vec<u32> = (0..4000).map(|k| k % 40).collect();
        let (n, rows_of) = (lengths.iter().sum::<u32>() as u64, lengths.len() as u64);
        let x = rows(&lengths, &device).cast(ragged::DType::F32).unwrap();
        let (numbers, splits) = (4 * n, 4 * (rows_of + 1));
        let sum = both_passes(|x| x.reduce_sum(1)?.square()?.reduce_sum(..), &x);
        let mean = both_passes(|x| x.reduce_mean(1)?.square()?.reduce_sum(..), &x);
        let softmax = both_passes(|x| x.softmax(1)?.square()?.reduce_sum(..), &x);
        let table = shaped(&[], &[1000, 32], &device).cast(ragged::DType::F32).unwrap();
        let ids: Vec<i32> = (0..n as i32).map(|k| k * 7 % 1000).collect();
        let ids = x.with_flat_values(RaggedTensor::from_nested(ids, &device).unwrap().erased()).unwrap();
        let embed = both_passes(|x| x.gather(&ids)?.reduce_mean(1)?.square()?.reduce_sum(..), &table);
        let sort: u64 =
            embed.kernels.iter().filter(|k| k.kind.contains("sort")).map(|k| k.bytes_read + k.bytes_written).sum();
        let of_rows = 2 * numbers + 2 * splits + 8 * rows_of;
        // Ids and splits in both passes, the table, its gradient, and the means written and read in the two passes.
        let of_table = 2 * numbers + 2 * splits + 2 * 4 * 32 * 1000 + 2 * 4 * 32 * rows_of + sort;
        let all = [
            ("sum", sum, of_rows),
            ("mean", mean, of_rows),
            ("softmax", softmax, 2 * 2 * numbers + 2 * splits),
            ("embed_mean", embed, of_table),
        ];
        for (of, explained, least) in all {
            let times = explained.bytes() as f64 / least as f64;
            assert!(times <= 2.0, "{of} on {name}: {times} times the least\n{explained}");
        }
    }
}
