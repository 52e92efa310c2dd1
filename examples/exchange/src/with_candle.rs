//! Tables and heads of candle.

use candle_core::{Device, Tensor, Var};

use crate::{Head, IDS, Outcome, RATE, WIDTH};

/// The linear function of the features: weights `[WIDTH, 1]` and a bias `[1]`.
pub struct Linear {
    weights: Var,
    bias: Var,
}

fn flat(x: &Tensor) -> candle_core::Result<Vec<f32>> {
    x.flatten_all()?.to_vec1()
}

impl Head for Linear {
    const NAME: &'static str = "candle";

    fn new() -> Outcome<Self> {
        let zeros = |shape: &[usize]| Var::zeros(shape, candle_core::DType::F32, &Device::Cpu);
        Ok(Self { weights: zeros(&[WIDTH, 1])?, bias: zeros(&[1])? })
    }

    fn table(ids: &[u32]) -> Outcome<[Vec<f32>; 2]> {
        let positions = Tensor::arange(0f32, (IDS * WIDTH) as f32, &Device::Cpu)?;
        let table = positions.sin()?.affine(0.5, 0.0)?.reshape((IDS, WIDTH))?;
        let rows = table.index_select(&Tensor::new(ids, &Device::Cpu)?, 0)?;
        Ok([flat(&table)?, flat(&rows)?])
    }

    fn step(&mut self, features: Vec<f32>, labels: &[f32]) -> Outcome<(f32, Vec<f32>)> {
        let features = Var::from_vec(features, (labels.len(), WIDTH), &Device::Cpu)?;
        let labels = Tensor::new(labels, &Device::Cpu)?.unsqueeze(1)?;
        let found = features.matmul(&self.weights)?.broadcast_add(&self.bias)?;
        let loss = (found - labels)?.sqr()?.mean_all()?;
        let gradients = loss.backward()?;
        for variable in [&self.weights, &self.bias] {
            let gradient = gradients.get(variable).ok_or("no gradient of the head")?;
            variable.set(&(variable.as_tensor() - gradient.affine(RATE, 0.0)?)?)?;
        }
        let derivative = gradients.get(&features).ok_or("no gradient of the features")?;
        Ok((loss.to_scalar()?, flat(derivative)?))
    }
}
