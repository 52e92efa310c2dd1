//! Functions of elements in files: the WGSL without its Rust side.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::wgsl::{validated, without_prefix};
use crate::dtype::DType;
use crate::error::caller;
use crate::graph::digest::Digest;
use crate::graph::function::{Function, FunctionData, FunctionDef};

/// A function in a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedFunction {
    name: String,
    parameters: Vec<DType>,
    result: DType,
    /// The text without comments.
    wgsl: String,
}

impl SavedFunction {
    pub(crate) fn of(function: &Function) -> Self {
        let FunctionDef { name, parameters, result, wgsl } = &**function.def();
        let (parameters, wgsl) = (parameters.clone(), without_prefix(name, wgsl));
        Self { name: name.clone(), parameters, result: *result, wgsl }
    }

    /// The function: the one of those that has the same name, signature and text, or one without a Rust side.
    ///
    /// # Errors
    /// WGSL that is invalid, or does not fit its signature; a function of this name among `known` that differs.
    #[track_caller]
    pub(crate) fn function(&self, known: &[Function]) -> Result<Function, String> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let Self { name, parameters, result, wgsl } = self;
        let text = validated(name, wgsl, parameters, *result);
        let wgsl = text.map_err(|fault| format!("element function {name}: {}", fault.what))?;
        let def = FunctionDef { name: name.clone(), parameters: parameters.clone(), result: *result, wgsl };
        let mut of_name = known.iter().filter(|f| f.name() == name).peekable();
        if of_name.peek().is_some() {
            let same = of_name.find(|f| **f.def() == def).cloned();
            return same.ok_or_else(|| {
                format!("element function {name} has another text or signature than the registered one")
            });
        }
        Ok(Function::new(FunctionData {
            def: Arc::new(def),
            identity: Digest::of("function of a file", NEXT.fetch_add(1, Ordering::Relaxed)),
            rust: None,
            derivatives: Vec::new(),
            location: caller(),
        }))
    }
}
