//! Comparison of gradients with central differences of the function.

use ragged::{DType, Device, HostTensor, HostValues, Result, Tensor, grad, value_and_grad};

/// A function of tensors of f64.
pub type Function<'a> = &'a dyn Fn(&[Tensor]) -> Result<Tensor>;

/// The step of the differences.
const STEP: f64 = 1e-5;

/// Numbers without a pattern, in (-1, 1).
fn direction(n: usize, seed: u64) -> Vec<f64> {
    let one = |k: usize| ((k as f64 + 1.0) * 0.754_877_666 + seed as f64 * 0.569_840_29).fract() * 2.0 - 1.0;
    (0..n).map(one).collect()
}

/// The f64 of a tensor.
pub fn numbers(x: &Tensor) -> Result<Vec<f64>> {
    Ok(match x.cast(DType::F64)?.to_host()?.values {
        HostValues::F64(values) => values,
        other => panic!("{other:?}"),
    })
}

/// The tensor with other numbers.
fn with(x: &Tensor, numbers: Vec<f64>) -> Result<Tensor> {
    let host = HostTensor { values: HostValues::F64(numbers), ..x.to_host()? };
    host.to_device(&x.device())
}

/// The sum of the numbers of the result, each times a weight: a number that depends on all of them.
pub fn weighed(y: &Tensor) -> Result<Tensor> {
    let flat = y.flat_values()?.reshape([-1])?;
    // The mean of an empty row is NaN, its extremes are the ends of the range.
    flat.abs()?.less(1e100)?.select(&flat.multiply(&weights(&flat)?)?, 0.0)?.reduce_sum(..)
}

/// Weights between 0.3 and 1.3, by position.
fn weights(flat: &Tensor) -> Result<Tensor> {
    flat.ones_like()?.cumsum(0)?.multiply(0.618_033_988_75)?.sin()?.multiply(0.5)?.add(0.8)
}

/// The sum of the products of the numbers of two lists.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A difference between the gradient of `loss` at the inputs and central differences in a direction, or between the
/// derivative of the gradient in one direction and central differences in another if `second` is set.
pub fn fault(at: &[Tensor], second: bool, loss: Function<'_>) -> Result<Option<String>> {
    let first = compare(at, loss)?;
    if first.is_some() || !second {
        return Ok(first);
    }
    let v: Vec<Tensor> = at
        .iter()
        .enumerate()
        .map(|(k, x)| with(x, direction(numbers(x)?.len(), 17 + k as u64)))
        .collect::<Result<_>>()?;
    let slope = |x: &[Tensor]| -> Result<Tensor> {
        let gradients = grad(loss, x)?;
        let mut sum = None;
        for (g, v) in gradients.iter().zip(&v) {
            let part = g.flat_values()?.multiply(&v.flat_values()?)?.reduce_sum(..)?;
            sum = Some(match sum {
                None => part,
                Some(sum) => part.add(&sum)?,
            });
        }
        Ok(sum.expect("an input"))
    };
    Ok(compare(at, &slope)?.map(|fault| format!("second derivative: {fault}")))
}

fn compare(at: &[Tensor], loss: Function<'_>) -> Result<Option<String>> {
    let (value, gradients) = value_and_grad(loss, at)?;
    if numbers(&value)? != numbers(&loss(at)?)? {
        return Ok(Some("the value differs from the one without a gradient".into()));
    }
    let (mut found, mut scale) = (0.0, 0.0);
    let host: Vec<Vec<f64>> = at.iter().map(numbers).collect::<Result<_>>()?;
    let directions: Vec<Vec<f64>> = host.iter().enumerate().map(|(k, x)| direction(x.len(), k as u64)).collect();
    let moved = |by: f64| -> Result<f64> {
        let x: Vec<Tensor> = at
            .iter()
            .zip(host.iter().zip(&directions))
            .map(|(x, (values, v))| with(x, values.iter().zip(v).map(|(x, v)| x + by * v).collect()))
            .collect::<Result<_>>()?;
        Ok(numbers(&loss(&x)?)?[0])
    };
    let (after, before) = (moved(STEP)?, moved(-STEP)?);
    let expected = (after - before) / (2.0 * STEP);
    // The rounding of the two values, each a sum of some hundred terms.
    let rounding = 256.0 * f64::EPSILON * after.abs().max(before.abs()).max(1.0) / STEP;
    for ((x, g), v) in at.iter().zip(&gradients).zip(&directions) {
        if g.ragged_shape().lengths()? != x.ragged_shape().lengths()? {
            return Ok(Some("the gradient has another layout than the input".into()));
        }
        let g = numbers(g)?;
        if !g.iter().all(|g| g.is_finite()) {
            return Ok(Some(format!("the gradient is not finite: {g:?}")));
        }
        found += dot(&g, v);
        scale += g.iter().zip(v).map(|(g, v)| (g * v).abs()).sum::<f64>();
    }
    let error = (found - expected).abs();
    let fault = || format!("the derivative is {expected}, the gradient says {found} (error {error:e}, of {scale})");
    Ok((error.is_nan() || error >= 1e-6 * scale + rounding).then(fault))
}

/// A second tensor of the layout, of other numbers in (0.25, 1.75).
pub fn another(x: &Tensor) -> Result<Tensor> {
    let n = numbers(x)?.len();
    with(x, direction(n, 91 + n as u64).into_iter().map(|v| 1.0 + 0.75 * v).collect())
}

/// A ragged tensor of f64 with these row lengths, of numbers in (0.25, 1.75).
pub fn rows(lengths: &[u32], device: &Device) -> Tensor {
    shaped(&[lengths], &[], device)
}

/// A tensor of f64 with these row lengths of each partition, and inner dimensions, of numbers in (0.25, 1.75).
pub fn shaped(lengths: &[&[u32]], inner: &[usize], device: &Device) -> Tensor {
    let sum = |lengths: &[u32]| lengths.iter().sum::<u32>() as usize;
    let splits = |lengths: &&[u32]| {
        let mut splits = vec![0];
        splits.extend(lengths.iter().scan(0, |end, n| {
            *end += n;
            Some(*end)
        }));
        splits
    };
    let (outer, inner) = match lengths.last() {
        Some(last) => (sum(last), inner.to_vec()),
        None => (inner[0], inner[1..].to_vec()),
    };
    let n = outer * inner.iter().product::<usize>();
    let values = direction(n, 3 + n as u64).into_iter().map(|v| 1.0 + 0.75 * v).collect();
    let host = HostTensor {
        nested_row_splits: lengths.iter().map(splits).collect(),
        uniform_row_lengths: vec![None; lengths.len()],
        inner_shape: [vec![outer], inner].concat(),
        values: HostValues::F64(values),
    };
    host.to_device(device).expect("a tensor")
}
