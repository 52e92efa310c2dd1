//! How arrays are computed: the primitives, and the rows that they go over.

use std::sync::Arc;

use super::expr::{Check, Expr};
use super::extent::Extent;
use super::node::Node;
use super::opcode::{HashOp, ReduceOp};
use super::reducer::Reducer;
use super::row_lengths;

/// Where rows begin: the partition argument of the row primitives.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Rows {
    /// Sorted u32 splits, one more than rows. Entries beyond the live rows repeat the last split, so that rows beyond
    /// the live ones are empty.
    Splits(Node),
    /// Every row has this many elements.
    Uniform(u32),
}

impl Rows {
    /// Where row `row` starts.
    pub(crate) fn start(&self, row: Expr) -> Expr {
        match self {
            Self::Splits(node) => Expr::load(node, row),
            Self::Uniform(len) => row.mul(Expr::u32(*len)),
        }
    }

    /// How many elements row `row` has.
    pub(crate) fn length(&self, row: Expr) -> Expr {
        match self {
            Self::Splits(_) => self.start(row.clone().add(Expr::u32(1))).sub(self.start(row)),
            Self::Uniform(len) => Expr::u32(*len),
        }
    }

    /// The row that holds element `at`.
    pub(crate) fn row_of(&self, at: Expr) -> Expr {
        match self {
            Self::Splits(node) => Expr::row_of(node, at),
            Self::Uniform(len) => at.div(Expr::u32((*len).max(1))),
        }
    }

    /// No row is longer, as far as the host knows.
    pub(crate) fn longest(&self) -> u32 {
        match self {
            Self::Splits(node) => node.longest_row(),
            Self::Uniform(len) => *len,
        }
    }

    /// The class of the longest row, as far as the host knows: what a plan may depend on.
    pub(crate) fn longest_class(&self) -> u32 {
        match self {
            Self::Splits(node) => node.longest_class(),
            Self::Uniform(len) => row_lengths::class(*len),
        }
    }
}

/// How an array is computed: the primitives.
#[derive(Debug, Hash)]
pub(crate) enum Recipe {
    /// Element `i` is the expression at position `i`.
    Map {
        /// The value of an element.
        value: Expr,
        /// Whether elements beyond the live ones are computed too, up to the capacity: splits are searched whole.
        whole: bool,
    },
    /// `out[row * inner + d]` is the reduction of `value` over the elements `(j, d)` of the row, `j` ascending.
    /// `value` is an expression in the flat position `j * inner + d`.
    Reduce {
        /// What of each row.
        reducer: Reducer,
        /// The rows.
        rows: Rows,
        /// How many rows.
        nrows: Extent,
        /// How many elements (of `inner` numbers each) all rows have together.
        nvals: Extent,
        /// Numbers an element has.
        inner: u32,
        /// The values.
        value: Expr,
    },
    /// The product of two matrices for each batch. Batch `g` has `m` times `n` results, row-major from `starts[2]` on;
    /// result (i, j) is the sum of `a(i, l) * b(l, j)` over `l` below `k`, added to 0 one by one, `l` ascending.
    Product(Box<Product>),
    /// `out[i]` is the sum of `value` at positions below `i`; one entry more than `count`, and entries beyond repeat
    /// the total. u32.
    Scan {
        /// What is summed; u32.
        value: Expr,
        /// How many.
        count: Extent,
    },
    /// `out[j * inner + d]` is the reduction of `value` over the elements of the row of `j` up to and with `j`, number
    /// `d`: an inclusive scan of each row. `value` is an expression in the flat position `j * inner + d`.
    RowScan {
        /// The monoid.
        op: ReduceOp,
        /// The rows.
        rows: Rows,
        /// How many rows.
        nrows: Extent,
        /// How many elements (of `inner` numbers each) all rows have together.
        nvals: Extent,
        /// Numbers an element has.
        inner: u32,
        /// The values.
        value: Expr,
    },
    /// The stable order of u32 keys: `out[k]` is the position of the k-th smallest.
    Sort {
        /// The keys.
        key: Expr,
        /// How many.
        count: Extent,
        /// How many low bits of the keys count.
        bits: u32,
    },
    /// The stable order of u32 keys within each row: `out[k]` is the position that comes at place `k`. Places of a row
    /// are its positions.
    RowSort {
        /// The rows.
        rows: Rows,
        /// How many rows.
        nrows: Extent,
        /// How many elements all rows have together.
        nvals: Extent,
        /// The keys, by flat position.
        key: Expr,
        /// How many low bits of the keys count.
        bits: u32,
        /// The class of the longest row: what need not be prepared for is left out.
        longest: u32,
    },
    /// The hash of each row of bytes. u64.
    Hash {
        /// The function.
        op: HashOp,
        /// The rows.
        rows: Rows,
        /// How many rows.
        nrows: Extent,
        /// The bytes, by flat position.
        byte: Expr,
        /// All rows together have no more bytes.
        nbytes: u32,
        /// The class of the longest row.
        longest: u32,
    },
    /// The positions at which `keep` holds, as bits and ranks: see [`super::marks`].
    Marks {
        /// Which positions stay; bool.
        keep: Expr,
        /// How many positions.
        count: Extent,
    },
    /// The values of the marked positions, in order, `inner` numbers each; as many as the node's extent says are live.
    Compact {
        /// The marks.
        marks: Node,
        /// The numbers, by flat position `position * inner + d`; asked for only where the position stays.
        value: Expr,
        /// How many positions.
        count: Extent,
        /// Numbers that a position has.
        inner: u32,
    },
    /// No array: a condition that must hold at every position below `count`.
    Assert {
        /// The condition; bool.
        ok: Expr,
        /// How many positions.
        count: Extent,
        /// What to say when it does not hold.
        check: Arc<Check>,
    },
}

/// Matrices to multiply, batch by batch; see [`Recipe::Product`]. All sizes and starts are expressions in the batch.
#[derive(Debug, Hash)]
pub(crate) struct Product {
    /// How many batches.
    pub(crate) batches: Extent,
    /// Rows of the result, terms of a sum, columns of the result.
    pub(crate) sizes: [Expr; 3],
    /// The flat positions at which the matrices begin: left, right, result. The results of all batches lie one after
    /// the other.
    pub(crate) starts: [Expr; 3],
    /// The numbers left and right, by flat position; row-major in each batch, one dtype.
    pub(crate) operands: [Expr; 2],
    /// How many numbers each operand has at most.
    pub(crate) capacities: [u32; 2],
    /// Whether the operand is stored transposed: left as k by m, right as n by k.
    pub(crate) transposed: [bool; 2],
    /// Where the batches' tiles begin: batch `g` has `ceil(m / tile) * ceil(n / tile)` of them.
    pub(crate) tiles: Rows,
    /// How many tiles there are at most.
    pub(crate) tile_capacity: u32,
    /// Rows and columns of a tile. It changes no bits.
    pub(crate) tile: u32,
}

impl Product {
    /// The expressions in it, but for the number of batches.
    fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.operands.iter().chain(&self.sizes).chain(&self.starts)
    }
}

impl Recipe {
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

    /// The expressions in it, with the live counts it depends on.
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        let mut out = Vec::with_capacity(3);
        let extents: [Option<&Extent>; 2] = match self {
            Self::Map { value, .. } => {
                out.push(value);
                [None, None]
            }
            Self::Reduce { value, nrows, nvals, .. } => {
                out.push(value);
                [Some(nrows), Some(nvals)]
            }
            Self::Product(p) => {
                out.extend(p.exprs());
                [Some(&p.batches), None]
            }
            Self::Scan { value, count, .. } => {
                out.push(value);
                [Some(count), None]
            }
            Self::RowScan { value, nrows, nvals, .. } => {
                out.push(value);
                [Some(nrows), Some(nvals)]
            }
            Self::Sort { key, count, .. } => {
                out.push(key);
                [Some(count), None]
            }
            Self::RowSort { key, nrows, nvals, .. } => {
                out.push(key);
                [Some(nrows), Some(nvals)]
            }
            Self::Hash { byte, nrows, .. } => {
                out.push(byte);
                [Some(nrows), None]
            }
            Self::Marks { keep, count } => {
                out.push(keep);
                [Some(count), None]
            }
            Self::Compact { value, count, .. } => {
                out.push(value);
                [Some(count), None]
            }
            Self::Assert { ok, count, .. } => {
                out.push(ok);
                [Some(count), None]
            }
        };
        out.extend(extents.into_iter().flatten().filter_map(Extent::live));
        out
    }

    /// The array that it reads other than by its expressions, if any: the splits that it walks, the marks.
    pub(crate) fn array(&self) -> Option<&Node> {
        match (self, self.rows()) {
            (Self::Compact { marks, .. }, _) => Some(marks),
            (_, Some(Rows::Splits(splits))) => Some(splits),
            _ => None,
        }
    }

    /// The splits it searches or walks, if any.
    pub(crate) fn rows(&self) -> Option<&Rows> {
        match self {
            Self::Reduce { rows, .. }
            | Self::RowScan { rows, .. }
            | Self::RowSort { rows, .. }
            | Self::Hash { rows, .. } => Some(rows),
            Self::Product(p) => Some(&p.tiles),
            _ => None,
        }
    }
}
