//! The lint refuses each chain of float operations, and accepts the same with guards.

use naga::valid::Capabilities;

use super::unguarded;
use crate::backend::gpu::shader_tests::validate::validate;

/// Whether the lint refuses a module whose entry point stores the expression, with these functions.
fn is_refused(functions: &str, expression: &str) -> bool {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> a: array<f32>;\n\
         @group(0) @binding(1) var<uniform> p: vec4<u32>;\n\
         var<private> kept: f32;\n\
         struct Pair {{\n    sum: f32,\n    count: u32,\n}}\n\
         fn rg_zero() -> u32 {{\n    return p.x;\n}}\n\
         fn flip(x: f32) -> f32 {{\n    return bitcast<f32>(bitcast<u32>(x) ^ rg_zero());\n}}\n\
         fn guard(x: f32) -> f32 {{\n    let zero = rg_zero();\n    return bitcast<f32>(bitcast<u32>(x) | zero);\n}}\n\
         fn second(x: f32) -> f32 {{\n    return bitcast<f32>(bitcast<u32>(x) + rg_zero());\n}}\n\
         fn product(x: f32, y: f32) -> f32 {{\n    return x * y;\n}}\n\
         fn plus_one(x: f32) -> f32 {{\n    return x + 1.0;\n}}\n\
         fn negative(x: f32) -> f32 {{\n    return bitcast<f32>(bitcast<u32>(x) ^ 0x80000000u);\n}}\n\
         {functions}\n\
         @compute @workgroup_size(1) fn main() {{\n    let x = a[0];\n    let y = a[1];\n    a[2] = {expression};\n}}\n"
    );
    let (module, info) = validate("a text", &text, Capabilities::empty());
    !unguarded(&module, &info).is_empty()
}

#[test]
fn chains_of_float_operations_are_found_across_calls() {
    let cases = [
        (false, "", "product(x, y)"),
        (true, "", "product(x, y) + y"),
        (false, "", "guard(product(x, y)) + y"),
        (false, "", "second(product(x, y)) + y"),
        // One exclusive or is a guard, two are none.
        (false, "", "flip(product(x, y)) + y"),
        (true, "", "flip(flip(product(x, y))) + y"),
        (false, "", "flip(flip(flip(product(x, y)))) + y"),
        (false, "", "guard(guard(product(x, y))) + y"),
        // Fused sums are addends of each other, and nothing else.
        (false, "", "fma(x, y, fma(y, y, x))"),
        (true, "", "fma(x, product(x, y), y)"),
        (true, "", "fma(fma(x, y, x), x, y)"),
        (true, "", "fma(x, y, product(x, y))"),
        (true, "", "fma(x, y, x) + y"),
        (false, "", "guard(fma(x, y, x)) + y"),
        // An argument of a function.
        (true, "", "plus_one(product(x, y))"),
        (false, "", "plus_one(guard(product(x, y)))"),
        (true, "", "product(plus_one(x), y)"),
        // Signs and selections.
        (true, "", "negative(product(x, y)) + y"),
        (true, "", "select(x, product(x, y), x < y) + y"),
        (false, "", "select(x, guard(product(x, y)), x < y) + y"),
        // Memory of the invocation, also in loops and structures.
        (true, "fn f(x: f32) -> f32 {\n    kept = x * x;\n    return kept + x;\n}", "f(x)"),
        (false, "fn f(x: f32) -> f32 {\n    kept = guard(x * x);\n    return kept + x;\n}", "f(x)"),
        (true, "fn f(x: f32) -> Pair {\n    return Pair(x * x, 1u);\n}", "f(x).sum + y"),
        (false, "fn f(x: f32) -> Pair {\n    return Pair(x * x, 1u);\n}", "f32(f(x).count) + y"),
        (
            true,
            "fn f(x: f32) -> f32 {\n    var s = 0.0;\n    for (var k = 0u; k < 4u; k++) {\n        s = s + x;\n    }\n    return s;\n}",
            "f(x)",
        ),
        (
            false,
            "fn f(x: f32) -> f32 {\n    var s = 0.0;\n    for (var k = 0u; k < 4u; k++) {\n        s = guard(s + x);\n    }\n    return s;\n}",
            "f(x)",
        ),
        // The exact product of a conversion.
        (
            false,
            "fn f32_of_x(v: u32) -> f32 {\n    return f32(v >> 16u) * 65536.0 + f32(v & 0xffffu);\n}",
            "f32_of_x(1u)",
        ),
        (
            true,
            "fn f32_of_x(v: u32) -> f32 {\n    return f32(v >> 16u) * 65536.0 + f32(v & 0xffffu);\n}",
            "f32_of_x(1u) + y",
        ),
    ];
    for (refused, functions, expression) in cases {
        assert_eq!(is_refused(functions, expression), refused, "{functions}\n{expression}");
    }
}
