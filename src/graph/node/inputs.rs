//! Nodes of existing arrays.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::{NodeData, Stored, intern};
use crate::dtype::DType;
use crate::graph::digest::Digest;
use crate::graph::row_lengths::KnownLengths;
use crate::graph::size::RunInput;
use crate::graph::{BackendRef, Extent, Node};

/// What the kernels that read an input depend on.
pub(in crate::graph) struct InputForm {
    pub(in crate::graph) dtype: DType,
    pub(in crate::graph) extent: Extent,
    /// Whether the array depends on conditions.
    pub(in crate::graph) fallible: bool,
    /// Whether the storage extends to a multiple of 16 bytes.
    pub(in crate::graph) vector_padded: bool,
}

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
        // Buffers of the user's program may have no padding.
        let vector_padded = !borrowed || (u64::from(len) * dtype.size() as u64).is_multiple_of(16);
        let form = InputForm { dtype, extent, fallible: false, vector_padded };
        Self::stored_input(backend, digest, form, lengths, stored)
    }

    /// What a run knows of the node as an input, once it is computed.
    pub(crate) fn as_run_input(&self) -> Option<RunInput> {
        Some(RunInput { len: self.stored()?.len, lengths: self.known_lengths() })
    }

    /// A result of a run of a traced program.
    pub(crate) fn result(backend: &BackendRef, dtype: DType, extent: Extent, stored: Stored) -> Self {
        let digest = Digest::of("result", NEXT_SOURCE.fetch_add(1, Ordering::Relaxed));
        let form = InputForm { dtype, extent, fallible: !stored.status.is_empty(), vector_padded: true };
        Self::stored_input(backend, digest, form, KnownLengths::NONE, stored)
    }

    /// A node without a recipe, stored from the start.
    fn stored_input(
        backend: &BackendRef,
        digest: Digest,
        form: InputForm,
        lengths: KnownLengths,
        stored: Stored,
    ) -> Self {
        Self::without_recipe(backend, digest, form, lengths, OnceLock::from(stored))
    }

    fn without_recipe(
        backend: &BackendRef,
        digest: Digest,
        InputForm { dtype, extent, fallible, vector_padded }: InputForm,
        lengths: KnownLengths,
        stored: OnceLock<Stored>,
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
            lengths,
            vector_padded,
            fallible,
            scope: None,
            stored,
        })
    }

    /// An input of a program that is traced: neither computed nor stored.
    pub(in crate::graph) fn traced_input(backend: &BackendRef, digest: Digest, form: InputForm) -> Self {
        Self::without_recipe(backend, digest, form, KnownLengths::NONE, OnceLock::new())
    }

    /// As [`Self::traced_input`], for an array of the user's inputs. Other runs may have conditions for it.
    pub(crate) fn traced(backend: &BackendRef, identity: Digest, dtype: DType, extent: Extent) -> Self {
        let form = InputForm { dtype, extent, fallible: true, vector_padded: true };
        Self::traced_input(backend, Digest::of("traced input", identity), form)
    }

    /// Whether this is an input of a program that is traced.
    pub(crate) fn is_traced(&self) -> bool {
        self.stored().is_none() && self.recipe().is_none() && self.stored().is_none()
    }
}
