//! Attention, compared with loops over queries and keys.

use ragged::opt::{causal, masked, scaled};
use ragged::{Device, RaggedTensor, Result};

/// Number `k` of a sequence between -1 and 1.
fn noise(k: usize) -> f64 {
    ((k as f64 + 1.0) * 12.9898).sin()
}

/// Rows of these lengths, of `heads` vectors of `width` numbers per element; numbers from `first` on.
fn rows(lengths: &[usize], heads: usize, width: usize, first: usize) -> Vec<Vec<Vec<Vec<f64>>>> {
    let mut k = first;
    let mut vector = || {
        k += width;
        (k - width..k).map(noise).collect::<Vec<f64>>()
    };
    lengths.iter().map(|&n| (0..n).map(|_| (0..heads).map(|_| vector()).collect()).collect()).collect()
}

type Heads = Vec<Vec<Vec<Vec<f64>>>>;

/// The definition.
fn naive(q: &Heads, k: &Heads, v: &Heads, scale: f64, allowed: impl Fn(usize, usize) -> bool) -> Vec<f64> {
    let mut out = Vec::new();
    for ((q, k), v) in q.iter().zip(k).zip(v) {
        for (i, query) in q.iter().enumerate() {
            for (h, query) in query.iter().enumerate() {
                let dot = |key: &Vec<f64>| query.iter().zip(key).map(|(a, b)| a * b).sum::<f64>() * scale;
                let weights: Vec<f64> =
                    k.iter().enumerate().map(|(j, key)| if allowed(i, j) { dot(&key[h]).exp() } else { 0.0 }).collect();
                let sum = weights.iter().sum::<f64>();
                let mean = |c: usize| weights.iter().zip(v).map(|(w, v)| w * v[h][c]).sum::<f64>();
                out.extend((0..3).map(|c| if sum > 0.0 { mean(c) / sum } else { 0.0 }));
            }
        }
    }
    out
}

fn close(found: &[f64], want: &[f64]) {
    assert_eq!(found.len(), want.len());
    for (k, (a, b)) in found.iter().zip(want).enumerate() {
        assert!((a - b).abs() < 1e-12, "number {k}: {a} instead of {b}");
    }
}

#[test]
fn attention_is_the_mean_by_the_weights_of_the_keys() -> Result<()> {
    let device = Device::cpu();
    let (n, m) = ([3, 0, 2, 1, 300], [2, 4, 0, 1, 270]);
    for heads in [1, 2, 3] {
        let (q, k, v) = (rows(&n, heads, 5, 0), rows(&m, heads, 5, 1000), rows(&m, heads, 3, 2000));
        let tensor = |x: &Heads| RaggedTensor::from_nested(x.clone(), &device);
        let (qt, kt, vt) = (tensor(&q)?, tensor(&k)?, tensor(&v)?);
        let own = 1.0 / 5f64.sqrt();
        let y = qt.scaled_dot_product_attention(&kt, &vt)?;
        close(&y.to_vec()?, &naive(&q, &k, &v, own, |_, _| true));
        let y = qt.scaled_dot_product_attention(causal(scaled(&kt, 0.3)), &vt)?;
        close(&y.to_vec()?, &naive(&q, &k, &v, 0.3, |i, j| j <= i));
        let near = masked(&kt, |query, key| (query - key)?.abs()?.equal(1));
        close(
            &qt.scaled_dot_product_attention(near, &vt)?.to_vec()?,
            &naive(&q, &k, &v, own, |i, j| i.abs_diff(j) == 1),
        );
    }
    Ok(())
}

#[test]
fn without_heads_the_bits_are_those_of_the_composition() -> Result<()> {
    let device = Device::cpu();
    let flat = |x: Heads| -> Vec<Vec<Vec<f32>>> {
        let vector = |heads: Vec<Vec<f64>>| heads[0].iter().map(|&x| x as f32).collect();
        x.into_iter().map(|row| row.into_iter().map(vector).collect()).collect()
    };
    let q = RaggedTensor::from_nested(flat(rows(&[40, 1, 0], 1, 64, 0)), &device)?;
    let k = RaggedTensor::from_nested(flat(rows(&[33, 0, 2], 1, 64, 9000)), &device)?;
    let v = RaggedTensor::from_nested(flat(rows(&[33, 0, 2], 1, 3, 20000)), &device)?;
    let want = (q.matmul(k.t())? * 0.125)?.softmax(-1)?.matmul(&v)?;
    let found = q.scaled_dot_product_attention(&k, &v)?;
    let bits =
        |x: &RaggedTensor<f32>| Ok::<_, ragged::Error>(x.to_vec()?.into_iter().map(f32::to_bits).collect::<Vec<_>>());
    assert_eq!(bits(&found)?, bits(&want)?);
    Ok(())
}
