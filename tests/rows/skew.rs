//! Every row kernel on very skewed rows: the GPU gives the CPU's bits, and rows are batch-invariant.

use ragged::arguments::Index;
use ragged::opt::{descending, exclusive, keep, nonempty, reversed};
use ragged::{DType, Device, DeviceOptions, HostTensor, HostValues, Result, Tensor};

use crate::common::{self, random::splits};
use crate::nest::on;
use crate::outcome;

/// Row lengths by name.
fn layouts() -> Vec<(&'static str, Vec<u32>)> {
    let edges = [16, 32, 64, 256, 512, 1024, 2048].iter().flat_map(|&e: &u32| [e - 1, 0, e, e + 1, 0, 0]);
    let mut empty = vec![0; 100_000];
    (empty[70_000], empty[99_998]) = (3, 1);
    vec![
        ("a giant row", vec![0, 0, 3, 70_000, 0, 1]),
        ("a power law", (1..600).map(|k| 4096 / (k * 7 % 599 + 1)).collect()),
        ("100,000 rows, two not empty", empty),
        ("around the edges", edges.collect()),
        ("no values", vec![0; 300]),
        ("no rows", Vec::new()),
    ]
}

fn rows(lengths: &[u32], inner: usize, value: impl Fn(u32) -> HostValues) -> HostTensor {
    let splits = splits(lengths);
    let n = splits[lengths.len()];
    let mut inner_shape = vec![n as usize];
    inner_shape.extend((inner > 1).then_some(inner));
    HostTensor {
        nested_row_splits: vec![splits],
        uniform_row_lengths: vec![None],
        inner_shape,
        values: value(n * inner as u32),
    }
}

/// Values of all magnitudes, whose sums depend on their order.
fn floats(n: u32) -> HostValues {
    let value = |k: u32| f32::from_bits((k.wrapping_mul(0x9e37_79b9) >> 9) | 0x3f80_0000) * (k % 1009) as f32 - 700.0;
    HostValues::F32((0..n).map(value).collect())
}

/// Few distinct values.
fn bytes(n: u32) -> HostValues {
    HostValues::U8((0..n).map(|k| (k.wrapping_mul(0x9e37_79b9) >> 27) as u8).collect())
}

/// Values that use all bits.
fn longs(n: u32) -> HostValues {
    HostValues::I64((0..n).map(|k| (i64::from(k) - 40).wrapping_mul(0x0123_4567_89ab_cdef)).collect())
}

/// Every backend, and the first adapter with the minimum limits of WebGPU.
fn backends() -> Vec<(String, Device)> {
    let mut out = vec![("cpu unfused".to_owned(), Device::cpu_unfused())];
    out.extend(common::gpus());
    if out.len() > 1 {
        let least = DeviceOptions::default().core_limits(true).no_int64(true);
        out.push(("gpu core".into(), Device::gpu_with(&least).expect("opens with less")));
        let other_checks = !DeviceOptions::default().checked_shaders;
        let options = DeviceOptions::default().checked_shaders(other_checks);
        out.push((format!("gpu, checks {other_checks}"), Device::gpu_with(&options).expect("opens twice")));
        let windows = DeviceOptions::default().max_binding(512 << 10);
        out.push(("gpu windows".into(), Device::gpu_with(&windows).expect("opens with less")));
    }
    out
}

type Op = (&'static str, fn(&Tensor) -> Result<Tensor>);

fn agree(layouts: &[(&'static str, Vec<u32>)], ops: &[Op], make: impl Fn(&[u32]) -> HostTensor) {
    let backends = backends();
    for (layout, lengths) in layouts {
        let host = make(lengths);
        let reference = on(&host, &Device::cpu());
        let all: Vec<Tensor> = backends.iter().map(|(_, device)| on(&host, device)).collect();
        for (name, op) in ops {
            let want = outcome(op(&reference));
            for ((backend, _), x) in backends.iter().zip(&all) {
                assert!(want == outcome(op(x)), "{name} of {} on {backend}: {layout}", host.values.dtype());
            }
        }
    }
}

/// Operations with row kernels: a reduction, scans, sorts, masks, maps.
const OF_NUMBERS: &[Op] = &[
    ("sum", |x| x.reduce_sum(1)),
    ("greatest", |x| x.reduce_max(1)),
    ("place of the greatest", |x| x.argmax(1)),
    ("running sum", |x| x.cumsum(1)),
    ("running sum from the end, exclusive", |x| x.cumsum(exclusive(reversed(1)))),
    ("running maximum", |x| x.cummax(1)),
    ("sorted", |x| x.sort(1)),
    ("order, greatest first", |x| x.argsort(descending(1))),
    ("the greatest three", |x| Ok(x.top_k(3, 1)?.0)),
    ("unique", |x| x.unique(1)),
    ("above three", |x| x.boolean_mask(&x.cast(DType::F32)?.greater(3.0f32)?)),
    ("rows whose sum is not 0", |x| x.boolean_mask(&x.reduce_sum(1)?.cast(DType::Bool)?)),
    ("reversed, less the least", |x| x.reverse(1)?.subtract(&x.reduce_min(keep(1))?)),
    ("every other", |x| {
        x.slice([
            Index::Slice { start: None, stop: None, step: 1 },
            Index::Slice { start: Some(1), stop: None, step: -2 },
        ])
    }),
    ("columns", |x| x.reduce_max(0)),
];

const OF_FLOATS: &[Op] = &[
    ("mean", |x| x.reduce_mean(1)),
    ("variance", |x| x.reduce_variance(1)),
    ("softmax", |x| x.softmax(1)),
    ("log of the sum of exponentials", |x| x.reduce_logsumexp(1)),
    ("median", |x| x.median(1)),
];

#[test]
fn numbers() {
    let layouts = layouts();
    agree(&layouts, OF_NUMBERS, |lengths| rows(lengths, 1, floats));
    agree(&layouts, OF_FLOATS, |lengths| rows(lengths, 1, floats));
    agree(&layouts, OF_NUMBERS, |lengths| rows(lengths, 1, bytes));
}

#[test]
fn pairs_of_long_numbers() {
    agree(&layouts()[1..], OF_NUMBERS, |lengths| rows(lengths, 2, longs));
}

#[test]
fn products_of_batches() {
    let ops: &[Op] = &[("by its transpose", |x| x.t().matmul(x))];
    agree(&layouts(), ops, |lengths| rows(lengths, 3, floats));
    // The outer product of a row has the size of its square.
    let outer: &[Op] = &[("its transpose by it", |x| x.matmul(x.t()))];
    agree(&layouts()[2..3], outer, |lengths| rows(lengths, 3, floats));
    let edges: Vec<u32> = [0, 7, 8, 9, 15, 16, 17, 31, 32, 33, 0, 63, 64, 65, 129].to_vec();
    agree(&[("tiles", edges)], outer, |lengths| rows(lengths, 3, floats));
}

#[test]
fn strings() {
    let ops: &[Op] = &[
        ("fingerprint", |x| x.fingerprint64()),
        ("bucket", |x| x.to_hash_bucket(1000)),
        ("strong bucket", |x| x.to_hash_bucket_strong(1000, [7, 9])),
        ("reversed twice over", |x| Tensor::concat(&[&x.reverse(0)?, x], 0)),
        ("equal to the next", |x| x.equal(&x.reverse(0)?)),
        ("words", |x| x.string_split(nonempty("e"))),
    ];
    // Strings are rows of bytes.
    agree(&layouts(), ops, |lengths| {
        let string = |(k, &n): (usize, &u32)| (0..n).map(|i| b'a' + ((k as u32 + i * 7) % 23) as u8).collect();
        let all: Vec<Vec<u8>> = lengths.iter().enumerate().map(string).collect();
        HostTensor::dense(&[lengths.len()], HostValues::Str(all))
    });
}

#[test]
fn rows_are_batch_invariant() {
    let ops: &[Op] = &[
        ("sum", |x| x.reduce_sum(keep(1))),
        ("running sum", |x| x.cumsum(reversed(1))),
        ("running product", |x| x.cumprod(exclusive(1))),
        ("softmax", |x| x.softmax(1)),
        ("variance", |x| x.reduce_variance(keep(1))),
        ("product", |x| x.expand_dims(2)?.t().matmul(&x.expand_dims(2)?)),
    ];
    for (name, device) in common::devices() {
        for (layout, lengths) in layouts().iter().filter(|(_, lengths)| !lengths.is_empty()) {
            let x = on(&rows(lengths, 1, floats), &device);
            let longest = (0..lengths.len()).max_by_key(|&r| lengths[r]).unwrap_or(0);
            for (what, op) in ops {
                let crowd = op(&x).expect("recorded");
                crowd.eval().expect("evaluates");
                for r in [0, longest as i64, lengths.len() as i64 - 1] {
                    let row = |t: &Tensor| t.slice([Index::Slice { start: Some(r), stop: Some(r + 1), step: 1 }]);
                    let alone = row(&x).and_then(|x| op(&x));
                    assert!(outcome(row(&crowd)) == outcome(alone), "{what} of row {r} on {name}: {layout}");
                }
            }
        }
    }
}
