//! The compute adapters of this machine.

use std::{fmt, sync::OnceLock};

/// What kind of device an adapter is, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum AdapterKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A GPU that a hypervisor passes through or shares.
    Virtual,
    /// Unknown to wgpu.
    Other,
    /// A rasteriser on the CPU (lavapipe, WARP): right, but slower than the CPU backend.
    Software,
}

/// What is known of an adapter without opening it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AdapterSummary {
    /// The device's name as the driver gives it.
    pub(crate) name: String,
    /// `vulkan`, `metal` or `dx12`.
    pub(crate) backend: String,
    /// The driver's name and version, as far as it tells them.
    pub(crate) driver: String,
    /// The kind of device.
    pub(crate) kind: AdapterKind,
    /// PCI vendor number, or 0.
    pub(crate) vendor: u32,
    /// PCI device number, or 0.
    pub(crate) device: u32,
    /// Where on the bus it sits, or empty.
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

    /// Whether both are the same device behind the same interface: a driver that the loader found twice.
    fn repeats(&self, other: &Self) -> bool {
        // Without a bus address two equal GPUs cannot be told from one that is listed twice; a rasteriser is always
        // one.
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
    /// What it is.
    pub(crate) summary: AdapterSummary,
    pub(super) wgpu: wgpu::Adapter,
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Adapter").field(&self.summary).finish()
    }
}

/// All usable compute adapters, real GPUs first; empty where no driver is installed.
///
/// The drivers are asked once a process: it takes tens of milliseconds, and what is plugged in later is not seen.
pub(crate) fn adapters() -> Vec<Adapter> {
    static ADAPTERS: OnceLock<Vec<Adapter>> = OnceLock::new();
    ADAPTERS.get_or_init(enumerate).clone()
}

/// Which interface to prefer for one device that has several, best first: on Windows, Vulkan has 64-bit integers and
/// floats without the DXC compiler being shipped.
fn preference(backend: &str) -> usize {
    ["metal", "vulkan", "dx12"].iter().position(|name| *name == backend).unwrap_or(usize::MAX)
}

fn enumerate() -> Vec<Adapter> {
    let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    // `Instance::new` panics where no backend is compiled in at all.
    if !wgpu::Instance::enabled_backend_features().intersects(backends) {
        return Vec::new();
    }
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        // Not the default: that asks for the validation layers in every debug build of a program which uses this crate,
        // and for extra pipelines that check indirect dispatches, of which there are none here.
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
    // Stable: the driver's order, which is the user's where a layer sorts devices, holds within a kind.
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
