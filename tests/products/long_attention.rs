//! Attention over rows of up to 5,000 queries or keys and vectors of 256 numbers, and its gradients, compared with loops in
//! f64.

use ragged::opt::{AttentionKeys, causal};
use ragged::{CpuOptions, DType, Device, HostTensor, HostValues, Result, Tensor, grad, value_and_grad};

use super::matrix::{host, splits};

/// Queries and keys of each row: long rows of one and few of the other, for which the loops are short.
const QUERIES: [usize; 6] = [3, 5000, 0, 17, 1, 2];
const KEYS: [usize; 6] = [5000, 2, 4, 9, 0, 1];
const WIDTH: usize = 256;

/// Rows of these lengths, of vectors.
fn rows(lengths: &[usize], seed: usize) -> HostTensor {
    let splits = splits(lengths.iter().copied());
    let n = lengths.iter().sum::<usize>();
    let values = (0..n * WIDTH).map(|k| (((seed * 100_003 + k) as f64 * 12.9898).sin() * 2.0) as f32).collect();
    host(vec![splits], vec![n, WIDTH], values)
}

fn f64s(x: &HostTensor) -> Vec<f64> {
    match &x.values {
        HostValues::F32(values) => values.iter().map(|&x| f64::from(x)).collect(),
        HostValues::F64(values) => values.clone(),
        other => panic!("{other:?}"),
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], times: f64, of: &[f64]) {
    to.iter_mut().zip(of).for_each(|(to, of)| *to += times * of);
}

/// The means, and the gradients of queries, keys and values of the sum of the means times `weights`.
fn naive([q, k, v]: [&[f64]; 3], weights: &[f64], is_causal: bool) -> [Vec<f64>; 4] {
    let scale = 1.0 / (WIDTH as f64).sqrt();
    let row = |x: usize| x * WIDTH..(x + 1) * WIDTH;
    let mut out = [q, q, k, v].map(|x| vec![0.0; x.len()]);
    let [means, of_q, of_k, of_v] = &mut out;
    let (mut first_query, mut first_key) = (0, 0);
    for (n, m) in QUERIES.into_iter().zip(KEYS) {
        for i in 0..n {
            let query = row(first_query + i);
            let m = if is_causal { m.min(i + 1) } else { m };
            let keys: Vec<_> = (0..m).map(|j| row(first_key + j)).collect();
            let scores: Vec<f64> = keys.iter().map(|key| scale * dot(&q[query.clone()], &k[key.clone()])).collect();
            let greatest = scores.iter().copied().fold(f64::MIN, f64::max);
            let all: f64 = scores.iter().map(|score| (score - greatest).exp()).sum();
            let shares: Vec<f64> = scores.iter().map(|score| (score - greatest).exp() / all).collect();
            let weight = &weights[query.clone()];
            let of_shares: Vec<f64> = keys.iter().map(|key| dot(weight, &v[key.clone()])).collect();
            let mean = dot(&shares, &of_shares);
            for ((key, share), of_share) in keys.into_iter().zip(shares).zip(of_shares) {
                add(&mut means[query.clone()], share, &v[key.clone()]);
                add(&mut of_v[key.clone()], share, weight);
                let of_score = scale * share * (of_share - mean);
                add(&mut of_q[query.clone()], of_score, &k[key.clone()]);
                add(&mut of_k[key], of_score, &q[query.clone()]);
            }
        }
        (first_query, first_key) = (first_query + n, first_key + m);
    }
    out
}

fn keys(k: &Tensor, is_causal: bool) -> AttentionKeys<'_> {
    if is_causal { causal(k) } else { k.into() }
}

#[test]
fn long_rows_and_their_gradients_are_those_of_loops() -> Result<()> {
    let operands = [rows(&QUERIES, 1), rows(&KEYS, 2), rows(&KEYS, 3), rows(&QUERIES, 4)];
    let [q, k, v, weights] = operands.each_ref().map(f64s);
    for is_causal in [false, true] {
        let want = naive([&q, &k, &v], &weights, is_causal);
        // Software GPUs take minutes for these; `attention` compares their bits with those of the CPU.
        let device = Device::cpu();
        for (dtype, most) in [(DType::F32, 2e-5), (DType::F64, 1e-13)] {
            let on = |x: &HostTensor| x.to_device(&device).and_then(|x| x.cast(dtype));
            let (q, k, v) = (on(&operands[0])?, on(&operands[1])?, on(&operands[2])?);
            let weights = on(&operands[3])?;
            let means = q.scaled_dot_product_attention(keys(&k, is_causal), &v)?;
            let loss = |x: &[Tensor]| {
                let means = x[0].scaled_dot_product_attention(keys(&x[1], is_causal), &x[2])?;
                means.multiply(&weights)?.reduce_sum(..)
            };
            let found = [vec![means], grad(loss, [&q, &k, &v])?].concat();
            for (what, (found, want)) in ["means", "queries", "keys", "values"].iter().zip(found.iter().zip(&want)) {
                let found = f64s(&found.to_host()?);
                assert_eq!(found.len(), want.len());
                let greatest = want.iter().copied().map(f64::abs).fold(0.0, f64::max);
                let errors = found.iter().zip(want).map(|(a, b)| (a - b).abs() / greatest);
                let error = errors.fold(0.0, |most, error| if error > most || error.is_nan() { error } else { most });
                assert!(error <= most, "{what} in {dtype}, causal {is_causal}: an error of {error:e}");
            }
        }
    }
    Ok(())
}

/// One long row attends to itself, causally and not: the bits of the composition, and little memory. `RAGGED_LONG_ROW` is
/// another length than 5,000; the composition of 20,000 takes 2 GB.
#[test]
fn a_long_row_has_the_bits_of_the_composition_in_little_memory() -> Result<()> {
    const WIDTH: usize = 16;
    let n: usize = std::env::var("RAGGED_LONG_ROW").ok().and_then(|n| n.parse().ok()).unwrap_or(5000);
    let of = |seed: usize, device: &Device| {
        let value = |k: usize| (((seed * 100_003 + k) as f64 * 12.9898).sin() * 2.0) as f32;
        host(vec![splits([n])], vec![n, WIDTH], (0..n * WIDTH).map(value).collect()).to_device(device)
    };
    let bits = |x: &Tensor| -> Result<Vec<u32>> { Ok(f32s(x)?.into_iter().map(f32::to_bits).collect()) };
    for is_causal in [false, true] {
        let device = Device::cpu_with(&CpuOptions::default());
        let (q, k, v) = (of(1, &device)?, of(2, &device)?, of(3, &device)?);
        let inputs = device.stats().buffer_bytes;
        let (means, gradients) = value_and_grad(
            |x| x[0].scaled_dot_product_attention(keys(&x[1], is_causal), &x[2])?.square()?.reduce_sum(..),
            [&q, &k, &v],
        )?;
        ragged::eval([&means, &gradients[0], &gradients[1], &gradients[2]])?;
        let peak = device.stats().buffer_bytes_peak;
        assert!(peak <= 4 * inputs, "causal {is_causal}: {peak} bytes for inputs of {inputs}");
        println!(
            "{n} x {WIDTH}, causal {is_causal}: {peak} bytes, {:.2} times the inputs",
            peak as f64 / inputs as f64
        );
        if is_causal {
            continue;
        }
        let scale = 1.0 / (WIDTH as f32).sqrt();
        let composed = q.matmul(k.t())?.multiply(scale)?.softmax(-1)?.matmul(&v)?;
        assert_eq!(bits(&q.scaled_dot_product_attention(&k, &v)?)?, bits(&composed)?);
    }
    Ok(())
}

fn f32s(x: &Tensor) -> Result<Vec<f32>> {
    Ok(match x.to_host()?.values {
        HostValues::F32(values) => values,
        other => panic!("{other:?}"),
    })
}
