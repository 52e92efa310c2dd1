//! Litmus test of message passing between workgroups: whether a workgroup that has read another workgroup's flag also
//! reads the message that was written before the flag.
//!
//! A single-pass scan (decoupled look-back) passes the sums of tiles this way. WGSL does not guarantee it: its barriers
//! order memory within a workgroup only, and its atomics are relaxed. wgpu's feature `MEMORY_DECORATION_COHERENT` lets
//! a kernel declare an array `@coherent`, and naga makes `storageBarrier` a device-wide barrier on Vulkan, which may
//! suffice in practice. This test counts violations, with and without the decoration. The engine's kernels pass no
//! messages, so that no result depends on the outcome. A count of 0 is no proof.

use anyhow::{Context, Result};
use ragged::wgpu;

use super::adapter;
use super::harness::{BindingType, Harness, whole};

const SOURCE: &str = include_str!("../../shaders/litmus.wgsl");

/// Workgroups per round, all of which except the first receive a message; and number of rounds.
const GROUPS: u32 = 1024;
const ROUNDS: u32 = 256;

/// Most polls of a flag. A round takes at most a second or two, even if workgroups run sequentially in the worst order.
const SPINS: u32 = 1024;

/// Outcomes of the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts {
    /// Flags that were read in time.
    seen: u32,
    /// Of these, messages that were incomplete before the flag was read. If there are none, the test is void.
    early: u32,
    /// Of these, messages that were incomplete after the flag was read: violations.
    stale: u32,
    /// Flags that were not read in time.
    late: u32,
}

/// The WGSL text of the module.
fn text(is_coherent: bool) -> String {
    let coherent = if is_coherent { "@coherent " } else { "" };
    format!(
        "const SPINS = {SPINS}u;\n\
         @group(0) @binding(1) {coherent}var<storage, read_write> messages: array<u32>;\n{SOURCE}"
    )
}

/// Passes messages by the kernel of the given text, and counts the outcomes.
fn count(harness: &Harness<'_>, text: &str, rounds: u32) -> Result<Counts> {
    use BindingType::{ReadWrite, Uniform};
    let kernel = harness.kernel(&harness.module(text, true)?, "main", &[Uniform, ReadWrite, ReadWrite, ReadWrite])?;
    let zeros = vec![0; 64 * GROUPS as usize];
    let (p, messages) = (harness.words(&[0; 4])?, harness.words(&zeros)?);
    let (flags, counts) = (harness.words(&zeros[..GROUPS as usize])?, harness.words(&[0; 4])?);
    let group = harness.bind(&kernel, &[whole(&p), whole(&messages), whole(&flags), whole(&counts)])?;
    for round in 1..=rounds {
        harness.queue.write_buffer(&p, 0, &round.to_le_bytes());
        // One submission per round: a driver's watchdog timeout applies to submissions.
        harness.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&kernel.pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(GROUPS, 1, 1);
        })?;
    }
    let pairs = harness.read(&counts, 16)?;
    let [seen, early, stale, late] = [pairs[0], pairs[0] >> 32, pairs[1], pairs[1] >> 32].map(|word| word as u32);
    Ok(Counts { seen, early, stale, late })
}

/// Opens a device of the same adapter with the feature; `None` if the adapter lacks it.
fn coherent_device(of: &wgpu::Device) -> Result<Option<(wgpu::Device, wgpu::Queue)>> {
    let feature = wgpu::Features::MEMORY_DECORATION_COHERENT;
    let found = adapter::find(&of.adapter_info()).filter(|adapter| adapter.features().contains(feature));
    let Some(adapter) = found else { return Ok(None) };
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("litmus"),
        required_features: feature,
        required_limits: adapter.limits(),
        ..Default::default()
    };
    pollster::block_on(adapter.request_device(&descriptor)).map(Some).context("a device with @coherent")
}

/// The counts with their descriptions: without the decoration, and with it if the adapter has the feature.
///
/// # Errors
/// wgpu reports an error.
pub fn counts(harness: &Harness<'_>) -> Result<Vec<(&'static str, f64)>> {
    let plain = count(harness, &text(false), ROUNDS)?;
    let mut out = vec![
        ("plain: flags read in time", plain.seen),
        ("plain: of these, messages incomplete before the flag", plain.early),
        ("plain: of these, messages incomplete after the flag (violations)", plain.stale),
        ("plain: flags not read in time", plain.late),
    ];
    match coherent_device(harness.device)? {
        Some((device, queue)) => {
            let harness = Harness { device: &device, queue: &queue, has_clock: false };
            let coherent = count(&harness, &text(true), ROUNDS)?;
            out.extend([
                ("@coherent: flags read in time", coherent.seen),
                ("@coherent: of these, messages incomplete before the flag", coherent.early),
                ("@coherent: of these, messages incomplete after the flag (violations)", coherent.stale),
                ("@coherent: flags not read in time", coherent.late),
            ]);
        }
        None => out.push(("@coherent: the adapter lacks MEMORY_DECORATION_COHERENT", 0)),
    }
    Ok(out.into_iter().map(|(what, count)| (what, f64::from(count))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragged::Device;

    #[test]
    fn every_message_is_counted_and_violations_are_detected() -> Result<()> {
        if Device::names().len() == 1 && std::env::var("RAGGED_EXPECT_NO_GPU").is_ok_and(|v| v == "1") {
            return Ok(());
        }
        let device = Device::gpu()?;
        let harness = Harness::new(&device).context("a GPU")?;
        let own = coherent_device(harness.device)?;
        let coherent = own.as_ref().map(|(device, queue)| Harness { device, queue, has_clock: false });
        for (harness, text) in [(Some(harness), text(false)), (coherent, text(true))] {
            let Some(harness) = harness else { continue };
            let right = count(&harness, &text, 3)?;
            assert_eq!(right.seen + right.late, 3 * (GROUPS - 1), "{right:?}");
            assert!(right.stale <= right.seen && right.early <= right.seen && right.seen > 0, "{right:?}");

            let wrong = text.replace("= word(p.x, wid.x, t);", "= word(p.x - 1u, wid.x, t);");
            assert_ne!(wrong, text);
            let wrong = count(&harness, &wrong, 3)?;
            assert_eq!(
                (wrong.stale, wrong.early),
                (wrong.seen, wrong.seen),
                "messages of the previous round count as violations"
            );

            let silent = text.replace("atomicStore(&flags[wid.x], p.x);", "");
            assert_ne!(silent, text);
            let silent = count(&harness, &silent, 1)?;
            assert_eq!((silent.seen, silent.late), (0, GROUPS - 1), "polling ends without a flag");
        }
        Ok(())
    }
}
