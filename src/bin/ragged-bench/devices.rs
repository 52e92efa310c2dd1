//! Which devices run.

use std::io::Write;

use anyhow::{Context, Result};
use ragged::Device;

/// The devices of those names, each once, in the order of the names.
///
/// # Errors
/// A name that nothing has; a driver that refuses.
pub fn select(names: &[String]) -> Result<Vec<Device>> {
    let mut out: Vec<Device> = Vec::new();
    for name in names {
        let found = match name.as_str() {
            "all" => Device::all().context("--device all")?,
            name => vec![Device::named(name).with_context(|| format!("--device {name}"))?],
        };
        for device in found {
            if !out.contains(&device) {
                out.push(device);
            }
        }
    }
    Ok(out)
}

/// One line a device; one line too if there is no adapter at all.
pub fn describe(devices: &[Device], out: &mut impl Write) -> Result<()> {
    for device in devices {
        let what = match (device.is_cpu(), device.is_software()) {
            (true, _) => format!("CPU backend, {} threads", threads()),
            (false, true) => "software adapter".to_owned(),
            (false, false) => "GPU".to_owned(),
        };
        writeln!(out, "device  {}: {what}", device.name())?;
    }
    if Device::names().len() == 1 {
        writeln!(out, "No Vulkan driver (or Metal, or Direct3D 12) was found: everything runs on the CPU only.")?;
    }
    Ok(())
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
