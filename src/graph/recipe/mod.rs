//! Recipes: the primitives that compute arrays, and the rows that they iterate over.

mod evaluation;
mod product;
mod rewrite;
mod rows;

use std::sync::Arc;

pub(crate) use evaluation::Evaluation;
pub(crate) use product::Product;
pub(crate) use rewrite::{Reference, Rewrite};
pub(crate) use rows::{RowDomain, Rows};

use super::expr::Check;
use super::opcode::{HashOp, ReduceOp};
use super::reducer::Reducer;
use super::{Expr, Extent, Node, Size};

/// A primitive that computes an array. Generic over the references to expressions, arrays, extents, sizes and checks:
/// those of a recording, or numbers in a [`Program`](super::program::Program).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) enum Recipe<E = Expr, A = Node, X = Extent, S = Size, C = Arc<Check>> {
    /// Element `i` is the expression at position `i`.
    Map {
        /// The value of an element.
        value: E,
        /// Whether all elements up to the capacity are computed, not only the live ones. Needed for row splits, which
        /// are searched up to the capacity.
        whole: bool,
    },
    /// The values of all parts, one part after another: see [`super::append`].
    Append {
        /// The value of an element of each part, by its position in the part, and the number of elements.
        parts: Box<[(E, X)]>,
    },
    /// Row reduction: `out[row * inner + d]` is the reduction of `value` over the elements `(j, d)` of the row, `j`
    /// ascending. `value` is an expression in the flat position `j * inner + d`.
    Reduce {
        /// The result of each row.
        reducer: Reducer,
        /// The rows.
        on: RowDomain<A, X, S>,
        /// The values.
        value: E,
    },
    /// Batched matrix product. Batch `g` has `m` times `n` results, row-major from `starts[2]` on; result (i, j) is the
    /// sum of `a(i, l) * b(l, j)` over `l` below `k`, added to 0 one by one, `l` ascending.
    Product(Box<Product<E, A, X, S>>),
    /// Exclusive prefix sum, u32: `out[i]` is the sum of `value` at positions below `i`. The output has one entry more
    /// than `count`; entries beyond repeat the total.
    Scan {
        /// The summands; u32.
        value: E,
        /// Number of summands.
        count: X,
    },
    /// Inclusive scan of each row and column: `out[j * inner + d]` is the reduction of `value` over column `d` of the
    /// elements of `j`'s row up to and including `j`. `value` is an expression in the flat position `j * inner + d`.
    RowScan {
        /// The monoid.
        op: ReduceOp,
        /// The rows.
        on: RowDomain<A, X, S>,
        /// The values.
        value: E,
    },
    /// Stable argsort of u32 keys: `out[k]` is the position of the k-th smallest key.
    Sort {
        /// The keys.
        key: E,
        /// Number of keys.
        count: X,
        /// Number of low bits of the keys that are compared.
        bits: u32,
    },
    /// Stable argsort of u32 keys within each row: `out[k]` is the source position of the element at position `k` of
    /// the sorted rows.
    RowSort {
        /// The rows.
        on: RowDomain<A, X, S>,
        /// The keys, by flat position.
        key: E,
        /// Number of low bits of the keys that are compared.
        bits: u32,
        /// Upper bound of the row lengths.
        longest: S,
    },
    /// Selection within each row: `out[row * k + j]` is the position of the row's `j`-th smallest key, of equal keys the
    /// first; 0 if the row has no more than `j` elements. Keys are u32 or u64.
    TopK {
        /// The rows.
        on: RowDomain<A, X, S>,
        /// The keys, by flat position.
        key: E,
        /// Number of positions per row; at most [`super::top_k::MAX_K`].
        k: u32,
        /// Upper bound of the row lengths.
        longest: S,
    },
    /// The hash of each row of bytes. u64.
    Hash {
        /// The function.
        op: HashOp,
        /// The rows, of bytes.
        on: RowDomain<A, X, S>,
        /// The bytes, by flat position.
        byte: E,
        /// Upper bound of the row lengths.
        longest: S,
    },
    /// Rank bitmap of the positions at which `keep` holds: see [`super::rank_bitmap`].
    RankBitmap {
        /// Whether a position is kept; bool.
        keep: E,
        /// Number of positions.
        count: X,
    },
    /// Stream compaction: the values of the kept positions, in order, `inner` numbers each. The node's extent contains
    /// the live count.
    Compact {
        /// The bitmap.
        bitmap: A,
        /// The numbers, by flat position `position * inner + d`; evaluated only at kept positions.
        value: E,
        /// Number of positions.
        count: X,
        /// Numbers per position.
        inner: u32,
    },
    /// Histogram of u32 keys: `out[b]` is the number of positions below `count` whose key is `b`. Keys that are not
    /// below the capacity of the output are not counted. Counts are integers, so their order does not matter.
    Histogram {
        /// The keys.
        key: E,
        /// Number of positions.
        count: X,
    },
    /// Folds of values by slot, within tiles of consecutive positions: see [`super::tile_fold`]. `out[tile * slots + s]`
    /// is the fold of `value` over the positions of the tile whose key is `s`, in ascending order. Keys that are not
    /// below `slots` belong to no slot.
    TileFold {
        /// The operation.
        op: ReduceOp,
        /// The slot of a position; u32.
        key: E,
        /// The values.
        value: E,
        /// Number of positions.
        count: X,
        /// Number of slots; at most [`super::tile_fold::MAX_SLOTS`].
        slots: u32,
    },
    /// A condition that must hold at every position below `count`; computes no array.
    Assert {
        /// The condition; bool.
        ok: E,
        /// Number of positions.
        count: X,
        /// The check that fails if the condition does not hold.
        check: C,
    },
}

impl<E, A, X, S, C> Recipe<E, A, X, S, C> {
    /// Name of the kernel template.
    pub(crate) fn family(&self) -> &'static str {
        match self {
            Self::Map { .. } => "map",
            Self::Append { .. } => "append",
            Self::Reduce { .. } => "row_reduce",
            Self::Product(_) => "matmul",
            Self::Scan { .. } => "scan",
            Self::RowScan { .. } => "row_scan",
            Self::Sort { .. } => "sort",
            Self::RowSort { .. } => "row_sort",
            Self::TopK { .. } => "top_k",
            Self::Hash { .. } => "row_hash",
            Self::RankBitmap { .. } => "rank_bitmap",
            Self::Compact { .. } => "compact",
            Self::Histogram { .. } => "histogram",
            Self::TileFold { .. } => "tile_fold",
            Self::Assert { .. } => "assert",
        }
    }

    /// The expressions of the recipe.
    pub(crate) fn exprs(&self) -> Vec<&E> {
        let mut out = Vec::with_capacity(1);
        self.visit(&mut |part| {
            if let Reference::Expr(e) = part {
                out.push(e);
            }
        });
        out
    }

    /// The extents of the recipe.
    pub(crate) fn extents(&self) -> Vec<&X> {
        let mut out = Vec::with_capacity(2);
        self.visit(&mut |part| {
            if let Reference::Extent(x) = part {
                out.push(x);
            }
        });
        out
    }

    /// The array that the recipe reads outside of its expressions, if any: the splits of its rows, or the bitmap.
    pub(crate) fn array(&self) -> Option<&A> {
        let mut out = None;
        self.visit(&mut |part| {
            if let Reference::Array(a) = part {
                out = Some(a);
            }
        });
        out
    }

    /// The rows that the recipe iterates over, if any.
    pub(crate) fn domain(&self) -> Option<&RowDomain<A, X, S>> {
        match self {
            Self::Reduce { on, .. }
            | Self::RowScan { on, .. }
            | Self::RowSort { on, .. }
            | Self::TopK { on, .. }
            | Self::Hash { on, .. } => Some(on),
            _ => None,
        }
    }

    /// The row partition that the recipe searches or iterates over, if any.
    pub(crate) fn rows(&self) -> Option<&Rows<A, S>> {
        match self {
            Self::Product(p) => Some(&p.tiles),
            _ => self.domain().map(|on| &on.rows),
        }
    }
}

impl Recipe {
    /// The device-known counts of the recipe's extents, as expressions that load them.
    pub(crate) fn live_counts(&self) -> impl Iterator<Item = Expr> {
        self.extents().into_iter().filter_map(Extent::live)
    }
}
