//! Nodes: one-dimensional arrays of numbers, stored or not yet computed.
//!
//! A node has a dtype, an [`Extent`] and a [`Recipe`]. Nodes are hash-consed: recording the same array twice gives the
//! same node, so that equal partitions are identical and common subexpressions are computed once. An evaluated node
//! keeps its result and drops its recipe, which releases the recipe's inputs.

use std::any::Any;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, Weak};

use super::backend::{BackendRef, Status};
use super::digest::{Digest, DigestMap};
use super::expr::{Check, Expr};
use super::extent::Extent;
use super::opcode::{HashOp, ReduceOp};
use super::rank_bitmap::{self, RankBitmap};
pub(crate) use super::recipe::{Product, Recipe, RowDomain, Rows};
use super::reducer::Reducer;
use super::row_lengths::{self, KnownLengths};
use super::size::Size;
use crate::dtype::DType;
use crate::error::Result;

/// A result: storage of the node's backend, and the device-side conditions that it depends on.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    /// Storage of a type of the backend's own.
    pub(crate) data: Arc<dyn Any + Send + Sync>,
    /// The conditions to check before the data is trusted.
    pub(crate) status: Arc<[Status]>,
    /// Number of elements allocated: the capacity at that time.
    pub(crate) len: u32,
}

#[derive(Debug)]
struct Inner {
    digest: Digest,
    dtype: DType,
    extent: Extent,
    backend: BackendRef,
    /// The operation that first recorded the node, for `explain`; not part of the digest.
    op: &'static str,
    recipe: Mutex<Option<Arc<Recipe>>>,
    /// Conditions that must hold for this node to be valid, besides those of its inputs.
    asserts: Box<[Node]>,
    /// Length of the longest chain of unevaluated nodes that ends with this one: a bound of the depth of walks.
    depth: u32,
    /// For splits: row lengths as far as the host knows them; not part of the digest.
    lengths: Mutex<KnownLengths>,
    /// Whether the storage belongs to the user's program. Such a buffer ends where the array does.
    borrowed: bool,
    /// Whether reading the node may fail: it has a condition, or one of its direct or indirect inputs has.
    fallible: bool,
    stored: OnceLock<Stored>,
}

/// A one-dimensional array of numbers on one backend; cheap to clone, compared by structure.
#[derive(Clone)]
pub(crate) struct Node(Arc<Inner>);

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Node({} {} x{})", self.0.digest.short(), self.0.dtype, self.0.extent.capacity())
    }
}
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.0.digest == other.0.digest
    }
}
impl Eq for Node {}
impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.digest.hash(state);
    }
}

/// All live nodes by digest. The lock is held only for a look-up or an insertion.
static INTERNED: LazyLock<Mutex<DigestMap<Weak<Inner>>>> = LazyLock::new(Mutex::default);
static NEXT_SOURCE: AtomicU64 = AtomicU64::new(0);

fn intern(digest: Digest, make: impl FnOnce() -> Inner) -> Node {
    let mut table = INTERNED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(found) = table.get(&digest).and_then(Weak::upgrade) {
        return Node(found);
    }
    let node = Arc::new(make());
    table.insert(digest, Arc::downgrade(&node));
    Node(node)
}

impl Drop for Inner {
    fn drop(&mut self) {
        // An equal node may have replaced this entry since; keep its entry.
        let mut table = INTERNED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if table.get(&self.digest).is_some_and(|w| w.strong_count() == 0) {
            table.remove(&self.digest);
        }
    }
}

/// Upper bound of the row lengths, as a size. Changes neither results nor plans.
fn longest_row(rows: &Rows, bound: u32) -> Size {
    match rows {
        Rows::Uniform(_) => Size::Const(bound),
        Rows::Splits(splits) => Size::input(Digest::of("longest row", (splits.digest(), bound)), bound),
    }
}

impl Node {
    /// An existing array in the backend's own storage.
    pub(crate) fn source(backend: &BackendRef, dtype: DType, len: u32, data: Arc<dyn Any + Send + Sync>) -> Self {
        Self::sourced(backend, dtype, (len, KnownLengths::NONE), false, data)
    }

    /// An existing array in storage that belongs to the user's program.
    pub(crate) fn borrowed_source(
        backend: &BackendRef,
        dtype: DType,
        len: u32,
        data: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        Self::sourced(backend, dtype, (len, KnownLengths::NONE), true, data)
    }

    /// Existing splits: their number, and the known lengths of their rows.
    pub(crate) fn source_splits(
        backend: &BackendRef,
        of: (u32, KnownLengths),
        data: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        Self::sourced(backend, DType::U32, of, false, data)
    }

    fn sourced(
        backend: &BackendRef,
        dtype: DType,
        (len, lengths): (u32, KnownLengths),
        borrowed: bool,
        data: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        let digest = Digest::of("source", NEXT_SOURCE.fetch_add(1, Ordering::Relaxed));
        let extent = if len <= 1 { Extent::known(len) } else { Extent::input(digest, len) };
        let stored = Stored { data, status: Arc::from([]), len };
        Self::stored_input(backend, digest, (dtype, extent, lengths), false, borrowed, stored)
    }

    /// A node without a recipe, stored from the start.
    fn stored_input(
        backend: &BackendRef,
        digest: Digest,
        (dtype, extent, lengths): (DType, Extent, KnownLengths),
        fallible: bool,
        borrowed: bool,
        stored: Stored,
    ) -> Self {
        intern(digest, || Inner {
            digest,
            dtype,
            extent,
            backend: backend.clone(),
            op: "source",
            recipe: Mutex::new(None),
            asserts: Box::default(),
            depth: 0,
            lengths: Mutex::new(lengths),
            borrowed,
            fallible,
            stored: OnceLock::from(stored),
        })
    }

    fn recorded(
        backend: &BackendRef,
        op: &'static str,
        dtype: DType,
        extent: Extent,
        asserts: &[Self],
        recipe: Recipe,
    ) -> Self {
        // The digest depends on the set of conditions. The list keeps the order of recording, which is the same for
        // every batch.
        let mut conditions: Vec<Self> = Vec::with_capacity(asserts.len());
        for assert in asserts {
            if !conditions.contains(assert) {
                conditions.push(assert.clone());
            }
        }
        let asserts = conditions;
        let mut which: Vec<Digest> = asserts.iter().map(Self::digest).collect();
        which.sort_unstable();
        let digest = Digest::of("node", (backend.id(), dtype, &extent, &which, &recipe));
        // Created and dropped outside of the table's lock: each expression may hold the last reference to a node.
        let lives: Vec<Expr> = recipe.lives().chain(extent.live()).collect();
        intern(digest, || {
            let (mut depth, mut fallible) = (0, matches!(recipe, Recipe::Assert { .. }));
            for e in recipe.exprs().into_iter().chain(&lives) {
                depth = depth.max(e.depth());
                fallible |= e.is_fallible();
            }
            for n in recipe.array().into_iter().chain(&asserts) {
                depth = depth.max(n.depth());
                fallible |= n.is_fallible();
            }
            Inner {
                digest,
                dtype,
                extent,
                backend: backend.clone(),
                op,
                recipe: Mutex::new(Some(Arc::new(recipe))),
                asserts: asserts.into(),
                depth: depth + 1,
                lengths: Mutex::new(KnownLengths::NONE),
                borrowed: false,
                fallible,
                stored: OnceLock::new(),
            }
        })
    }

    /// An input of a program, as a planned node: its storage is bound when the plan runs.
    pub(super) fn planned_input(
        backend: &BackendRef,
        digest: Digest,
        form: (DType, Extent, KnownLengths),
        fallible: bool,
        borrowed: bool,
    ) -> Self {
        let stored = Stored { data: Arc::new(()), status: Arc::from([]), len: 0 };
        Self::stored_input(backend, digest, form, fallible, borrowed, stored)
    }

    /// A computed array of a program, as a planned node.
    pub(super) fn planned(
        backend: &BackendRef,
        digest: Digest,
        op: &'static str,
        (dtype, extent, fallible): (DType, Extent, bool),
        asserts: Vec<Self>,
        recipe: Recipe,
    ) -> Self {
        intern(digest, || Inner {
            digest,
            dtype,
            extent,
            backend: backend.clone(),
            op,
            recipe: Mutex::new(Some(Arc::new(recipe))),
            asserts: asserts.into(),
            depth: 1,
            lengths: Mutex::new(KnownLengths::NONE),
            borrowed: false,
            fallible,
            stored: OnceLock::new(),
        })
    }

    /// Element `i` is `value` at `i`.
    pub(crate) fn map(backend: &BackendRef, op: &'static str, extent: Extent, value: Expr, asserts: &[Self]) -> Self {
        // The identity map of all of `x` is `x`.
        if let super::expr::ExprKind::Load(n, i) = value.kind()
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

    /// The reduction of each row; see [`Recipe::Reduce`].
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
        let reducer = reducer.into();
        let dtype = value.dtype();
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
    pub(crate) fn scan(backend: &BackendRef, op: &'static str, count: Extent, value: Expr) -> Result<Self> {
        let extent = count.plus("an exclusive scan", &Extent::known(1))?;
        Ok(Self::recorded(backend, op, DType::U32, extent, &[], Recipe::Scan { value, count }))
    }

    /// The inclusive scan of each row; see [`Recipe::RowScan`].
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
        let longest = longest_row(&rows, row_lengths::string_class(rows.longest().min(nbytes.capacity())));
        let on = RowDomain { rows, nrows, nvals: nbytes, inner: 1 };
        let recipe = Recipe::Hash { op, on, byte, longest };
        Self::recorded(backend, name, DType::U64, extent, &[], recipe)
    }

    /// Rank bitmap of the positions at which `keep` holds; see [`Recipe::RankBitmap`].
    pub(super) fn marks(backend: &BackendRef, name: &'static str, keep: Expr, count: Extent) -> Self {
        let extent = Extent::of(rank_bitmap::words_size(count.size())).whole();
        Self::recorded(backend, name, DType::U32, extent, &[], Recipe::RankBitmap { keep, count })
    }

    /// The values of the marked positions, `inner` numbers per position, `extent` numbers in all; see
    /// [`Recipe::Compact`].
    pub(crate) fn compact(
        backend: &BackendRef,
        name: &'static str,
        marks: &RankBitmap,
        (value, inner): (Expr, u32),
        extent: Extent,
    ) -> Self {
        let dtype = value.dtype();
        let recipe = Recipe::Compact { marks: marks.node().clone(), value, count: marks.count().clone(), inner };
        Self::recorded(backend, name, dtype, extent, &[], recipe)
    }

    /// A condition over positions, to be passed to [`Node::map`]; see [`Recipe::Assert`].
    pub(crate) fn assert(backend: &BackendRef, count: Extent, ok: Expr, check: Arc<Check>) -> Self {
        Self::recorded(backend, check.op, DType::Bool, Extent::known(0), &[], Recipe::Assert { ok, count, check })
    }

    pub(crate) fn digest(&self) -> Digest {
        self.0.digest
    }
    /// Address of the node's allocation.
    pub(super) fn address(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }
    /// Number of references to the node's allocation.
    pub(super) fn references(&self) -> usize {
        Arc::strong_count(&self.0)
    }
    pub(crate) fn dtype(&self) -> DType {
        self.0.dtype
    }
    pub(crate) fn extent(&self) -> &Extent {
        &self.0.extent
    }
    pub(crate) fn backend(&self) -> &BackendRef {
        &self.0.backend
    }
    /// The operation that recorded the node.
    pub(crate) fn op(&self) -> &'static str {
        self.0.op
    }
    pub(crate) fn asserts(&self) -> &[Self] {
        &self.0.asserts
    }
    /// Upper bound of the depth of a walk through unevaluated nodes from here; 0 once evaluated.
    pub(crate) fn depth(&self) -> u32 {
        if self.stored().is_some() { 0 } else { self.0.depth }
    }
    /// For splits: upper bound of the row lengths, as far as the host knows.
    pub(super) fn longest_row(&self) -> u32 {
        self.known_lengths().longest
    }
    /// For splits: row lengths as far as the host knows them.
    pub(super) fn known_lengths(&self) -> KnownLengths {
        *self.0.lengths.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
    /// For a planned input: sets the row lengths that are known in this run.
    pub(super) fn set_known_lengths(&self, lengths: KnownLengths) {
        *self.0.lengths.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = lengths;
    }
    /// For splits: length class of the longest row, as far as the host knows.
    pub(super) fn longest_class(&self) -> u32 {
        row_lengths::class(self.longest_row())
    }
    /// For splits: upper bound of the number of values in rows longer than `BLOCK`.
    pub(super) fn values_in_long_rows(&self) -> u32 {
        self.known_lengths().in_long_rows
    }
    /// Whether GPU storage of the array extends to a multiple of 16 bytes. A buffer of the user's program need not.
    pub(crate) fn ends_with_a_vector(&self) -> bool {
        !self.0.borrowed || self.bytes().is_multiple_of(16)
    }
    /// Whether reading the node may fail, by a condition of its own or of its inputs. Overflowing sums of sizes are not
    /// counted.
    pub(crate) fn is_fallible(&self) -> bool {
        self.0.fallible
    }
    /// The result, once evaluated.
    pub(crate) fn stored(&self) -> Option<&Stored> {
        self.0.stored.get()
    }
    /// The recipe, until the node is evaluated.
    pub(crate) fn recipe(&self) -> Option<Arc<Recipe>> {
        if self.stored().is_some() {
            return None;
        }
        self.0.recipe.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
    /// The summands of an unevaluated scan; `None` if they have conditions.
    pub(crate) fn summed(&self) -> Option<Expr> {
        match self.recipe().as_deref() {
            Some(Recipe::Scan { value, .. }) if !value.has_conditions() => Some(value.clone()),
            _ => None,
        }
    }
    /// Sets the result on the first call, and drops the recipe.
    pub(crate) fn set_stored(&self, stored: Stored) {
        let _ = self.0.stored.set(stored);
        let dropped = self.0.recipe.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        drop(dropped);
    }
    /// Bytes of storage at the capacity.
    pub(crate) fn bytes(&self) -> u64 {
        u64::from(self.extent().capacity()) * self.dtype().size() as u64
    }
}
