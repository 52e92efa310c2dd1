//! Every dtype at every rank: an operation on small whole numbers must give the same numbers as on i32, whose results
//! other tests compare with nested lists.

use ragged::arguments::Fill;
use ragged::arguments::Index;
use ragged::opt::{along, descending, exclusive, keep, reversed};
use ragged::{DType, Device, HostTensor, HostValues, Result, Tensor};

use crate::common;
use crate::nest::{Random, ints, on};
use crate::outcome;

const DTYPES: [DType; 11] = [
    DType::U8,
    DType::I8,
    DType::U16,
    DType::I16,
    DType::U32,
    DType::I64,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

type Op = (&'static str, fn(&Tensor, i64) -> Result<Tensor>);

/// Operations along an axis that give whole numbers for whole numbers.
const OPS: &[Op] = &[
    ("sum", |x, a| x.reduce_sum(a)),
    ("sum of all", |x, _| x.reduce_sum(keep(..))),
    ("product", |x, a| x.reduce_prod(keep(a))),
    // The minimum or maximum of an empty row depends on the dtype, so it is combined with the row's values.
    ("less the greatest", |x, a| x.reduce_max(keep(a))?.broadcast_like(x)?.subtract(x)),
    ("of the least", |x, a| x.subtract(&x.reduce_min(keep(a))?.broadcast_like(x)?)),
    ("any", |x, a| x.reduce_any(a)),
    ("all", |x, a| x.reduce_all(keep(a))),
    ("not zero", |x, a| x.count_nonzero(a)),
    ("place of the greatest", |x, a| x.argmax(a)),
    ("place of the least", |x, a| x.argmin(a)),
    ("running sum", |x, a| x.cumsum(reversed(a))),
    ("running sum before", |x, a| x.cumsum(exclusive(a))),
    ("running product", |x, a| x.cumprod(a)),
    ("running maximum", |x, a| x.cummax(a)),
    ("sorted", |x, a| x.sort(descending(a))),
    ("order", |x, a| x.argsort(a)),
    ("two greatest", |x, a| Ok(x.top_k(2, a)?.0)),
    ("unique", |x, a| x.unique(a)),
    ("how many differ", |x, a| x.n_unique(a)),
    ("reversed", |x, a| x.reverse(a)),
    ("beside its reverse", |x, a| Tensor::concat(&[x, &x.reverse(a)?], a)),
    ("on itself", |x, a| Tensor::stack(&[x, x], a)),
    ("repeated", |x, a| x.repeat(2, a)),
    ("a part", |x, _| x.slice([Index::Slice { start: None, stop: None, step: -2 }])),
    ("masked", |x, _| x.boolean_mask(&x.cast(DType::Bool)?)),
    ("padded", |x, _| x.to_tensor(Fill::zero(x.dtype()))),
    ("filled", |x, _| Ok(x.fill_empty_rows(&Tensor::zeros(&x.ragged_shape().slice(..0)?, x.dtype())?)?.0)),
    ("where", |x, _| x.where_indices()),
    ("times its transpose", |x, _| x.matmul(x.t())),
    ("its transpose times it", |x, _| x.t().matmul(x)),
    ("one hot", |x, a| x.cast(DType::I64)?.one_hot(along(3, a), 1i32, 0i32)?.cast(x.dtype())),
    ("groups", |x, _| x.stack_dynamic_partitions(&x.cast(DType::I32)?, 4)),
    ("segments", |x, _| x.unsorted_segment_sum(&x.cast(DType::I64)?, 4)),
    ("by its own place", |x, a| x.gather(&x.argsort(a)?)),
    ("rows with their sums", |x, _| x.map_rows(|r| r.subtract(&r.reduce_min(..)?))),
];

/// Whole numbers from 0 to 3, which every dtype represents.
fn small(random: &mut Random, ragged: usize, inner: usize) -> HostTensor {
    let x = random.tensor(ragged, inner);
    HostTensor { values: HostValues::I32(ints(&x).iter().map(|v| v.rem_euclid(4)).collect()), ..x }
}

/// The result with its values as numbers; bools are kept.
fn numbers(t: Result<Tensor>) -> String {
    outcome(t.and_then(|t| if t.dtype() == DType::Bool { Ok(t) } else { t.cast(DType::I64) }))
}

/// Fails unless the operation gives the same numbers in the dtype as in i32.
fn check(x: &HostTensor, dtype: DType, axis: i64, (name, op): Op, device: &Device) {
    let want = numbers(op(&on(x, &Device::cpu()), axis));
    let got = numbers(on(x, device).cast(dtype).and_then(|x| op(&x, axis)));
    assert!(want == got, "{name} along {axis} of {dtype} on {device:?}: {got}, not {want}\n{x:?}");
}

#[test]
fn dtypes_give_the_same_numbers_at_every_rank() {
    let devices = [Device::cpu(), Device::cpu_unfused()];
    for seed in 0..24 {
        let mut random = Random::new(6000 + seed);
        // Every ragged rank, each with every inner rank.
        let (ragged, inner) = (seed as usize % 4, seed as usize / 4 % 3);
        let x = small(&mut random, ragged, inner);
        for op in OPS {
            for dtype in DTYPES {
                let axis = i64::from(random.below(1 + ragged as u32 + inner as u32));
                devices.iter().for_each(|device| check(&x, dtype, axis, *op, device));
            }
        }
    }
}

/// On adapters, each dtype is tested at some ranks only, since each dtype and rank compiles another kernel.
#[test]
fn dtypes_give_the_same_numbers_on_adapters() {
    for (_, device) in common::gpus() {
        for (k, op) in OPS.iter().enumerate() {
            for (d, dtype) in DTYPES.into_iter().enumerate().filter(|(d, _)| (k + d) % 3 == 0) {
                if !common::has(&device, dtype) {
                    continue;
                }
                let (ragged, inner) = ((k / 3 + d) % 4, d % 2);
                let mut random = Random::new(7000 + (k * 16 + d) as u64);
                let x = small(&mut random, ragged, inner);
                let axis = i64::from(random.below(1 + ragged as u32 + inner as u32));
                check(&x, dtype, axis, *op, &device);
            }
        }
    }
}
