//! The programs, by family. Each family has a golden file per device.

mod chains;
mod elementwise;
mod groups;
mod jobs;
mod moved;
mod orders;
mod products;
mod recurrences;
mod reductions;
mod selected;
mod shapes;
mod sparse;
mod strings;

use ragged::{Result, Tensor};

use crate::sample::Sample;

/// A program: its name, and what it requests of a sample.
pub type Program = (&'static str, fn(&Sample) -> Result<Vec<Tensor>>);

/// A family: the name of its golden files, and its programs.
pub type Family = (&'static str, &'static [Program]);

/// All families that run over a [`Sample`].
pub const FAMILIES: [Family; 13] = [
    ("chains", chains::PROGRAMS),
    ("elementwise", elementwise::PROGRAMS),
    ("groups", groups::PROGRAMS),
    ("jobs", jobs::PROGRAMS),
    ("moved", moved::PROGRAMS),
    ("orders", orders::PROGRAMS),
    ("products", products::PROGRAMS),
    ("recurrences", recurrences::PROGRAMS),
    ("reductions", reductions::PROGRAMS),
    ("selected", selected::PROGRAMS),
    ("shapes", shapes::PROGRAMS),
    ("sparse", sparse::PROGRAMS),
    ("strings", strings::PROGRAMS),
];

/// One requested tensor.
fn one(tensor: Result<Tensor>) -> Result<Vec<Tensor>> {
    Ok(vec![tensor?])
}

/// Two tensors, requested together.
fn two(pair: Result<(Tensor, Tensor)>) -> Result<Vec<Tensor>> {
    let (a, b) = pair?;
    Ok(vec![a, b])
}
