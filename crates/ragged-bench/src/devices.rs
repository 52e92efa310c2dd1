//! Selects the devices to run on.

use std::io::Write;

use anyhow::{Context, Error, Result};
use ragged::Device;

use crate::failures::Failures;

/// The name of a device, and the device or the error of its driver.
type Opened = (String, ragged::Result<Device>);

/// The devices with the given names, without duplicates, in the order of the names. A device that does not open is
/// reported and skipped.
///
/// # Errors
/// A name that no device has.
pub fn select(names: &[String], failures: &mut Failures) -> Result<Vec<Device>> {
    let mut found = Vec::new();
    for name in names {
        match name.as_str() {
            "all" => found.extend(Device::each()),
            name => {
                let device = Device::named(name);
                if let Err(e @ ragged::Error::NoDevice { .. }) = device {
                    return Err(e).with_context(|| format!("--device {name}"));
                }
                found.push((name.to_owned(), device));
            }
        }
    }
    Ok(opened(found, failures))
}

/// The devices that opened, without duplicates.
fn opened(found: Vec<Opened>, failures: &mut Failures) -> Vec<Device> {
    let mut out = Vec::new();
    for (name, device) in found {
        match device {
            Ok(device) if out.contains(&device) => {}
            Ok(device) => out.push(device),
            Err(e) => failures.report(&Error::new(e).context(format!("device {name}"))),
        }
    }
    out
}

/// Prints one line per device, and one line if there is no adapter at all.
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
        writeln!(out, "No Vulkan, Metal or Direct3D 12 driver was found: everything runs on the CPU only.")?;
    }
    Ok(())
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_that_do_not_open_are_counted_and_skipped() -> Result<()> {
        let refusal =
            || Err(ragged::Error::DeviceLost { reason: "no".into(), location: std::panic::Location::caller() });
        let found = vec![
            ("broken".to_owned(), refusal()),
            ("cpu".to_owned(), Ok(Device::cpu())),
            ("cpu".to_owned(), Ok(Device::cpu())),
        ];
        let mut failures = Failures::default();
        assert_eq!(opened(found, &mut failures), [Device::cpu()]);
        assert_eq!(failures.count(), 1);
        assert!(select(&["there is no such device".to_owned()], &mut failures).is_err());
        Ok(())
    }
}
