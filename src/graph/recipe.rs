//! Recipes: the primitives that compute arrays, and the rows that they iterate over.

use std::sync::Arc;

use super::expr::{Check, Expr};
use super::extent::Extent;
use super::node::Node;
use super::opcode::{HashOp, ReduceOp};
use super::reducer::Reducer;
use super::row_lengths;
use super::size::Size;

/// Row partition of a row primitive: where rows begin.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Rows<A = Node, S = Size> {
    /// Sorted u32 splits, one more than rows. Entries beyond the live rows repeat the last split, so that rows beyond
    /// the live ones are empty.
    Splits(A),
    /// Every row has this many elements.
    Uniform(S),
}

impl<A, S> Rows<A, S> {
    /// Rewrites the references.
    fn map<E, X, R: Rewrite<E, A, X, S>>(&self, r: &mut R) -> Rows<R::Array, R::Size> {
        match self {
            Self::Splits(node) => Rows::Splits(r.array(node)),
            Self::Uniform(len) => Rows::Uniform(r.size(len)),
        }
    }

    fn visit<'a, E: 'a, X: 'a>(&'a self, f: &mut impl FnMut(Part<'a, E, A, X, S>)) {
        match self {
            Self::Splits(node) => f(Part::Array(node)),
            Self::Uniform(len) => f(Part::Size(len)),
        }
    }
}

impl Rows {
    /// First position of row `row`.
    pub(crate) fn start(&self, row: Expr) -> Expr {
        match self {
            Self::Splits(node) => Expr::load(node, row),
            Self::Uniform(len) => row.mul(Expr::size(len)),
        }
    }

    /// Number of elements of row `row`.
    pub(crate) fn length(&self, row: Expr) -> Expr {
        match self {
            Self::Splits(_) => self.start(row.clone().add(Expr::u32(1))).sub(self.start(row)),
            Self::Uniform(len) => Expr::size(len),
        }
    }

    /// The row that holds element `at`.
    pub(crate) fn row_of(&self, at: Expr) -> Expr {
        match self {
            Self::Splits(node) => Expr::row_of(node, at),
            Self::Uniform(len) => at.div(Expr::size(&len.max(1))),
        }
    }

    /// Upper bound of the row lengths, as far as the host knows.
    pub(crate) fn longest(&self) -> u32 {
        match self {
            Self::Splits(node) => node.longest_row(),
            Self::Uniform(len) => len.value(),
        }
    }

    /// Length class of the longest row, as far as the host knows. A plan may depend on the class.
    pub(crate) fn longest_class(&self) -> u32 {
        match self {
            Self::Splits(node) => node.longest_class(),
            Self::Uniform(len) => row_lengths::class(len.value()),
        }
    }
}

/// The rows that a row primitive iterates over.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RowDomain<A = Node, X = Extent, S = Size> {
    /// Where rows begin.
    pub(crate) rows: Rows<A, S>,
    /// Number of rows.
    pub(crate) nrows: X,
    /// Number of elements of all rows together, with `inner` numbers each.
    pub(crate) nvals: X,
    /// Numbers per element: the inner width.
    pub(crate) inner: u32,
}

/// A primitive that computes an array. Generic over the references to expressions, arrays, extents and sizes: those of
/// a recording, or numbers in a [`Program`](super::program::Program).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Recipe<E = Expr, A = Node, X = Extent, S = Size> {
    /// Element `i` is the expression at position `i`.
    Map {
        /// The value of an element.
        value: E,
        /// Whether all elements up to the capacity are computed, not only the live ones: splits are searched as a
        /// whole.
        whole: bool,
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
    /// Inclusive scan of each row: `out[j * inner + d]` is the reduction of `value` over number `d` of the elements of
    /// `j`'s row up to and including `j`. `value` is an expression in the flat position `j * inner + d`.
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
    /// Stable argsort of u32 keys within each row: `out[k]` is the position of the element that sorts to position `k`.
    /// A row keeps its own range of positions.
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
    /// Stream compaction: the values of the marked positions, in order, `inner` numbers each. The node's extent holds
    /// the live count.
    Compact {
        /// The marks.
        marks: A,
        /// The numbers, by flat position `position * inner + d`; evaluated only at kept positions.
        value: E,
        /// Number of positions.
        count: X,
        /// Numbers per position.
        inner: u32,
    },
    /// A condition that must hold at every position below `count`; computes no array.
    Assert {
        /// The condition; bool.
        ok: E,
        /// Number of positions.
        count: X,
        /// The check that fails if the condition does not hold.
        check: Arc<Check>,
    },
}

/// Operands of a batched matrix product; see [`Recipe::Product`]. All sizes and starts are expressions in the batch
/// number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Product<E = Expr, A = Node, X = Extent, S = Size> {
    /// Number of batches.
    pub(crate) batches: X,
    /// `m`, `k` and `n`: rows of the result, terms of a sum, columns of the result.
    pub(crate) sizes: [E; 3],
    /// First flat positions of the matrices: left, right, result. The results of all batches are contiguous.
    pub(crate) starts: [E; 3],
    /// The left and right numbers, by flat position; row-major in each batch, one dtype.
    pub(crate) operands: [E; 2],
    /// Upper bound of the numbers of each operand.
    pub(crate) capacities: [S; 2],
    /// Upper bound of the terms of a sum.
    pub(crate) terms: S,
    /// Whether each operand is stored transposed: left as k by m, right as n by k.
    pub(crate) transposed: [bool; 2],
    /// Partition of the tiles by batch: batch `g` has `ceil(m / tile) * ceil(n / tile)` tiles.
    pub(crate) tiles: Rows<A, S>,
    /// Upper bound of the number of tiles.
    pub(crate) tile_capacity: S,
    /// Rows and columns of a tile. Changes no bits of the result.
    pub(crate) tile: u32,
}

/// A reference in a recipe.
#[derive(Debug)]
pub(crate) enum Part<'a, E, A, X, S> {
    Expr(&'a E),
    Array(&'a A),
    Extent(&'a X),
    Size(&'a S),
}

/// Rewrites the references in a recipe; see [`Recipe::map`].
pub(crate) trait Rewrite<E, A, X, S> {
    type Expr;
    type Array;
    type Extent;
    type Size;
    fn expr(&mut self, e: &E) -> Self::Expr;
    fn array(&mut self, a: &A) -> Self::Array;
    fn extent(&mut self, x: &X) -> Self::Extent;
    fn size(&mut self, s: &S) -> Self::Size;
}

impl<A, X, S> RowDomain<A, X, S> {
    fn map<E, R: Rewrite<E, A, X, S>>(&self, r: &mut R) -> RowDomain<R::Array, R::Extent, R::Size> {
        let rows = self.rows.map(r);
        let nrows = r.extent(&self.nrows);
        RowDomain { rows, nrows, nvals: r.extent(&self.nvals), inner: self.inner }
    }

    fn visit<'a, E: 'a>(&'a self, f: &mut impl FnMut(Part<'a, E, A, X, S>)) {
        self.rows.visit(f);
        [&self.nrows, &self.nvals].into_iter().for_each(|x| f(Part::Extent(x)));
    }
}

impl<E, A, X, S> Recipe<E, A, X, S> {
    /// Calls `f` with every part, arrays and extents before expressions.
    pub(crate) fn visit<'a>(&'a self, f: &mut impl FnMut(Part<'a, E, A, X, S>)) {
        match self {
            Self::Map { value, whole: _ } => f(Part::Expr(value)),
            Self::Reduce { reducer: _, on, value } | Self::RowScan { op: _, on, value } => {
                on.visit(f);
                f(Part::Expr(value));
            }
            Self::RowSort { on, key, bits: _, longest } => {
                on.visit(f);
                f(Part::Size(longest));
                f(Part::Expr(key));
            }
            Self::Hash { op: _, on, byte, longest } => {
                on.visit(f);
                f(Part::Size(longest));
                f(Part::Expr(byte));
            }
            Self::Scan { value, count }
            | Self::Sort { key: value, count, bits: _ }
            | Self::RankBitmap { keep: value, count }
            | Self::Assert { ok: value, count, check: _ } => {
                f(Part::Extent(count));
                f(Part::Expr(value));
            }
            Self::Compact { marks, value, count, inner: _ } => {
                f(Part::Array(marks));
                f(Part::Extent(count));
                f(Part::Expr(value));
            }
            Self::Product(p) => {
                let Product { batches, sizes, starts, operands, capacities, terms, tiles, tile_capacity, .. } = &**p;
                tiles.visit(f);
                f(Part::Extent(batches));
                capacities.iter().chain([terms, tile_capacity]).for_each(|s| f(Part::Size(s)));
                operands.iter().chain(sizes).chain(starts).for_each(|e| f(Part::Expr(e)));
            }
        }
    }

    /// Rewrites all references in the recipe.
    pub(crate) fn map<R: Rewrite<E, A, X, S>>(&self, r: &mut R) -> Recipe<R::Expr, R::Array, R::Extent, R::Size> {
        match self {
            Self::Map { value, whole } => Recipe::Map { value: r.expr(value), whole: *whole },
            Self::Reduce { reducer, on, value } => {
                let on = on.map(r);
                Recipe::Reduce { reducer: *reducer, on, value: r.expr(value) }
            }
            Self::RowScan { op, on, value } => {
                let on = on.map(r);
                Recipe::RowScan { op: *op, on, value: r.expr(value) }
            }
            Self::RowSort { on, key, bits, longest } => {
                let (on, longest) = (on.map(r), r.size(longest));
                Recipe::RowSort { on, key: r.expr(key), bits: *bits, longest }
            }
            Self::Hash { op, on, byte, longest } => {
                let (on, longest) = (on.map(r), r.size(longest));
                Recipe::Hash { op: *op, on, byte: r.expr(byte), longest }
            }
            Self::Scan { value, count } => {
                let count = r.extent(count);
                Recipe::Scan { value: r.expr(value), count }
            }
            Self::Sort { key, count, bits } => {
                let count = r.extent(count);
                Recipe::Sort { key: r.expr(key), count, bits: *bits }
            }
            Self::RankBitmap { keep, count } => {
                let count = r.extent(count);
                Recipe::RankBitmap { keep: r.expr(keep), count }
            }
            Self::Compact { marks, value, count, inner } => {
                let (marks, count) = (r.array(marks), r.extent(count));
                Recipe::Compact { marks, value: r.expr(value), count, inner: *inner }
            }
            Self::Assert { ok, count, check } => {
                let count = r.extent(count);
                Recipe::Assert { ok: r.expr(ok), count, check: check.clone() }
            }
            Self::Product(p) => {
                let tiles = p.tiles.map(r);
                let batches = r.extent(&p.batches);
                let capacities = p.capacities.each_ref().map(|s| r.size(s));
                let (terms, tile_capacity) = (r.size(&p.terms), r.size(&p.tile_capacity));
                let operands = p.operands.each_ref().map(|e| r.expr(e));
                let sizes = p.sizes.each_ref().map(|e| r.expr(e));
                let starts = p.starts.each_ref().map(|e| r.expr(e));
                let Product { transposed, tile, .. } = **p;
                Recipe::Product(Box::new(Product {
                    batches,
                    sizes,
                    starts,
                    operands,
                    capacities,
                    terms,
                    transposed,
                    tiles,
                    tile_capacity,
                    tile,
                }))
            }
        }
    }

    /// Name of the kernel template.
    pub(crate) fn family(&self) -> &'static str {
        match self {
            Self::Map { .. } => "map",
            Self::Reduce { .. } => "row_reduce",
            Self::Product(_) => "matmul",
            Self::Scan { .. } => "scan",
            Self::RowScan { .. } => "row_scan",
            Self::Sort { .. } => "sort",
            Self::RowSort { .. } => "row_sort",
            Self::Hash { .. } => "row_hash",
            Self::RankBitmap { .. } => "rank_bitmap",
            Self::Compact { .. } => "compact",
            Self::Assert { .. } => "assert",
        }
    }

    /// The expressions of the recipe.
    pub(crate) fn exprs(&self) -> Vec<&E> {
        let mut out = Vec::with_capacity(1);
        self.visit(&mut |part| {
            if let Part::Expr(e) = part {
                out.push(e);
            }
        });
        out
    }

    /// The extents of the recipe.
    pub(crate) fn extents(&self) -> Vec<&X> {
        let mut out = Vec::with_capacity(2);
        self.visit(&mut |part| {
            if let Part::Extent(x) = part {
                out.push(x);
            }
        });
        out
    }

    /// The array that the recipe reads outside of its expressions, if any: the splits of its rows, or the marks.
    pub(crate) fn array(&self) -> Option<&A> {
        let mut out = None;
        self.visit(&mut |part| {
            if let Part::Array(a) = part {
                out = Some(a);
            }
        });
        out
    }

    /// The rows that the recipe iterates over, if any.
    pub(crate) fn domain(&self) -> Option<&RowDomain<A, X, S>> {
        match self {
            Self::Reduce { on, .. } | Self::RowScan { on, .. } | Self::RowSort { on, .. } | Self::Hash { on, .. } => {
                Some(on)
            }
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

/// How often a kernel template evaluates its expression, and whether the row of the position is known there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evaluation {
    /// Once per position, with the row known.
    Once,
    /// Once per position, without the row.
    Rowless,
    /// Twice per position, without the row: in both passes of a scan.
    Twice,
    /// Any number of times per position, without the row, or never where no result needs it: in the tiles of a product.
    Again,
    /// At about a hundred places of the kernel's source, as a hash reads bytes: anything but a plain load would be
    /// compiled as often.
    Everywhere,
}

impl Recipe {
    /// How the kernel evaluates the recipe's expressions.
    pub(crate) fn evaluation(&self) -> Evaluation {
        match self {
            Self::Map { .. } | Self::Reduce { .. } | Self::RowScan { .. } | Self::Assert { .. } => Evaluation::Once,
            Self::Scan { .. } | Self::Sort { .. } | Self::RowSort { .. } => Evaluation::Twice,
            Self::Product(_) => Evaluation::Again,
            Self::Hash { .. } => Evaluation::Everywhere,
            Self::RankBitmap { .. } | Self::Compact { .. } => Evaluation::Rowless,
        }
    }

    /// Extent of the positions at which the kernel evaluates the recipe's expressions, for a result of extent `out`;
    /// `None` if the kernel may skip some of them.
    pub(crate) fn evaluated_at(&self, out: &Extent) -> Option<Extent> {
        match self {
            Self::Map { whole: false, .. } => Some(out.clone()),
            Self::Reduce { on, .. } | Self::RowScan { on, .. } => on.nvals.times("a row", u64::from(on.inner)).ok(),
            Self::RowSort { on, .. } => Some(on.nvals.clone()),
            Self::Scan { count, .. }
            | Self::Sort { count, .. }
            | Self::RankBitmap { count, .. }
            | Self::Assert { count, .. } => Some(count.clone()),
            Self::Map { whole: true, .. } | Self::Product(_) | Self::Hash { .. } | Self::Compact { .. } => None,
        }
    }

    /// The counts among the recipe's extents that only the device knows, as expressions that read them.
    pub(crate) fn lives(&self) -> impl Iterator<Item = Expr> {
        self.extents().into_iter().filter_map(Extent::live)
    }
}
