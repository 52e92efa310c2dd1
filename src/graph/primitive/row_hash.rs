//! Hashes of rows of bytes.

use super::{Evaluation, Facts, Positions, Recipe, RowDomain, Rows};
use crate::dtype::DType;
use crate::graph::opcode::HashOp;
use crate::graph::planned::{self, InPlan};
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::row_lengths::string_class;
use crate::graph::scalar::param::ScalarParam;
use crate::graph::size::RecordedSize;
use crate::graph::{BackendRef, Expr, Extent, Node};

/// The hash of each row of bytes. u64.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct RowHash<R: Refs = Recorded> {
    /// The function.
    pub(crate) op: HashOp<R::Param>,
    /// The rows, of bytes.
    pub(crate) on: RowDomain<R>,
    /// The bytes, by flat position.
    pub(crate) byte: R::Expr,
    /// Upper bound of the row lengths.
    pub(crate) longest: R::Size,
}

references!(RowHash, "row_hash" { domain on, size longest, expr byte, hash op; });

impl Facts for RowHash<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::ManySites
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        self.on.positions()
    }
    fn skips(&self) -> bool {
        true
    }
    fn domain(&self) -> Option<&RowDomain<InPlan>> {
        Some(&self.on)
    }
}

impl Node {
    /// The hash of each row of bytes; see [`RowHash`].
    pub(crate) fn hash(
        backend: &BackendRef,
        name: &'static str,
        op: HashOp,
        (rows, nrows): (Rows, Extent),
        (byte, nbytes): (Expr, Extent),
    ) -> Self {
        let extent = nrows.clone();
        let longest = rows.longest(string_class(rows.known_longest().min(nbytes.capacity())));
        let on = RowDomain { rows, nrows, nvals: nbytes, inner: 1 };
        let op = op.map(|&key| ScalarParam::recorded(key.into()));
        let recipe = Recipe::RowHash(RowHash { op, on, byte, longest });
        Self::recorded(backend, name, DType::U64, extent, &[], recipe)
    }
}
