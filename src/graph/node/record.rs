//! Recording: a constructor for each primitive.

use std::sync::{Arc, Mutex, OnceLock};

use super::{NodeData, Product, Recipe, RowDomain, Rows, intern};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::digest::{Digest, DigestSet};
use crate::graph::expr::{Check, ExprKind};
use crate::graph::opcode::{HashOp, ReduceOp};
use crate::graph::reducer::{Empty, Reducer};
use crate::graph::row_lengths::{self, KnownLengths};
use crate::graph::size::{RecordedSize, SizeView};
use crate::graph::tile_fold::{self, MAX_SLOTS};
use crate::graph::top_k::MAX_K;
use crate::graph::{BackendRef, Expr, Extent, Node, Size};

/// Upper bound of the row lengths, as a size: a parameter of the program.
fn longest_row(rows: &Rows, bound: u32) -> Size {
    match rows {
        Rows::Uniform(_) => Size::Const(bound),
        Rows::Splits(splits) => Size::input(Digest::of("longest row", (splits.digest(), bound)), bound),
    }
}

impl Node {
    /// A node of this recipe.
    pub(in crate::graph) fn recorded(
        backend: &BackendRef,
        op: &'static str,
        dtype: DType,
        extent: Extent,
        asserts: &[Self],
        recipe: Recipe,
    ) -> Self {
        // The digest depends on the set of conditions. The list keeps the order of recording, which is the same for
        // every batch.
        let mut seen = DigestSet::default();
        let asserts: Vec<Self> = asserts.iter().filter(|assert| seen.insert(assert.digest())).cloned().collect();
        let mut which: Vec<Digest> = asserts.iter().map(Self::digest).collect();
        which.sort_unstable();
        let digest = Digest::of("node", (backend.id(), dtype, &extent, &which, &recipe));
        // Created and dropped outside of the table's lock, since dropping the last reference to a node locks the table.
        let live_counts: Vec<Expr> = recipe.live_counts().chain(extent.live()).collect();
        intern(digest, || {
            let (mut depth, mut fallible) = (0, matches!(recipe, Recipe::Assert { .. }));
            for e in recipe.exprs().into_iter().chain(&live_counts) {
                depth = depth.max(e.depth());
                fallible |= e.is_fallible();
            }
            for n in recipe.array().into_iter().chain(&asserts) {
                depth = depth.max(n.depth());
                fallible |= n.is_fallible();
            }
            NodeData {
                digest,
                dtype,
                extent,
                backend: backend.clone(),
                op,
                recipe: Mutex::new(Some(Arc::new(recipe))),
                asserts: asserts.into(),
                depth: depth + 1,
                lengths: KnownLengths::NONE,
                vector_padded: true,
                planned_input: None,
                fallible,
                stored: OnceLock::new(),
            }
        })
    }

    /// Element `i` is `value` at `i`.
    pub(crate) fn map(backend: &BackendRef, op: &'static str, extent: Extent, value: Expr, asserts: &[Self]) -> Self {
        // The identity map of all of `x` is `x`.
        if let ExprKind::Load(n, i) = value.kind()
            && i.is_index()
            && n.extent().is_same(&extent)
            && asserts.is_empty()
        {
            return n.clone();
        }
        Self::recorded(backend, op, value.dtype(), extent, asserts, Recipe::Map { value, whole: false })
    }

    /// Splits of `nrows` rows: entry `i` is `start` at `i`, and entries beyond the live rows repeat the last live
    /// entry, up to the capacity. `start` at the number of rows must be the number of values.
    #[track_caller]
    pub(crate) fn splits(
        backend: &BackendRef,
        op: &'static str,
        nrows: &Extent,
        start: &Expr,
        asserts: &[Self],
    ) -> Result<Self> {
        let entries = nrows.plus(op, &Extent::known(1))?;
        if nrows.as_known().is_some() {
            return Ok(Self::map(backend, op, entries, start.clone(), asserts));
        }
        let value = start.at(&Expr::index().min(nrows.expr()));
        let recipe = Recipe::Map { value, whole: true };
        Ok(Self::recorded(backend, op, DType::U32, entries, asserts, recipe))
    }

    /// The last entry of splits or of a scan: the total. Entries beyond the live rows repeat it, so the index is the
    /// allocated length less 1, whatever the number of rows turns out to be.
    pub(crate) fn last_entry(&self) -> Expr {
        Expr::load(self, Expr::size(&Size::len(self).sub(1)))
    }

    /// The reduction of each row; see [`Recipe::Reduce`].
    #[track_caller]
    pub(crate) fn reduce(
        backend: &BackendRef,
        name: &'static str,
        reducer: impl Into<Reducer>,
        (rows, nrows): (Rows, Extent),
        nvals: Extent,
        inner: u32,
        value: Expr,
    ) -> Result<Self> {
        let extent = nrows.times("a row reduction", u64::from(inner))?;
        let dtype = value.dtype();
        let reducer = match reducer.into() {
            Reducer::Op(op @ (ReduceOp::Min | ReduceOp::Max)) if dtype.is_float() => {
                Reducer::Extreme(op, Empty::Finite)
            }
            reducer => reducer,
        };
        let recipe = Recipe::Reduce { reducer, on: RowDomain { rows, nrows, nvals, inner }, value };
        Ok(Self::recorded(backend, name, dtype, extent, &[], recipe))
    }

    /// Batched matrix products, `extent` numbers in all; see [`Recipe::Product`].
    pub(crate) fn product(
        backend: &BackendRef,
        op: &'static str,
        extent: Extent,
        product: Product,
        asserts: &[Self],
    ) -> Self {
        let dtype = product.operands[0].dtype();
        debug_assert_eq!(dtype, product.operands[1].dtype(), "bug: operands differ");
        Self::recorded(backend, op, dtype, extent, asserts, Recipe::Product(Box::new(product)))
    }

    /// Exclusive prefix sums, with the total at the end; see [`Recipe::Scan`].
    #[track_caller]
    pub(crate) fn scan(backend: &BackendRef, op: &'static str, count: Extent, value: Expr) -> Result<Self> {
        let extent = count.plus("an exclusive scan", &Extent::known(1))?;
        Ok(Self::recorded(backend, op, DType::U32, extent, &[], Recipe::Scan { value, count }))
    }

    /// The inclusive scan of each row; see [`Recipe::RowScan`].
    #[track_caller]
    pub(crate) fn row_scan(
        backend: &BackendRef,
        name: &'static str,
        op: ReduceOp,
        (rows, nrows): (Rows, Extent),
        nvals: Extent,
        inner: u32,
        value: Expr,
    ) -> Result<Self> {
        let extent = nvals.times("a row scan", u64::from(inner))?;
        let dtype = value.dtype();
        let recipe = Recipe::RowScan { op, on: RowDomain { rows, nrows, nvals, inner }, value };
        Ok(Self::recorded(backend, name, dtype, extent, &[], recipe))
    }

    /// Stable argsort of keys; see [`Recipe::Sort`].
    pub(crate) fn sort(backend: &BackendRef, op: &'static str, count: Extent, key: Expr, bits: u32) -> Self {
        Self::recorded(backend, op, DType::U32, count.clone(), &[], Recipe::Sort { key, count, bits })
    }

    /// Stable argsort of keys within each row of at most `longest` elements; see [`Recipe::RowSort`].
    pub(crate) fn row_sort(
        backend: &BackendRef,
        op: &'static str,
        (rows, nrows): (Rows, Extent),
        nvals: Extent,
        (key, bits): (Expr, u32),
        longest: u32,
    ) -> Self {
        let extent = nvals.clone();
        let longest = longest_row(&rows, row_lengths::class(longest));
        let on = RowDomain { rows, nrows, nvals, inner: 1 };
        Self::recorded(backend, op, DType::U32, extent, &[], Recipe::RowSort { on, key, bits, longest })
    }

    /// The hash of each row of bytes; see [`Recipe::Hash`].
    pub(crate) fn hash(
        backend: &BackendRef,
        name: &'static str,
        op: HashOp,
        (rows, nrows): (Rows, Extent),
        (byte, nbytes): (Expr, Extent),
    ) -> Self {
        let extent = nrows.clone();
        let longest =
            longest_row(&rows, row_lengths::string_class(SizeView::RECORDED.longest(&rows).min(nbytes.capacity())));
        let on = RowDomain { rows, nrows, nvals: nbytes, inner: 1 };
        let recipe = Recipe::Hash { op, on, byte, longest };
        Self::recorded(backend, name, DType::U64, extent, &[], recipe)
    }

    /// The number of positions below `count` with each key, for the keys below `bins`; see [`Recipe::Histogram`].
    pub(crate) fn histogram(backend: &BackendRef, op: &'static str, count: Extent, key: Expr, bins: Extent) -> Self {
        debug_assert_eq!(key.dtype(), DType::U32, "bug: a key of another type");
        Self::recorded(backend, op, DType::U32, bins, &[], Recipe::Histogram { key, count })
    }

    /// The positions of the `k` smallest keys of each row of at most `longest` elements; see [`Recipe::TopK`].
    ///
    /// # Errors
    /// 2^32 - 1 results or more.
    #[track_caller]
    pub(crate) fn top_k(
        backend: &BackendRef,
        op: &'static str,
        (rows, nrows): (Rows, Extent),
        nvals: Extent,
        (key, k): (Expr, u32),
        longest: u32,
    ) -> Result<Self> {
        debug_assert!((1..=MAX_K).contains(&k), "bug: a selection of {k}");
        let extent = nrows.times("a selection of each row", u64::from(k))?;
        let longest = longest_row(&rows, row_lengths::class(longest));
        let on = RowDomain { rows, nrows, nvals, inner: 1 };
        Ok(Self::recorded(backend, op, DType::U32, extent, &[], Recipe::TopK { on, key, k, longest }))
    }

    /// The folds of `value` by `key` within tiles; see [`Recipe::TileFold`].
    ///
    /// # Errors
    /// 2^32 - 1 results or more.
    #[track_caller]
    pub(crate) fn tile_fold(
        backend: &BackendRef,
        name: &'static str,
        op: ReduceOp,
        count: Extent,
        (key, slots): (Expr, u32),
        value: Expr,
    ) -> Result<Self> {
        debug_assert!(slots <= MAX_SLOTS, "bug: {slots} slots");
        let extent = tile_fold::tiles(&count)?.times("folds of tiles", u64::from(slots))?;
        let dtype = value.dtype();
        Ok(Self::recorded(backend, name, dtype, extent, &[], Recipe::TileFold { op, key, value, count, slots }))
    }

    /// A condition over positions, to be passed to [`Node::map`]; see [`Recipe::Assert`].
    pub(crate) fn assert(backend: &BackendRef, count: Extent, ok: Expr, check: Arc<Check>) -> Self {
        Self::recorded(backend, check.op, DType::Bool, Extent::known(0), &[], Recipe::Assert { ok, count, check })
    }
}
