//! Stages: counts that are read back before the rest of a program is computed.
//!
//! On a GPU, arrays are allocated for upper bounds of device-known sizes, and kernels stop at the count. If the bounds
//! waste little memory, the host does not wait. Otherwise the program is divided into stages: the counts are computed
//! and read first, all independent ones in one wait, and the rest is planned with exact sizes. Bounds never compound:
//! if one bound depends on another count, that count is read first.
//!
//! What a count was in the last run of a program tells more than its bound: it is read too where the bound is more than
//! [`EXCESS`] times what is expected, and arrays of the expected sizes take
//! [`Tuning::stage_bytes`](crate::Tuning::stage_bytes) less.

use std::sync::Arc;

use crate::graph::digest::{Digest, DigestMap};
use crate::graph::node::Recipe;
use crate::graph::plan::{CountKey, LastCount, LastCounts};
use crate::graph::program::{ArrayDef, Bindings, Program, SizeId};
use crate::graph::size::{RunTable, Size, SizeKind};

/// How much greater than expected the bound of a count is that is read.
pub(crate) const EXCESS: u64 = 4;

/// The stages of a run: which counts to read next. The first program of the run names its counts.
pub(crate) struct Stages<'a> {
    most: u64,
    last: &'a LastCounts,
    /// The counts of which arrays are large, by their digests: one at the bound, or all but maps.
    large: DigestMap<Large>,
}

/// A count that a run reads in advance, or is expected to.
pub(crate) struct EarlyCount {
    /// The operation whose size it is.
    pub(crate) op: &'static str,
    /// Its bound, once the counts of the stages before are known.
    pub(crate) bound: u32,
    /// What it is, or was in the last run with the same bound.
    pub(crate) value: Option<u32>,
    /// The stage that it ends, from 0 on.
    pub(crate) stage: u64,
}

/// A count of which arrays are large.
struct Large {
    key: Arc<CountKey>,
    bound: u32,
    last: Option<LastCount>,
}

impl<'a> Stages<'a> {
    /// The stages of a run on a device with these counts of last runs, of arrays of `most` bytes that are not worth a wait.
    pub(crate) fn new(most: u64, last: &'a LastCounts) -> Self {
        Self { most, last, large: DigestMap::default() }
    }

    /// The counts to read before the outputs of the program are computed: the wasteful counts that depend on no other
    /// wasteful count. A count is wasteful if an array at its bound takes more than `most` bytes and more than twice the
    /// largest input, or if it is expected to be so much less that its arrays, maps aside, take `most` bytes less. Empty if
    /// no count is worth a wait.
    pub(crate) fn counts_to_read(&mut self, program: &Program, bindings: &Bindings) -> Vec<Size> {
        self.note(program, bindings);
        let ready = ready(program, &self.wasteful(program, bindings));
        ready.into_iter().map(|count| bindings.sizes[count.index()].clone()).collect()
    }

    /// Predicts the counts that a run of the program reads in advance, those of one stage with one wait. Sets them to the values
    /// of the last run, if it had the same bounds, or else to the bound, but at most the length of the largest input.
    pub(crate) fn predict(&mut self, program: &Program, bindings: &mut Bindings) -> Vec<EarlyCount> {
        let mut out = Vec::new();
        let largest = bindings.run.inputs.iter().flatten().map(|input| input.len).max().unwrap_or(0).max(1);
        let mut estimated: Vec<SizeId> = Vec::new();
        for stage in 0.. {
            self.note(program, bindings);
            let mut wasteful = self.wasteful(program, bindings);
            wasteful.retain(|count| !estimated.contains(count));
            let ready = ready(program, &wasteful);
            if ready.is_empty() {
                break;
            }
            for count in ready {
                let large = self.large.get(&bindings.sizes[count.index()].digest());
                let last = large.and_then(|large| large.last?.of_same(large.bound));
                let bound = bindings.run.value(count.index());
                let (array, _) = program.count_location(count).expect("bug: a size that is no count");
                out.push(EarlyCount { op: bindings.node(array).op(), bound, value: last, stage });
                let size = &mut bindings.run.sizes[count.index()];
                size.bound = last.unwrap_or(largest).min(size.bound);
                estimated.push(count);
            }
            program.recompute(&mut bindings.run);
            tighten(program, bindings);
        }
        out
    }

    /// Whether the value of a count is worth to be remembered.
    pub(crate) fn is_large(&self, count: Digest) -> bool {
        self.large.contains_key(&count)
    }

    /// Remembers the value of a count.
    pub(crate) fn read(&self, count: Digest, value: u32) {
        if let Some(Large { key, bound, .. }) = self.large.get(&count) {
            self.last.put(key, *bound, value);
        }
    }

    /// Finds the counts of which arrays are large.
    fn note(&mut self, program: &Program, bindings: &Bindings) {
        let counts = program.counts();
        if counts.is_empty() {
            return;
        }
        let by_bound = wasteful(program, &bindings.run, self.most);
        if by_bound.is_empty() && stored(program, &bindings.run).map(|(_, bytes)| bytes).sum::<u64>() <= self.most {
            return;
        }
        let bytes = bytes_by_count(program, &bindings.run);
        let is_large = |count: &SizeId| bytes[count.index()] > self.most || by_bound.contains(count);
        for count in counts.into_iter().filter(is_large) {
            let (digest, bound) = (bindings.sizes[count.index()].digest(), bindings.run.value(count.index()));
            if !self.large.contains_key(&digest)
                && let Some(key) = CountKey::new(program, bindings, count)
            {
                let last = self.last.get(&key);
                self.large.insert(digest, Large { key: Arc::new(key), bound, last });
            }
        }
    }

    fn wasteful(&self, program: &Program, bindings: &Bindings) -> Vec<SizeId> {
        let mut out = wasteful(program, &bindings.run, self.most);
        if self.large.is_empty() {
            return out;
        }
        let bytes = bytes_by_count(program, &bindings.run);
        for count in program.counts() {
            let bound = bindings.run.value(count.index());
            let large = self.large.get(&bindings.sizes[count.index()].digest());
            let expected = large.and_then(|large| Some(large.last?.in_proportion(large.bound)));
            let Some(expected) = expected else { continue };
            if u64::from(bound) <= EXCESS * u64::from(expected) || out.contains(&count) {
                continue;
            }
            let mut run = bindings.run.clone();
            run.sizes[count.index()].bound = expected;
            program.recompute(&mut run);
            let saved = bytes[count.index()].saturating_sub(bytes_by_count(program, &run)[count.index()]);
            if saved > self.most {
                out.push(count);
            }
        }
        out
    }
}

/// Whether a run of a traced program reads counts in advance: see [`Stages::counts_to_read`]. Their last values are unknown.
pub(crate) fn has_stages(program: &Program, run: &RunTable, most: u64) -> bool {
    !wasteful(program, run, most).is_empty()
}

/// The size and the bytes of each array that is surely stored: maps may be fused into their readers.
fn stored<'a>(program: &'a Program, run: &'a RunTable) -> impl Iterator<Item = (SizeId, u64)> + 'a {
    let is_map =
        |def: &ArrayDef| matches!(def, ArrayDef::Computed { recipe, .. } if matches!(**recipe, Recipe::Map(_)));
    let sizes = program.arrays().filter(move |(_, def)| !is_map(def)).filter_map(|(_, def)| def.computed());
    sizes.map(|(size, dtype)| (size, u64::from(run.value(size.index())) * dtype.size() as u64))
}

/// The bytes of all stored arrays whose lengths depend on each count.
fn bytes_by_count(program: &Program, run: &RunTable) -> Vec<u64> {
    let mut out = vec![0u64; run.sizes.len()];
    for (size, bytes) in stored(program, run) {
        for count in program.counts_in(size) {
            out[count.index()] += bytes;
        }
    }
    out
}

/// Lowers the bounds of counts that follow from other counts, as a run finds them after each stage.
fn tighten(program: &Program, bindings: &mut Bindings) {
    let Bindings { sizes, run, .. } = bindings;
    let mut values: DigestMap<u32> = (0..).zip(&*sizes).map(|(k, size)| (size.digest(), run.value(k))).collect();
    // Most counts are numbered after those that bound them; the bound of any other one stays a bound.
    for count in program.counts() {
        let size = &sizes[count.index()];
        if let Some(SizeKind::Count(known)) = size.kind()
            && let Some(bound) = known.bounded_by()
        {
            let value = &mut run.sizes[count.index()].bound;
            *value = bound.capacity_with(&values).min(*value);
            values.insert(size.digest(), *value);
        }
    }
    program.recompute(run);
}

/// The counts that depend on no other element of `counts`.
fn ready(program: &Program, counts: &[SizeId]) -> Vec<SizeId> {
    let is_ready = |count: &&SizeId| {
        let Some((array, _)) = program.count_location(**count) else { return false };
        let needed = program.needed_for(array);
        let sizes = program.arrays().filter(|(a, _)| needed.contains(a)).filter_map(|(_, def)| def.computed());
        let mut others = sizes.flat_map(|(size, _)| program.counts_in(size)).filter(|other| other != *count);
        !others.any(|other| counts.contains(&other))
    };
    counts.iter().filter(is_ready).copied().collect()
}

/// The counts that are wasteful by their bounds: see [`Stages::counts_to_read`]. An array no larger than twice an existing one is not worth a wait.
fn wasteful(program: &Program, run: &RunTable, most: u64) -> Vec<SizeId> {
    let counts = program.counts();
    if counts.is_empty() {
        return counts;
    }
    let inputs = program.arrays().zip(&run.inputs).filter_map(|((_, def), input)| match (def, input) {
        (ArrayDef::Input(form), Some(input)) => Some(u64::from(input.len) * form.dtype.size() as u64),
        _ => None,
    });
    let most = most.max(2 * inputs.max().unwrap_or(0));
    let mut bytes = vec![0u64; run.sizes.len()];
    for (size, dtype) in program.arrays().filter_map(|(_, def)| def.computed()) {
        let array = u64::from(run.value(size.index())) * dtype.size() as u64;
        for count in program.counts_in(size) {
            let largest = &mut bytes[count.index()];
            *largest = array.max(*largest);
        }
    }
    counts.into_iter().filter(|count| bytes[count.index()] > most).collect()
}
