// Recurrence along the rows of a ragged array: the states after each element, from those before it.
//
// Idea     A workgroup walks along `group_rows()` consecutive rows at once, one position of each after another, up to
//          its longest row. The numbers of an element (registers) are in workgroup memory, or in scratch if those of one
//          row exceed it. The stages of a step are divided into phases: all stages of a phase have the
//          same width, and read only columns of their own that the phase computes, so that a barrier after each phase
//          suffices. Invocations are divided among rows and columns: a power of two of them per row.
// Order    Serial along the row. A product adds its terms in the order of matmul.wgsl. The bits depend on neither the batch
//          nor the device, and equal those of the CPU.
// Traffic  Writes each state once, and each number that is kept. Reads the inputs of each element once per number that uses them, and a matrix once
//          per element, mostly from caches. A dispatch that continues reads the states before its first position.
// Parts    Rows may be divided among several dispatches: each continues from the states that `out` holds.
// Limits   All flat positions < 2^32. 14 KiB of workgroup memory. A position takes a barrier per phase, and one more. Few
//          rows occupy few workgroups. Rows of a group are consecutive, not of similar lengths, and wait for the longest.
//          All arrays must be bound whole, or as windows that hold them.
// Ends     Positions advance by 1; rows and numbers by at most 256 to at most 256 rows and the width of a phase, which is below
//          2^31.
// Source   Persistent recurrent kernels: Diamos et al. 2016.
//
// Generated  fn splits_at(i: u32) -> u32      i <= rows(); rows beyond the live ones are empty
//            const PHASES: u32, const REVERSED: bool
//            const IN_SCRATCH: bool           whether registers are in the buffer `registers`
//            fn row_words() -> u32            words of the registers of a row
//            fn stored_numbers() -> u32       numbers of an element in `out`: the states, then what is kept
//            fn width_of(k: u32) -> u32       numbers per row of phase k; k = PHASES: numbers of all states
//            fn lane_bits_of(k: u32) -> u32   invocations per row: 1 << lane_bits_of(k), at most 256
//            fn compute(k: u32, r: u32, row: u32, element: u32, c: u32)
//                                             stores column c of the registers of phase k, in `out` too where they are
//                                             kept; `r` is the number of the row in its group
//            fn initial(i: u32, row: u32) -> Elem     number i of the states before the first elements of all rows
//            fn next_state(r: u32, c: u32) -> Elem    number c of the states after the element
//            fn set_state(r: u32, c: u32, v: Elem)
//            The functions find the registers of row `r` from word first_word + r * row_words() on.
// Buffers    out: array<Elem>                 of each element, the states after it and what is kept
//            registers: array<u32>            group_rows() * row_words() words per workgroup, if IN_SCRATCH
// Head       head[0]  rows (capacity), group_rows: rows per workgroup (at most 256), elements (capacity), groups
//            head[1]  the first position of this dispatch, the first of the next, and the first group of this dispatch
// Grid       groups of this dispatch, folded

var<workgroup> starts: array<u32, 256>;
var<workgroup> lens: array<u32, 256>;
var<workgroup> longest: u32;
/// The first word of the registers of the group.
var<private> first_word: u32;

fn rows() -> u32 {
    return p.head[0].x;
}

fn group_rows() -> u32 {
    return p.head[0].y;
}

/// The number of the element of row `r` of the group that is at position `at`, in the order of the scan.
fn element_at(r: u32, at: u32) -> u32 {
    return starts[r] + select(at, lens[r] - 1u - at, REVERSED);
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    rg_begin();
    let slot = workgroup_index(wid, grid);
    let group = p.head[1].z + slot;
    if (group >= p.head[0].w) {
        return; // uniform: the workgroup's id and parameters
    }
    let first_row = group * group_rows();
    let count = min(group_rows(), rows() - first_row);
    if (t < count) {
        let start = min(splits_at(first_row + t), p.head[0].z);
        starts[t] = start;
        lens[t] = max(min(splits_at(first_row + t + 1u), p.head[0].z), start) - start;
    }
    workgroupBarrier(); // uniform: top level
    if (t == 0u) {
        var most = 0u;
        for (var r = 0u; r < count; r++) {
            most = max(most, lens[r]);
        }
        longest = most;
    }
    let first = p.head[1].x;
    let end = min(workgroupUniformLoad(&longest), p.head[1].y);
    if (first >= end) {
        return; // uniform: a parameter, and `longest` is the same for all
    }
    first_word = select(0u, slot * group_rows() * row_words(), IN_SCRATCH);
    let inner = width_of(PHASES);
    let state_bits = lane_bits_of(PHASES);
    for (var r = t >> state_bits; r < count; r += 256u >> state_bits) {
        if (first < lens[r]) {
            let row = first_row + r;
            for (var c = t & ((1u << state_bits) - 1u); c < inner; c += 1u << state_bits) {
                if (first == 0u) {
                    set_state(r, c, initial(row * inner + c, row));
                } else {
                    set_state(r, c, load_out(element_at(r, first - 1u) * stored_numbers() + c));
                }
            }
        }
    }
    if (IN_SCRATCH) {
        storageBarrier(); // uniform: a constant
    } else {
        workgroupBarrier(); // uniform: a constant
    }
    for (var at = first; at < end; at++) {
        for (var k = 0u; k < PHASES; k++) {
            let width = width_of(k);
            let bits = lane_bits_of(k);
            for (var r = t >> bits; r < count; r += 256u >> bits) {
                if (at < lens[r]) {
                    let element = element_at(r, at);
                    for (var c = t & ((1u << bits) - 1u); c < width; c += 1u << bits) {
                        compute(k, r, first_row + r, element, c);
                    }
                }
            }
            if (IN_SCRATCH) {
                storageBarrier(); // uniform: `end` is the same for all, and PHASES is a constant
            } else {
                workgroupBarrier(); // uniform: `end` is the same for all, and PHASES is a constant
            }
        }
        for (var r = t >> state_bits; r < count; r += 256u >> state_bits) {
            if (at < lens[r]) {
                let element = element_at(r, at);
                for (var c = t & ((1u << state_bits) - 1u); c < inner; c += 1u << state_bits) {
                    let v = next_state(r, c);
                    set_state(r, c, v);
                    store_out(element * stored_numbers() + c, v);
                }
            }
        }
        if (IN_SCRATCH) {
            storageBarrier(); // uniform: `end` is the same for all
        } else {
            workgroupBarrier(); // uniform: `end` is the same for all
        }
    }
}
