//! Float behaviour of a device, as measured.

/// Float behaviour of a device where the specifications of graphics interfaces leave it open.
///
/// Kernels compensate for most differences: they prevent contraction of products and sums, except where matrix products
/// add fused products by definition, and reassociation of sums,
/// convert integers by exact steps, and compare the bits of operands that may be NaN. On Vulkan they ask the driver to
/// keep subnormal numbers, which drivers of GPUs otherwise flush to zero. They cannot compensate for a device that
/// flushes all the same (Metal, Direct3D, a Vulkan driver that cannot do otherwise): there, results that are subnormal,
/// or computed from subnormal numbers or through them, may differ from those of the CPU backend.
///
/// A device without 64-bit floats of its own (Metal, WebGPU, many mobile GPUs) computes them in integers, as pairs of words:
/// [`emulates_f64`](Self::emulates_f64). The bits are those of the CPU backend, but for the payload and the sign of NaN.
/// Moving, gathering and sorting cost what they cost elsewhere. A sum takes about 160 integer
/// operations, a product 270, a comparison 40, a quotient 2,000 and a square root 3,000. An elementary function takes 86 (`exp`)
/// to 430 (`lgamma`) operations, most of them sums and products, one after another in an interpreter. Where this is too slow,
/// cast to f32, or use [`reduce_mean_as`](crate::Tensor::reduce_mean_as).
///
/// ```
/// let numerics = ragged::Device::cpu().numerics()?;
/// assert!(!numerics.f32.flushes_inputs && !numerics.f64.flushes_inputs && !numerics.emulates_f64);
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Numerics {
    /// Single precision.
    pub f32: FloatNumerics,
    /// Double precision. If emulated, that of IEEE 754.
    pub f64: FloatNumerics,
    /// Whether kernels compute doubles in integers, since the device has no 64-bit floats or no 64-bit integers for their
    /// bits.
    pub emulates_f64: bool,
    /// How matrix products and attention add the product of two `f32` to a sum. Those of two `f64` are rounded before they
    /// are added.
    pub products: ProductRounding,
}

/// How a device adds the product of two `f32` to a sum, in matrix products and attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProductRounding {
    /// By a fused multiply-add, which rounds once.
    Fused,
    /// By operations that give the bits of a fused multiply-add, which the device lacks: several times slower.
    Emulated,
    /// By a product and a sum that both round, as [`DeviceOptions::split_products`](crate::DeviceOptions::split_products)
    /// allows: other bits.
    Split,
}

/// Behaviour of arithmetic in one float type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FloatNumerics {
    /// Subnormal operands count as zero.
    pub flushes_inputs: bool,
    /// Subnormal results become zero.
    pub flushes_outputs: bool,
    /// `a * b + c`, written plainly, rounds once instead of twice. Kernels of this crate prevent this contraction.
    pub contracts: bool,
    /// `(a + b) - a`, written plainly, is `b`: sums are reassociated, as by Mesa. Kernels of this crate prevent it.
    pub reassociates: bool,
    /// The device's own conversions from integers round to the nearest float, ties to even.
    pub conversions_round_to_nearest: bool,
    /// `==`, `<`, `<=`, `>` and `>=` are all false for NaN.
    pub nan_is_unordered: bool,
    /// `!=` is true for NaN, as IEEE 754 requires. Kernels never rely on it.
    pub nan_differs_from_itself: bool,
}

impl FloatNumerics {
    /// IEEE 754 behaviour.
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
    /// The CPU's behaviour.
    pub(crate) const fn of_cpu(has_fma: bool) -> Self {
        let products = if has_fma { ProductRounding::Fused } else { ProductRounding::Emulated };
        Self { f32: FloatNumerics::IDEAL, f64: FloatNumerics::IDEAL, emulates_f64: false, products }
    }
}
