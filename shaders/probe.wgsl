// Probes the device's float arithmetic. It deliberately breaks the dialect's rules for floats, to find how the driver
// compiles plain operations.
//
// Generated  alias Float, alias Bits: a float type and the unsigned integers of its width
// Buffers    given: array<Bits>    the operands, unknown to any compiler
//            found: array<Bits>    8 results
// Grid       1 workgroup, with one active invocation

@group(0) @binding(1) var<storage, read> given: array<Bits>;
@group(0) @binding(2) var<storage, read_write> found: array<Bits>;

fn operand(k: u32) -> Float {
    return bitcast<Float>(given[k]);
}

@compute @workgroup_size(1)
fn main() {
    // A subnormal number times a large one; half of the smallest normal number.
    found[0] = bitcast<Bits>(operand(0u) * operand(1u));
    found[1] = bitcast<Bits>(operand(2u) * operand(3u));
    // The sum is the rounding error of the product if contracted, otherwise 0.
    found[2] = bitcast<Bits>(operand(4u) * operand(5u) + operand(6u));
    // Ties, down and up.
    found[3] = bitcast<Bits>(Float(given[7]));
    found[4] = bitcast<Bits>(Float(given[8]));
    let a = operand(9u);
    let b = operand(10u);
    found[5] = Bits((a == b) || (a < b) || (a <= b) || (a > b) || (a >= b));
    found[6] = Bits(a != b);
    // (large + small) - large: `small` if reassociated, otherwise 0.
    found[7] = bitcast<Bits>((operand(1u) + operand(3u)) - operand(1u));
}
