//! Stages: counts that are read back before the rest of a program is computed.
//!
//! On a GPU, arrays are allocated for upper bounds of device-known sizes, and kernels stop at the count. If the bounds
//! waste little memory, the host does not wait. Otherwise the program is divided into stages: the counts are computed
//! and read first, all independent ones in one wait, and the rest is planned with exact sizes. Bounds never compound:
//! if one bound depends on another count, that count is read first.

use crate::graph::digest::DigestMap;
use crate::graph::program::{ArrayDef, Bindings, Program, SizeId};
use crate::graph::size::{RunTable, Size, SizeKind};

/// The counts to read before the outputs of the program are computed: the wasteful counts that depend on no other
/// wasteful count. A count is wasteful if an array at its bound takes more than `most` bytes and more than twice the
/// largest input. Empty if no count is worth a wait.
pub(crate) fn counts_to_read(program: &Program, bindings: &Bindings, most: u64) -> Vec<Size> {
    let ready = ready(program, &wasteful(program, &bindings.run, most));
    ready.into_iter().map(|count| bindings.sizes[count.index()].clone()).collect()
}

/// Whether a run reads counts in advance: see [`counts_to_read`].
pub(crate) fn has_stages(program: &Program, run: &RunTable, most: u64) -> bool {
    !wasteful(program, run, most).is_empty()
}

/// Predicts the number of waits for counts in a run of the program. Sets the counts that the run would read to an
/// estimate: the bound, but at most the length of the largest input.
pub(crate) fn predict_waits(program: &Program, bindings: &mut Bindings, most: u64) -> u64 {
    let largest = bindings.run.inputs.iter().flatten().map(|input| input.len).max().unwrap_or(0).max(1);
    let mut estimated: Vec<SizeId> = Vec::new();
    for stage in 0.. {
        let mut wasteful = wasteful(program, &bindings.run, most);
        wasteful.retain(|count| !estimated.contains(count));
        let ready = ready(program, &wasteful);
        if ready.is_empty() {
            return stage;
        }
        for count in ready {
            let size = &mut bindings.run.sizes[count.index()];
            size.bound = largest.min(size.bound);
            estimated.push(count);
        }
        program.recompute(&mut bindings.run);
        tighten(program, bindings);
    }
    0
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

/// The wasteful counts: see [`counts_to_read`]. An array no larger than twice an existing one is not worth a wait.
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
