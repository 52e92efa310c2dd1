//! The counts that programs came to when they ran last: what [`Explain`](crate::Explain) takes for sizes that are not
//! known before a run.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{Mutex, PoisonError};

use crate::graph::digest::{Digest, DigestMap, Rehash};
use crate::graph::program::{Bindings, Program};

/// How many programs are remembered.
const CAPACITY: usize = 64;

/// The numbers of counts in their program, with their values.
type Counts = Vec<(usize, u32)>;

/// The counts of each program.
#[derive(Debug, Default)]
pub(crate) struct LastCounts(Mutex<HashMap<Program, Counts, BuildHasherDefault<Rehash>>>);

/// The counts of a program that is about to run in stages: they become known one stage after another.
#[derive(Debug)]
pub(crate) struct Counting {
    program: Program,
    numbers: DigestMap<usize>,
    values: Counts,
}

impl Counting {
    /// None of the counts is known.
    pub(crate) fn new(program: Program, bindings: &Bindings) -> Self {
        let counts = program.counts().into_iter();
        let numbers = counts.map(|id| (bindings.sizes[id.index()].0.digest(), id.index())).collect();
        Self { program, numbers, values: Vec::new() }
    }

    /// Notes the value of a count.
    pub(crate) fn note(&mut self, count: Digest, value: u32) {
        if let Some(&number) = self.numbers.get(&count) {
            self.values.push((number, value));
        }
    }
}

impl LastCounts {
    /// Remembers the counts of a run.
    pub(crate) fn put(&self, counting: Counting) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= CAPACITY && !all.contains_key(&counting.program) {
            all.clear();
        }
        all.insert(counting.program, counting.values);
    }

    /// The counts of the last run of the program.
    pub(crate) fn get(&self, program: &Program) -> Counts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(program).cloned().unwrap_or_default()
    }
}
