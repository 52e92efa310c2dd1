//! Tuning parameters of a GPU's kernels and transfers.

/// Tuning parameters of a GPU device's kernels and transfers. The best values differ between adapters; no value changes
/// a result.
///
/// The defaults suit the limits that every GPU has, and are not measured per adapter. `ragged-bench tune` measures the
/// alternatives on an adapter and prints the best ones, for [`DeviceOptions::tuning`](crate::DeviceOptions::tuning).
/// Kernels support some values only: others are rounded up to the next supported value, within range.
/// [`Device::tuning`](crate::Device::tuning) returns the values in effect.
///
/// ```
/// use ragged::{DeviceOptions, Tuning};
///
/// let options = DeviceOptions::default().tuning(Tuning::default().map_tile(2048).coalesce_rows(false));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Tuning {
    /// Elements per workgroup of 256 invocations in element-wise kernels: 1024, 2048 or 4096. Larger tiles launch fewer
    /// workgroups, smaller ones spread small arrays over more of the device.
    pub map_tile: u32,
    /// Vector width of element-wise kernels, 1 or 4. Width 4 applies if arrays and result have at most 32 bits per
    /// element, all arrays are read at the position of the result, no conditions are checked, no array takes several
    /// bindings, and buffers provided by the user have a multiple of 16 bytes. Vectors need fewer memory instructions.
    /// Measured: 1.6 times as fast on lavapipe.
    pub map_width: u32,
    /// Cost of a row reduction's tile, one per workgroup: 512, 1024 or 2048, where a value costs 1. The maximum is 1024
    /// for accumulators of more than 12 bytes per row, and 512 for more than 24.
    pub row_tile: u32,
    /// Cost of a row within a tile, in addition to its values: 1 to 16. A higher cost puts fewer short rows into one
    /// workgroup.
    pub row_cost: u32,
    /// Whether a row reduction loads and maps short rows, of at most 16 numbers, by position, so that accesses
    /// coalesce, at the cost of workgroup memory and binary searches. Otherwise a single invocation reads, folds and
    /// writes such a row.
    pub coalesce_rows: bool,
    /// Maximum number of storage buffers that a kernel binds, where the adapter allows as many; at least 8. A fused
    /// look-up and concatenation often needs more than core WebGPU's 8; each additional buffer costs tracking in the
    /// driver.
    pub max_buffers: u32,
    /// Results whose size only the device knows are read at their capacity up to this many bytes, with a single wait.
    /// Larger results take two reads: the count, then the data. Reading at capacity saves a wait, but copies the bytes
    /// beyond the count.
    pub read_at_capacity: u64,
    /// Arrays whose sizes only the device knows are allocated for upper bounds of up to this many bytes, or of twice
    /// the largest input. For larger bounds the counts are read first, with one wait for all counts that are ready, and
    /// the arrays are allocated at their exact sizes. So is a count that was less than a quarter of its bound when the same
    /// operations were last read, where arrays of that size take this many bytes less in all.
    pub stage_bytes: u64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Declares one chaining setter per field, so that code outside the crate can set single parameters.
macro_rules! setters {
    ($($field:ident: $of:ty,)*) => {
        /// Parameters, each set by a method of its name.
        impl Tuning {
            $(
                #[doc = concat!("Sets [`Self::", stringify!($field), "`](#structfield.", stringify!($field), ").")]
                #[must_use]
                pub const fn $field(mut self, $field: $of) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

setters! {
    map_tile: u32,
    map_width: u32,
    row_tile: u32,
    row_cost: u32,
    coalesce_rows: bool,
    max_buffers: u32,
    read_at_capacity: u64,
    stage_bytes: u64,
}

impl Tuning {
    /// The default parameters, for any GPU.
    pub(crate) const DEFAULT: Self = Self {
        map_tile: 1024,
        map_width: 4,
        row_tile: 2048,
        row_cost: 4,
        coalesce_rows: true,
        max_buffers: 12,
        read_at_capacity: 32 << 20,
        stage_bytes: 16 << 20,
    };

    /// Rounds each parameter to a value that kernels support.
    pub(crate) fn feasible(self) -> Self {
        let power = |n: u32, min: u32, max: u32| n.clamp(min, max).next_power_of_two();
        Self {
            map_tile: power(self.map_tile, 1024, 4096),
            map_width: if self.map_width <= 1 { 1 } else { 4 },
            row_tile: power(self.row_tile, 512, 2048),
            row_cost: self.row_cost.clamp(1, 16),
            max_buffers: self.max_buffers.max(8),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsupported_values_are_rounded_up_to_supported_ones() {
        assert_eq!(Tuning::DEFAULT.feasible(), Tuning::DEFAULT);
        let none = Tuning::DEFAULT.map_tile(0).map_width(0).row_tile(0).row_cost(0).max_buffers(0);
        let least = Tuning::DEFAULT.map_tile(1024).map_width(1).row_tile(512).row_cost(1).max_buffers(8);
        assert_eq!(none.feasible(), least);
        let odd = Tuning::DEFAULT.map_tile(1025).map_width(2).row_tile(3000).row_cost(99);
        assert_eq!(odd.feasible(), Tuning::DEFAULT.map_tile(2048).row_tile(2048).row_cost(16));
    }
}
