//! A lint for valid WGSL that drivers treat differently. The rules are in `shaders/README.md`.

use std::path::{Path, PathBuf};

use naga::valid::{FunctionInfo, ModuleInfo};

/// Built-in functions whose precision or treatment of NaN depends on the driver.
const IMPRECISE: [&str; 31] = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "floor",
    "fma",
    "fract",
    "inverseSqrt",
    "ldexp",
    "length",
    "log",
    "log2",
    "mix",
    "pow",
    "round",
    "sign",
    "sin",
    "sinh",
    "smoothstep",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
];

/// The lines without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split("//").next().unwrap_or_default())
}

/// The words and punctuation of a line.
fn tokens(line: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut out = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let (token, after) = rest.split_at(end);
        if !token.trim().is_empty() {
            out.push(token.trim());
        }
        rest = after;
    }
    out
}

/// Checks the rules that need only the text.
pub(super) fn lint_text(name: &str, text: &str) {
    for line in code(text) {
        let words = tokens(line);
        let first = words.first().copied().unwrap_or_default();
        assert!(!["enable", "requires", "diagnostic"].contains(&first), "{name}: a directive: {line}");
        assert!(!line.contains("ptr<storage"), "{name}: a pointer into storage: {line}");
        for w in words.windows(2) {
            let called = IMPRECISE.contains(&w[0]) && w[1].starts_with('(');
            let own = called && text.contains(&format!("fn {}(", w[0]));
            let is_sum = line.trim() == "return fma(a, b, sum);";
            assert!(!called || own || is_sum, "{name}: a built-in function of floats: {line}");
        }
    }
    let has_loop = code(text).any(|line| tokens(line).iter().any(|word| ["for", "while", "loop"].contains(word)));
    assert!(!has_loop || text.contains("// Ends     "), "{name}: loops, of which the header does not say why they end");
    for line in text.lines().filter(|line| line.contains("Barrier(")) {
        assert!(
            line.contains("Barrier(); // uniform: "),
            "{name}: a barrier that does not say why it is uniform: {line}"
        );
    }
}

/// Checks the rules that need types: operations on floats.
pub(super) fn lint_floats(name: &str, module: &naga::Module, info: &ModuleInfo) {
    for (_, ty) in module.types.iter() {
        let float_atomic = matches!(ty.inner, naga::TypeInner::Atomic(s) if s.kind == naga::ScalarKind::Float);
        assert!(!float_atomic, "{name}: an atomic float");
    }
    for (handle, function) in module.functions.iter() {
        lint_function(name, module, function, &info[handle]);
    }
    for (k, entry) in module.entry_points.iter().enumerate() {
        lint_function(name, module, &entry.function, info.get_entry_point(k));
    }
}

/// The values that the statements return, except within loops.
fn returned(block: &naga::Block) -> Vec<naga::Handle<naga::Expression>> {
    let of = |statement: &naga::Statement| match statement {
        naga::Statement::Return { value } => value.iter().copied().collect(),
        naga::Statement::Block(block) => returned(block),
        naga::Statement::If { accept, reject, .. } => [returned(accept), returned(reject)].concat(),
        _ => Vec::new(),
    };
    block.iter().flat_map(of).collect()
}

fn lint_function(name: &str, module: &naga::Module, function: &naga::Function, info: &FunctionInfo) {
    use naga::{BinaryOperator as Op, Expression};
    let is_float = |e: naga::Handle<Expression>| {
        info[e].ty.inner_with(&module.types).scalar().is_some_and(|s| s.kind == naga::ScalarKind::Float)
    };
    let place = function.name.as_deref().unwrap_or("the entry point");
    // A sum, a difference or a product of floats, with its operands.
    let operation = |e: naga::Handle<Expression>| match function.expressions[e] {
        Expression::Binary { op: Op::Add | Op::Subtract | Op::Multiply, left, right } => {
            is_float(left).then_some([left, right])
        }
        _ => None,
    };
    // Drivers reassociate and contract an operation and its operand without a guard between them. The two may be in
    // different functions: the operand may be an argument or the result of a call.
    for (e, _) in function.expressions.iter() {
        let nested = operation(e).is_some_and(|operands| operands.into_iter().any(|of| operation(of).is_some()));
        // The product of a conversion is exact: contracted or not, there is one rounding.
        let is_conversion = place.starts_with("f32_of_") || place.starts_with("f64_of_");
        assert!(!nested || is_conversion, "{name}: a float operation is an unguarded operand of another in {place}");
    }
    for value in returned(&function.body) {
        let is_argument = |of| matches!(function.expressions[of], Expression::FunctionArgument(_));
        let chains = operation(value).is_some_and(|operands| operands.into_iter().any(is_argument));
        assert!(!chains, "{name}: an argument and a result of an operation of floats without a guard: {place}");
    }
    for (_, e) in function.expressions.iter() {
        match *e {
            // Devices where it rounds twice have another representation of products.
            Expression::Math { fun: naga::MathFunction::Fma, .. }
                if place.starts_with("add_product") || place.ends_with("_add") => {}
            Expression::Math { fun, arg, .. } => {
                assert!(!is_float(arg), "{name}: {fun:?} of floats in {place}");
            }
            Expression::Relational { fun, argument } => {
                assert!(!is_float(argument), "{name}: {fun:?} of floats in {place}");
            }
            // Both are imprecise, and `!=` is lowered to an ordered comparison.
            Expression::Binary { op: op @ (Op::Divide | Op::Modulo | Op::NotEqual), left, .. } => {
                assert!(!is_float(left), "{name}: {op:?} of floats in {place}");
            }
            // A test for NaN that compilers fold.
            Expression::Binary { op: Op::Equal | Op::Less | Op::LessEqual, left, right } if left == right => {
                assert!(!is_float(left), "{name}: a float compared with itself in {place}");
            }
            // The sign of the result is unspecified for zeros and NaNs.
            Expression::Unary { op, expr } => {
                assert!(!is_float(expr), "{name}: {op:?} of floats in {place}");
            }
            _ => {}
        }
    }
}

/// Checks for operations that are valid on vectors of two words, but wrong for a 64-bit integer.
pub(super) fn lint_pairs(name: &str, module: &naga::Module, info: &ModuleInfo) {
    use naga::{BinaryOperator as Op, Expression};
    let entries = module.entry_points.iter().enumerate().map(|(k, e)| (&e.function, info.get_entry_point(k)));
    for (function, types) in module.functions.iter().map(|(handle, f)| (f, &info[handle])).chain(entries) {
        let is_pair = |e: naga::Handle<Expression>| {
            matches!(*types[e].ty.inner_with(&module.types), naga::TypeInner::Vector { scalar: naga::Scalar::U32, .. })
        };
        let place = function.name.as_deref().unwrap_or("the entry point");
        for (handle, e) in function.expressions.iter() {
            let wrong = match *e {
                Expression::Binary { op, left, .. } => {
                    let of_bits = matches!(op, Op::And | Op::InclusiveOr | Op::ExclusiveOr | Op::Equal | Op::NotEqual);
                    !of_bits && is_pair(left)
                }
                // A splat: one value for both words.
                Expression::Splat { .. } | Expression::Math { .. } => is_pair(handle),
                _ => false,
            };
            assert!(!wrong, "{name}: arithmetic of pairs in {place}: {e:?}");
        }
    }
}

/// Every file of `shaders/`.
fn templates(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a folder of the crate") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            templates(&path, out);
        } else if path.extension().is_some_and(|e| e == "wgsl") {
            out.push(path);
        }
    }
}

#[test]
fn templates_keep_to_the_dialect() {
    let mut files = Vec::new();
    templates(&Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders"), &mut files);
    assert!(files.len() >= 10, "{files:?}");
    let mut barriers = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).expect("readable");
        lint_text(&file.display().to_string(), &text);
        barriers += text.matches("Barrier()").count();
    }
    assert!(barriers > 20, "{barriers} barriers: is something wrong with the search?");
}

#[test]
fn the_lint_finds_each_violation() {
    let faulty = [
        "enable f16;",
        "let y = exp(x);",
        "let y = a + sqrt (x);",
        "    workgroupBarrier();",
        "fn f(p: ptr<storage, u32>) {",
        "    for (var k = 0u; k < count; k++) {",
    ];
    for text in faulty {
        let found = std::panic::catch_unwind(|| lint_text("a text", text));
        assert!(found.is_err(), "{text}");
    }
    lint_text("a text", "let y = rg_exp_f32(x); // exp(x)\nlet exponent = 1u;");
    let body = "@group(0) @binding(0) var<storage, read_write> a: array<f32>;\n\
                @compute @workgroup_size(1) fn main() { let x = a[0]; let y = a[1]; a[2] = #; }";
    for faulty in ["min(x, y)", "x / y", "abs(x)", "-x", "select(x, y, x != y)", "select(x, y, x == x)"] {
        let text = body.replace('#', faulty);
        let (module, info) = super::validate::validate("a text", &text, naga::valid::Capabilities::empty());
        assert!(std::panic::catch_unwind(move || lint_floats("a text", &module, &info)).is_err(), "{faulty}");
    }
    for (faulty, text) in [
        (true, body.replace('#', "x + y - x")),
        (true, format!("fn f(x: f32, y: f32) -> f32 {{ return x * y; }}\n{}", body.replace('#', "f(x, y)"))),
        (false, body.replace('#', "x + y")),
        (false, body.replace('#', "bitcast<f32>(bitcast<u32>(x * y) ^ u32(y)) + x")),
    ] {
        let (module, info) = super::validate::validate("a text", &text, naga::valid::Capabilities::empty());
        let found = std::panic::catch_unwind(move || lint_floats("a text", &module, &info)).is_err();
        assert_eq!(found, faulty, "{text}");
    }
    let body = body.replace("f32", "vec2<u32>");
    let lint = |of: &str| {
        let text = body.replace('#', of);
        let (module, info) = super::validate::validate("a text", &text, naga::valid::Capabilities::empty());
        std::panic::catch_unwind(move || lint_pairs("a text", &module, &info))
    };
    for faulty in ["x + y", "x * y", "min(x, y)", "x << y", "vec2<u32>(y.x)", "vec2<u32>(u32(all(x < y)), 0u)"] {
        assert!(lint(faulty).is_err(), "{faulty}");
    }
    assert!(lint("select(x ^ y, ~y, all(x == y) || x.x < y.x)").is_ok());
}
