//! Limits of drivers on the serial work of one invocation, and the resulting work per dispatch.

use super::runtime::AdapterKind;
use crate::graph::opcode::HashOp;
use crate::graph::step::many_dispatches::ManyDispatches;

/// Limits of a driver on the serial work of one invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DriverLimits {
    /// The watchdog timeout.
    Timeout,
    /// The driver silently ends the loops of an invocation after 65,535 iterations, as Mesa's llvmpipe does.
    LoopIterations,
}

impl DriverLimits {
    /// The limits of the drivers of a class of adapters.
    pub(crate) const fn of(kind: AdapterKind) -> Self {
        if matches!(kind, AdapterKind::Software) { Self::LoopIterations } else { Self::Timeout }
    }

    /// Maximum number of terms that a dispatch adds to each sum of a matrix product, if limited. An invocation runs at
    /// most 25 iterations per term, over all its loops.
    pub(crate) const fn product_terms(self) -> Option<u32> {
        match self {
            Self::Timeout => None,
            Self::LoopIterations => Some(2048),
        }
    }

    /// Maximum number of loop iterations of an invocation in a dispatch of a recurrence of that many workgroups. A dispatch
    /// of few workgroups, which run at once, takes less than a second at 400 ns per iteration; of more than 256, which may
    /// run one after another, each may take fewer.
    pub(crate) fn recurrence_iterations(self, workgroups: u32) -> u64 {
        match self {
            Self::Timeout => (2 << 20) / u64::from(workgroups.div_ceil(256).max(1)),
            Self::LoopIterations => 60_000,
        }
    }

    /// Whether an invocation may run that many iterations of loops, those of a few rows aside.
    pub(crate) const fn allows(self, iterations: u64) -> bool {
        match self {
            Self::Timeout => true,
            Self::LoopIterations => iterations <= 60_000,
        }
    }

    /// Bytes of a long string that one dispatch hashes: a multiple of 64. A hash is serial over its bytes, in one
    /// invocation. Fewer bytes require more dispatches; more bytes approach the limit. 64 bytes take one iteration of
    /// Fingerprint64, and up to nine iterations of the other hashes.
    pub(crate) const fn hash_bytes<K>(self, op: &HashOp<K>) -> u32 {
        match (self, op) {
            (Self::Timeout, _) => 4 << 20,
            (Self::LoopIterations, HashOp::Fingerprint) => 3 << 20,
            (Self::LoopIterations, _) => 256 << 10,
        }
    }

    /// Why a kernel that is serial in one invocation takes several dispatches.
    pub(crate) const fn reason(self) -> ManyDispatches {
        match self {
            Self::Timeout => ManyDispatches::WatchdogTimeout,
            Self::LoopIterations => ManyDispatches::LoopLimit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::row_lengths::string_class;

    #[test]
    fn strings_of_the_smallest_class_take_one_dispatch() {
        let ops = [HashOp::Fingerprint, HashOp::Sip { key: [0; 2] }, HashOp::Murmur { seed: 0 }];
        for (driver, op) in
            ops.into_iter().flat_map(|op| [(DriverLimits::Timeout, op), (DriverLimits::LoopIterations, op)])
        {
            let bytes = driver.hash_bytes(&op);
            assert!(bytes >= string_class(0) && bytes.is_multiple_of(64), "{driver:?}, {op:?}: {bytes}");
            // The iterations of blocks, each of nine at most, stay below the limit of 65,535.
            let iterations = bytes / 64 * if op == HashOp::Fingerprint { 1 } else { 9 };
            assert!(driver == DriverLimits::Timeout || iterations < 65_535, "{op:?}: {iterations}");
        }
    }
}
