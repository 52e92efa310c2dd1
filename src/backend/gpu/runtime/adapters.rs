//! The compute adapters of this machine.

use std::{fmt, sync::OnceLock};

/// Class of an adapter, in order of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum AdapterKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A GPU that a hypervisor passes through or shares.
    Virtual,
    /// An adapter whose class wgpu does not know.
    Other,
    /// A software rasteriser (lavapipe, WARP): correct, but slower than the CPU backend.
    Software,
}

/// Properties of an adapter that are known without opening it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AdapterSummary {
    /// The device's name as the driver gives it.
    pub(crate) name: String,
    /// `vulkan`, `metal` or `dx12`.
    pub(crate) backend: String,
    /// The driver's name and version, as far as reported.
    pub(crate) driver: String,
    /// The kind of device.
    pub(crate) kind: AdapterKind,
    /// PCI vendor number, or 0.
    pub(crate) vendor: u32,
    /// PCI device number, or 0.
    pub(crate) device: u32,
    /// PCI bus address, or empty.
    pub(crate) bus: String,
}

impl AdapterSummary {
    pub(super) fn of(info: &wgpu::AdapterInfo) -> Self {
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => AdapterKind::Discrete,
            wgpu::DeviceType::IntegratedGpu => AdapterKind::Integrated,
            wgpu::DeviceType::VirtualGpu => AdapterKind::Virtual,
            wgpu::DeviceType::Cpu => AdapterKind::Software,
            wgpu::DeviceType::Other => AdapterKind::Other,
        };
        let driver = [info.driver.as_str(), info.driver_info.as_str()];
        Self {
            name: info.name.clone(),
            backend: info.backend.to_str().to_owned(),
            driver: driver.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" "),
            kind,
            vendor: info.vendor,
            device: info.device,
            bus: info.device_pci_bus_id.clone(),
        }
    }

    /// Whether both are one device that one interface lists twice, as the Vulkan loader does for a driver that is
    /// registered twice.
    fn repeats(&self, other: &Self) -> bool {
        // Without a bus address, two equal GPUs are indistinguishable from one GPU listed twice. A software rasteriser
        // is always a single device.
        let located = !self.bus.is_empty() || self.kind == AdapterKind::Software;
        located && self == other
    }

    /// Whether both are the same device behind different interfaces.
    fn same_device(&self, other: &Self) -> bool {
        self.backend != other.backend
            && (self.vendor, self.device) == (other.vendor, other.device)
            && (self.name == other.name || (!self.bus.is_empty() && self.bus == other.bus))
    }
}

/// An adapter that can be opened with [`Runtime::open`](super::Runtime::open), any number of times.
#[derive(Clone)]
pub(crate) struct Adapter {
    /// Its name, driver and kind.
    pub(crate) summary: AdapterSummary,
    pub(super) wgpu: wgpu::Adapter,
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Adapter").field(&self.summary).finish()
    }
}

/// All usable compute adapters, by class; empty if no driver is installed.
///
/// Enumerates the drivers once per process, which takes tens of milliseconds; devices plugged in later are not seen.
pub(crate) fn adapters() -> Vec<Adapter> {
    static ADAPTERS: OnceLock<Vec<Adapter>> = OnceLock::new();
    ADAPTERS.get_or_init(enumerate).clone()
}

/// Rank of a graphics interface, for devices with several; lower is preferred. On Windows, 64-bit integers and floats
/// need the DXC compiler under DX12, and no further component under Vulkan.
fn preference(backend: &str) -> usize {
    ["metal", "vulkan", "dx12"].iter().position(|name| *name == backend).unwrap_or(usize::MAX)
}

fn enumerate() -> Vec<Adapter> {
    let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    // `Instance::new` panics if no backend is compiled in.
    if !wgpu::Instance::enabled_backend_features().intersects(backends) {
        return Vec::new();
    }
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        // The default flags enable the validation layers in every debug build of a dependent program, and pipelines
        // that validate indirect dispatches, which this crate does not use.
        flags: if cfg!(test) { wgpu::InstanceFlags::VALIDATION } else { wgpu::InstanceFlags::empty() },
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let found = pollster::block_on(instance.enumerate_adapters(backends));
    let mut candidates: Vec<Adapter> = found
        .into_iter()
        .filter(|adapter| adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS))
        .map(|wgpu| Adapter { summary: AdapterSummary::of(&wgpu.get_info()), wgpu })
        .collect();
    candidates.sort_by_key(|adapter| preference(&adapter.summary.backend));
    let mut adapters: Vec<Adapter> = Vec::new();
    for candidate in candidates {
        let new = &candidate.summary;
        if !adapters.iter().any(|kept| kept.summary.repeats(new) || kept.summary.same_device(new)) {
            adapters.push(candidate);
        }
    }
    // Stable: within a class the driver's order remains, which a device-select layer may have set.
    adapters.sort_by_key(|adapter| adapter.summary.kind);
    adapters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(name: &str, backend: &str, bus: &str) -> AdapterSummary {
        AdapterSummary {
            name: name.into(),
            backend: backend.into(),
            driver: "d".into(),
            kind: AdapterKind::Discrete,
            vendor: 1,
            device: 2,
            bus: bus.into(),
        }
    }

    #[test]
    fn one_device_behind_two_interfaces_is_one() {
        assert!(summary("a", "vulkan", "").same_device(&summary("a", "dx12", "")));
        assert!(!summary("a", "vulkan", "").same_device(&summary("b", "dx12", "")));
    }

    #[test]
    fn equal_devices_in_two_slots_are_two() {
        assert!(!summary("a", "vulkan", "0").repeats(&summary("a", "vulkan", "1")));
        assert!(summary("a", "vulkan", "0").repeats(&summary("a", "vulkan", "0")));
        assert!(!summary("a", "vulkan", "").repeats(&summary("a", "vulkan", "")));
    }
}
