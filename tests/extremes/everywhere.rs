//! Runs on every device.

use ragged::{DType, Device, Element, FloatElement, HostValues, RaggedTensor, Result, Tensor};

use crate::common;

/// The result of `run`, after a check that all devices with these dtypes give equal bits, up to the payload of NaN.
pub fn everywhere(dtypes: &[DType], run: impl Fn(&Device) -> Result<Tensor>) -> HostValues {
    on_each(common::devices_and_unfused_cpu(), dtypes, run)
}

/// [`everywhere`] on these devices.
fn on_each(devices: &[(String, Device)], dtypes: &[DType], run: impl Fn(&Device) -> Result<Tensor>) -> HostValues {
    let mut found: Option<(String, HostValues)> = None;
    for (name, device) in devices {
        if dtypes.iter().any(|&dtype| !common::has(device, dtype)) {
            continue;
        }
        let got = run(device).and_then(|t| t.to_host()).unwrap_or_else(|e| panic!("{name}: {e}")).values;
        match &found {
            Some((first, want)) => assert_eq!(bits(&got), bits(want), "{name} differs from {first}"),
            None => found = Some((name.clone(), got)),
        }
    }
    found.expect("the CPU has every dtype").1
}

/// [`everywhere`] of a result with elements of type `T`.
pub fn values<T: Element>(run: impl Fn(&Device) -> Result<Tensor>) -> Vec<T::Host> {
    let got = everywhere(&[T::DTYPE], run);
    T::values(&got).unwrap_or_else(|| panic!("{} where {} belongs", got.dtype(), T::DTYPE)).to_vec()
}

/// [`values`], also with 64-bit integers as pairs of words, for an operation on values of the dtype `of`.
pub fn values_every_way<T: Element>(of: DType, run: impl Fn(&Device) -> Result<Tensor>) -> Vec<T::Host> {
    let got = on_each(common::every_way(), &[T::DTYPE, of], run);
    T::values(&got).unwrap_or_else(|| panic!("{} where {} belongs", got.dtype(), T::DTYPE)).to_vec()
}

/// The bits of the values, all NaNs as one.
pub fn bits(values: &HostValues) -> Vec<u64> {
    match values {
        HostValues::F16(v) => v.iter().map(|x| if x.is_nan() { u64::MAX } else { x.to_bits().into() }).collect(),
        HostValues::BF16(v) => v.iter().map(|x| if x.is_nan() { u64::MAX } else { x.to_bits().into() }).collect(),
        HostValues::F32(v) => v.iter().map(|x| if x.is_nan() { u64::MAX } else { x.to_bits().into() }).collect(),
        HostValues::F64(v) => v.iter().map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() }).collect(),
        HostValues::I32(v) => v.iter().map(|&x| x as u64).collect(),
        HostValues::U32(v) => v.iter().map(|&x| x.into()).collect(),
        HostValues::I64(v) => v.iter().map(|&x| x as u64).collect(),
        HostValues::Bool(v) => v.iter().map(|&x| x.into()).collect(),
        other => panic!("no bits of {}", other.dtype()),
    }
}

/// A float type of the tests, converted from and to f64.
pub trait Float: FloatElement<Host = Self> + PartialOrd {
    fn of(x: f64) -> Self;
    fn wide(self) -> f64;
}

impl Float for f32 {
    fn of(x: f64) -> Self {
        x as Self
    }
    fn wide(self) -> f64 {
        self.into()
    }
}

impl Float for f64 {
    fn of(x: f64) -> Self {
        x
    }
    fn wide(self) -> f64 {
        self
    }
}

macro_rules! half {
    ($($t:ty)*) => {$(
        impl Float for $t {
            fn of(x: f64) -> Self {
                Self::from_f64(x)
            }
            fn wide(self) -> f64 {
                self.to_f64()
            }
        }
    )*};
}
half!(ragged::f16 ragged::bf16);

/// A tensor of ragged rows of these numbers, rounded to `T`.
pub fn rows<T: Float>(rows: &[&[f64]], device: &Device) -> Result<RaggedTensor<T>> {
    RaggedTensor::from_nested(
        rows.iter().map(|r| r.iter().map(|&x| T::of(x)).collect()).collect::<Vec<Vec<T>>>(),
        device,
    )
}

/// [`values`] of an operation on these rows, as f64.
pub fn floats<T: Float>(all: &[&[f64]], op: impl Fn(&Tensor) -> Result<Tensor>) -> Vec<f64> {
    values::<T>(|d| op(rows::<T>(all, d)?.erased())).into_iter().map(T::wide).collect()
}
