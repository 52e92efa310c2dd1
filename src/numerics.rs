//! What a device's float arithmetic really does.

/// What a device's float arithmetic does where the specifications of graphics interfaces leave it open.
///
/// Kernels guard against most of it: they never leave a product and a sum to be contracted, or sums to be reassociated,
/// convert integers by exact steps, and compare where NaN matters by bits. What they cannot make good is a device that flushes subnormal numbers:
/// there results that are subnormal, or made of subnormal numbers, may differ from those of the CPU backend.
///
/// ```
/// let numerics = ragged::Device::cpu().numerics()?;
/// assert!(!numerics.f32.flushes_inputs && numerics.f64.is_some());
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Numerics {
    /// Single precision.
    pub f32: FloatNumerics,
    /// Double precision; none if the device has none.
    pub f64: Option<FloatNumerics>,
}

/// What arithmetic of one float type does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FloatNumerics {
    /// Subnormal operands count as zero.
    pub flushes_inputs: bool,
    /// Subnormal results become zero.
    pub flushes_outputs: bool,
    /// `a * b + c`, written plainly, rounds once instead of twice. Kernels here are written so that it cannot.
    pub contracts: bool,
    /// `(a + b) - a`, written plainly, is `b`: sums are reassociated, as by Mesa. Kernels here are written so that they
    /// cannot be.
    pub reassociates: bool,
    /// The device's own conversions from integers round to the nearest float, ties to even.
    pub conversions_round_to_nearest: bool,
    /// `==`, `<`, `<=`, `>` and `>=` are all false of NaN.
    pub nan_is_unordered: bool,
    /// `!=` is true of NaN, as IEEE 754 has it. Kernels never rely on it.
    pub nan_differs_from_itself: bool,
}

impl FloatNumerics {
    /// As IEEE 754 demands.
    pub(crate) const IDEAL: Self = Self {
        flushes_inputs: false,
        flushes_outputs: false,
        contracts: false,
        reassociates: false,
        conversions_round_to_nearest: true,
        nan_is_unordered: true,
        nan_differs_from_itself: true,
    };
}

impl Numerics {
    /// As the CPU computes.
    pub(crate) const IDEAL: Self = Self { f32: FloatNumerics::IDEAL, f64: Some(FloatNumerics::IDEAL) };
}
