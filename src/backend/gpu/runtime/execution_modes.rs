//! Execution modes for floats, added to a module in SPIR-V. Also compiled into the tests of AMD's driver.

/// An execution mode of SPIR-V for floats of one width, with the number of its capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    DenormPreserve = 4459,
    SignedZeroInfNanPreserve = 4461,
}

impl Mode {
    /// The number of the capability that declares the mode.
    pub(super) const fn capability(self) -> u32 {
        match self {
            Self::DenormPreserve => 4464,
            Self::SignedZeroInfNanPreserve => 4466,
        }
    }
}

/// Words of the header of a module.
const HEADER: usize = 5;
pub(super) const OP_ENTRY_POINT: u32 = 15;
pub(super) const OP_EXECUTION_MODE: u32 = 16;
pub(super) const OP_CAPABILITY: u32 = 17;

/// The instructions of a module: opcode and words.
pub(super) fn instructions(code: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut rest = code.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let (instruction, after) = rest.split_at_checked((first >> 16).max(1) as usize)?;
        rest = after;
        Some((first & 0xffff, instruction))
    })
}

/// The module with these modes for every entry point. Capabilities come first in a module, and execution modes after the
/// last entry point.
pub(super) fn with_modes(code: &[u32], modes: &[(Mode, u32)]) -> Vec<u32> {
    let entries: Vec<u32> =
        instructions(code).filter(|(op, _)| *op == OP_ENTRY_POINT).map(|(_, words)| words[2]).collect();
    let mut out = code[..HEADER.min(code.len())].to_vec();
    let mut capabilities: Vec<u32> = modes.iter().map(|(mode, _)| mode.capability()).collect();
    capabilities.dedup();
    out.extend(capabilities.iter().flat_map(|&capability| [2 << 16 | OP_CAPABILITY, capability]));
    let mut left = entries.len();
    for (op, words) in instructions(code) {
        out.extend(words);
        if op != OP_ENTRY_POINT {
            continue;
        }
        left -= 1;
        if left == 0 {
            for &entry in &entries {
                let mode = |&(mode, width): &(Mode, u32)| [4 << 16 | OP_EXECUTION_MODE, entry, mode as u32, width];
                out.extend(modes.iter().flat_map(mode));
            }
        }
    }
    out
}
