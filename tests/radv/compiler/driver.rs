//! The driver without hardware: a Vulkan device that compiles pipelines and returns their code.

use std::ffi::{CStr, CString, c_char};

use ash::{khr, vk};

use super::jobs::Job;

/// AMD's vendor id.
const AMD: u32 = 0x1002;

/// The compiled code of a pipeline.
pub(super) struct Code {
    pub(super) statistics: Vec<(String, u64)>,
    /// The last form of the driver's intermediate representation.
    pub(super) nir: String,
    pub(super) assembly: String,
}

/// The device. Never closed: the process ends after its use.
pub(super) struct Driver {
    _entry: ash::Entry,
    _instance: ash::Instance,
    version: String,
    device: ash::Device,
    executables: khr::pipeline_executable_properties::Device,
}

fn text(raw: &[c_char]) -> String {
    let bytes = raw.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
    String::from_utf8(bytes).expect("names are UTF-8")
}

impl Driver {
    /// Opens the first device of AMD.
    ///
    /// # Panics
    /// If there is none, or the driver is too old: of a Vulkan before 1.3.
    pub(super) fn open() -> Self {
        // SAFETY: the loader is the system's. All pointers in the structures outlive the calls that take them.
        unsafe {
            let entry = ash::Entry::load().expect("a Vulkan loader");
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
            let info = vk::InstanceCreateInfo::default().application_info(&application);
            let instance = entry.create_instance(&info, None).expect("an instance");
            let all = instance.enumerate_physical_devices().expect("devices");
            let of_amd = all.into_iter().find(|&p| instance.get_physical_device_properties(p).vendor_id == AMD);
            let physical = of_amd.expect("a device of AMD: RADV refused the family");
            let version = instance.get_physical_device_properties(physical).api_version;
            assert!(version >= vk::API_VERSION_1_3, "this version of RADV is older than Vulkan 1.3: {version:#x}");

            // What wgpu enables, where the driver has it.
            let mut found11 = vk::PhysicalDeviceVulkan11Features::default();
            let mut found12 = vk::PhysicalDeviceVulkan12Features::default();
            let mut found13 = vk::PhysicalDeviceVulkan13Features::default();
            let mut found_robustness = vk::PhysicalDeviceRobustness2FeaturesEXT::default();
            let mut found = vk::PhysicalDeviceFeatures2::default()
                .push_next(&mut found11)
                .push_next(&mut found12)
                .push_next(&mut found13)
                .push_next(&mut found_robustness);
            instance.get_physical_device_features2(physical, &mut found);
            let core = vk::PhysicalDeviceFeatures {
                robust_buffer_access: found.features.robust_buffer_access,
                shader_int64: found.features.shader_int64,
                shader_float64: found.features.shader_float64,
                shader_int16: found.features.shader_int16,
                ..Default::default()
            };
            let mut v12 = vk::PhysicalDeviceVulkan12Features {
                shader_int8: found12.shader_int8,
                shader_float16: found12.shader_float16,
                ..Default::default()
            };
            let mut v13 = vk::PhysicalDeviceVulkan13Features {
                subgroup_size_control: found13.subgroup_size_control,
                compute_full_subgroups: found13.compute_full_subgroups,
                maintenance4: found13.maintenance4,
                ..Default::default()
            };
            let mut robustness = vk::PhysicalDeviceRobustness2FeaturesEXT {
                robust_buffer_access2: found_robustness.robust_buffer_access2,
                ..Default::default()
            };
            let mut executable = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR {
                pipeline_executable_info: vk::TRUE,
                ..Default::default()
            };
            let mut names = vec![khr::pipeline_executable_properties::NAME.as_ptr()];
            let mut info =
                vk::DeviceCreateInfo::default().push_next(&mut executable).push_next(&mut v12).push_next(&mut v13);
            if robustness.robust_buffer_access2 == vk::TRUE {
                names.push(ash::ext::robustness2::NAME.as_ptr());
                info = info.push_next(&mut robustness);
            }
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
            let info = info.enabled_features(&core).queue_create_infos(&queues).enabled_extension_names(&names);
            let device = instance.create_device(physical, &info, None).expect("a device without hardware");
            let executables = khr::pipeline_executable_properties::Device::new(&instance, &device);
            let mut described = vk::PhysicalDeviceDriverProperties::default();
            let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut described);
            instance.get_physical_device_properties2(physical, &mut properties);
            let version = text(&described.driver_info);
            Self { _entry: entry, _instance: instance, version, device, executables }
        }
    }

    /// The name and version of the driver.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Compiles a pipeline.
    ///
    /// # Errors
    /// The driver's.
    pub(super) fn compile(&self, job: &Job) -> Result<Code, vk::Result> {
        let binding = |k: u32| {
            let ty =
                if k == 0 { vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC } else { vk::DescriptorType::STORAGE_BUFFER };
            vk::DescriptorSetLayoutBinding::default()
                .binding(k)
                .descriptor_type(ty)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let bindings: Vec<_> = (0..=job.buffers).map(binding).collect();
        let entry = CString::new(job.entry.as_str()).expect("names have no zero byte");
        // SAFETY: naga has validated the module. Every handle is used before it is destroyed, and every pointer within
        // the call that takes it.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let sets = [self.device.create_descriptor_set_layout(&info, None)?];
            let layout = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            let layout = self.device.create_pipeline_layout(&layout, None)?;
            let module = vk::ShaderModuleCreateInfo::default().code(&job.code);
            let module = self.device.create_shader_module(&module, None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(&entry);
            let flags = vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR
                | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR;
            let info = vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage).flags(flags);
            let made = self.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
            let pipeline = made.map_err(|(_, e)| e)?[0];
            let code = self.code(pipeline);
            self.device.destroy_pipeline(pipeline, None);
            self.device.destroy_shader_module(module, None);
            self.device.destroy_pipeline_layout(layout, None);
            self.device.destroy_descriptor_set_layout(sets[0], None);
            code
        }
    }

    /// # Safety
    /// The pipeline was made by this device with both flags to capture.
    unsafe fn code(&self, pipeline: vk::Pipeline) -> Result<Code, vk::Result> {
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(0);
        // SAFETY: the pipeline has one executable, and the flags.
        let statistics = unsafe { self.executables.get_pipeline_executable_statistics(&info)? };
        let value = |s: &vk::PipelineExecutableStatisticKHR<'_>| match s.format {
            // SAFETY: the format says which field is set.
            vk::PipelineExecutableStatisticFormatKHR::UINT64 => unsafe { s.value.u64 },
            // SAFETY: as above.
            vk::PipelineExecutableStatisticFormatKHR::INT64 => unsafe { s.value.i64 as u64 },
            _ => 0,
        };
        let statistics = statistics.iter().map(|s| (text(&s.name), value(s))).collect();
        let (mut nir, mut assembly) = (String::new(), String::new());
        for (name, body) in self.representations(&info)? {
            if name.starts_with("NIR") {
                nir = body;
            } else if name == "Assembly" {
                assembly = body;
            }
        }
        Ok(Code { statistics, nir, assembly })
    }

    /// The names and texts of an executable's representations.
    fn representations(&self, info: &vk::PipelineExecutableInfoKHR<'_>) -> Result<Vec<(String, String)>, vk::Result> {
        let function = self.executables.fp().get_pipeline_executable_internal_representations_khr;
        let mut count = 0;
        // SAFETY: three calls with the same arguments: the first gives the number, the second the sizes, the third the
        // texts, into buffers of these sizes.
        unsafe {
            function(self.device.handle(), info, &mut count, std::ptr::null_mut()).result()?;
            let mut list = vec![vk::PipelineExecutableInternalRepresentationKHR::default(); count as usize];
            function(self.device.handle(), info, &mut count, list.as_mut_ptr()).result()?;
            let mut buffers: Vec<Vec<u8>> = list.iter().map(|r| vec![0; r.data_size + 1]).collect();
            for (r, buffer) in list.iter_mut().zip(&mut buffers) {
                r.p_data = buffer.as_mut_ptr().cast();
            }
            function(self.device.handle(), info, &mut count, list.as_mut_ptr()).result()?;
            let body = |buffer: &Vec<u8>| {
                CStr::from_bytes_until_nul(buffer).map_or(String::new(), |s| s.to_string_lossy().into_owned())
            };
            Ok(list.iter().zip(&buffers).map(|(r, buffer)| (text(&r.name), body(buffer))).collect())
        }
    }
}
