//! Tensors as nested lists, and random tensors.

use ragged::{DType, Device, HostTensor, HostValues, Tensor};

use super::common::naive::bits;

/// A nested list with leaves of any type.
#[derive(Debug, Clone, PartialEq)]
pub enum Nest<T> {
    Leaf(T),
    List(Vec<Nest<T>>),
}

impl<T: Clone> Nest<T> {
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            Self::Leaf(_) => panic!("a leaf has no items"),
        }
    }

    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Nest<U> {
        match self {
            Self::Leaf(v) => Nest::Leaf(f(v)),
            Self::List(items) => Nest::List(items.iter().map(|i| i.map(f)).collect()),
        }
    }
}

/// The nested list of a tensor, whose leaves are flat positions.
pub fn positions(t: &HostTensor) -> Nest<usize> {
    fn dense(shape: &[usize], next: &mut usize) -> Nest<usize> {
        match shape.split_first() {
            None => {
                *next += 1;
                Nest::Leaf(*next - 1)
            }
            Some((&n, rest)) => Nest::List((0..n).map(|_| dense(rest, next)).collect()),
        }
    }
    let mut below = dense(&t.inner_shape, &mut 0);
    for splits in t.nested_row_splits.iter().rev() {
        let rows = splits.windows(2).map(|w| Nest::List(below.items()[w[0] as usize..w[1] as usize].to_vec()));
        below = Nest::List(rows.collect());
    }
    below
}

/// The nested list of a tensor, whose leaves are the bytes of its values.
pub fn leaves(t: &HostTensor) -> Nest<Vec<u8>> {
    let bytes = bits(&t.values);
    positions(t).map(&mut |&p| bytes[p].clone())
}

/// Pseudorandom numbers (xorshift).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }
    pub fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) as u32) % n
    }

    /// A random partition of `rows` rows: now and then uniform, often with empty rows.
    pub fn partition(&mut self, rows: u32) -> (Vec<u32>, Option<u32>) {
        let uniform = (self.below(4) == 0).then(|| self.below(3));
        let mut splits = vec![0];
        for _ in 0..rows {
            let len = uniform.unwrap_or_else(|| self.below(4).saturating_sub(self.below(2)));
            splits.push(splits[splits.len() - 1] + len);
        }
        (splits, uniform)
    }

    /// Random values of the dtype.
    pub fn values(&mut self, dtype: DType, n: usize) -> HostValues {
        let mut below = |most: u32| (0..n).map(|_| self.below(most)).collect::<Vec<_>>();
        match dtype {
            DType::Bool => HostValues::Bool(below(2).into_iter().map(|v| v == 1).collect()),
            DType::U8 => HostValues::U8(below(256).into_iter().map(|v| v as u8).collect()),
            DType::I32 => HostValues::I32(below(1000).into_iter().map(|v| v as i32 - 500).collect()),
            DType::U32 => HostValues::U32(below(1 << 30)),
            DType::I64 => HostValues::I64(below(1000).into_iter().map(|v| i64::from(v) << 33).collect()),
            DType::U64 => HostValues::U64(below(1000).into_iter().map(|v| u64::from(v) << 50).collect()),
            DType::F32 => HostValues::F32(below(1000).into_iter().map(|v| v as f32 / 7.0).collect()),
            DType::F64 => HostValues::F64(below(1000).into_iter().map(|v| f64::from(v) / 7.0).collect()),
            _ => HostValues::Str(below(40).into_iter().map(|v| vec![b'a' + (v % 26) as u8; v as usize / 6]).collect()),
        }
    }

    /// A random tensor of `i32` with the given numbers of partitions and inner dimensions.
    pub fn tensor(&mut self, ragged: usize, inner: usize) -> HostTensor {
        let mut rows = self.below(5);
        let (mut nested_row_splits, mut uniform_row_lengths) = (Vec::new(), Vec::new());
        for _ in 0..ragged {
            let (splits, uniform) = self.partition(rows);
            rows = splits[splits.len() - 1];
            nested_row_splits.push(splits);
            uniform_row_lengths.push(uniform);
        }
        let mut inner_shape = vec![rows as usize];
        inner_shape.extend((0..inner).map(|_| if self.below(8) == 0 { 0 } else { 1 + self.below(3) as usize }));
        let count = inner_shape.iter().product();
        let values = HostValues::I32((0..count).map(|_| self.below(41) as i32 - 20).collect());
        HostTensor { nested_row_splits, uniform_row_lengths, inner_shape, values }
    }
}

/// The CPU device, with and without fusion.
pub fn both_devices() -> [Device; 2] {
    [Device::cpu(), Device::cpu_unfused()]
}

pub fn ints(t: &HostTensor) -> &[i32] {
    match &t.values {
        HostValues::I32(v) => v,
        other => panic!("{} where i32 belongs", other.dtype()),
    }
}

pub fn on(t: &HostTensor, device: &Device) -> Tensor {
    t.to_device(device).expect("a valid tensor")
}

/// A tensor of `ragged` partitions with a device-known number of rows, and the same tensor on the host.
pub fn device_sized(random: &mut Random, ragged: usize, inner: usize, device: &Device) -> (Tensor, HostTensor) {
    let x = on(&random.tensor(ragged + 1, inner), device);
    // Reversed rows have device-known splits; the number of columns is that of the longest row.
    let x = x.reverse([0, 1]).and_then(|x| x.reduce_sum(0)).expect("recorded");
    // Unless the tensor is uniform or empty.
    let host = x.to_host().expect("a read");
    (x, host)
}
