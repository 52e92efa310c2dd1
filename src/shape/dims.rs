//! Inner dimensions of flat values.

use std::ops::Deref;
use std::sync::Arc;

use crate::graph::size::{RecordedSize, Size};

/// Sizes of the inner dimensions of flat values: as numbers, by which the host decides, and as sizes of the program, for
/// extents and index arithmetic. A size that follows from the data, such as the length of padded rows, is a parameter of
/// the program; one that is part of the user's types is a constant. Dereferences to the numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dims(Option<Arc<Both>>);

/// The sizes in both forms; there is at least one.
#[derive(Debug)]
struct Both {
    numbers: Vec<u32>,
    sizes: Vec<Size>,
}

impl Dims {
    fn new(numbers: Vec<u32>, sizes: Vec<Size>) -> Self {
        Self((!sizes.is_empty()).then(|| Arc::new(Both { numbers, sizes })))
    }

    /// The sizes, outermost first.
    pub(crate) fn sizes(&self) -> &[Size] {
        self.0.as_ref().map_or(&[], |both| &both.sizes)
    }

    /// Numbers per element: the product of the sizes, saturated.
    pub(crate) fn width(&self) -> Size {
        width_of(self.sizes())
    }
}

/// Numbers per element of these dimensions: the product, saturated.
pub(crate) fn width_of(sizes: &[Size]) -> Size {
    sizes.iter().fold(Size::Const(1), |width, size| width.mul(size))
}

impl Deref for Dims {
    type Target = [u32];
    fn deref(&self) -> &[u32] {
        self.0.as_ref().map_or(&[], |both| &both.numbers)
    }
}

impl From<Vec<u32>> for Dims {
    fn from(numbers: Vec<u32>) -> Self {
        let sizes = numbers.iter().map(|&n| Size::Const(n)).collect();
        Self::new(numbers, sizes)
    }
}
impl From<Vec<Size>> for Dims {
    fn from(sizes: Vec<Size>) -> Self {
        Self::new(sizes.iter().map(RecordedSize::capacity).collect(), sizes)
    }
}
impl From<[Size; 0]> for Dims {
    fn from(_: [Size; 0]) -> Self {
        Self::default()
    }
}
impl<'a> IntoIterator for &'a Dims {
    type Item = &'a u32;
    type IntoIter = std::slice::Iter<'a, u32>;
    fn into_iter(self) -> Self::IntoIter {
        self[..].iter()
    }
}
