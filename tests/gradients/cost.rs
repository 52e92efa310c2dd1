//! What gradients cost: sorts and bytes, by the plans of the value with its gradient, on every device.

use ragged::opt::{exclusive, keep, reversed, shaped as padded};
use ragged::{Device, Explain, RaggedTensor, Result, Tensor, explain, s, value_and_grad};

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
    Ok([explain(&[&value, &gradients[0]])?, explain(&loss(x)?)?])
}

#[test]
fn probe() {
    let all: Vec<(&str, F)> = vec![
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
        ("stack0", |x| Tensor::stack(&[x, &x.exp()?], 0)),
        ("stack1", |x| Tensor::stack(&[x, &x.exp()?], 1)),
        ("to_tensor", |x| x.to_tensor(0)),
        ("to_tensor crop", |x| x.to_tensor(padded(0, [-1i64].repeat(x.rank())))),
        ("from_tensor", |x| Tensor::from_tensor(x, 1)),
        ("to and from", |x| {
            Tensor::from_tensor_with_padding(&x.to_tensor(0)?, 0)
        }),
        ("tile0", |x| x.tile(&[vec![2], vec![1; x.rank() - 1]].concat())),
        ("tile1", |x| x.tile(&[vec![1, 3], vec![1; x.rank() - 2]].concat())),
        ("tile01", |x| x.tile(&[vec![2, 3], vec![1; x.rank() - 2]].concat())),
        ("tile last", |x| x.tile(&[vec![1; x.rank() - 1], vec![20]].concat())),
        ("tile all", |x| x.tile(&vec![2; x.rank()])),
        ("repeat0", |x| x.repeat(3, 0)),
        ("repeat1", |x| x.repeat(3, 1)),
        ("repeat-1", |x| x.repeat(20, -1)),
        ("mask", |x| x.boolean_mask(&x.less(1.0)?)),
        ("mask rows", |x| x.boolean_mask(&x.ones_like()?.reduce_sum(1)?.reduce_sum(1).or_else(|_| x.reduce_sum(1))?.less(9.0)?)),
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
        ("swap", |x| { let n = x.rank() as i64; let mut a: Vec<i64> = (0..n).collect(); a.swap(n as usize - 1, n as usize - 2); x.transpose(a) }),
        ("expand", |x| x.expand_dims(1)),
        ("merge", |x| x.merge_dims(0, 1)),
        ("nth", |x| x.nth_or(1, 0.0)),
        ("split", |x| Ok(x.split(2, 0)?.swap_remove(1))),
        ("sort", |x| x.sort(-1)),
        ("sort1", |x| x.sort(1)),
        ("sort slice", |x| x.sort(-1)?.slice(s![.., ..2])),
        ("top_k", |x| Ok(x.top_k(2, -1)?.0)),
        ("segment_sum", |x| { let n = x.flat_values()?.reshape([-1])?; let ids = n.ones_like()?.cumsum(0)?.multiply(7.0)?.floormod(300.0)?.cast(ragged::DType::I32)?; n.unsorted_segment_sum(&ids, 300) }),
        ("gather0", |x| x.gather(RaggedTensor::from_nested((0..300).map(|k| k * 7 % 10).collect::<Vec<i32>>(), &x.device())?.erased())),
    ];
    let (name, device) = devices().swap_remove(0);
    let layouts = Layouts::new(&device);
    println!("{name}");
    for (op, f) in all {
        for (layout, x) in layouts.named() {
            let t = std::time::Instant::now();
            eprintln!("## {op} of {layout}");
            match plans(x, f) {
                Ok([both, value]) => {
                    let more = sorts(&both) as i64 - sorts(&value) as i64;
                    if more != 0 { println!("{op} of {layout}: {} - {} {:?}", sorts(&both), sorts(&value), t.elapsed()); }
                }
                Err(e) => println!("    {op} of {layout}: {}", e.to_string().lines().next().unwrap()),
            }
        }
    }
}
