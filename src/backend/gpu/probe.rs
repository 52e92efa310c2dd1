//! Probes the float arithmetic of a device with `shaders/probe.wgsl`.

use super::runtime::{Access, Command, Dispatch, ReadRequest, Runtime, RuntimeChecks};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::plan::{Float64Repr, ProductRepr};
use crate::numerics::{FloatNumerics, Numerics, ProductRounding};

const PROBE: &str = include_str!("../../../shaders/probe.wgsl");

/// Number of results.
const FOUND: usize = 8;

/// Runs the probe for each float type of the device, with one wait per type. Emulated doubles are those of IEEE 754.
///
/// # Errors
/// The device refuses, or is lost.
pub(super) fn numerics(runtime: &Runtime, products: ProductRepr) -> Result<Numerics> {
    let emulates_f64 = runtime.doubles() == Float64Repr::Pairs;
    Ok(Numerics {
        f32: of_type(runtime, DType::F32)?,
        f64: if emulates_f64 { FloatNumerics::IDEAL } else { of_type(runtime, DType::F64)? },
        emulates_f64,
        products: match products {
            ProductRepr::Native => ProductRounding::Fused,
            ProductRepr::Doubles | ProductRepr::Words => ProductRounding::Emulated,
            ProductRepr::Split => ProductRounding::Split,
        },
    })
}

/// The operands, in order: a subnormal number; a large number; the smallest normal number; 0.5; `a`, `a` and the
/// rounded `-(a * a)`, for an `a` whose square has a small rounding error; two integers halfway between floats; NaN
/// twice.
fn given(dtype: DType) -> [u64; 11] {
    if dtype == DType::F32 {
        let a = 1.0 + f32::EPSILON * 1024.0;
        let floats = [f32::from_bits(3), 1e30, f32::MIN_POSITIVE, 0.5, a, a, -(a * a)].map(|v| u64::from(v.to_bits()));
        let [u, v, w, x, y, z, t] = floats;
        let nan = u64::from(f32::NAN.to_bits());
        return [u, v, w, x, y, z, t, (1 << 24) + 1, (1 << 24) + 3, nan, nan];
    }
    let a = 1.0 + f64::EPSILON * (1u64 << 25) as f64;
    let floats = [f64::from_bits(3), 1e300, f64::MIN_POSITIVE, 0.5, a, a, -(a * a)].map(f64::to_bits);
    let [u, v, w, x, y, z, t] = floats;
    [u, v, w, x, y, z, t, (1 << 53) + 1, (1 << 53) + 3, f64::NAN.to_bits(), f64::NAN.to_bits()]
}

fn of_type(runtime: &Runtime, dtype: DType) -> Result<FloatNumerics> {
    let bits = if dtype == DType::F32 { "u32" } else { "u64" };
    let text = format!("alias Float = {dtype};\nalias Bits = {bits};\n{PROBE}");
    let size = dtype.size();
    let bytes: Vec<u8> = given(dtype).iter().flat_map(|v| v.to_le_bytes().into_iter().take(size)).collect();
    let operands = runtime.upload(&bytes)?;
    let found = runtime.buffer("numerics", (FOUND * size) as u64)?;
    let pipeline = runtime.pipeline("probe", &text, "main", &[Access::Read, Access::ReadWrite], RuntimeChecks::ALL)?;
    let command = Command::Dispatch(Dispatch {
        pipeline,
        buffers: vec![operands.into(), found.clone().into()],
        params: [0; 4].into(),
        workgroups: 1,
        depth: 1,
        label: "probe".into(),
    });
    let read = ReadRequest { buffer: found, offset: 0, bytes: (FOUND * size) as u64 };
    let read = runtime.submit_and_read(&[command], &[read])?;
    let mut words = [0u64; FOUND];
    for (word, bytes) in words.iter_mut().zip(read.iter().flat_map(|bytes| bytes.chunks_exact(size))) {
        let mut all = [0; 8];
        all[..size].copy_from_slice(bytes);
        *word = u64::from_le_bytes(all);
    }
    let even = |v: u64| if dtype == DType::F32 { u64::from((v as f32).to_bits()) } else { (v as f64).to_bits() };
    let [input, output, sum, low, high, ordered, differs, rest] = words;
    let ties = given(dtype);
    Ok(FloatNumerics {
        flushes_inputs: input == 0,
        flushes_outputs: output == 0,
        contracts: sum != 0,
        reassociates: rest != 0,
        conversions_round_to_nearest: low == even(ties[7]) && high == even(ties[8]),
        nan_is_unordered: ordered == 0,
        nan_differs_from_itself: differs != 0,
    })
}
