//! Random values in random encodings, for tests.

use std::rc::Rc;

use super::encoding::{Encoded, Ends, Step, Value};
use crate::graph::scalar::Scalar;

/// Pseudo-random numbers with a fixed seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((self.0 >> 33) % u64::from(n)) as u32
    }

    pub(super) fn ends(&mut self, n: u32) -> Ends {
        let longest = [2, 5, 40, 300][self.below(4) as usize];
        let least = self.below(2);
        let mut ends = vec![0];
        while ends[ends.len() - 1] < n {
            ends.push(n.min(ends[ends.len() - 1] + least + self.below(longest)));
        }
        ends.remove(0);
        ends.into()
    }

    /// u32 values in a random encoding.
    pub(super) fn encoded(&mut self, n: u32) -> Encoded<'static> {
        let ends = self.ends(n);
        let base = [0, 0, 0, u32::MAX - 100][self.below(4) as usize];
        let mut values = |n: usize| (0..n).map(|_| base.wrapping_add(self.below(200))).collect::<Vec<_>>();
        let (each, all) = (values(ends.len()), values(n as usize));
        match self.below(6) {
            0 => Encoded::Constant(Scalar::U32(each[0])),
            1 => Encoded::Segments(ends, 0, Rc::new(u32::wrap(each.into()))),
            2 => Encoded::Segments(ends, 1, Rc::new(u32::wrap(each.into()))),
            3 => {
                let first = Rc::new(u32::wrap(vec![each[0]].into()));
                let rows = Encoded::Segments(vec![ends.len() as u32].into(), 1, first);
                Encoded::Segments(ends, 0, Rc::new(rows))
            }
            4 => Encoded::Segments(ends, -1, Rc::new(u32::wrap(each.into()))),
            _ => u32::wrap(all.into()),
        }
    }
}

/// Segments, whatever their length.
pub(super) fn segments_of(ends: &[u32], step: Step, first: Encoded<'static>) -> Encoded<'static> {
    Encoded::Segments(ends.to_vec().into(), step, Rc::new(first))
}

/// One value per position.
pub(super) fn dense(n: u32, encoded: &Encoded<'_>) -> Vec<u32> {
    match encoded.dtype() {
        crate::dtype::DType::Bool => u8::expanded(n as usize, encoded).iter().map(|&b| b.into()).collect(),
        _ => u32::expanded(n as usize, encoded).to_vec(),
    }
}
