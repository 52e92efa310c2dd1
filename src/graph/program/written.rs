//! Parts of a program that a file has apart from each other.

use std::sync::Arc;

use super::{ByNumber, Program};
use crate::graph::function::FunctionDef;
use crate::graph::refs::SavedRefs;
use crate::graph::scalar::param::ScalarDef;

impl SavedRefs for ByNumber {}

impl Program {
    /// The program with the functions of the user, which a file has apart from it.
    pub(crate) fn with_functions(self, functions: Vec<Arc<FunctionDef>>) -> Self {
        Self { functions, ..self }.hashed()
    }

    /// A copy, to be written.
    pub(crate) fn copied(&self) -> Self {
        let Self { hash, sizes, scalars, exprs, arrays, functions, names, outputs } = self;
        let (sizes, scalars, exprs, arrays) = (sizes.clone(), scalars.clone(), exprs.clone(), arrays.clone());
        let (functions, names, outputs) = (functions.clone(), names.clone(), outputs.clone());
        Self { hash: *hash, sizes, scalars, exprs, arrays, functions, names, outputs }
    }

    /// The scalar parameters.
    pub(crate) fn scalars(&self) -> &[ScalarDef] {
        &self.scalars
    }

    /// The names of the operations that recorded arrays.
    pub(crate) fn names(&self) -> &[Box<str>] {
        &self.names
    }
}
