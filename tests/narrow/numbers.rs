//! 16-bit floats of the crate `half`, and tensors of narrow numbers.

use ragged::{Device, Element, HostTensor, Number, Result, Tensor, bf16, f16};

/// A 16-bit float, as the crate `half` implements it.
pub trait Half: Number + Element<Host = Self> + PartialOrd + std::fmt::Debug {
    fn of(x: f32) -> Self;
    fn of_bits(bits: u16) -> Self;
    fn bits(self) -> u16;
    fn wide(self) -> f32;
}
macro_rules! half {
    ($($t:ty),*) => {$(impl Half for $t {
        fn of(x: f32) -> Self {
            Self::from_f32(x)
        }
        fn of_bits(bits: u16) -> Self {
            Self::from_bits(bits)
        }
        fn bits(self) -> u16 {
            self.to_bits()
        }
        fn wide(self) -> f32 {
            self.to_f32()
        }
    })*};
}
half!(f16, bf16);

/// Every pattern of 16 bits.
pub fn every<T: Half>() -> Vec<T> {
    (0..=u16::MAX).map(T::of_bits).collect()
}

pub fn dense<T: Element>(values: &[T::Host], device: &Device) -> Tensor {
    HostTensor::dense(&[values.len()], T::wrap(values.to_vec())).to_device(device).expect("fits")
}

pub fn read<T: Element>(x: Result<Tensor>) -> Vec<T::Host> {
    T::unwrap(x.expect("recorded").to_host().expect("computed").values).expect("the dtype asked for")
}

/// Fails unless all are equal, NaN to any NaN.
pub fn same<T: Half>(what: &str, want: impl IntoIterator<Item = T>, got: Vec<T>) {
    let want: Vec<T> = want.into_iter().collect();
    assert_eq!(want.len(), got.len(), "{what}");
    for (at, (w, g)) in want.iter().zip(&got).enumerate() {
        let nan = w.wide().is_nan() && g.wide().is_nan();
        assert!(nan || w.bits() == g.bits(), "{what}: at {at} {:#x}, not {:#x}", g.bits(), w.bits());
    }
}

/// Row lengths around the sizes at which kernels switch algorithms.
fn lengths() -> Vec<usize> {
    let mut out = vec![0, 0, 1, 2, 3, 255, 256, 257, 0, 2047, 2048, 2049, 5000, 0];
    out.extend((0..200).map(|k| (k * k) % 7));
    out
}

/// One ragged dimension of `value(k)`.
pub fn rows<T: Element>(value: impl Fn(usize) -> T::Host) -> HostTensor {
    let mut splits = vec![0u32];
    for len in lengths() {
        splits.push(splits[splits.len() - 1] + len as u32);
    }
    let n = splits[splits.len() - 1] as usize;
    HostTensor::from_row_splits(splits, T::wrap((0..n).map(value).collect()))
}
