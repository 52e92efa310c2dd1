// Measures the overhead of a dispatch with the bindings of a row reduction: adds 64 words to 64 others.
//
// Idea     The host's cost of a dispatch grows with its bindings. A row reduction binds parameters, two arrays for
//          reading and two for writing.
// Traffic  1 KiB. No barriers.
//
// Buffers    p: vec4<u32>             number of words
//            splits: array<u32>       64 words
//            values: array<u32>       64 words
//            out: array<u32>          64 words
//            part: array<u32>         64 words

@group(0) @binding(0) var<uniform> p: vec4<u32>;
@group(0) @binding(1) var<storage, read> splits: array<u32>;
@group(0) @binding(2) var<storage, read> values: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;
@group(0) @binding(4) var<storage, read_write> part: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) t: u32) {
    if (t < min(p.x, 64u)) {
        out[t] = values[t] + splits[t];
        part[t] = values[t];
    }
}
