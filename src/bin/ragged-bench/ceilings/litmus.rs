//! Litmus test: whether a message that one workgroup writes to memory is whole for another that has seen its flag.
//!
//! A single-pass scan (decoupled look-back) passes the sums of tiles this way. WGSL does not guarantee it: its barriers
//! order memory within a workgroup, its atomics order nothing else. wgpu's feature `MEMORY_DECORATION_COHERENT` lets a
//! kernel declare an array `@coherent`, and naga makes `storageBarrier` a device-wide barrier on Vulkan: in practice
//! that may suffice. This test counts the violations, with the decoration and without. The engine's kernels pass no
//! messages, so no result depends on the answer; and a count of 0 is no proof.

use anyhow::{Context, Result};
use ragged::wgpu;

use super::adapter;
use super::rig::{Bound, Rig, whole};

const SOURCE: &str = include_str!("../../../../shaders/bench/litmus.wgsl");

/// Workgroups per round, each but the first of which receives a message; and number of rounds.
const GROUPS: u32 = 1024;
const ROUNDS: u32 = 256;

/// Most polls of a flag. Even if workgroups ran one by one in the worst order, a round would end in a second or two.
const SPINS: u32 = 1024;

/// Outcomes of the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts {
    /// The flag was seen.
    seen: u32,
    /// Of these, the message was incomplete at the first read: where none was, nothing was tested.
    early: u32,
    /// Of these, the message was incomplete even after the flag.
    stale: u32,
    /// The flag was not seen in time.
    late: u32,
}

/// The text of the whole module.
fn text(is_coherent: bool) -> String {
    let coherent = if is_coherent { "@coherent " } else { "" };
    format!(
        "const SPINS = {SPINS}u;\n\
         @group(0) @binding(1) {coherent}var<storage, read_write> messages: array<u32>;\n{SOURCE}"
    )
}

/// Passes messages by the kernel with that text, and counts the outcomes.
fn count(rig: &Rig<'_>, text: &str, rounds: u32) -> Result<Counts> {
    use Bound::{ReadWrite, Uniform};
    let kernel = rig.kernel(&rig.module(text, true)?, "main", &[Uniform, ReadWrite, ReadWrite, ReadWrite])?;
    let zeros = vec![0; 64 * GROUPS as usize];
    let (p, messages) = (rig.words(&[0; 4])?, rig.words(&zeros)?);
    let (flags, counts) = (rig.words(&zeros[..GROUPS as usize])?, rig.words(&[0; 4])?);
    let group = rig.bind(&kernel, &[whole(&p), whole(&messages), whole(&flags), whole(&counts)])?;
    for round in 1..=rounds {
        rig.queue.write_buffer(&p, 0, &round.to_le_bytes());
        // One submission per round: a driver's watchdog timeout applies to submissions.
        rig.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&kernel.pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(GROUPS, 1, 1);
        })?;
    }
    let pairs = rig.read(&counts, 16)?;
    let [seen, early, stale, late] = [pairs[0], pairs[0] >> 32, pairs[1], pairs[1] >> 32].map(|word| word as u32);
    Ok(Counts { seen, early, stale, late })
}

/// Opens a device of the same adapter with the feature; `None` if the adapter lacks it.
fn coherent_device(of: &wgpu::Device) -> Result<Option<(wgpu::Device, wgpu::Queue)>> {
    let feature = wgpu::Features::MEMORY_DECORATION_COHERENT;
    let found = adapter::again(&of.adapter_info()).filter(|adapter| adapter.features().contains(feature));
    let Some(adapter) = found else { return Ok(None) };
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("litmus"),
        required_features: feature,
        required_limits: adapter.limits(),
        ..Default::default()
    };
    pollster::block_on(adapter.request_device(&descriptor)).map(Some).context("a device with @coherent")
}

/// Each figure with its description: messages passed without the decoration, and with it where the adapter has it.
///
/// # Errors
/// The device refuses something.
pub fn ask(rig: &Rig<'_>) -> Result<Vec<(&'static str, f64)>> {
    let plain = count(rig, &text(false), ROUNDS)?;
    let mut out = vec![
        ("plain: flags seen", plain.seen),
        ("plain: of these, messages that were not there when first looked at", plain.early),
        ("plain: of these, messages that were not whole after the flag", plain.stale),
        ("plain: flags not seen in time", plain.late),
    ];
    match coherent_device(rig.device)? {
        Some((device, queue)) => {
            let rig = Rig { device: &device, queue: &queue, has_clock: false };
            let coherent = count(&rig, &text(true), ROUNDS)?;
            out.extend([
                ("@coherent: flags seen", coherent.seen),
                ("@coherent: of these, messages that were not there when first looked at", coherent.early),
                ("@coherent: of these, messages that were not whole after the flag", coherent.stale),
                ("@coherent: flags not seen in time", coherent.late),
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
    fn every_message_is_counted_and_a_wrong_one_is_noticed() -> Result<()> {
        if Device::names().len() == 1 && std::env::var("RAGGED_EXPECT_NO_GPU").is_ok_and(|v| v == "1") {
            return Ok(());
        }
        let device = Device::gpu()?;
        let rig = Rig::new(&device).context("a GPU")?;
        let own = coherent_device(rig.device)?;
        let coherent = own.as_ref().map(|(device, queue)| Rig { device, queue, has_clock: false });
        for (rig, text) in [(Some(rig), text(false)), (coherent, text(true))] {
            let Some(rig) = rig else { continue };
            let right = count(&rig, &text, 3)?;
            assert_eq!(right.seen + right.late, 3 * (GROUPS - 1), "{right:?}");
            assert!(right.stale <= right.seen && right.early <= right.seen && right.seen > 0, "{right:?}");

            let wrong = text.replace("= word(p.x, wid.x, t);", "= word(p.x - 1u, wid.x, t);");
            assert_ne!(wrong, text);
            let wrong = count(&rig, &wrong, 3)?;
            assert_eq!((wrong.stale, wrong.early), (wrong.seen, wrong.seen), "the round before is noticed");

            let silent = text.replace("atomicStore(&flags[wid.x], p.x);", "");
            assert_ne!(silent, text);
            let silent = count(&rig, &silent, 1)?;
            assert_eq!((silent.seen, silent.late), (0, GROUPS - 1), "nobody waits for ever");
        }
        Ok(())
    }
}
