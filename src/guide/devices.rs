//! Devices: what each class of adapters computes natively, what kernels emulate, and what is refused.
//!
//! All devices give the same bits, except where the last table says otherwise. A feature that is emulated costs time only:
//! [`Device::numerics`](crate::Device::numerics) says how one adapter computes, [`Tensor::explain`](crate::Tensor::explain)
//! what a read would run there. [`DeviceOptions`](crate::DeviceOptions) turn features off, so that a program can be tried on
//! the machine of its author as it will run elsewhere.
//!
//! | | CPU | Vulkan, desktop | Vulkan, mobile | Metal | Direct3D 12 | WebGPU |
//! |---|---|---|---|---|---|---|
//! | 64-bit integers | native | native | native or emulated | native (2.3 or later) | native (with DXC) | emulated |
//! | `f64` | native | native, or emulated where the GPU has none (Intel Arc) | emulated | emulated | emulated | emulated |
//! | 8-bit and 16-bit integers, `f16`, `bf16` | computed in 32 bits, stored packed | as CPU | as CPU | as CPU | as CPU | as CPU |
//! | fused products of `f32` | native (x86-64: AVX2 and FMA), else emulated | native or emulated, by a probe | by a probe | by a probe | by a probe | emulated |
//! | subnormal numbers | kept | kept (float controls) | kept where the driver can | flushed | flushed by most drivers | flushed by most drivers |
//! | regular expressions | host | host step, if the device [allows](crate::DeviceOptions::host_steps) it | as desktop | as desktop | as desktop | refused |
//! | kernels kept between processes | | [`pipeline_cache`](crate::DeviceOptions::pipeline_cache) | as desktop | by the system | by the system | by the browser |
//! | times of kernels | host clock | timestamps | timestamps, if the driver has them | timestamps | timestamps | timestamps, if allowed |
//!
//! *Native*: one instruction of the device or a few. *Emulated*: other instructions, with the same bits. *Refused*: an
//! [`Error::Unsupported`](crate::Error::Unsupported) where the operation is recorded, which says what to write instead.
//!
//! # Limits
//! Every device has the limits of core WebGPU at least: 8 storage buffers of a kernel, 128 MiB of a binding, 256 MiB of a
//! buffer. Kernels that need more are divided: operands beyond 8 are computed in several kernels, arrays beyond a binding
//! are bound in windows. An adapter with less is an error when it is opened.
//!
//! # Bits
//! | what may differ | where |
//! |---|---|
//! | results that are subnormal, or computed through subnormal numbers | devices that flush: `flushes_inputs`, `flushes_outputs` of [`FloatNumerics`](crate::FloatNumerics) |
//! | sign and payload of NaN | everywhere |
//! | products of `f32` | devices that [may split them](crate::DeviceOptions::split_products) |
//!
//! # How this is known
//! Kernels of every operation run on Vulkan (NVIDIA's driver, lavapipe, SwiftShader). They are compiled by AMD's compiler
//! without a card, and translated to the languages of Metal, Direct3D and OpenGL ES by tests; Tint compiles them for
//! browsers. Rows of the table for Metal, Direct3D and WebGPU follow from the interfaces' specifications and from what wgpu
//! offers there: no such device was measured.
