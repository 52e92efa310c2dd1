//! Storage arrays of a kernel: their names, element types and bindings.

use std::borrow::Cow;

use super::types::{elements_per_word, storage_type, vector_type};
use crate::dtype::DType;
use crate::graph::planned::Node;

/// The buffer that a storage array is bound to.
#[derive(Debug, Clone)]
pub(crate) enum Binding {
    /// A stored array, read.
    Read(Node),
    /// An output of the step, by index.
    Output(usize),
    /// A scratch buffer, by index.
    Scratch(usize),
    /// A scratch buffer that is only read, by index.
    ScratchRead(usize),
    /// The status block.
    Status,
}

impl Binding {
    /// Whether the kernel only reads the array.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self, Self::Read(_) | Self::ScratchRead(_))
    }
}

/// The element type of a storage array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Element {
    /// The WGSL type of a value.
    pub(super) ty: Cow<'static, str>,
    /// Bytes per element in storage: the array's stride.
    pub(crate) bytes: u64,
    /// Whether the array's elements are atomics.
    pub(super) is_atomic: bool,
}

impl Element {
    /// A word.
    pub(crate) const WORD: Self = Self { ty: Cow::Borrowed("u32"), bytes: 4, is_atomic: false };

    /// An atomic word.
    pub(crate) const ATOMIC: Self = Self { ty: Cow::Borrowed("u32"), bytes: 4, is_atomic: true };

    /// A WGSL type of that many bytes.
    pub(crate) fn new(ty: impl Into<Cow<'static, str>>, bytes: usize) -> Self {
        Self { ty: ty.into(), bytes: bytes as u64, is_atomic: false }
    }

    /// One element of the dtype, or one word of packed elements.
    pub(crate) fn of(dtype: DType) -> Self {
        Self::new(storage_type(dtype), dtype.size().max(4))
    }

    /// As [`Self::of`], with words of packed elements as atomics: several invocations set bits of one word.
    pub(crate) fn of_shared_words(dtype: DType) -> Self {
        if elements_per_word(dtype) > 1 { Self::ATOMIC } else { Self::of(dtype) }
    }

    /// Four elements of the dtype.
    pub(crate) fn vector(dtype: DType) -> Self {
        Self::new(vector_type(dtype), 4 * dtype.size())
    }
}

/// A storage array that a kernel declares.
#[derive(Debug, Clone)]
pub(crate) struct StorageArray {
    pub(super) name: Cow<'static, str>,
    pub(crate) element: Element,
    pub(crate) binding: Binding,
    /// Whether the kernel queries the bound range, by the functions `first_{name}` and `len_{name}`.
    pub(super) has_range: bool,
}

impl StorageArray {
    pub(crate) fn new(name: impl Into<Cow<'static, str>>, element: Element, binding: Binding) -> Self {
        Self { name: name.into(), element, binding, has_range: false }
    }
}
