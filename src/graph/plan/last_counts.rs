//! Counts of the last run of each program, by which the next one decides what to read first, and which
//! [`Explain`](crate::Explain) uses for sizes that are not known before a run.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use crate::graph::digest::IdentityHasher;
use crate::graph::program::{Bindings, CountPlace, Program, SizeId, program_of};

/// Maximum number of remembered counts.
const CAPACITY: usize = 1024;

/// Maximum number of arrays on which a remembered count depends. Bounds the time and the memory of keys, each of which
/// contains a program.
const MAX_ARRAYS: usize = 256;

/// Identity of a count: the program that computes the array of the count, and its place in the array. Independent
/// of the other outputs of a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CountKey {
    program: Program,
    place: CountPlace,
}

impl Hash for CountKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Counts in one array are distinguished by comparison.
        self.program.hash(state);
    }
}

impl CountKey {
    /// The keys of the counts of a program that are remembered.
    pub(crate) fn of_program(program: &Program, bindings: &Bindings) -> impl Iterator<Item = (SizeId, Self)> {
        let key = |count| Some((count, Self::new(program, bindings, count)?));
        program.counts().into_iter().filter_map(key).take(CAPACITY)
    }

    /// The key of a count of the program that the host does not know; `None` if its array is stored, or depends on too many
    /// arrays.
    pub(crate) fn new(program: &Program, bindings: &Bindings, count: SizeId) -> Option<Self> {
        let (array, place) = program.count_location(count)?;
        program.computed(array)?;
        let node = bindings.node(array).clone();
        if node.depth() as usize > MAX_ARRAYS || !program.needs_at_most(array, MAX_ARRAYS) {
            return None;
        }
        Some(Self { program: program_of(&[node]), place })
    }
}

/// The count of one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastCount {
    /// Upper bound of the count at the start of that run.
    bound: u32,
    value: u32,
}

impl LastCount {
    /// The value, if the upper bound is the same, as for inputs of equal sizes.
    pub(crate) fn of_same(self, bound: u32) -> Option<u32> {
        (self.bound == bound).then_some(self.value)
    }

    /// What a count of that upper bound is expected to be: in proportion to the bound.
    pub(crate) fn in_proportion(self, bound: u32) -> u32 {
        let expected = (u64::from(self.value) * u64::from(bound)).div_ceil(u64::from(self.bound.max(1)));
        u32::try_from(expected).unwrap_or(bound).min(bound)
    }
}

/// The last values of counts, by their keys.
#[derive(Debug, Default)]
pub(crate) struct LastCounts(Mutex<HashMap<Arc<CountKey>, LastCount, BuildHasherDefault<IdentityHasher>>>);

impl LastCounts {
    /// Stores the value of a count, and its upper bound.
    pub(crate) fn put(&self, key: &Arc<CountKey>, bound: u32, value: u32) {
        // That of a failed condition is any number.
        let last = LastCount { bound, value: value.min(bound) };
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

    /// The count of the last run.
    pub(crate) fn get(&self, key: &CountKey) -> Option<LastCount> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    /// Replaces the bounds of counts by the values of the last run. A value is used only if its bound equals the one in
    /// `bounds`, as for inputs of equal sizes.
    pub(crate) fn apply(&self, program: &Program, bindings: &mut Bindings, bounds: &[u32]) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let keys: Vec<(SizeId, CountKey)> = CountKey::of_program(program, bindings).collect();
        for (id, key) in keys {
            if let Some(value) = all.get(&key).and_then(|last| last.of_same(bounds[id.index()])) {
                bindings.run.sizes[id.index()].bound = value;
            }
        }
        program.recompute(&mut bindings.run);
    }
}
