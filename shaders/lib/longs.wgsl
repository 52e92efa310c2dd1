// Native 64-bit integers under the names of pairs.wgsl, for templates that serve both.
//
// Idea     A template names U64, I64 and these functions, and gets this piece or pairs.wgsl. Drivers inline the calls,
//          so the machine code is that of the operators.
// Edges    As pairs.wgsl.
// Taken    per definition: a module gets those that it names. One blank line between any two, none within one.

alias U64 = u64;

alias I64 = i64;

fn join64(low: u32, high: u32) -> U64 {
    return u64(low) | (u64(high) << 32u);
}

/// Takes the low word. Without the mask the conversion would saturate on some drivers.
fn low64(v: U64) -> u32 {
    return u32(v & 0xfffffffflu);
}

fn add64(a: U64, b: U64) -> U64 {
    return a + b;
}

fn sub64(a: U64, b: U64) -> U64 {
    return a - b;
}

fn mul64(a: U64, b: U64) -> U64 {
    return a * b;
}

/// v << by, for `by` below 64.
fn shl64(v: U64, by: u32) -> U64 {
    return v << by;
}

/// v >> by, for `by` below 64.
fn shr64(v: U64, by: u32) -> U64 {
    return v >> by;
}

/// Rotates the bits right by 1 to 63.
fn rotate64(v: U64, by: u32) -> U64 {
    return (v >> by) | (v << (64u - by));
}

fn less_u64(a: U64, b: U64) -> bool {
    return a < b;
}

fn less_i64(a: I64, b: I64) -> bool {
    return a < b;
}
