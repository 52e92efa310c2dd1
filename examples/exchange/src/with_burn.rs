//! Tables and heads of burn.

use burn_tensor::{Device, Int, Tensor, TensorData};

use crate::{Head, IDS, Outcome, RATE, WIDTH};

/// The linear function of the features: weights `[WIDTH, 1]` and a bias `[1, 1]`.
pub struct Linear {
    weights: Tensor<2>,
    bias: Tensor<2>,
}

fn flat<const D: usize>(x: Tensor<D>) -> Outcome<Vec<f32>> {
    Ok(x.try_into_data()?.try_into_vec()?)
}

impl Head for Linear {
    const NAME: &'static str = "burn";

    fn new() -> Outcome<Self> {
        let zeros = |shape| Tensor::zeros(shape, &Device::flex());
        Ok(Self { weights: zeros([WIDTH, 1]), bias: zeros([1, 1]) })
    }

    fn table(ids: &[u32]) -> Outcome<[Vec<f32>; 2]> {
        let device = Device::flex();
        let positions = Tensor::<1, Int>::arange(0..(IDS * WIDTH) as i64, &device).float();
        let table = positions.sin().mul_scalar(0.5).reshape([IDS, WIDTH]);
        let ids: Vec<i64> = ids.iter().map(|&id| id.into()).collect();
        let n = ids.len();
        let rows = table.clone().select(0, Tensor::from_data(TensorData::new(ids, [n]), &device));
        Ok([flat(table)?, flat(rows)?])
    }

    fn step(&mut self, features: Vec<f32>, labels: &[f32]) -> Outcome<(f32, Vec<f32>)> {
        let device = Device::flex().autodiff();
        let n = labels.len();
        let features = Tensor::<2>::from_data(TensorData::new(features, [n, WIDTH]), &device).require_grad();
        let labels = Tensor::<2>::from_data(TensorData::new(labels.to_vec(), [n, 1]), &device);
        let [weights, bias] = [&self.weights, &self.bias].map(|of| of.clone().autodiff().require_grad());
        let found = features.clone().matmul(weights.clone()) + bias.clone();
        let loss = (found - labels).powi_scalar(2).mean();
        let mut gradients = loss.backward();
        for (variable, tracked) in [(&mut self.weights, weights), (&mut self.bias, bias)] {
            let gradient = tracked.grad_remove(&mut gradients).ok_or("no gradient of the head")?;
            *variable = variable.clone() - gradient.mul_scalar(RATE);
        }
        let derivative = features.grad_remove(&mut gradients).ok_or("no gradient of the features")?;
        Ok((flat(loss)?[0], flat(derivative)?))
    }
}
