//! Plans kept by program: the next batch takes the plan of the one before, whatever its sizes are.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::graph::digest::Rehash;
use crate::graph::program::Program;

/// How many programs have plans kept.
const CAPACITY: usize = 256;

/// How many plans of one program are kept.
const MOST_IDLE: usize = 16;

/// The plans of one device. Least recently used first out.
///
/// A plan has the sizes of its run in it, so one thread at a time has it. A thread that asks for one that another thread
/// has makes its own; both are kept.
#[derive(Debug)]
pub(crate) struct PlanCache<P>(Mutex<Entries<P>>);

#[derive(Debug)]
struct Entries<P> {
    cached: HashMap<Arc<Program>, Entry<P>, BuildHasherDefault<Rehash>>,
    clock: u64,
}

#[derive(Debug)]
struct Entry<P> {
    idle: Vec<P>,
    used: u64,
}

impl<P> Default for PlanCache<P> {
    fn default() -> Self {
        Self(Mutex::new(Entries { cached: HashMap::default(), clock: 0 }))
    }
}

impl<P> PlanCache<P> {
    fn entries(&self) -> MutexGuard<'_, Entries<P>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a plan of the program that will do.
    pub(crate) fn take(&self, program: &Program, will_do: impl Fn(&P) -> bool) -> Option<P> {
        let entries = &mut *self.entries();
        entries.clock += 1;
        let entry = entries.cached.get_mut(program)?;
        entry.used = entries.clock;
        let at = entry.idle.iter().rposition(will_do)?;
        Some(entry.idle.remove(at))
    }

    /// Keeps a plan of the program.
    pub(crate) fn put(&self, program: &Arc<Program>, plan: P) {
        let entries = &mut *self.entries();
        if let Some(entry) = entries.cached.get_mut(program) {
            // Those for other sizes of large arrays, the oldest first.
            if entry.idle.len() >= MOST_IDLE {
                entry.idle.remove(0);
            }
            entry.idle.push(plan);
            return;
        }
        if entries.cached.len() >= CAPACITY {
            // A quarter at a time, so that the search for the oldest is paid once in so many.
            let mut times: Vec<u64> = entries.cached.values().map(|entry| entry.used).collect();
            let (_, pivot, _) = times.select_nth_unstable(CAPACITY / 4);
            let pivot = *pivot;
            entries.cached.retain(|_, entry| entry.used > pivot);
        }
        entries.cached.insert(program.clone(), Entry { idle: vec![plan], used: entries.clock });
    }
}
