//! Sizes of the data are parameters of a plan: numbers of rows, lengths of uniform rows, summed lengths of products,
//! numbers of segments and lengths of padded rows.

mod common;

use ragged::{CpuOptions, DType, Device, DeviceOptions, HostTensor, HostValues, RaggedTensor, Result, Tensor, s};

/// A small integer, exact in f32 sums.
fn number(k: usize) -> f32 {
    (k * 37 % 101) as f32
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(number).collect()
}

fn dense(shape: &[usize], device: &Device) -> Result<Tensor> {
    Ok(RaggedTensor::dense(numbers(shape.iter().product()), shape, device)?.into_erased())
}

fn ids(count: usize, below: usize, device: &Device) -> Result<Tensor> {
    let ids = (0..count).map(|k| (k * 5 % below) as i32).collect();
    HostTensor::dense(&[count], HostValues::I32(ids)).to_device(device)
}

/// 6 rows of `length` values.
fn uniform(length: usize, device: &Device) -> Result<Tensor> {
    Ok(RaggedTensor::from_uniform_row_length(numbers(6 * length), length, device)?.into_erased())
}

/// Rows of at most `longest` values.
fn ragged_rows(longest: usize) -> Vec<Vec<f32>> {
    [1, longest, 0, longest / 2, 3].into_iter().map(numbers).collect()
}

fn padded(longest: usize, device: &Device) -> Result<Tensor> {
    RaggedTensor::from_nested(ragged_rows(longest), device)?.erased().to_tensor(-1.0f32)
}

fn padded_rows(longest: usize) -> Vec<Vec<f32>> {
    let of = |mut row: Vec<f32>| {
        row.resize(longest, -1.0);
        row
    };
    ragged_rows(longest).into_iter().map(of).collect()
}

fn rows_of(width: usize, n: usize) -> Vec<Vec<f32>> {
    numbers(width * n).chunks(width).map(<[f32]>::to_vec).collect()
}

fn sums(rows: &[Vec<f32>]) -> Vec<f32> {
    rows.iter().map(|row| row.iter().sum()).collect()
}

fn softmax(rows: &[Vec<f32>]) -> Vec<f32> {
    let of = |row: &Vec<f32>| {
        let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let exps: Vec<f64> = row.iter().map(|&x| f64::from(x - top).exp()).collect();
        let sum: f64 = exps.iter().sum();
        exps.into_iter().map(|e| (e / sum) as f32).collect::<Vec<_>>()
    };
    rows.iter().flat_map(of).collect()
}

fn product(a: &[Vec<f32>], b: &[Vec<f32>]) -> Vec<f32> {
    let columns = b.first().map_or(0, Vec::len);
    let entry = |row: &Vec<f32>, j: usize| row.iter().zip(b).map(|(x, y)| x * y[j]).sum::<f32>();
    a.iter().flat_map(|row| (0..columns).map(move |j| entry(row, j))).collect()
}

fn segment_sums(count: usize, segments: usize) -> Vec<f32> {
    let mut out = vec![0.0; segments];
    (0..count).for_each(|k| out[k * 5 % segments] += number(k));
    out
}

/// A computation on data of a size, its most plans for 20 sizes, and its result by a naive computation.
struct Case {
    name: &'static str,
    plans: usize,
    run: fn(usize, &Device) -> Result<Tensor>,
    naive: fn(usize) -> Vec<f32>,
}

const CASES: &[Case] = &[
    Case {
        name: "sums of a dense tensor",
        plans: 1,
        run: |t, device| dense(&[t, 4], device)?.reduce_sum(1),
        naive: |t| sums(&rows_of(4, t)),
    },
    Case {
        name: "a dense tensor, element by element",
        plans: 1,
        run: |t, device| dense(&[t, 4], device)?.multiply(2.0f32)?.add(&dense(&[t, 4], device)?),
        naive: |t| numbers(4 * t).iter().map(|x| 3.0 * x).collect(),
    },
    Case {
        name: "rows of a table",
        plans: 1,
        run: |t, device| dense(&[t, 4], device)?.gather(&ids(9, t, device)?),
        naive: |t| (0..9).flat_map(|k| rows_of(4, t)[k * 5 % t].clone()).collect(),
    },
    Case {
        name: "a dense tensor times a matrix",
        plans: 1,
        run: |t, device| dense(&[t, 4], device)?.matmul(&dense(&[4, 3], device)?),
        naive: |t| product(&rows_of(4, t), &rows_of(3, 4)),
    },
    Case {
        name: "sums of uniform rows",
        plans: 1,
        run: |t, device| uniform(t, device)?.reduce_sum(1),
        naive: |t| sums(&rows_of(t, 6)),
    },
    Case {
        name: "softmax of uniform rows",
        plans: 1,
        run: |t, device| uniform(t, device)?.softmax(-1),
        naive: |t| softmax(&rows_of(t, 6)),
    },
    Case {
        name: "uniform rows less their largest value",
        plans: 1,
        run: |t, device| {
            let x = uniform(t, device)?;
            x.subtract(&x.reduce_max(1)?.expand_dims(1)?)
        },
        naive: |t| {
            let less = |row: &Vec<f32>| {
                let top = row.iter().copied().fold(0.0, f32::max);
                row.iter().map(|x| x - top).collect::<Vec<_>>()
            };
            rows_of(t, 6).iter().flat_map(less).collect()
        },
    },
    Case {
        // Up to 512 results are folded in the workgroup memory, in a number of slots that is part of the kernel.
        name: "sums of segments",
        plans: 1,
        run: |t, device| dense(&[50], device)?.unsorted_segment_sum(&ids(50, 600 + t, device)?, 600 + t),
        naive: |t| segment_sums(50, 600 + t),
    },
    Case {
        // The first plan reads the last id.
        name: "sums of sorted segments",
        plans: 2,
        run: |t, device| {
            let ids = (0..50).map(|k| k * (t as i32 - 1) / 49).collect();
            let ids = HostTensor::dense(&[50], HostValues::I32(ids)).to_device(device)?;
            dense(&[50], device)?.segment_sum(&ids)
        },
        naive: |t| {
            let mut out = vec![0.0; t];
            (0..50).for_each(|k| out[k * (t - 1) / 49] += number(k));
            out
        },
    },
    Case {
        name: "a product of two matrices",
        plans: 1,
        run: |t, device| dense(&[3, t], device)?.matmul(&dense(&[t, 3], device)?),
        naive: |t| product(&rows_of(t, 3), &rows_of(3, t)),
    },
    Case { name: "padded rows", plans: 1, run: padded, naive: |t| padded_rows(t).concat() },
    Case {
        name: "softmax of padded rows",
        plans: 1,
        run: |t, device| padded(t, device)?.softmax(-1),
        naive: |t| softmax(&padded_rows(t)),
    },
    Case {
        name: "sums of padded rows",
        plans: 1,
        run: |t, device| padded(t, device)?.reduce_sum(1),
        naive: |t| sums(&padded_rows(t)),
    },
    Case {
        name: "padded rows less their sums, and as columns",
        plans: 1,
        run: |t, device| {
            let x = padded(t, device)?;
            x.subtract(&x.reduce_sum(1)?.expand_dims(1)?)?.expand_dims(-1)
        },
        naive: |t| padded_rows(t).iter().flat_map(|row| row.iter().map(|x| x - row.iter().sum::<f32>())).collect(),
    },
    Case {
        name: "two padded batches",
        plans: 1,
        run: |t, device| padded(t, device)?.add(&padded(t, device)?.multiply(2.0f32)?),
        naive: |t| padded_rows(t).concat().iter().map(|x| 3.0 * x).collect(),
    },
    Case {
        name: "padded rows times a matrix",
        plans: 1,
        run: |t, device| padded(t, device)?.matmul(&dense(&[t, 3], device)?),
        naive: |t| product(&padded_rows(t), &rows_of(3, t)),
    },
    Case {
        name: "padded rows, sliced",
        plans: 1,
        run: |t, device| padded(t, device)?.slice(s![1..4, 1..]),
        naive: |t| padded_rows(t)[1..4].iter().flat_map(|row| row[1..].to_vec()).collect(),
    },
    Case {
        name: "rows of a padded batch",
        plans: 1,
        run: |t, device| padded(t, device)?.gather(&ids(9, 5, device)?),
        naive: |t| (0..9).flat_map(|k| padded_rows(t)[k * 5 % 5].clone()).collect(),
    },
    Case {
        name: "padded rows, reversed",
        plans: 1,
        run: |t, device| padded(t, device)?.reverse([1]),
        naive: |t| padded_rows(t).iter().flat_map(|row| row.iter().rev().copied().collect::<Vec<_>>()).collect(),
    },
    Case {
        name: "padded rows, transposed",
        plans: 1,
        run: |t, device| padded(t, device)?.transpose([1, 0]),
        naive: |t| (0..t).flat_map(|k| padded_rows(t).iter().map(|row| row[k]).collect::<Vec<_>>()).collect(),
    },
    Case {
        name: "two padded batches, joined",
        plans: 1,
        run: |t, device| Tensor::concat(&[padded(t, device)?, padded(t, device)?], 0),
        naive: |t| [padded_rows(t), padded_rows(t)].concat().concat(),
    },
    Case {
        name: "padded rows and uniform rows of constant width",
        plans: 1,
        run: |t, device| padded(t, device)?.expand_dims(2)?.multiply(&dense(&[1, 1, 4], device)?),
        naive: |t| padded_rows(t).concat().iter().flat_map(|x| numbers(4).into_iter().map(move |y| x * y)).collect(),
    },
    Case {
        name: "padded rows, shifted",
        plans: 1,
        run: |t, device| padded(t, device)?.shift(1, 0.0f32, 1),
        naive: |t| padded_rows(t).iter().flat_map(|row| [&[0.0], &row[..t - 1]].concat()).collect(),
    },
    Case {
        // The host knows no bytes of the strings. The number of rounds is a multiple of four.
        name: "the order of computed strings",
        plans: 2,
        run: |t, device| dense(&[t], device)?.cast(DType::I32)?.as_string()?.argsort(0)?.cast(DType::F32),
        naive: |t| {
            let texts: Vec<String> = (0..t).map(|k| (number(k) as i32).to_string()).collect();
            let mut order: Vec<usize> = (0..t).collect();
            order.sort_by(|&a, &b| texts[a].cmp(&texts[b]));
            order.into_iter().map(|k| k as f32).collect()
        },
    },
    Case {
        name: "padded rows without their padding",
        plans: 1,
        run: |t, device| {
            let padding = HostTensor::dense(&[], HostValues::F32(vec![-1.0])).to_device(device)?;
            Tensor::from_tensor_with_padding(&padded(t, device)?, &padding)
        },
        naive: |t| ragged_rows(t).concat(),
    },
];

fn flat(x: &Tensor) -> Vec<f32> {
    match x.to_host().expect("read").values {
        HostValues::F32(values) => values,
        other => panic!("{} values", other.dtype()),
    }
}

/// Every case for these sizes, on a device of its own.
fn faults(device: &Device, sizes: &[usize]) -> Vec<String> {
    let mut faults = Vec::new();
    for Case { name, plans, run, naive } in CASES {
        let before = device.stats().plans;
        let mut wrong = None;
        for &t in sizes {
            let got = run(t, device).map(|x| flat(&x)).unwrap_or_else(|e| panic!("{name} of {t}: {e}"));
            let want = naive(t);
            let is_near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-6 * b.abs().max(1.0);
            if got.len() != want.len() || !got.iter().zip(&want).all(is_near) {
                wrong.get_or_insert(format!("{name} of {t}: {got:?}, not {want:?}"));
            }
        }
        faults.extend(wrong);
        let made = (device.stats().plans - before) as usize;
        if made > *plans {
            faults.push(format!("{}, {name}: {made} plans for {} sizes", device.name(), sizes.len()));
        }
    }
    faults
}

#[test]
fn one_plan_serves_every_size() {
    let cpu = Device::cpu_with(&CpuOptions::default());
    let mut wrong = faults(&cpu, &(2..22).map(|k| 3 * k + k % 2).collect::<Vec<_>>());
    if common::gpus().into_iter().next().is_some() {
        let gpu = Device::gpu_with(&DeviceOptions::default()).expect("opens");
        wrong.extend(faults(&gpu, &[6, 7, 19, 64]));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
