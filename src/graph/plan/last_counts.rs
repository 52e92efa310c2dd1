//! The counts that programs came to when they ran last: what [`Explain`](crate::Explain) takes for sizes that are not
//! known before a run.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use crate::graph::digest::Rehash;
use crate::graph::program::{Bindings, Program, SizeId, trace};

/// How many counts are remembered.
const CAPACITY: usize = 1024;

/// How a count is computed: the program of the array that holds it, and the index there. Whatever else a program
/// computes, the count is the same.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CountKey {
    program: Program,
    /// None of an index that is a size.
    at: Option<u32>,
}

impl Hash for CountKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Those of one array are told apart by comparison.
        self.program.hash(state);
    }
}

impl CountKey {
    /// Of a count of the program that the host does not know.
    pub(crate) fn new(program: &Program, bindings: &Bindings, count: SizeId) -> Option<Self> {
        let (array, at) = program.count_place(count)?;
        let node = bindings.node(array).clone();
        Some(Self { program: trace(&[node]).0, at })
    }
}

/// A count of a run.
#[derive(Debug, Clone, Copy)]
struct LastCount {
    /// Its upper bound by the sizes that were known then.
    bound: u32,
    value: u32,
}

/// The values of counts, by how they are computed.
#[derive(Debug, Default)]
pub(crate) struct LastCounts(Mutex<HashMap<Arc<CountKey>, LastCount, BuildHasherDefault<Rehash>>>);

impl LastCounts {
    /// Stores the value of a count, and its upper bound.
    pub(crate) fn put(&self, key: &Arc<CountKey>, bound: u32, value: u32) {
        let last = LastCount { bound, value };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get_mut(key) {
            *known = last;
            return;
        }
        if all.len() >= CAPACITY {
            all.clear();
        }
        all.insert(key.clone(), last);
    }

    /// Replaces the bounds of counts by the values of the last run. A value is taken where its bound was that in
    /// `bounds`: the run had inputs of the same sizes.
    pub(crate) fn apply(&self, program: &Program, bindings: &mut Bindings, bounds: &[u32]) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for id in program.counts() {
            if let Some(key) = CountKey::new(program, bindings, id)
                && let Some(last) = all.get(&key)
                && last.bound == bounds[id.index()]
            {
                bindings.sizes[id.index()].1 = last.value;
            }
        }
        program.recompute(&mut bindings.sizes);
    }
}
