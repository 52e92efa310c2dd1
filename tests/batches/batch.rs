//! Batches of random rows, and their upload.

use ragged::{Device, HostTensor, HostValues, Result, Tensor};

use crate::common::naive::{self, Rows};

/// Pseudorandom numbers with a fixed seed.
struct Noise(u64);

impl Noise {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn shuffled<T: Clone>(&mut self, all: &[T]) -> Vec<T> {
        let mut all = all.to_vec();
        (1..all.len()).rev().for_each(|k| all.swap(k, self.below(k as u64 + 1) as usize));
        all
    }

    fn rows(&mut self, lengths: &[usize]) -> Rows<f32> {
        lengths.iter().map(|&n| (0..n).map(|_| self.below(64) as f32 * 0.25 - 8.0).collect()).collect()
    }

    fn floats(&mut self, n: usize) -> Vec<f32> {
        self.rows(&[n]).remove(0)
    }
}

/// Inputs of a program, on the host.
#[derive(Clone)]
pub struct Batch {
    pub x: Rows<f32>,
    /// As many rows as `x`, of other lengths.
    pub y: Rows<f32>,
    /// Values for the rows of `x`.
    pub more: Vec<f32>,
    /// One number per row.
    pub weights: Vec<f32>,
    /// A permutation of the rows.
    pub order: Vec<i64>,
    /// One index of a table row per value of `x`.
    pub tokens: Vec<i32>,
    /// One group number per row.
    pub groups: Vec<u32>,
    pub scale: f32,
}

const TABLE: [usize; 2] = [50, 8];

impl Batch {
    /// A batch of rows of these lengths in random order, with random values from `seed`.
    pub fn new(lengths: &[usize], seed: u64) -> Self {
        let mut noise = Noise(seed);
        let lengths = noise.shuffled(lengths);
        let other = noise.shuffled(&lengths);
        let (values, n): (usize, _) = (lengths.iter().sum(), lengths.len());
        let third = n as u32 / 3;
        Self {
            x: noise.rows(&lengths),
            y: noise.rows(&other),
            more: noise.floats(values),
            weights: noise.floats(n),
            order: noise.shuffled(&(0..n as i64).collect::<Vec<_>>()),
            tokens: (0..values).map(|_| noise.below(TABLE[0] as u64) as i32).collect(),
            groups: vec![0, third, third, n as u32],
            scale: 1.5,
        }
    }

    pub fn upload(&self, device: &Device) -> Result<Inputs> {
        let dense = |shape: &[usize], values| HostTensor::dense(shape, values).to_device(device);
        let x = naive::host::<f32>(&self.x).to_device(device)?;
        let n = self.x.len();
        let in_rows = |values: HostValues| {
            let flat = dense(&[self.more.len()], values)?;
            Tensor::from_row_partitions(&flat, x.partitions())
        };
        let grouped = HostTensor {
            nested_row_splits: [vec![self.groups.clone()], naive::host::<f32>(&self.x).nested_row_splits].concat(),
            uniform_row_lengths: vec![None; 2],
            inner_shape: vec![self.more.len()],
            values: HostValues::F32(self.more.clone()),
        };
        let inputs = Inputs {
            y: naive::host::<f32>(&self.y).to_device(device)?,
            more: in_rows(HostValues::F32(self.more.clone()))?,
            tokens: in_rows(HostValues::I32(self.tokens.clone()))?,
            weights: dense(&[n, 1], HostValues::F32(self.weights.clone()))?,
            order: dense(&[n], HostValues::I64(self.order.clone()))?,
            table: dense(&TABLE, HostValues::F32(Noise(7).floats(TABLE[0] * TABLE[1])))?,
            grouped: grouped.to_device(device)?,
            scale: self.scale,
            x,
        };
        ragged::eval(inputs.all())?;
        Ok(inputs)
    }
}

/// The inputs of a batch, on a device.
pub struct Inputs {
    pub x: Tensor,
    pub y: Tensor,
    pub more: Tensor,
    pub weights: Tensor,
    pub order: Tensor,
    pub tokens: Tensor,
    pub table: Tensor,
    pub grouped: Tensor,
    pub scale: f32,
}

impl Inputs {
    pub fn all(&self) -> Vec<&Tensor> {
        vec![&self.x, &self.y, &self.more, &self.weights, &self.order, &self.tokens, &self.table, &self.grouped]
    }
}

/// Row lengths of at most one block.
pub fn short() -> Vec<usize> {
    [vec![0, 0, 31, 60, 1], [3, 0, 5, 1, 12].repeat(30)].concat()
}

/// As many rows and values as [`short`], with some rows of several blocks.
pub fn long() -> Vec<usize> {
    let mut lengths = short();
    let spare: usize = lengths.iter_mut().skip(1).map(std::mem::take).sum();
    lengths[0] = spare;
    lengths
}
