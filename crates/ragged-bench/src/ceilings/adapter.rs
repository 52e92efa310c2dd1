//! Properties, limits and features of an adapter, as reported by wgpu.

use ragged::wgpu;
use serde::Serialize;

/// An adapter, its limits and its features.
#[derive(Debug, Clone, Serialize)]
pub struct Sheet {
    pub adapter: String,
    pub backend: String,
    pub driver: String,
    pub kind: String,
    /// Limits by their wgpu names.
    pub limits: Vec<(&'static str, u64)>,
    /// Features relevant to kernels, and whether the adapter has them; `None` if the adapter was not found.
    pub features: Vec<(&'static str, Option<bool>)>,
}

const FEATURES: [(&str, wgpu::Features); 12] = [
    ("TIMESTAMP_QUERY", wgpu::Features::TIMESTAMP_QUERY),
    ("TIMESTAMP_QUERY_INSIDE_PASSES", wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES),
    ("PIPELINE_CACHE", wgpu::Features::PIPELINE_CACHE),
    ("IMMEDIATES", wgpu::Features::IMMEDIATES),
    ("SUBGROUP", wgpu::Features::SUBGROUP),
    ("SHADER_INT64", wgpu::Features::SHADER_INT64),
    ("SHADER_F64", wgpu::Features::SHADER_F64),
    ("SHADER_F16", wgpu::Features::SHADER_F16),
    ("SHADER_I16", wgpu::Features::SHADER_I16),
    ("BUFFER_BINDING_ARRAY", wgpu::Features::BUFFER_BINDING_ARRAY),
    ("MAPPABLE_PRIMARY_BUFFERS", wgpu::Features::MAPPABLE_PRIMARY_BUFFERS),
    ("MEMORY_DECORATION_COHERENT", wgpu::Features::MEMORY_DECORATION_COHERENT),
];

impl Sheet {
    /// The properties of a device's adapter.
    pub fn of(device: &wgpu::Device) -> Self {
        let (info, limits) = (device.adapter_info(), device.limits());
        let has = find(&info).map(|adapter| adapter.features());
        Self {
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
            backend: info.backend.to_string(),
            kind: format!("{:?}", info.device_type),
            limits: vec![
                ("max_buffer_size", limits.max_buffer_size),
                ("max_storage_buffer_binding_size", limits.max_storage_buffer_binding_size),
                ("max_storage_buffers_per_shader_stage", limits.max_storage_buffers_per_shader_stage.into()),
                ("max_uniform_buffer_binding_size", limits.max_uniform_buffer_binding_size),
                ("min_storage_buffer_offset_alignment", limits.min_storage_buffer_offset_alignment.into()),
                ("max_compute_workgroups_per_dimension", limits.max_compute_workgroups_per_dimension.into()),
                ("max_compute_invocations_per_workgroup", limits.max_compute_invocations_per_workgroup.into()),
                ("max_compute_workgroup_storage_size", limits.max_compute_workgroup_storage_size.into()),
                ("max_immediate_size", limits.max_immediate_size.into()),
                ("subgroup_min_size", info.subgroup_min_size.into()),
                ("subgroup_max_size", info.subgroup_max_size.into()),
            ],
            features: FEATURES.map(|(name, feature)| (name, has.map(|has| has.contains(feature)))).to_vec(),
            adapter: info.name,
        }
    }
}

/// Finds the adapter of an existing device, which has no reference to it. `None` if the drivers no longer list the
/// adapter.
pub fn find(info: &wgpu::AdapterInfo) -> Option<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let found = pollster::block_on(instance.enumerate_adapters(info.backend.into()));
    let same = |adapter: &wgpu::Adapter| {
        let other = adapter.get_info();
        (&other.name, other.device, &other.device_pci_bus_id) == (&info.name, info.device, &info.device_pci_bus_id)
    };
    found.into_iter().find(same)
}
