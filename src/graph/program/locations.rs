//! What a recording knows of its program beside the computation: the checks, with the texts of their errors and the
//! lines of the user's calls, and the Rust functions of the user.

use std::sync::Arc;

use super::{CheckId, FunctionId, NameId, Program};
use crate::graph::digest::{Digest, DigestMap};
use crate::graph::expr::Check;
use crate::graph::function::Function;

/// The checks, functions and names of one recording of a program, by their numbers in it. Recordings of one program may
/// have different checks: messages name shapes, and the same operations may be called at several lines.
#[derive(Debug, Default)]
pub(crate) struct Locations {
    checks: Vec<Arc<Check>>,
    functions: Vec<Function>,
    names: Vec<&'static str>,
    /// The numbers of the checks.
    numbers: DigestMap<CheckId>,
}

impl Locations {
    /// The checks, functions and names of a program from a file.
    #[cfg(feature = "saved")]
    pub(crate) fn of_file(checks: Vec<Arc<Check>>, functions: Vec<Function>, names: Vec<&'static str>) -> Self {
        Self { checks, functions, names, numbers: DigestMap::default() }
    }

    /// The checks of the recording, by number.
    #[cfg(feature = "saved")]
    pub(crate) fn checks(&self) -> &[Arc<Check>] {
        &self.checks
    }

    /// The check of that number.
    pub(crate) fn check(&self, check: CheckId) -> Arc<Check> {
        self.checks[check.index()].clone()
    }

    /// The function of that number.
    pub(super) fn function(&self, function: FunctionId) -> Function {
        self.functions[function.index()].clone()
    }

    /// The functions of the recording, by number.
    pub(crate) fn functions(&self) -> Arc<[Function]> {
        if self.functions.is_empty() { Arc::default() } else { self.functions.as_slice().into() }
    }

    /// The number of a function in the program; the next one if it has none.
    pub(super) fn function_in(&mut self, program: &mut Program, function: &Function) -> FunctionId {
        let known = self.functions.iter().position(|known| known == function);
        let number = known.unwrap_or_else(|| {
            self.functions.push(function.clone());
            program.functions.push(function.def().clone());
            self.functions.len() - 1
        });
        FunctionId(number as u32)
    }

    /// The name of that number.
    pub(in crate::graph) fn name(&self, name: NameId) -> &'static str {
        self.names[name.0 as usize]
    }

    /// The number of a check; the next one if it has none.
    pub(super) fn number(&mut self, check: &Arc<Check>) -> CheckId {
        let next = CheckId(self.checks.len() as u32);
        let number = *self.numbers.entry(Digest::of("check", check)).or_insert(next);
        if number == next {
            self.checks.push(check.clone());
        }
        number
    }

    /// The number of a name in the program; the next one if it has none.
    pub(super) fn name_in(&mut self, program: &mut Program, name: &'static str) -> NameId {
        let known = self.names.iter().position(|known| *known == name);
        let number = known.unwrap_or_else(|| {
            self.names.push(name);
            program.names.push(name.into());
            self.names.len() - 1
        });
        NameId(number as u32)
    }
}
