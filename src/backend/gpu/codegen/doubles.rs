//! Opcodes on 64-bit floats as pairs of words: calls of functions of `shaders/lib/doubles.wgsl`.
//!
//! No operation needs a guard: all are of integers, and compilers keep their bits.

use super::{ModuleBuilder, ParamWord};
use crate::dtype::DType;
use crate::graph::opcode::{BinaryOp, ReduceOp, UnaryOp};
use crate::math::{self, MathFn};

/// Parameter words of modules with programs are a multiple of this number, so that most have equal text.
const PROGRAM_WORDS: usize = 512;

/// The library's function of an elementary function that has no program.
fn library(f: MathFn) -> Option<&'static str> {
    Some(match f {
        MathFn::Sqrt => "sqrt_f64",
        MathFn::Floor => "floor_f64",
        MathFn::Ceil => "ceil_f64",
        MathFn::Trunc => "trunc_f64",
        MathFn::Rint => "rint_f64",
        MathFn::Div => "div_f64",
        MathFn::Rem => "rem_f64",
        _ => return None,
    })
}

/// Iterations of the loops of an elementary function: those of the interpreter, or of the library's function.
pub(super) fn iterations(f: MathFn) -> u64 {
    const DIGITS: u64 = 57;
    match f {
        // A step per power of two between the operands.
        MathFn::Rem => 2048,
        MathFn::Div | MathFn::Sqrt => DIGITS,
        f if library(f).is_some() => 0,
        f => {
            let program = math::program_f64(f);
            // A quotient ends the interpreter's inner loop, and begins another one.
            program.steps + program.loops * (2 * DIGITS + 4) + 4
        }
    }
}

/// Adds an elementary function, once, and returns its name.
pub(super) fn function(m: &mut ModuleBuilder<'_>, f: MathFn) -> &'static str {
    if let Some(name) = library(f) {
        return name;
    }
    let name = math::name_f64(f);
    if m.programs.iter().all(|&(_, known)| known != f) {
        let first = m.scalar(0);
        m.programs.push((first, f));
        let (parameters, second) = if f.is_binary() { ("x: F64, y: F64", "y") } else { ("x: F64", "x") };
        let first = ModuleBuilder::word(first);
        m.helper(format!("fn {name}({parameters}) -> F64 {{\n    return function_f64({first}, x, {second});\n}}"));
    }
    name
}

/// Adds the programs of the functions to the parameters.
pub(super) fn place_programs(m: &mut ModuleBuilder<'_>) {
    let programs = std::mem::take(&mut m.programs);
    for &(first, f) in &programs {
        m.scalars[first] = ParamWord::Constant(m.scalars.len() as u32);
        m.scalars.extend(math::program_f64(f).words.iter().map(|&word| ParamWord::Constant(word)));
    }
    if !programs.is_empty() {
        let len = m.scalars.len().next_multiple_of(PROGRAM_WORDS);
        m.scalars.resize(len, ParamWord::Constant(0));
    }
}

/// `op a`.
pub(super) fn unary(m: &mut ModuleBuilder<'_>, op: UnaryOp, a: &str) -> String {
    let name = match op {
        UnaryOp::Neg => "negative_f64",
        UnaryOp::Abs => "magnitude_f64",
        UnaryOp::SortKey => "sort_key_f64",
        UnaryOp::IsNan => "is_nan_f64",
        UnaryOp::IsInf => "is_infinite_f64",
        UnaryOp::IsFinite => "is_finite_f64",
        UnaryOp::Math(f) => function(m, f),
        // Not recorded on floats.
        UnaryOp::Not | UnaryOp::CountOnes => return a.into(),
    };
    format!("{name}({a})")
}

/// `a op b`.
pub(super) fn binary(m: &mut ModuleBuilder<'_>, op: BinaryOp, a: &str, b: &str) -> String {
    let name = match op {
        BinaryOp::Add => "add_f64",
        BinaryOp::Sub => "sub_f64",
        BinaryOp::Mul => "mul_f64",
        BinaryOp::Div => function(m, MathFn::Div),
        BinaryOp::Rem => function(m, MathFn::Rem),
        BinaryOp::Pow => function(m, MathFn::Pow),
        BinaryOp::Atan2 => function(m, MathFn::Atan2),
        BinaryOp::Min => "least_f64",
        BinaryOp::Max => "greatest_f64",
        BinaryOp::Eq => "equal_f64",
        BinaryOp::Ne => "!equal_f64",
        BinaryOp::Lt => "less_f64",
        BinaryOp::Le => "less_equal_f64",
        BinaryOp::MulNoNan => return format!("select(mul_f64({a}, {b}), F64(0u, 0u), is_zero_f64({b}))"),
        // Not recorded on floats.
        BinaryOp::IndexDiv
        | BinaryOp::IndexRem
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::Shr => return a.into(),
    };
    format!("{name}({a}, {b})")
}

/// The combination of `a` and `b`, as an expression.
pub(super) fn combine(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Sum => "add_f64(a, b)",
        ReduceOp::Prod => "mul_f64(a, b)",
        ReduceOp::Min => "least_f64(a, b)",
        ReduceOp::Max => "greatest_f64(a, b)",
    }
}

/// The double `a` as another type that arithmetic has.
pub(super) fn cast_from(to: DType, a: &str) -> String {
    match to {
        DType::Bool => format!("!is_zero_f64({a})"),
        _ => format!("{}_of_f64({a})", to.name()),
    }
}

/// The value `a` of another type that arithmetic has as a double.
pub(super) fn cast_to(from: DType, a: &str) -> String {
    match from {
        DType::U8 => format!("f64_of_u32({a})"),
        _ => format!("f64_of_{}({a})", from.name()),
    }
}
