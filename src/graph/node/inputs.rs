//! Nodes of existing arrays, and nodes of plans.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::{NodeData, Recipe, Stored, intern};
use crate::dtype::DType;
use crate::graph::digest::Digest;
use crate::graph::row_lengths::KnownLengths;
use crate::graph::{BackendRef, Extent, Node};

static NEXT_SOURCE: AtomicU64 = AtomicU64::new(0);

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

    /// Existing row splits: their number, and the lengths of their rows as far as the host knows them.
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
        intern(digest, || NodeData {
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

    /// Planned node of a program's input. Its storage is bound when the plan runs.
    pub(in crate::graph) fn planned_input(
        backend: &BackendRef,
        digest: Digest,
        form: (DType, Extent, KnownLengths),
        fallible: bool,
        borrowed: bool,
    ) -> Self {
        let stored = Stored { data: Arc::new(()), status: Arc::from([]), len: 0 };
        Self::stored_input(backend, digest, form, fallible, borrowed, stored)
    }

    /// Planned node of an array that a program computes.
    pub(in crate::graph) fn planned(
        backend: &BackendRef,
        digest: Digest,
        op: &'static str,
        (dtype, extent, fallible): (DType, Extent, bool),
        asserts: Vec<Self>,
        recipe: Recipe,
    ) -> Self {
        intern(digest, || NodeData {
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
}
