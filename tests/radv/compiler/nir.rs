//! Float operations in the driver's intermediate representation whose operands are float operations.

use std::collections::{HashMap, HashSet};

/// Sums and products.
const ARITHMETIC: [&str; 6] = ["fadd", "fsub", "fmul", "fmulz", "ffma", "ffmaz"];

/// Operations whose result has the value of an operand, up to its sign.
const TRANSPARENT: [&str; 6] = ["mov", "bcsel", "phi", "fneg", "fabs", "fcanonicalize"];

/// What the representation of a pipeline contains.
#[derive(Default)]
pub(super) struct Unguarded {
    /// Number of float sums and products.
    pub(super) operations: usize,
    /// The operations with the definition of an operand that has no guard.
    pub(super) pairs: Vec<String>,
}

/// A definition: the operation and its operands.
struct Definition<'a> {
    operation: &'a str,
    operands: Vec<&'a str>,
    line: &'a str,
}

/// The names of values in a text: `ssa_1`, or `%1` in later versions.
fn names(text: &str) -> Vec<&str> {
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '%');
    let is_name = |word: &&str| {
        let number = word.strip_prefix("ssa_").or(word.strip_prefix('%'));
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    text.split(is_end).filter(is_name).collect()
}

/// The definition in a line, with its name.
fn definition(line: &str) -> Option<(&str, Definition<'_>)> {
    let (left, right) = line.split_once(" = ")?;
    let name = names(left).pop()?;
    let right = right.split("//").next()?.trim();
    // Precise operations are marked.
    let operation = right.split_whitespace().next()?.trim_end_matches('!');
    Some((name, Definition { operation, operands: names(right), line: line.trim() }))
}

/// The float operations and their operands in a representation.
pub(super) fn unguarded(nir: &str) -> Unguarded {
    let definitions: HashMap<&str, Definition<'_>> = nir.lines().filter_map(definition).collect();
    let mut out = Unguarded::default();
    for (name, definition) in &definitions {
        if !ARITHMETIC.contains(&definition.operation) {
            continue;
        }
        out.operations += 1;
        // A fused sum may be the addend of another one.
        let is_fused = |of: &Definition<'_>| of.operation == "ffma";
        let factors = if is_fused(definition) { 2 } else { definition.operands.len() };
        for (k, first) in definition.operands.iter().enumerate() {
            let (mut open, mut seen) = (vec![*first], HashSet::from([*name]));
            while let Some(operand) = open.pop() {
                let Some(of) = definitions.get(operand).filter(|_| seen.insert(operand)) else { continue };
                if TRANSPARENT.contains(&of.operation) {
                    // The first operand of a selection is its condition.
                    open.extend(of.operands.iter().skip(usize::from(of.operation == "bcsel")));
                } else if ARITHMETIC.contains(&of.operation)
                    && !is_exact(&definitions, definition, of)
                    && !(k >= factors && is_fused(of))
                {
                    out.pairs.push(format!("{} <- {}", definition.line, of.line));
                }
            }
        }
    }
    out.pairs.sort();
    out
}

/// Whether the two operations round at most once, contracted or not: parts of the conversion of an integer.
fn is_exact(definitions: &HashMap<&str, Definition<'_>>, outer: &Definition<'_>, inner: &Definition<'_>) -> bool {
    let has_operand = |of: &Definition<'_>, is: &dyn Fn(&Definition<'_>) -> bool| {
        of.operands.iter().filter_map(|operand| definitions.get(operand)).any(is)
    };
    // `high * 65536 + low` and `high * 2^32 + low`.
    let is_unit = |d: &Definition<'_>| {
        d.operation == "load_const" && ["0x47800000", "0x41f0000000000000"].iter().any(|bits| d.line.contains(bits))
    };
    // A product with a power of two, whose exponent is shifted into place.
    let is_power = |d: &Definition<'_>| d.operation == "ishl";
    let is_product = |d: &Definition<'_>| d.operation == "fmul";
    is_product(inner) && has_operand(inner, &is_unit) || is_product(outer) && has_operand(outer, &is_power)
}
