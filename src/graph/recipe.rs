//! How arrays are computed: the primitives, and the rows that they go over.

use std::sync::Arc;

use super::expr::{Check, Expr};
use super::extent::Extent;
use super::node::Node;
use super::opcode::{HashOp, ReduceOp};
use super::reducer::Reducer;
use super::row_lengths;
use super::size::Size;

/// Where rows begin: the partition argument of the row primitives.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Rows<A = Node, S = Size> {
    /// Sorted u32 splits, one more than rows. Entries beyond the live rows repeat the last split, so that rows beyond
    /// the live ones are empty.
    Splits(A),
    /// Every row has this many elements.
    Uniform(S),
}

impl<A, S> Rows<A, S> {
    /// The same over other references.
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
    /// Where row `row` starts.
    pub(crate) fn start(&self, row: Expr) -> Expr {
        match self {
            Self::Splits(node) => Expr::load(node, row),
            Self::Uniform(len) => row.mul(Expr::size(len)),
        }
    }

    /// How many elements row `row` has.
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

    /// No row is longer, as far as the host knows.
    pub(crate) fn longest(&self) -> u32 {
        match self {
            Self::Splits(node) => node.longest_row(),
            Self::Uniform(len) => len.value(),
        }
    }

    /// The class of the longest row, as far as the host knows: what a plan may depend on.
    pub(crate) fn longest_class(&self) -> u32 {
        match self {
            Self::Splits(node) => node.longest_class(),
            Self::Uniform(len) => row_lengths::class(len.value()),
        }
    }
}

/// The rows that a primitive walks: the description that all row primitives share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RowDomain<A = Node, X = Extent, S = Size> {
    /// Where rows begin.
    pub(crate) rows: Rows<A, S>,
    /// How many rows.
    pub(crate) nrows: X,
    /// How many elements (of `inner` numbers each) all rows have together.
    pub(crate) nvals: X,
    /// Numbers an element has.
    pub(crate) inner: u32,
}

/// How an array is computed: the primitives, over references to expressions, arrays, extents and sizes: those of a
/// recording, or numbers in a [`Program`](super::program::Program).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Recipe<E = Expr, A = Node, X = Extent, S = Size> {
    /// Element `i` is the expression at position `i`.
    Map {
        /// The value of an element.
        value: E,
        /// Whether elements beyond the live ones are computed too, up to the capacity: splits are searched whole.
        whole: bool,
    },
    /// `out[row * inner + d]` is the reduction of `value` over the elements `(j, d)` of the row, `j` ascending.
    /// `value` is an expression in the flat position `j * inner + d`.
    Reduce {
        /// What of each row.
        reducer: Reducer,
        /// The rows.
        on: RowDomain<A, X, S>,
        /// The values.
        value: E,
    },
    /// The product of two matrices for each batch. Batch `g` has `m` times `n` results, row-major from `starts[2]` on;
    /// result (i, j) is the sum of `a(i, l) * b(l, j)` over `l` below `k`, added to 0 one by one, `l` ascending.
    Product(Box<Product<E, A, X, S>>),
    /// `out[i]` is the sum of `value` at positions below `i`; one entry more than `count`, and entries beyond repeat
    /// the total. u32.
    Scan {
        /// What is summed; u32.
        value: E,
        /// How many.
        count: X,
    },
    /// `out[j * inner + d]` is the reduction of `value` over the elements of the row of `j` up to and with `j`, number
    /// `d`: an inclusive scan of each row. `value` is an expression in the flat position `j * inner + d`.
    RowScan {
        /// The monoid.
        op: ReduceOp,
        /// The rows.
        on: RowDomain<A, X, S>,
        /// The values.
        value: E,
    },
    /// The stable order of u32 keys: `out[k]` is the position of the k-th smallest.
    Sort {
        /// The keys.
        key: E,
        /// How many.
        count: X,
        /// How many low bits of the keys count.
        bits: u32,
    },
    /// The stable order of u32 keys within each row: `out[k]` is the position that comes at place `k`. Places of a row
    /// are its positions.
    RowSort {
        /// The rows.
        on: RowDomain<A, X, S>,
        /// The keys, by flat position.
        key: E,
        /// How many low bits of the keys count.
        bits: u32,
        /// No row is longer.
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
        /// No row is longer.
        longest: S,
    },
    /// The positions at which `keep` holds, as bits and ranks: see [`super::marks`].
    Marks {
        /// Which positions stay; bool.
        keep: E,
        /// How many positions.
        count: X,
    },
    /// The values of the marked positions, in order, `inner` numbers each; as many as the node's extent says are live.
    Compact {
        /// The marks.
        marks: A,
        /// The numbers, by flat position `position * inner + d`; asked for only where the position stays.
        value: E,
        /// How many positions.
        count: X,
        /// Numbers that a position has.
        inner: u32,
    },
    /// No array: a condition that must hold at every position below `count`.
    Assert {
        /// The condition; bool.
        ok: E,
        /// How many positions.
        count: X,
        /// What to say when it does not hold.
        check: Arc<Check>,
    },
}

/// Matrices to multiply, batch by batch; see [`Recipe::Product`]. All sizes and starts are expressions in the batch.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Product<E = Expr, A = Node, X = Extent, S = Size> {
    /// How many batches.
    pub(crate) batches: X,
    /// Rows of the result, terms of a sum, columns of the result.
    pub(crate) sizes: [E; 3],
    /// The flat positions at which the matrices begin: left, right, result. The results of all batches lie one after
    /// the other.
    pub(crate) starts: [E; 3],
    /// The numbers left and right, by flat position; row-major in each batch, one dtype.
    pub(crate) operands: [E; 2],
    /// How many numbers each operand has at most.
    pub(crate) capacities: [S; 2],
    /// No sum has more terms.
    pub(crate) terms: S,
    /// Whether the operand is stored transposed: left as k by m, right as n by k.
    pub(crate) transposed: [bool; 2],
    /// Where the batches' tiles begin: batch `g` has `ceil(m / tile) * ceil(n / tile)` of them.
    pub(crate) tiles: Rows<A, S>,
    /// How many tiles there are at most.
    pub(crate) tile_capacity: S,
    /// Rows and columns of a tile. It changes no bits.
    pub(crate) tile: u32,
}

/// A part of a recipe.
#[derive(Debug)]
pub(crate) enum Part<'a, E, A, X, S> {
    Expr(&'a E),
    Array(&'a A),
    Extent(&'a X),
    Size(&'a S),
}

/// What becomes of the parts of a recipe; see [`Recipe::map`].
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
            | Self::Marks { keep: value, count }
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

    /// The same recipe over other references.
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
            Self::Marks { keep, count } => {
                let count = r.extent(count);
                Recipe::Marks { keep: r.expr(keep), count }
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

    /// The name of its kernels' template.
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
            Self::Marks { .. } => "marks",
            Self::Compact { .. } => "compact",
            Self::Assert { .. } => "assert",
        }
    }

    /// The expressions in it.
    pub(crate) fn exprs(&self) -> Vec<&E> {
        let mut out = Vec::with_capacity(1);
        self.visit(&mut |part| {
            if let Part::Expr(e) = part {
                out.push(e);
            }
        });
        out
    }

    /// The extents in it.
    pub(crate) fn extents(&self) -> Vec<&X> {
        let mut out = Vec::with_capacity(2);
        self.visit(&mut |part| {
            if let Part::Extent(x) = part {
                out.push(x);
            }
        });
        out
    }

    /// The array that it reads other than by its expressions, if any: the splits that it walks, the marks.
    pub(crate) fn array(&self) -> Option<&A> {
        let mut out = None;
        self.visit(&mut |part| {
            if let Part::Array(a) = part {
                out = Some(a);
            }
        });
        out
    }

    /// The rows that it walks, if any.
    pub(crate) fn domain(&self) -> Option<&RowDomain<A, X, S>> {
        match self {
            Self::Reduce { on, .. } | Self::RowScan { on, .. } | Self::RowSort { on, .. } | Self::Hash { on, .. } => {
                Some(on)
            }
            _ => None,
        }
    }

    /// Where the rows begin that it searches or walks, if any.
    pub(crate) fn rows(&self) -> Option<&Rows<A, S>> {
        match self {
            Self::Product(p) => Some(&p.tiles),
            _ => self.domain().map(|on| &on.rows),
        }
    }
}

/// How a template uses the expression it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evaluation {
    /// Once a position, with its row at hand.
    Once,
    /// Once a position, without its row.
    Rowless,
    /// Twice a position, without its row: by both passes of a scan.
    Twice,
    /// Any number of times a position, without its row, and not at all where no result needs it: by a product's tiles.
    Again,
    /// From a hundred places of the text, as a hash reads bytes: what is not a mere load would be compiled as often.
    Everywhere,
}

impl Recipe {
    /// How its kernel evaluates its expressions.
    pub(crate) fn evaluation(&self) -> Evaluation {
        match self {
            Self::Map { .. } | Self::Reduce { .. } | Self::RowScan { .. } | Self::Assert { .. } => Evaluation::Once,
            Self::Scan { .. } | Self::Sort { .. } | Self::RowSort { .. } => Evaluation::Twice,
            Self::Product(_) => Evaluation::Again,
            Self::Hash { .. } => Evaluation::Everywhere,
            Self::Marks { .. } | Self::Compact { .. } => Evaluation::Rowless,
        }
    }

    /// The positions at all of which its kernel evaluates its expressions, for a result of that extent; none where it
    /// may leave some out.
    pub(crate) fn evaluated_at(&self, out: &Extent) -> Option<Extent> {
        match self {
            Self::Map { whole: false, .. } => Some(out.clone()),
            Self::Reduce { on, .. } | Self::RowScan { on, .. } => on.nvals.times("a row", u64::from(on.inner)).ok(),
            Self::RowSort { on, .. } => Some(on.nvals.clone()),
            Self::Scan { count, .. }
            | Self::Sort { count, .. }
            | Self::Marks { count, .. }
            | Self::Assert { count, .. } => Some(count.clone()),
            Self::Map { whole: true, .. } | Self::Product(_) | Self::Hash { .. } | Self::Compact { .. } => None,
        }
    }

    /// The counts that only the device knows among its extents, as expressions that read them.
    pub(crate) fn lives(&self) -> impl Iterator<Item = Expr> {
        self.extents().into_iter().filter_map(Extent::live)
    }
}
