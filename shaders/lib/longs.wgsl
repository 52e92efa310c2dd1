// Native 64-bit types under the names of pairs.wgsl and doubles.wgsl, for templates that serve both.
//
// Idea     A template that names U64, I64 or these functions is linked with this file or with pairs.wgsl. Drivers
//          inline the calls.
// Edges    As pairs.wgsl.
// Linked   per definition: only those that a module names. Definitions are separated, but not divided, by a blank line.

alias U64 = u64;

alias I64 = i64;

alias F64 = f64;

fn join64(low: u32, high: u32) -> U64 {
    return u64(low) | (u64(high) << 32u);
}

/// The low word. Without the mask the conversion would saturate on some drivers.
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
