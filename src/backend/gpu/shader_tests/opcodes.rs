//! Compares every operation of every dtype on every adapter with the CPU, on edge cases: bit for bit, except for the
//! payload of a NaN.
//!
//! A kernel takes milliseconds to compile, so the results of many operations lie in one array, one after another.

use super::ops;
use super::twins::{array, canonical, cpu, gpus};
use crate::dtype::DType;
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::opcode::BinaryOp;
use crate::graph::scalar::Scalar;

/// An operation's name and its result at a position.
type Results = Vec<(String, Expr)>;

/// A result as a word, lossless.
fn word(e: &Expr) -> Expr {
    match e.dtype() {
        d if d.size() == 2 && d.is_float() => e.clone().bitcast(DType::U16).cast(DType::U32),
        d if d.size() < 4 => e.clone().cast(DType::U32),
        d if d.size() == 8 => e.clone().bitcast(DType::U64),
        _ => e.clone().bitcast(DType::U32),
    }
}

/// The array that holds `n` positions of each result, as words.
fn together(backend: &BackendRef, n: u32, results: &[&(String, Expr)]) -> Node {
    let part = Expr::index().div(Expr::u32(n));
    let at = Expr::index().rem(Expr::u32(n));
    let mut parts = results.iter().rev().map(|(_, e)| word(&e.at(&at)));
    let last = parts.next().expect("an operation");
    let count = results.len() as u32;
    let value =
        parts.enumerate().fold(last, |rest, (k, e)| part.clone().eq(Expr::u32(count - 2 - k as u32)).select(e, rest));
    Node::map(backend, "operations", Extent::known(n * count), value, &[])
}

/// Compares all results at `n` positions.
fn compare(n: u32, build: impl Fn(&BackendRef) -> Results) {
    let run = |backend: &BackendRef| -> Vec<(String, DType, Vec<u64>)> {
        let results = build(backend);
        let mut out = Vec::new();
        for wide in [false, true] {
            let of_width: Vec<_> = results.iter().filter(|(_, e)| (e.dtype().size() == 8) == wide).collect();
            // Compiling a larger kernel takes longer than it saves.
            for group in of_width.chunks(16) {
                let node = together(backend, n, group);
                let size = node.dtype().size();
                let read = backend.read(&[node]).unwrap_or_else(|e| panic!("{}: {e}", backend.name()));
                for (words, (name, e)) in read[0].chunks_exact(size * n as usize).zip(group) {
                    let bits = words.chunks_exact(size).map(|w| {
                        let mut bytes = [0; 8];
                        bytes[..size].copy_from_slice(w);
                        canonical(e.dtype(), u64::from_le_bytes(bytes))
                    });
                    out.push((name.clone(), e.dtype(), bits.collect()));
                }
            }
        }
        out
    };
    let want = run(cpu());
    let mut faults = Vec::new();
    for (gpu, backend) in gpus() {
        for ((name, dtype, want), (_, _, got)) in want.iter().zip(run(backend)) {
            let wrong: Vec<usize> = (0..n as usize).filter(|&at| want[at] != got[at]).collect();
            if let Some(&at) = wrong.first() {
                faults.push(format!(
                    "{name} -> {dtype} on {gpu}: {} wrong; at {at} {:#x}, not {:#x}",
                    wrong.len(),
                    got[at],
                    want[at]
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// All edges of the dtype.
fn edges(backend: &BackendRef, dtype: DType) -> (Node, u32) {
    let bits = ops::edges(dtype);
    let n = bits.len() as u32;
    (array(backend, dtype, &ops::bytes(dtype, bits)), n)
}

fn singles(dtype: DType) {
    let n = ops::edges(dtype).len() as u32;
    compare(n, |backend| {
        let (x, _) = edges(backend, dtype);
        let x = Expr::load(&x, Expr::index());
        let unary = ops::plain_unary(dtype).into_iter().map(|op| (format!("{op:?} {dtype}"), x.clone().unary(op)));
        // Expressions that compilers simplify.
        let same = |op| (format!("{op:?} {dtype} with itself"), x.clone().binary(op, x.clone()));
        unary.chain(ops::binary(dtype).into_iter().map(same)).collect()
    });
}

fn pairs(dtype: DType) {
    let n = ops::edges(dtype).len() as u32;
    compare(n * n, |backend| {
        let (x, _) = edges(backend, dtype);
        let a = Expr::load(&x, Expr::index().div(Expr::u32(n)));
        let b = Expr::load(&x, Expr::index().rem(Expr::u32(n)));
        let pair = |op| (format!("{op:?} {dtype}"), a.clone().binary(op, b.clone()));
        let mut out: Results = ops::binary(dtype).into_iter().map(pair).collect();
        // The code may differ for an operand that is a parameter.
        for op in ops::binary(dtype) {
            let number = Expr::scalar(Scalar::from_i64(dtype, 7));
            out.push((format!("{op:?} {dtype} with 7"), a.clone().binary(op, number.clone())));
            out.push((format!("7 with {op:?} {dtype}"), number.binary(op, a.clone())));
        }
        out
    });
}

/// One test per dtype, so that they run in parallel.
macro_rules! each_dtype {
    ($($name:ident $dtype:ident),*) => {$(
        #[test]
        fn $name() {
            singles(DType::$dtype);
            pairs(DType::$dtype);
        }
    )*};
}
each_dtype!(
    bools Bool, bytes U8, signed_bytes I8, halfwords U16, signed_halfwords I16, halves F16, brains BF16,
    signed_words I32, words U32, signed_longs I64, longs U64, singles_of_floats F32, doubles_of_floats F64
);

/// Random integers of every length and either sign: carries, borrows, and quotients of every number of digits.
#[test]
fn random_longs() {
    const N: u32 = 6000;
    let mut random = crate::backend::gpu::kernel_tests::Random(29);
    let mut longs = || -> Vec<u64> {
        let long = |_| {
            let long = random.next() >> random.below(64);
            [long, long, long.wrapping_neg(), !long << random.below(64)][random.below(4) as usize]
        };
        (0..N).map(long).collect()
    };
    let (left, right) = (longs(), longs());
    // Equal integers, and neighbours.
    let near = |k: usize| {
        [right[k], left[k], left[k].wrapping_add(1), left[k] ^ 1 << 32][k / 8 % 4 * usize::from(k.is_multiple_of(8))]
    };
    let right: Vec<u64> = (0..N as usize).map(near).collect();
    for dtype in [DType::I64, DType::U64] {
        compare(N, |backend| {
            let load = |bits: &[u64]| Expr::load(&array(backend, dtype, bytemuck::cast_slice(bits)), Expr::index());
            let (a, b) = (load(&left), load(&right));
            let few = b.clone().binary(BinaryOp::And, Expr::scalar(Scalar::from_i64(dtype, 127)));
            let shift = |op| matches!(op, BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Pow);
            let pair =
                |op| (format!("{op:?} {dtype}"), a.clone().binary(op, if shift(op) { few.clone() } else { b.clone() }));
            let mut out: Results = ops::binary(dtype).into_iter().map(pair).collect();
            out.extend(ops::plain_unary(dtype).into_iter().map(|op| (format!("{op:?} {dtype}"), a.clone().unary(op))));
            out.push((format!("cast of {dtype} to f32"), a.clone().cast(DType::F32)));
            // Random bits as floats: of all exponents, NaN and infinities among them.
            let float = a.clone().cast(DType::U32).bitcast(DType::F32);
            out.push((format!("cast of f32 to {dtype}"), float.cast(dtype)));
            out
        });
    }
}

#[test]
fn conversions() {
    for from in ops::DTYPES {
        for wide in [false, true] {
            let targets = move || {
                let is_wide = |d: &DType| matches!(d, DType::I64 | DType::U64 | DType::F64);
                ops::DTYPES.into_iter().filter(move |to| *to != from && is_wide(to) == wide)
            };
            for to in targets() {
                let bits = conversion_values(from, to);
                compare(bits.len() as u32, |backend| {
                    let x = array(backend, from, &ops::bytes(from, bits.iter().copied()));
                    let x = Expr::load(&x, Expr::index());
                    let mut out = vec![(format!("cast of {from}"), x.clone().cast(to))];
                    if from.size() == to.size() {
                        out.push((format!("bits of {from}"), x.bitcast(to)));
                    }
                    out
                });
            }
        }
    }
}

/// The edge cases; for conversions of integers to floats of fewer digits, also random integers of every length with
/// ties.
fn conversion_values(from: DType, to: DType) -> Vec<u64> {
    let mut out = ops::edges(from);
    let narrows =
        to.is_float() && (from.is_integer() && from.size() >= 4 || from.is_float() && from.size() > to.size());
    if !narrows {
        return out;
    }
    let digits = match to {
        DType::F16 => 11,
        DType::BF16 => 8,
        DType::F32 => 24,
        _ => 53,
    };
    let width = from.size() as u32 * 8;
    let mut random = crate::backend::gpu::kernel_tests::Random(11);
    for _ in 0..2000 {
        let bits = random.next();
        if from == DType::F32 {
            // Exponents around those of the target, and significands that end in a tie, or near one.
            let exponents =
                if to == DType::F16 { 127 - 30 + u64::from(random.below(50)) } else { u64::from(random.below(255)) };
            let below = 24 - digits;
            let tail = [1 << (below - 1), 0, (1 << (below - 1)) + 1, (1 << (below - 1)) - 1][bits as usize & 3];
            let significand = (bits >> 8) & ((1 << 23) - 1) & !((1 << below) - 1) | tail;
            out.push(significand | exponents << 23 | (bits >> 63 << 31));
            continue;
        }
        if from == DType::F64 && to.size() == 2 {
            // Ties of the target, some of them broken by a bit far below the digits of f32.
            let exponents = if to == DType::F16 { 30 } else { 140 };
            let exponent = 1023 - exponents + u64::from(random.below(2 * exponents as u32));
            let tie = 1u64 << (52 - digits);
            let tail = [tie, tie + 1, tie - 1, tie + (1 << 20), tie - (1 << 20), tie >> (bits >> 3 & 15), 0, tie << 1]
                [bits as usize & 7];
            let significand = (bits >> 12) & ((1 << 52) - 1) & !(2 * tie - 1) | tail & ((1 << 52) - 1);
            out.push(significand | exponent << 52 | (bits & 1 << 63));
            continue;
        }
        if from == DType::F64 {
            // Exponents around those of f32, and significands that end in a tie, or near one.
            let exponent = 1023 - 152 + u64::from(random.below(284));
            let significand =
                bits & ((1 << 52) - 1) & !0x3fff_ffff | [1 << 28, 0, 1 << 29, (1 << 28) + 1][bits as usize & 3];
            out.push(significand | exponent << 52 | (bits & 1 << 63));
            continue;
        }
        let len = 1 + random.below(width);
        let value = bits >> (64 - len) | 1 << (len - 1);
        out.push(value);
        if len > digits {
            let tie = 1 << (len - digits - 1);
            let even = value & !(2 * tie - 1);
            out.extend([even | tie, even | (tie - 1), (even | tie).wrapping_add(1), (even | tie).wrapping_neg()]);
        }
    }
    if width < 64 {
        out.iter_mut().for_each(|v| *v &= (1 << width) - 1);
    }
    out
}

#[test]
fn functions_of_floats() {
    for dtype in [DType::F32, DType::F64] {
        let n = ops::edges(dtype).len() as u32;
        compare(n, |backend| {
            let (x, _) = edges(backend, dtype);
            let x = Expr::load(&x, Expr::index());
            ops::functions().into_iter().map(|op| (format!("{op:?} {dtype}"), x.clone().unary(op))).collect()
        });
    }
}
