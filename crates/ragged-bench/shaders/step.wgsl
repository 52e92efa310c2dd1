// Measures the overhead of a dispatch: adds one to each of 64 words.
//
// Idea     Dispatches with the same `words` depend on each other, those with different ones do not. The count lies in a
//          buffer, like that of a result whose size only the device knows: with a count of 0 the kernel returns
//          immediately.
// Traffic  516 bytes. No barriers.
//
// Buffers    count: array<u32>   1 word
//            words: array<u32>   64 words

@group(0) @binding(0) var<storage, read> count: array<u32>;
@group(0) @binding(1) var<storage, read_write> words: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) t: u32) {
    if (t < min(count[0], 64u)) {
        words[t] = words[t] + 1u;
    }
}
