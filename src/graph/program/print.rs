//! A program as text: one line per array, for [`Explain`](crate::Explain) and for debugging.

use std::fmt;

use super::{ArrayDef, InputDef, Program};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, array) in self.arrays.iter().enumerate() {
            match array {
                ArrayDef::Input(InputDef { dtype, .. }) => writeln!(f, "a{k}: {dtype} = input")?,
                ArrayDef::Computed { dtype, op, recipe, .. } => {
                    let op = &self.names[op.0 as usize];
                    writeln!(f, "a{k}: {dtype} = {} ({op})", recipe.family())?;
                }
            }
        }
        let outputs: Vec<String> = self.outputs.iter().map(|a| format!("a{}", a.index())).collect();
        writeln!(f, "return {}", outputs.join(", "))
    }
}
