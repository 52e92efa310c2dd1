//! Float behaviour that Vulkan leaves open unless a module asks for it.
//!
//! By default a Vulkan driver may flush subnormal numbers to zero, and take infinities, NaN and the signs of zeros as
//! absent. Drivers of real GPUs flush. SPIR-V has execution modes against it, which WGSL cannot express and naga does
//! not write; the module `spirv` adds them.
//!
//! NVIDIA's driver keeps subnormal numbers where a module asks for it, but does not list the mode among its properties
//! (580.159.04, H200: every result of the tests has the bits of the CPU with the mode, and 22 tests fail without). It is
//! asked for nevertheless, once a kernel with the mode has compiled.

use super::execution_modes::Mode;

/// What a device offers: modules for it ask for all of these modes. May be none: the driver then does as it likes, as
/// [`Device::numerics`](crate::Device::numerics) finds out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FloatControls {
    /// The newest version of SPIR-V, at least 1.5: no extension is needed for the modes.
    pub(super) version: (u8, u8),
    /// Whether the driver bounds accesses to buffers itself, so that modules need no checks of their own.
    pub(super) robust_buffers: bool,
    /// The modes, each with a width in bits.
    pub(super) modes: Vec<(Mode, u32)>,
    /// Whether the driver does not list [`Mode::DenormPreserve`], which is among the modes.
    pub(super) is_unlisted: bool,
}

/// What the driver says about a mode for floats of 16, 32 and 64 bits.
type ByWidth = [bool; 3];

const WIDTHS: [u32; 3] = [16, 32, 64];

/// The modes to ask for. Drivers that treat the widths alike (`all_equal`) want the same mode for subnormal numbers in
/// every width; others need it for 32 bits only, where drivers flush.
fn modes(preserve: ByWidth, special: ByWidth, all_equal: bool) -> Vec<(Mode, u32)> {
    let mut out = Vec::new();
    let wanted: &[usize] = if all_equal { &[0, 1, 2] } else { &[1] };
    if wanted.iter().all(|&k| preserve[k]) {
        out.extend(wanted.iter().map(|&k| (Mode::DenormPreserve, WIDTHS[k])));
    }
    if special[1] {
        out.push((Mode::SignedZeroInfNanPreserve, 32));
    }
    out
}

impl FloatControls {
    /// What the device offers; `None` if it takes no SPIR-V or is older than Vulkan 1.2.
    #[cfg(not(any(target_family = "wasm", target_vendor = "apple")))]
    pub(super) fn of(device: &wgpu::Device) -> Option<Self> {
        use ash::vk;
        if !device.features().contains(wgpu::Features::PASSTHROUGH_SHADERS) {
            return None;
        }
        // SAFETY: the device is only asked for its handles, and used no longer than the guard lives.
        let hal = unsafe { device.as_hal::<wgpu::hal::api::Vulkan>() }?;
        let (instance, physical) = (hal.shared_instance(), hal.raw_physical_device());
        let raw = instance.raw_instance();
        // SAFETY: the physical device is of this instance, which `hal` keeps alive.
        let version = unsafe { raw.get_physical_device_properties(physical) }.api_version;
        let version = match version.min(instance.instance_api_version()) {
            ..vk::API_VERSION_1_2 => return None,
            vk::API_VERSION_1_2..vk::API_VERSION_1_3 => (1, 5),
            _ => (1, 6),
        };
        let mut found = vk::PhysicalDeviceFloatControlsProperties::default();
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut found).push_next(&mut driver);
        // SAFETY: as above; the structures are those of Vulkan 1.2, and outlive the call.
        unsafe { raw.get_physical_device_properties2(physical, &mut all) };
        let listed = [
            found.shader_denorm_preserve_float16,
            found.shader_denorm_preserve_float32,
            found.shader_denorm_preserve_float64,
        ];
        let special = [
            found.shader_signed_zero_inf_nan_preserve_float16,
            found.shader_signed_zero_inf_nan_preserve_float32,
            found.shader_signed_zero_inf_nan_preserve_float64,
        ];
        let [listed, special] = [listed, special].map(|by_width| by_width.map(|has| has == vk::TRUE));
        let is_unlisted = driver.driver_id == vk::DriverId::NVIDIA_PROPRIETARY && !listed[1];
        let preserve = if is_unlisted { [true; 3] } else { listed };
        let all_equal = found.denorm_behavior_independence == vk::ShaderFloatControlsIndependence::NONE;
        let mut robustness = vk::PhysicalDeviceRobustness2FeaturesEXT::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut robustness);
        // wgpu enables the feature with its extension, and omits its own checks.
        let has_robustness = hal.enabled_device_extensions().contains(&ash::ext::robustness2::NAME);
        if has_robustness {
            // SAFETY: as above; the structure is one of an extension that the device has.
            unsafe { raw.get_physical_device_features2(physical, &mut features) };
        }
        let robust_buffers = robustness.robust_buffer_access2 == vk::TRUE;
        Some(Self { version, robust_buffers, modes: modes(preserve, special, all_equal), is_unlisted })
    }

    /// Without the mode that the driver does not list.
    pub(super) fn listed(mut self) -> Self {
        self.modes.retain(|(mode, _)| *mode != Mode::DenormPreserve);
        Self { is_unlisted: false, ..self }
    }

    /// What the device offers: nothing, since it is no Vulkan device.
    #[cfg(any(target_family = "wasm", target_vendor = "apple"))]
    pub(super) fn of(_device: &wgpu::Device) -> Option<Self> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_that_are_alike_ask_for_all_or_none() {
        use Mode::{DenormPreserve, SignedZeroInfNanPreserve};
        let (yes, no) = ([true; 3], [false; 3]);
        assert_eq!(modes([false, true, false], no, false), [(DenormPreserve, 32)]);
        assert_eq!(modes([false, true, true], no, true), []);
        assert_eq!(modes(yes, no, true), [16, 32, 64].map(|width| (DenormPreserve, width)));
        assert_eq!(modes(no, yes, false), [(SignedZeroInfNanPreserve, 32)]);
    }
}
