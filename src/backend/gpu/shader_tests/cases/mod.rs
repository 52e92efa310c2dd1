//! One small graph for every recipe, operation and dtype.

mod folds;
mod maps;
mod recurrences;
mod rows;

use std::sync::Arc;

use super::ops;
use crate::dtype::DType;
use crate::graph::backend::BackendRef;
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::function::Function;
use crate::graph::node::{Node, Product, RowDomain, Rows};
use crate::graph::opcode::{BinaryOp, ReduceOp, UnaryOp};
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::graph::reducer::Reducer;
use crate::graph::scalar::Scalar;

/// The parameters that differ between graphs of one structure.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// Number of elements, in the thousands, so that every kernel has several workgroups.
    pub(super) values: u32,
    /// Number of rows.
    pub(super) rows: u32,
    /// A constant other than 0 and 1.
    pub(super) number: i64,
}

/// A graph and its name.
pub(super) type Case = (String, Node);

/// Builds graphs on a backend that never evaluates them.
pub(super) struct Cases<'a> {
    pub(super) backend: &'a BackendRef,
    pub(super) sizes: Sizes,
    pub(super) out: Vec<Case>,
}

impl<'a> Cases<'a> {
    /// All graphs of these sizes.
    pub(super) fn all(backend: &'a BackendRef, sizes: Sizes) -> Vec<Case> {
        let mut cases = Self { backend, sizes, out: Vec::new() };
        for dtype in ops::DTYPES {
            cases.unary(dtype);
            cases.binary(dtype);
            cases.conversions(dtype);
            cases.selections(dtype);
            cases.rows(dtype);
            cases.counted(dtype);
            cases.compactions(dtype);
        }
        cases.asserts();
        cases.functions_of_the_user();
        cases.reductions();
        cases.row_kernels();
        cases.products();
        cases.row_scans();
        cases.recurrences();
        cases.scans_and_sorts();
        cases.histograms();
        cases.row_sorts();
        cases.selections_from_rows();
        cases.tile_folds();
        cases.hashes();
        cases.out
    }

    fn array(&self, dtype: DType, len: u32) -> Node {
        Node::source(self.backend, dtype, len, Arc::new(()))
    }

    fn values(&self, dtype: DType) -> Expr {
        Expr::load(&self.array(dtype, self.sizes.values), Expr::index())
    }

    fn splits(&self) -> Node {
        self.array(DType::U32, self.sizes.rows + 1)
    }

    /// A device-known count.
    fn counted_extent(&self, capacity: u32) -> Extent {
        Extent::bounded(capacity, Expr::load(&self.array(DType::U32, 4), Expr::u32(2)))
    }

    fn map(&mut self, name: String, value: Expr) {
        let node = Node::map(self.backend, "map", Extent::known(self.sizes.values), value, &[]);
        self.out.push((name, node));
    }
}
