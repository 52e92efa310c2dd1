//! Fused multiply-adds in the assembly of a pipeline.

use std::collections::HashSet;

/// The multiply-adds of a pipeline.
#[derive(Default)]
pub(super) struct Fused {
    /// Number of those that convert an integer, exactly.
    pub(super) exact: usize,
    /// All others.
    pub(super) others: Vec<String>,
}

/// Whether the instruction multiplies and adds floats.
fn is_multiply_add(name: &str) -> bool {
    let name = name.trim_start_matches("v_").trim_start_matches("dual_").trim_start_matches("pk_");
    let Some((operation, ty)) = name.split_once('_') else { return false };
    let is_float = ["f16", "f32", "f64", "legacy", "mix"].iter().any(|t| ty.starts_with(t));
    is_float && ["fma", "fmac", "fmaak", "fmamk", "mad", "mac", "madak", "madmk"].contains(&operation)
}

/// The high words of 65536 as an f32, and of 2^32 and -2^32 as an f64: the units of the halves of an integer. Their sums
/// `high * unit + low` are exact products, rounded once whether fused or not.
const UNITS: [&str; 3] = ["0x47800000", "0x41f00000", "0xc1f00000"];

/// The registers of an operand: `v4`, or `s[24:25]` with modifiers such as `-v4` and `|v4|`.
fn registers(operand: &str) -> Vec<(char, u32)> {
    let operand = operand.trim_matches(['-', '|', ' ']);
    let Some(kind) = operand.chars().next().filter(|c| "sv".contains(*c)) else { return Vec::new() };
    let numbers = operand[1..].trim_matches(['[', ']']);
    let (first, last) = numbers.split_once(':').unwrap_or((numbers, numbers));
    match (first.parse::<u32>(), last.parse::<u32>()) {
        (Ok(first), Ok(last)) => (first..=last).map(|k| (kind, k)).collect(),
        _ => Vec::new(),
    }
}

/// The multiply-adds of an assembly text.
pub(super) fn fused(assembly: &str) -> Fused {
    let mut out = Fused::default();
    // The registers that hold a unit.
    let mut units: HashSet<(char, u32)> = HashSet::new();
    for line in assembly.lines().map(|line| line.split(';').next().unwrap_or_default().trim()) {
        // An instruction, or two that are issued together.
        for instruction in line.split("::").map(str::trim) {
            let (name, operands) = instruction.split_once(char::is_whitespace).unwrap_or((instruction, ""));
            let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
            let is_unit = |operand: &str| {
                UNITS.contains(&operand) || registers(operand).last().is_some_and(|last| units.contains(last))
            };
            if is_multiply_add(name) {
                if operands.iter().skip(1).any(|operand| is_unit(operand)) {
                    out.exact += 1;
                } else {
                    out.others.push(instruction.to_owned());
                }
            }
            let is_copy = name.contains("mov_b32") && operands.get(1).is_some_and(|operand| is_unit(operand));
            for register in operands.first().map(|operand| registers(operand)).unwrap_or_default() {
                if is_copy {
                    units.insert(register);
                } else {
                    units.remove(&register);
                }
            }
        }
    }
    out
}

#[test]
fn multiply_adds_of_conversions_are_exact() {
    let exact = "v_fma_f32 v1, v2, 0x47800000, v3\n\ts_mov_b32 s25, 0x41f00000 ; BE9903FF\ns_mov_b32 s24, 0\n\
        v_fma_f64 v[4:5], v[4:5], s[24:25], v[24:25]\ns_mov_b32 s5, 0x47800000\nv_fmac_f32_e32 v4, s5, v13\n";
    let found = fused(exact);
    assert_eq!((found.exact, found.others.len()), (3, 0), "{:?}", found.others);
    let others = "s_mov_b32 s5, 0x47800000\ns_mov_b32 s5, 2.0\nv_fmac_f32_e32 v4, s5, v13\n\
        v_dual_fmac_f32 v4, v5, v6 :: v_dual_add_f32 v1, v2, v3\nv_mad_u32_u24 v1, v2, v3, v4\nv_fma_f32 v1, -v2, v3, v4";
    let found = fused(others);
    assert_eq!((found.exact, found.others.len()), (0, 3), "{:?}", found.others);
}
