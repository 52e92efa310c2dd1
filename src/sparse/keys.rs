//! Row-major sort keys of entries.

use super::coordinates::Coordinates;
use crate::dtype::DType;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::opcode::BinaryOp;
use crate::graph::recorder::Recorder;

/// Keys of the entries over some dimensions, in row-major order of these.
pub(super) struct Keys {
    /// The words of a key, the most significant first: each a u32 in the entry, and its number of significant bits.
    words: Vec<(Expr, u32)>,
}

impl Keys {
    /// The keys over the dimensions `dims`, the most significant first.
    ///
    /// Adjacent dimensions share a word as long as it has at most 32 bits. A dimension above 2^32 takes two.
    pub(super) fn new(coordinates: &Coordinates, dense_shape: &[u64], dims: &[usize]) -> Self {
        let mut words = Vec::new();
        let mut left = dims;
        while let Some((&last, above)) = left.split_last() {
            let size = dense_shape[last].max(1);
            if size > 1 << 32 {
                let coordinate = coordinates.of(last).bitcast(DType::U64);
                let high = coordinate.clone().binary(BinaryOp::Shr, Expr::scalar(32u64)).cast(DType::U32);
                words.extend([(coordinate.cast(DType::U32), u32::BITS), (high, bits(size >> 32))]);
                left = above;
                continue;
            }
            let (mut first, mut keys) = (left.len() - 1, size);
            while let Some(&next) = first.checked_sub(1).map(|k| &left[k]) {
                let more = keys.saturating_mul(dense_shape[next].max(1));
                if more > 1 << 32 {
                    break;
                }
                (first, keys) = (first - 1, more);
            }
            let key = left[first..].iter().fold(Expr::u32(0), |key, &d| {
                // 2^32 is 0 as u32, but multiplies only 0: the other dimensions of its word have size 1.
                key.mul(Expr::u32(dense_shape[d].max(1) as u32)).add(coordinates.of(d).cast(DType::U32))
            });
            if keys > 1 {
                words.push((key, bits(keys - 1)));
            }
            left = &left[..first];
        }
        words.reverse();
        Self { words }
    }

    /// The entry at the place `Index` in ascending order of the keys. Entries with equal keys keep their order.
    pub(super) fn sorted(&self, rec: Recorder<'_>, count: &Extent) -> Expr {
        // Stable sorts from the least significant word on.
        self.words.iter().rev().fold(Expr::index(), |order, (word, bits)| {
            let sorted = rec.sort(count.clone(), word.at(&order), *bits);
            let composed = order.at(&Expr::load(&sorted, Expr::index()));
            Expr::load(&rec.map(count.clone(), composed, &[]), Expr::index())
        })
    }

    /// Whether the keys of the entries `a` and `b` differ.
    pub(super) fn differ(&self, a: &Expr, b: &Expr) -> Expr {
        self.words.iter().fold(Expr::scalar(false), |differ, (word, _)| differ.or(word.at(a).ne(word.at(b))))
    }

    /// Whether the key of the entry `a` is below that of `b`.
    pub(super) fn ascend(&self, a: &Expr, b: &Expr) -> Expr {
        self.words.iter().rev().fold(Expr::scalar(false), |below, (word, _)| {
            let (x, y) = (word.at(a), word.at(b));
            x.clone().lt(y.clone()).or(x.eq(y).and(below))
        })
    }
}

/// Number of low bits that a sort compares for keys up to `most`: whole bytes, so that few plans differ.
fn bits(most: u64) -> u32 {
    (u64::BITS - most.leading_zeros()).next_multiple_of(8).min(u32::BITS)
}
