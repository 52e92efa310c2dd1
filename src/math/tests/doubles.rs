//! Compares the doubles of `shaders/lib/doubles.wgsl`, pairs of words, and the functions of them with those of the host: bit
//! for bit but for NaN.

use super::super::{MathFn, f64_binary, f64_unary, program_f64};
use super::device::{device, run_with};
use super::{Noise, edges_f64, pairs_f64, singles_f64};

/// The operands of an operation, and its result, as it is on the host.
enum Twin {
    /// A double of two.
    Two(fn(f64, f64) -> f64),
    /// A double of one.
    One(fn(f64) -> f64),
    /// Bits of two.
    Bits(fn(f64, f64) -> u64),
    /// Bits of the bits of the first.
    Convert(fn(u64) -> u64),
    /// A double of the bits of the first.
    Widen(fn(u64) -> f64),
}

/// Each operation in WGSL, of the operands `a` and `b`, and the same operation on the host.
const OPERATIONS: &[(&str, Twin)] = &[
    ("add_f64(a, b)", Twin::Two(|a, b| a + b)),
    ("sub_f64(a, b)", Twin::Two(|a, b| a - b)),
    ("mul_f64(a, b)", Twin::Two(|a, b| a * b)),
    ("div_f64(a, b)", Twin::Two(|a, b| a / b)),
    ("rem_f64(a, b)", Twin::Two(|a, b| a % b)),
    (
        "least_f64(a, b)",
        Twin::Two(
            |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { [a, b][usize::from(b.total_cmp(&a).is_lt())] },
        ),
    ),
    (
        "greatest_f64(a, b)",
        Twin::Two(
            |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { [a, b][usize::from(b.total_cmp(&a).is_gt())] },
        ),
    ),
    ("sqrt_f64(a)", Twin::One(f64::sqrt)),
    ("trunc_f64(a)", Twin::One(f64::trunc)),
    ("floor_f64(a)", Twin::One(f64::floor)),
    ("ceil_f64(a)", Twin::One(f64::ceil)),
    ("rint_f64(a)", Twin::One(f64::round_ties_even)),
    ("U64(u32(less_f64(a, b)), 0u)", Twin::Bits(|a, b| (a < b).into())),
    ("U64(u32(less_equal_f64(a, b)), 0u)", Twin::Bits(|a, b| (a <= b).into())),
    ("U64(u32(equal_f64(a, b)), 0u)", Twin::Bits(|a, b| (a == b).into())),
    ("u64_of_f64(a)", Twin::Convert(|a| f64::from_bits(a) as u64)),
    ("i64_of_f64(a)", Twin::Convert(|a| f64::from_bits(a) as i64 as u64)),
    ("U64(u32_of_f64(a), 0u)", Twin::Convert(|a| (f64::from_bits(a) as u32).into())),
    ("U64(bitcast<u32>(i32_of_f64(a)), 0u)", Twin::Convert(|a| (f64::from_bits(a) as i32 as u32).into())),
    (
        "U64(bitcast<u32>(f32_of_f64(a)), 0u)",
        Twin::Convert(|a| {
            let single = f64::from_bits(a) as f32;
            (if single.is_nan() { 0x7fc0_0000 } else { single.to_bits() }).into()
        }),
    ),
    ("f64_of_u64(a)", Twin::Widen(|a| a as f64)),
    ("f64_of_i64(a)", Twin::Widen(|a| a as i64 as f64)),
    ("f64_of_u32(a.x)", Twin::Widen(|a| f64::from(a as u32))),
    ("f64_of_i32(bitcast<i32>(a.x))", Twin::Widen(|a| f64::from(a as i32))),
    ("f64_of_f32(bitcast<f32>(a.x))", Twin::Widen(|a| f64::from(f32::from_bits(a as u32)))),
];

impl Twin {
    /// Whether the device's result is that of the host.
    fn agrees(&self, a: u64, b: u64, found: u64) -> bool {
        let (x, y) = (f64::from_bits(a), f64::from_bits(b));
        let is = |wanted: f64| found == wanted.to_bits() || wanted.is_nan() && f64::from_bits(found).is_nan();
        match self {
            Self::Two(f) => is(f(x, y)),
            Self::One(f) => is(f(x)),
            Self::Bits(f) => found == f(x, y),
            Self::Convert(f) => found == f(a),
            Self::Widen(f) => is(f(a)),
        }
    }
}

/// Vectors for the words of a program.
const PROGRAM: usize = 768;

/// A module that computes an operation.
fn module(operation: &str) -> String {
    let library = [
        include_str!("../../../shaders/lib/pairs.wgsl"),
        include_str!("../../../shaders/lib/doubles.wgsl"),
        include_str!("../../../shaders/lib/doubles_convert.wgsl"),
        include_str!("../../../shaders/lib/function_f64.wgsl"),
    ];
    format!(
        "struct Params {{
    head: vec4<u32>,
    scalars: array<vec4<u32>, {PROGRAM}>,
}}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> xs: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> ys: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> out: array<vec2<u32>>;
fn rg_zero() -> u32 {{
    return p.head.x;
}}
{}
@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) k: u32,
) {{
    let i = (wid.x + wid.y * grid.x) * 64u + k;
    if (i < p.head.y) {{
        let a = xs[i];
        let b = ys[i];
        out[i] = {operation};
    }}
}}
",
        library.join("\n")
    )
}

/// Operands: all pairs of edge cases, then numbers at random, numbers with exponents close to each other, sums that cancel,
/// products at the border of the subnormal numbers, numbers of few digits, and halves between numbers.
fn operands(count: usize) -> (Vec<u64>, Vec<u64>) {
    let edges = edges_f64();
    let mut pairs: Vec<(u64, u64)> = edges.iter().flat_map(|&a| edges.iter().map(move |&b| (a, b))).collect();
    let mut noise = Noise(7);
    let mut next = || noise.next().expect("noise does not end");
    while pairs.len() < count {
        let (a, b, c) = (next(), next(), next());
        let near = (a & !(0x7ff << 52)) | ((b >> 52 & 0x7ff) + c % 64).min(0x7ff) << 52;
        let small = |bits: u64, exponent: u64| bits & (1 << 63 | ((1 << 52) - 1)) | exponent << 52;
        let few = |bits: u64| bits & !((1 << (bits % 53)) - 1);
        pairs.extend([
            (a, b),
            (near, b),
            (b ^ 1 << 63, b.wrapping_add(c % 5)),
            (small(a, 400 + c % 200), small(b, 500 + (c >> 20) % 200)),
            (small(a, c % 3), small(b, (c >> 20) % 3)),
            (few(a), few(b)),
            (small(few(a), 1000 + c % 80), small(few(b), 1000 + (c >> 20) % 80)),
            ((((a >> 12) as f64 / 2.0).to_bits()), (c >> 60) << 60 | 1),
        ]);
    }
    pairs.into_iter().unzip()
}

#[test]
fn pairs_of_words_compute_as_the_host() {
    let device = device();
    let count = std::env::var("RAGGED_DOUBLES").map_or(200_000, |n| n.parse().expect("a number"));
    let (xs, ys) = operands(count);
    let mut bad = Vec::new();
    for (operation, twin) in OPERATIONS {
        let given = (xs.len(), &[0; 4 * PROGRAM][..]);
        let (x, y) = (bytemuck::cast_slice(&xs), bytemuck::cast_slice(&ys));
        let found = run_with(&device, &module(operation), given, x, y);
        let found = found.chunks_exact(8).map(|b| u64::from_ne_bytes(b.try_into().expect("eight bytes")));
        let mut wrong = found.zip(xs.iter().zip(&ys)).filter(|&(found, (&a, &b))| !twin.agrees(a, b, found));
        if let Some((found, (a, b))) = wrong.next() {
            bad.push(format!("{operation} of {a:#x}, {b:#x}: {found:#x}; {} more", wrong.count()));
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

/// The functions that run programs.
fn functions() -> impl Iterator<Item = MathFn> {
    let library = [MathFn::Sqrt, MathFn::Floor, MathFn::Ceil, MathFn::Trunc, MathFn::Rint, MathFn::Div, MathFn::Rem];
    MathFn::ALL.into_iter().filter(move |f| !library.contains(f))
}

#[test]
fn programs_compute_as_the_host() {
    let device = device();
    let count = std::env::var("RAGGED_DOUBLES").map_or(6_000, |n| n.parse().expect("a number"));
    let every = |all: usize| all.div_ceil(count).max(1);
    let singles = singles_f64(3 * count);
    let singles: Vec<f64> = singles.iter().copied().step_by(every(singles.len())).collect();
    let pairs = pairs_f64(count);
    let (xs, ys): (Vec<f64>, Vec<f64>) = pairs.iter().copied().step_by(every(pairs.len())).unzip();
    let (text, mut bad) = (module("function_f64(0u, a, b)"), Vec::new());
    for f in functions() {
        let (x, y) = if f.is_binary() { (&xs, &ys) } else { (&singles, &singles) };
        let mut words = program_f64(f).words.clone();
        assert!(words.len() <= 4 * PROGRAM, "{f:?}: {} words", words.len());
        words.resize(4 * PROGRAM, 0);
        let (x_bytes, y_bytes) = (bytemuck::cast_slice(x), bytemuck::cast_slice(y));
        let found = run_with(&device, &text, (x.len(), &words), x_bytes, y_bytes);
        let found = found.chunks_exact(8).map(|b| f64::from_ne_bytes(b.try_into().expect("eight bytes")));
        let mut wrong = found.zip(x.iter().zip(y)).filter_map(|(found, (&x, &y))| {
            let native = if f.is_binary() { f64_binary(f)(x, y) } else { f64_unary(f)(x) };
            (found.to_bits() != native.to_bits() && !(found.is_nan() && native.is_nan()))
                .then_some((x, y, found, native))
        });
        if let Some(first) = wrong.next() {
            bad.push((f, first, wrong.count() + 1));
        }
    }
    assert!(bad.is_empty(), "function, (x, y, device, native), how many: {bad:?}");
}

/// Operations of a block of naga's representation, with calls inlined, and loops `trips` times.
fn operations(module: &naga::Module, f: &naga::Function, block: &naga::Block, trips: u64) -> u64 {
    use naga::{Expression as E, Statement as S};
    let is_operation = |e: &E| matches!(e, E::Binary { .. } | E::Unary { .. } | E::Select { .. } | E::Math { .. });
    let of = |block: &naga::Block| operations(module, f, block, trips);
    let each = block.iter().map(|statement| match statement {
        S::Emit(range) => range.clone().filter(|e| is_operation(&f.expressions[*e])).count() as u64,
        S::Call { function, .. } => {
            let callee = &module.functions[*function];
            operations(module, callee, &callee.body, trips)
        }
        S::Block(block) => of(block),
        S::If { accept, reject, .. } => of(accept) + of(reject),
        S::Loop { body, continuing, .. } => trips * (of(body) + of(continuing)),
        _ => 0,
    });
    each.sum()
}

/// The numbers of `shaders/lib/doubles.wgsl`, `Numerics` and the README: vector operations of naga's representation.
#[test]
fn operations_are_as_many_as_stated() {
    let text = module("a");
    let parsed = naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
    let count = |name: &str, trips: u64| {
        let (_, f) = parsed.functions.iter().find(|(_, f)| f.name.as_deref() == Some(name)).expect("a function");
        operations(&parsed, f, &f.body, trips)
    };
    let text = include_str!("../../../shaders/lib/doubles.wgsl");
    let stated = |of: &str| -> u64 {
        let (_, after) = text.split_once(&format!(" {of} ")).expect("a stated number");
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().expect("a number")
    };
    let all = [
        ("a sum", "add_f64", 0),
        ("a product", "mul_f64", 0),
        ("a comparison", "less_f64", 0),
        ("a quotient", "div_f64", 56),
        ("a square root", "sqrt_f64", 55),
    ];
    let found: Vec<(&str, u64, u64)> =
        all.iter().map(|&(of, name, trips)| (of, stated(of), count(name, trips))).collect();
    println!("{found:?}");
    let is_near = |&(_, stated, found): &(&str, u64, u64)| found <= stated && found * 5 >= stated * 4;
    assert!(found.iter().all(is_near), "what, stated, found: {found:?}");
    for f in functions() {
        let program = program_f64(f);
        println!("{}: {} words, {} steps, {} loops", f.name(), program.words.len(), program.steps, program.loops);
        assert!(program.steps <= 430 && program.loops <= 4, "{f:?}");
    }
}
