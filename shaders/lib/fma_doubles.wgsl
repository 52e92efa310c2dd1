// The fused multiply-add of f32 in 64-bit floats, for devices whose `fma` rounds twice.
//
// Idea     The product of two floats is exact in 64 bits. Its sum with the addend is rounded to odd there: an inexact sum to
//          the one of its neighbours whose last bit is set. The second rounding, to 32 bits, then sees on which side of a tie
//          the sum is.
// Edges    As lib/fma_words.wgsl.
// Cost     No loop; about 30 operations.
// Source   Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008; the twin of src/math/fused.rs.

/// The number behind a zero that is opaque to compilers.
fn fma_guard(v: f64) -> f64 {
    return bitcast<f64>(bitcast<u64>(v) | u64(rg_zero()));
}

fn fma_f32(a: f32, b: f32, c: f32) -> f32 {
    let product = fma_guard(f64(a) * f64(b));
    let addend = f64(c);
    let size_of = 0x7ffffffffffffffflu;
    let is_less = (bitcast<u64>(product) & size_of) < (bitcast<u64>(addend) & size_of);
    let greater = select(product, addend, is_less);
    let smaller = select(addend, product, is_less);
    let sum = fma_guard(greater + smaller);
    let error = bitcast<u64>(smaller - fma_guard(sum - greater));
    let bits = bitcast<u64>(sum);
    // The error of an infinite sum is none.
    let is_inexact = (error & size_of) != 0lu && (bits & 0x7ff0000000000000lu) != 0x7ff0000000000000lu;
    let is_odd = (bits & 1lu) != 0lu;
    // To the neighbour in the direction of the error.
    let step = select(0xfffffffffffffffflu, 1lu, ((bits ^ error) >> 63u) == 0lu);
    return f32(bitcast<f64>(select(bits, bits + step, is_inexact && !is_odd)));
}
