//! The checks of an entry point that wgpu makes for modules in WGSL, and leaves to us for modules in SPIR-V.

use naga::valid::{GlobalUse, ModuleInfo};
use naga::{AddressSpace, EntryPoint, GlobalVariable, Module, StorageAccess};

use super::limits::DeviceLimits;
use super::pipeline::Access;

/// The entry point of that name, and its index.
pub(super) fn find<'a>(module: &'a Module, entry: &str) -> Result<(usize, &'a EntryPoint), String> {
    let mut all = module.entry_points.iter().enumerate();
    all.find(|(_, e)| e.name == entry).ok_or_else(|| format!("the module has no entry point {entry}"))
}

/// Checks an entry point. Returns the least bytes of each binding, of which 0 is the parameters; an array without a size
/// counts as one element.
///
/// # Errors
/// A workgroup beyond the limits; a buffer that the layout lacks, or with other access.
pub(super) fn check(
    module: &Module,
    info: &ModuleInfo,
    entry: &str,
    access: &[Access],
    limits: &DeviceLimits,
) -> Result<Box<[u64]>, String> {
    let (index, found) = find(module, entry)?;
    let invocations: u64 = found.workgroup_size.iter().map(|&n| u64::from(n)).product();
    if invocations > limits.invocations.into() {
        return Err(format!("{invocations} invocations per workgroup, but the device has {}", limits.invocations));
    }
    let used = |(handle, variable)| (info.get_entry_point(index)[handle] != GlobalUse::empty()).then_some(variable);
    let mut workgroup_bytes = 0;
    let mut least = vec![0; 1 + access.len()].into_boxed_slice();
    for variable in module.global_variables.iter().filter_map(used) {
        let bytes = module.types[variable.ty].inner.size(module.to_ctx());
        if variable.space == AddressSpace::WorkGroup {
            workgroup_bytes += bytes;
        }
        let is_bound = match variable.binding {
            Some(at) => at.group == 0 && is_in_layout(variable, at.binding as usize, access),
            None => true,
        };
        if !is_bound {
            let name = variable.name.as_deref().unwrap_or("a variable");
            return Err(format!(
                "the layout has no such buffer as {name}: {:?} at {:?}",
                variable.space, variable.binding
            ));
        }
        if let Some(at) = variable.binding {
            least[at.binding as usize] = bytes.into();
        }
    }
    if workgroup_bytes > limits.workgroup_bytes {
        return Err(format!(
            "{workgroup_bytes} bytes of workgroup memory, but the device has {}",
            limits.workgroup_bytes
        ));
    }
    Ok(least)
}

/// Whether the layout has that variable at `binding`: the parameters at 0, then the storage buffers.
fn is_in_layout(variable: &GlobalVariable, binding: usize, access: &[Access]) -> bool {
    match (variable.space, binding.checked_sub(1).map(|k| access.get(k))) {
        (AddressSpace::Uniform, None) => true,
        (AddressSpace::Storage { access }, Some(Some(Access::Read))) => !access.contains(StorageAccess::STORE),
        (AddressSpace::Storage { access }, Some(Some(Access::ReadWrite))) => access.contains(StorageAccess::STORE),
        _ => false,
    }
}
