//! The commands of a submission, and their validation before encoding.

use std::{borrow::Cow, sync::Arc};

use super::{
    buffer::{Buffer, BufferSlice},
    context::Runtime,
    pipeline::{Access, Pipeline},
    runtime_checks::RuntimeChecks,
    shared::bug,
};
use crate::{Error, Result};

/// A kernel launch over a grid.
#[derive(Debug, Clone)]
pub(crate) struct Dispatch {
    /// The kernel.
    pub(crate) pipeline: Pipeline,
    /// Storage buffers, in the order of the access list. A written binding must not overlap another one.
    pub(crate) buffers: Vec<BufferSlice>,
    /// Parameters: the words of the uniform struct at binding 0.
    pub(crate) params: Arc<[u32]>,
    /// Number of workgroups; zero launches nothing. The grid is folded to two dimensions and may be slightly larger. A
    /// kernel computes its workgroup index as `wid.x + wid.y * num_workgroups.x`, and returns if the index is not below
    /// the count in its parameters.
    pub(crate) workgroups: u32,
    /// Third dimension of the grid; 1 for kernels without one.
    pub(crate) depth: u32,
    /// Name used in errors.
    pub(crate) label: Arc<str>,
}

/// One command of a submission. Commands run in order.
#[derive(Debug, Clone)]
pub(crate) enum Command {
    /// Runs a kernel.
    Dispatch(Dispatch),
    /// Sets every word of a buffer to one value.
    Fill {
        /// The buffer.
        buffer: Buffer,
        /// The word.
        word: u32,
    },
    /// Copies bytes from one buffer to another. Offsets are multiples of four; so is the length, unless the copy ends
    /// at the end of the destination.
    Copy {
        /// The source.
        from: Buffer,
        /// First byte in the source.
        from_offset: u64,
        /// The destination; must differ from the source.
        to: Buffer,
        /// First byte in the destination.
        to_offset: u64,
        /// Number of bytes.
        bytes: u64,
    },
}

/// A byte range for the host to read, of any offset and length.
#[derive(Debug, Clone)]
pub(crate) struct ReadRequest {
    /// The buffer.
    pub(crate) buffer: Buffer,
    /// First byte.
    pub(crate) offset: u64,
    /// Number of bytes.
    pub(crate) bytes: u64,
}

/// Alignment of a dispatch's parameters: the maximum that WebGPU allows a device to require.
pub(super) const PARAMS_ALIGN: u64 = 256;

/// Maximum bytes of parameters of one submission: a million dispatches. All are in one buffer, and every WebGPU device
/// supports buffers of this size.
const MAX_PARAMS: u64 = 256 << 20;

/// A validated command, with its grid and parameter offset.
#[derive(Debug)]
pub(super) enum ValidatedCommand<'a> {
    Kernel {
        #[cfg_attr(not(feature = "wgpu-profiler"), expect(dead_code, reason = "the name of a profiled scope"))]
        label: &'a str,
        pipeline: Pipeline,
        buffers: Cow<'a, [BufferSlice]>,
        params_at: u32,
        params_bytes: u64,
        grid: (u32, u32, u32),
    },
    Clear {
        buffer: &'a Buffer,
    },
    Copy {
        from: &'a Buffer,
        from_offset: u64,
        to: &'a Buffer,
        to_offset: u64,
        bytes: u64,
    },
}

/// All commands of a submission with the parameters of its kernels.
#[derive(Debug, Default)]
pub(super) struct ValidatedCommands<'a> {
    pub(super) list: Vec<ValidatedCommand<'a>>,
    pub(super) params: Vec<u8>,
    pub(super) kernels: u64,
}

/// Sets the words of a buffer. The only kernel of the runtime.
const FILL: &str = "
struct Params { word: u32, count: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> words: array<u32>;

@compute @workgroup_size(256)
fn fill(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // Four words per invocation, with the stride of a workgroup, so that stores coalesce. The largest buffer has fewer
    // than 2^30 words, so that no index overflows.
    let first = (wid.x + wid.y * grid.x) * 1024u + lane;
    for (var k = 0u; k < 4u; k++) {
        let i = first + k * 256u;
        if (i < params.count) { words[i] = params.word; }
    }
}
";
const FILL_WORDS: u64 = 1024;

impl Runtime {
    /// Validates commands and lays out their parameters. Submits nothing.
    pub(super) fn validate<'a>(&self, commands: &'a [Command]) -> Result<ValidatedCommands<'a>> {
        let mut validated = ValidatedCommands::default();
        for command in commands {
            match command {
                Command::Dispatch(dispatch) => self.add_dispatch(&mut validated, dispatch)?,
                Command::Fill { buffer, word } => self.add_fill(&mut validated, buffer, *word)?,
                Command::Copy { from, from_offset, to, to_offset, bytes } => {
                    self.add_copy(&mut validated, (from, *from_offset), (to, *to_offset), *bytes)?;
                }
            }
        }
        Ok(validated)
    }

    fn add_dispatch<'a>(&self, validated: &mut ValidatedCommands<'a>, dispatch: &'a Dispatch) -> Result<()> {
        let Dispatch { pipeline, buffers, params, workgroups, depth, label } = dispatch;
        let access = pipeline.access();
        if buffers.len() != access.len() {
            return Err(bug(
                label,
                format_args!("{} buffers given, but the kernel has {} bindings", buffers.len(), access.len()),
            ));
        }
        for (i, buffer) in buffers.iter().enumerate() {
            self.check_owner(label, buffer.buffer())?;
            // For about a dozen buffers, comparing all pairs is faster than a set.
            let clash = (0..i).find(|&j| {
                buffers[j].overlaps(buffer) && (access[i] == Access::ReadWrite || access[j] == Access::ReadWrite)
            });
            if let Some(j) = clash {
                let (i, j) = (i + 1, j + 1);
                return Err(bug(label, format_args!("bindings {j} and {i} overlap, and one of them is written")));
            }
        }
        self.add_kernel(validated, label, pipeline.clone(), Cow::Borrowed(buffers), params, (*workgroups, *depth))
    }

    fn add_fill<'a>(&self, validated: &mut ValidatedCommands<'a>, buffer: &'a Buffer, word: u32) -> Result<()> {
        self.check_owner("a fill", buffer)?;
        if word == 0 {
            validated.list.push(ValidatedCommand::Clear { buffer });
            return Ok(());
        }
        let pipeline = self.pipeline("ragged fill", FILL, "fill", &[Access::ReadWrite], RuntimeChecks::ALL)?;
        let words = buffer.capacity() / 4;
        let too_large = || bug("a fill", format_args!("{words} words, but at most 2^32 - 1 can be filled"));
        let count = u32::try_from(words).map_err(|_| too_large())?;
        let workgroups = u32::try_from(words.div_ceil(FILL_WORDS)).map_err(|_| too_large())?;
        self.add_kernel(
            validated,
            "a fill",
            pipeline,
            Cow::Owned(vec![buffer.clone().into()]),
            &[word, count],
            (workgroups, 1),
        )
    }

    fn add_kernel<'a>(
        &self,
        validated: &mut ValidatedCommands<'a>,
        label: &'a str,
        pipeline: Pipeline,
        buffers: Cow<'a, [BufferSlice]>,
        params: &[u32],
        (workgroups, depth): (u32, u32),
    ) -> Result<()> {
        if workgroups == 0 || depth == 0 {
            // Metal's debug layer rejects empty grids.
            return Ok(());
        }
        let params_bytes = (params.len() as u64 * 4).max(1).next_multiple_of(PARAMS_ALIGN);
        if params_bytes > self.limits().max_params {
            return Err(self.over_limit(label, params_bytes, "bytes of parameters", self.limits().max_params));
        }
        // A uniform binding has whole vectors of 16 bytes.
        let given = (params.len() as u64 * 4).next_multiple_of(16);
        if let Some((at, least)) = pipeline.too_small([given].into_iter().chain(buffers.iter().map(BufferSlice::len))) {
            return Err(bug(label, format_args!("binding {at} needs {least} bytes, but fewer are bound")));
        }
        let max_side = self.limits().workgroups_per_dimension;
        let (x, y) = fold(workgroups, max_side).filter(|_| depth <= max_side).ok_or_else(|| {
            self.over_limit(label, workgroups.into(), "workgroups", u64::from(max_side) * u64::from(max_side))
        })?;
        let grid = (x, y, depth);
        let at = validated.params.len() as u64;
        if at + params_bytes > MAX_PARAMS {
            return Err(self.over_limit("one submission", at + params_bytes, "bytes of parameters", MAX_PARAMS));
        }
        validated.params.extend_from_slice(bytemuck::cast_slice(params));
        validated.params.resize((at + params_bytes) as usize, 0);
        validated.list.push(ValidatedCommand::Kernel {
            label,
            pipeline,
            buffers,
            params_at: at as u32,
            params_bytes,
            grid,
        });
        validated.kernels += 1;
        Ok(())
    }

    fn add_copy<'a>(
        &self,
        validated: &mut ValidatedCommands<'a>,
        (from, from_offset): (&'a Buffer, u64),
        (to, to_offset): (&'a Buffer, u64),
        bytes: u64,
    ) -> Result<()> {
        const LABEL: &str = "a copy";
        self.check_owner(LABEL, from)?;
        self.check_owner(LABEL, to)?;
        if from.id() == to.id() {
            return Err(bug(LABEL, "source and destination are one buffer"));
        }
        let inside = |buffer: &Buffer, offset: u64| offset.checked_add(bytes).is_some_and(|end| end <= buffer.bytes());
        if !inside(from, from_offset) || !inside(to, to_offset) {
            let (source, target) = (from.bytes(), to.bytes());
            let what = format!(
                "{bytes} bytes from byte {from_offset} of {source} to byte {to_offset} of {target}: outside of a buffer"
            );
            return Err(bug(LABEL, what));
        }
        let even_end = bytes.is_multiple_of(4) || to_offset + bytes == to.bytes();
        if !from_offset.is_multiple_of(4) || !to_offset.is_multiple_of(4) || !even_end {
            return Err(bug(
                LABEL,
                format_args!("{bytes} bytes from byte {from_offset} to byte {to_offset}: not whole words of 4 bytes"),
            ));
        }
        if bytes > 0 {
            // Allocations are multiples of 16 bytes, so the last word is whole in both buffers.
            let bytes = bytes.next_multiple_of(4);
            validated.list.push(ValidatedCommand::Copy { from, from_offset, to, to_offset, bytes });
        }
        Ok(())
    }

    pub(super) fn check_owner(&self, label: &str, buffer: &Buffer) -> Result<()> {
        if buffer.belongs_to(self) { Ok(()) } else { Err(bug(label, "the buffer belongs to another device")) }
    }

    fn over_limit(&self, what: &str, requested: u64, unit: &'static str, limit: u64) -> Error {
        let whose = format!("{}; process fewer rows at a time", self.info().name);
        Error::Limit { what: what.to_owned(), requested, unit, limit, whose, location: crate::error::caller() }
    }
}

/// The smallest grid of at most `side` by `side` with at least `workgroups` workgroups and as few rows as possible.
/// `None` if there is none, or if the grid has 2^32 or more workgroups: indices of surplus workgroups would wrap.
fn fold(workgroups: u32, side: u32) -> Option<(u32, u32)> {
    let rows = workgroups.div_ceil(side.max(1));
    let grid = (workgroups.div_ceil(rows.max(1)), rows);
    (rows <= side && grid.0.checked_mul(rows).is_some()).then_some(grid)
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn grids_cover_with_little_waste() {
        for n in [1, 2, 65_534, 65_535, 65_536, 65_537, 131_071, 1 << 20, (1 << 31) + 7, 65_535 * 65_535] {
            let (x, y) = fold(n, 65_535).expect("fits");
            assert!(x <= 65_535 && y <= 65_535, "{n}: {x} x {y}");
            let waste = u64::from(x) * u64::from(y) - u64::from(n);
            assert!(waste < u64::from(y), "{n}: {x} x {y}");
        }
        assert_eq!(fold(u32::MAX, 65_535), None);
        assert_eq!(fold(5, 2), None);
        assert_eq!(fold(4, 2), Some((2, 2)));
        // 70,000 by 61,357 workgroups are more than 2^32.
        assert_eq!(fold(u32::MAX - 1, 70_000), None);
        assert_eq!(fold(u32::MAX, 1 << 16), None);
        assert_eq!(fold(u32::MAX - 65_535, 1 << 16), Some((1 << 16, (1 << 16) - 1)));
    }
}
