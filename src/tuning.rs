//! Figures that steer how a GPU's work is cut and moved.

/// How the kernels of a GPU device are cut: figures that suit one adapter better than another, and never change a
/// result.
///
/// The default is reasoned to be right for any GPU. `ragged-bench tune` measures the alternatives on an adapter and
/// names the ones that win there; [`DeviceOptions::tuning`](crate::DeviceOptions::tuning) takes them. Kernels have
/// forms for some figures only: others become the next larger one, within what there is;
/// [`Device::tuning`](crate::Device::tuning) tells which.
///
/// ```
/// use ragged::{DeviceOptions, Tuning};
///
/// let options = DeviceOptions::default().tuning(Some(Tuning::default().map_tile(2048).coalesce_rows(false)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Tuning {
    /// Elements that a workgroup of 256 computes in element-wise kernels: 1024, 2048 or 4096. More of them start fewer
    /// workgroups, fewer of them spread small arrays over more of the device.
    pub map_tile: u32,
    /// Elements that an invocation of an element-wise kernel computes at once, 1 or 4, where arrays and result have at
    /// most 32 bits an element, all of them is read at the position of what is computed, there are no conditions, no
    /// array takes several bindings, and those in buffers of the program's own have a multiple of 16 bytes. Vectors
    /// take fewer instructions that wait for memory; on lavapipe such kernels are 1.6 times as fast.
    pub map_width: u32,
    /// What the rows of a tile of a row reduction cost together, a value being 1: 512, 1024 or 2048. A workgroup takes
    /// a tile. Reductions that keep more than 12 bytes of a row take 1024 at most, those of more than 24 bytes 512.
    pub row_tile: u32,
    /// What a row costs a tile beyond its values: 1 to 16. The dearer a row is held to be, the fewer short rows come
    /// together in one workgroup.
    pub row_cost: u32,
    /// Whether a row reduction loads and maps short rows, of at most 16 numbers, by position, neighbours by neighbours,
    /// with what that takes in workgroup memory and searches: else the one invocation that folds such a row reads and
    /// writes it by itself.
    pub coalesce_rows: bool,
    /// Storage buffers that a kernel binds at most, where the adapter allows as many; at least 8. Core WebGPU's 8 are
    /// few for a fused look-up and concatenation, and every one more costs the driver's tracking.
    pub most_buffers: u32,
    /// Results whose size only the device knows are read at their capacity up to this many bytes, so that one wait
    /// suffices; larger ones are read in two: the count, then what there is. A wait is worth the bytes that are moved
    /// in its time.
    pub read_at_capacity: u64,
    /// Arrays of sizes that only the device knows are made for upper bounds of up to this many bytes, or of twice the
    /// largest input. Where one would take more, the count is read first, with one wait for all counts that are ready,
    /// and what follows is exact. A wait is worth the bytes that are moved in its time.
    pub stage_bytes: u64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self::SANE
    }
}

/// One chaining setter a field, so that code outside the crate can set single figures.
macro_rules! setters {
    ($($field:ident: $of:ty,)*) => {
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
    most_buffers: u32,
    read_at_capacity: u64,
    stage_bytes: u64,
}

impl Tuning {
    /// Reasoned to be right for any GPU.
    pub(crate) const SANE: Self = Self {
        map_tile: 1024,
        map_width: 4,
        row_tile: 2048,
        row_cost: 4,
        coalesce_rows: true,
        most_buffers: 12,
        read_at_capacity: 32 << 20,
        stage_bytes: 16 << 20,
    };

    /// With the figures that kernels have a form for.
    pub(crate) fn feasible(self) -> Self {
        let power = |n: u32, least: u32, most: u32| n.clamp(least, most).next_power_of_two();
        Self {
            map_tile: power(self.map_tile, 1024, 4096),
            map_width: if self.map_width <= 1 { 1 } else { 4 },
            row_tile: power(self.row_tile, 512, 2048),
            row_cost: self.row_cost.clamp(1, 16),
            most_buffers: self.most_buffers.max(8),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_kernel_becomes_what_has() {
        assert_eq!(Tuning::SANE.feasible(), Tuning::SANE);
        let none = Tuning::SANE.map_tile(0).map_width(0).row_tile(0).row_cost(0).most_buffers(0);
        let least = Tuning::SANE.map_tile(1024).map_width(1).row_tile(512).row_cost(1).most_buffers(8);
        assert_eq!(none.feasible(), least);
        let odd = Tuning::SANE.map_tile(1025).map_width(2).row_tile(3000).row_cost(99);
        assert_eq!(odd.feasible(), Tuning::SANE.map_tile(2048).row_tile(2048).row_cost(16));
    }
}
