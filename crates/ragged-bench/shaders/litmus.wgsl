// Passes messages between workgroups, as a single-pass scan with decoupled look-back does.
//
// Idea     The litmus test MP, message passing. Each workgroup writes a message of 64 words, one per invocation, and
//          after a barrier stores the number of the round to its flag. It waits for the flag of the preceding
//          workgroup, then reads that workgroup's message, which must be this round's. It also reads the message before
//          waiting, as polling look-backs do, so that a cache may hold the previous round's words.
// Traffic  1 KiB per workgroup.
// Limits   No guarantee exists that another workgroup runs at the same time: a flag is polled SPINS times at most.
//          Rounds are numbered consecutively from 1. `messages` and `flags` start as zeros, and only this kernel may
//          write them.
// Source   Alglave et al., GPU Concurrency: Weak Behaviours and Programming Assumptions (2015); Merrill and Garland,
//          Single-pass Parallel Prefix Scan with Decoupled Look-back (2016).
//
// Generated  messages: array<u32>       bound at 1, coherent or not; 64 words per workgroup
//            const SPINS: u32           maximum number of polls of a flag
// Buffers    flags: array<u32>          one word per workgroup
//            counts: array<u32>         4 words: flags seen; of these, messages incomplete at the first read; messages
//                                       incomplete after the flag; flags not seen
// Params     p.x  the round
// Grid       any number of workgroups in one dimension; the first one receives nothing

@group(0) @binding(0) var<uniform> p: vec4<u32>;
@group(0) @binding(2) var<storage, read_write> flags: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> counts: array<atomic<u32>, 4>;

var<workgroup> is_seen: u32;
// Whether a word was not this round's: at the first read, and after the flag.
var<workgroup> is_early: atomic<u32>;
var<workgroup> is_stale: atomic<u32>;

// Invocation `t`'s word of a workgroup's message: another one in each round, and 0 before the first.
fn word(round: u32, sender: u32, t: u32) -> u32 {
    return round * (2u * (sender * 64u + t) + 1u);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let sender = max(wid.x, 1u) - 1u;
    let expected = word(p.x, sender, t);
    if (messages[sender * 64u + t] != expected) {
        atomicOr(&is_early, 1u);
    }
    messages[wid.x * 64u + t] = word(p.x, wid.x, t);
    // The test: whether this orders the message before the flag for other workgroups.
    storageBarrier(); // uniform: every invocation reaches this
    if (t == 0u) {
        atomicStore(&flags[wid.x], p.x);
        var seen = 0u;
        for (var k = 0u; k < SPINS && seen == 0u; k++) {
            seen = u32(atomicLoad(&flags[sender]) == p.x);
        }
        is_seen = seen;
    }
    // The flag is read before the message.
    storageBarrier(); // uniform: after the first invocation's loop
    if (messages[sender * 64u + t] != expected) {
        atomicOr(&is_stale, 1u);
    }
    workgroupBarrier(); // uniform: every invocation reaches this
    if (t == 0u && wid.x > 0u) {
        if (is_seen == 0u) {
            atomicAdd(&counts[3], 1u);
        } else {
            atomicAdd(&counts[0], 1u);
            atomicAdd(&counts[1], atomicLoad(&is_early));
            atomicAdd(&counts[2], atomicLoad(&is_stale));
        }
    }
}
