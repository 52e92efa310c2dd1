//! The part of an array that a dispatch binds, derived from the access pattern.

use std::ops::Range;

use super::access_pattern::AccessPattern;
use super::window::window_bits;
use crate::backend::gpu::codegen::{Misses, Windowing};

/// Number of axes of [`AccessPattern::Random`].
pub(super) const AXES: usize = 3;

/// Byte alignment of the start of a window.
pub(super) const ALIGNMENT: u64 = 256;

/// The part of a launch that one dispatch covers.
#[derive(Debug, Clone)]
pub(super) struct Coverage {
    pub(super) rows: Range<u64>,
    pub(super) tiles: Range<u64>,
    /// Which of the two regions, for [`AccessPattern::TwicePerTile`].
    pub(super) tile_range: u64,
    /// The group of windows on each axis.
    pub(super) groups: [u64; AXES],
}

/// An array of a launch whose dispatches bind a part of the array.
#[derive(Debug)]
pub(super) struct PartialArray {
    pub(super) bytes: u64,
    pub(super) pattern: AccessPattern,
    /// Bytes per element in storage.
    element: u64,
    /// Bits of a position that select the element within a window.
    bits: u32,
    /// Windows that a dispatch binds.
    pub(super) windows: u64,
}

impl PartialArray {
    /// An array of which one window is bound. `element`: bytes per element.
    pub(super) fn new(bytes: u64, element: u64, pattern: AccessPattern, max_binding: u64) -> Self {
        Self { bytes, pattern, element, bits: window_bits(max_binding, element), windows: 1 }
    }

    /// Bytes per window, if the array takes several.
    pub(super) fn window(&self) -> u64 {
        self.element << self.bits
    }

    /// Makes windows of arrays with the same axis hold the same positions: those of the largest elements.
    pub(super) fn align_axes(arrays: &mut [Self]) {
        for axis in 0..AXES {
            let on_axis = |a: &&mut Self| matches!(a.pattern, AccessPattern::Random { axis: own, .. } if own == axis);
            let Some(bits) = arrays.iter_mut().filter(on_axis).map(|a| a.bits).min() else { continue };
            arrays.iter_mut().filter(on_axis).for_each(|a| a.bits = bits);
        }
    }

    /// How a dispatch binds the array.
    pub(super) fn windowing(&self) -> Windowing {
        let (count, bits) = (self.windows as u32, self.bits);
        match self.pattern {
            AccessPattern::Whole => Windowing::Whole,
            AccessPattern::Prefix(_) => Windowing::Windows { count, bits },
            AccessPattern::Random { misses, .. } => Windowing::Range { count, bits, misses },
            _ => Windowing::Range { count, bits, misses: Misses::Never },
        }
    }

    /// The array's bindings for a dispatch and, for a range, its first element and its number of elements.
    pub(super) fn bind(&self, part: &Coverage) -> (Vec<Option<Range<u64>>>, Option<[u32; 2]>) {
        let range = match self.windowing() {
            Windowing::Whole | Windowing::Tiles { .. } => return (vec![None], None),
            Windowing::Windows { .. } | Windowing::Range { .. } => self.bytes_of(part),
        };
        // Rows are numbered from the first bound row.
        let first = if matches!(self.pattern, AccessPattern::PerRow { .. }) { 0 } else { range.start };
        let elements = [first, range.end - range.start].map(|bytes| (bytes / self.element) as u32);
        let is_range = matches!(self.windowing(), Windowing::Range { .. });
        (self.windows(range).map(Some).collect(), is_range.then_some(elements))
    }

    /// Stride of groups, in windows. With [`Misses::All`] groups overlap by one window, so that every range of at most
    /// one window lies in one group.
    pub(super) fn step(&self) -> u64 {
        match self.pattern {
            AccessPattern::Random { misses: Misses::All, .. } => self.windows - 1,
            _ => self.windows,
        }
    }

    /// A range that contains all bytes that a dispatch accesses.
    fn bytes_of(&self, part: &Coverage) -> Range<u64> {
        let tiles = |from: u64, bytes: u64, more: u64| {
            let last = (self.bytes.max(1) - 1) / ALIGNMENT * ALIGNMENT;
            let start = (from + bytes * part.tiles.start) / ALIGNMENT * ALIGNMENT;
            start.min(last)..self.bytes.min(from + bytes * part.tiles.end + more)
        };
        match self.pattern {
            AccessPattern::PerTile { bytes, more } => tiles(0, bytes, more),
            AccessPattern::TwicePerTile { bytes, .. } if part.tile_range == 0 => tiles(0, bytes, 0),
            AccessPattern::TwicePerTile { then: (from, bytes), .. } => tiles(from, bytes, 0),
            AccessPattern::PerRow { bytes, more } => {
                bytes * part.rows.start..self.bytes.min(bytes * part.rows.end + more)
            }
            AccessPattern::Random { axis, .. } => {
                let first = self.bytes.min(part.groups[axis] * self.step() * self.window());
                first..self.bytes.min(first + self.windows * self.window())
            }
            AccessPattern::Prefix(bytes) => 0..self.bytes.min(bytes),
            AccessPattern::Whole | AccessPattern::Unused => 0..self.bytes.min(self.window()),
        }
    }

    /// Divides the range into the number of windows that the module declares.
    fn windows(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let (only, window) = (self.windows == 1, self.window());
        (0..self.windows).map(move |k| {
            let first = range.start + k * window;
            match first < range.end {
                true if only => range.clone(),
                true => first..range.end.min(first + window),
                // The last group may have fewer windows. Binds ranges that are never accessed and overlap no other
                // window.
                false => k * ALIGNMENT..(k + 1) * ALIGNMENT,
            }
        })
    }
}
