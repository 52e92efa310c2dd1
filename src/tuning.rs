//! Figures that steer how a GPU's work is cut and moved.

/// How the kernels of a GPU device are cut: figures that suit one adapter better than another, and never change a result.
///
/// The default is right for any adapter. `ragged-bench tune` measures the alternatives on an adapter and names the ones that
/// win there; [`DeviceOptions::tuning`](crate::DeviceOptions::tuning) takes them. Figures that kernels have no form for
/// become the nearest that they have one for.
///
/// ```
/// let mut tuning = ragged::Tuning::default();
/// tuning.map_tile = 2048;
/// let options = ragged::DeviceOptions::default().tuning(Some(tuning));
/// assert_eq!(options.tuning, Some(tuning));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Tuning {
    /// Elements that a workgroup of 256 computes in element-wise kernels, by turns of four each: 1024, 2048 or 4096. More of
    /// them start fewer workgroups, fewer of them spread small arrays over more of the device.
    pub map_tile: u32,
    /// What the rows of a tile of a row reduction cost together, a value being 1: 512, 1024 or 2048. A workgroup takes a tile.
    pub row_tile: u32,
    /// What a row costs a tile beyond its values: 1 to 16. The dearer a row is held to be, the fewer short rows come together in
    /// one workgroup.
    pub row_cost: u32,
    /// Storage buffers that a kernel binds at most, where the adapter allows as many; at least 8. Core WebGPU's 8 are few
    /// for a fused look-up and concatenation, and every one more costs the driver's tracking.
    pub most_buffers: u32,
    /// Results whose size only the device knows are read at their capacity up to this many bytes, so that one wait suffices;
    /// larger ones are read in two: the count, then what there is. A wait is worth the bytes that are moved in its time.
    pub read_at_capacity: u64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self::SANE
    }
}

impl Tuning {
    /// Right for any adapter.
    pub(crate) const SANE: Self =
        Self { map_tile: 1024, row_tile: 2048, row_cost: 4, most_buffers: 12, read_at_capacity: 32 << 20 };

    /// The nearest figures that kernels have a form for.
    pub(crate) fn nearest(self) -> Self {
        let power = |n: u32, least: u32, most: u32| n.clamp(least, most).next_power_of_two();
        Self {
            map_tile: power(self.map_tile, 1024, 4096),
            row_tile: power(self.row_tile, 512, 2048),
            row_cost: self.row_cost.clamp(1, 16),
            most_buffers: self.most_buffers.max(8),
            read_at_capacity: self.read_at_capacity,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_kernel_becomes_what_has() {
        assert_eq!(Tuning::SANE.nearest(), Tuning::SANE);
        let none = Tuning { map_tile: 0, row_tile: 0, row_cost: 0, most_buffers: 0, read_at_capacity: 0 };
        let least = Tuning { map_tile: 1024, row_tile: 512, row_cost: 1, most_buffers: 8, read_at_capacity: 0 };
        assert_eq!(none.nearest(), least);
        let odd = Tuning { map_tile: 1500, row_tile: 3000, row_cost: 99, ..Tuning::SANE };
        assert_eq!(odd.nearest(), Tuning { map_tile: 2048, row_tile: 2048, row_cost: 16, ..Tuning::SANE });
    }
}
