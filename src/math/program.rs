//! The program machine: translates a function of doubles to words, which a shader without native doubles interprets
//! (`shaders/lib/function_f64.wgsl`).
//!
//! A shader compiler inlines every call, and a sum of emulated doubles takes about a hundred instructions: as text, a
//! function of a few dozen sums and products would compile for seconds. The interpreter has each operation once, and is the
//! same for all functions, whose words are parameters of the kernel.
//!
//! A value is in one of [`REGISTERS`] registers of 64 bits; a mask is all ones or all zeros. The first registers hold the
//! arguments, and in the end the first one the result. Equal expressions share a value, expressions of constants are computed
//! here, and what no result needs is omitted.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Neg, Not, Sub};

use super::machine::{Float, Mask, Word};

/// Registers of the interpreter.
pub(super) const REGISTERS: u32 = 64;

/// An operation: the upper byte of its word. The registers of the result and of up to three operands follow, of six bits
/// each from the lowest bits on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub(super) enum Op {
    /// A constant: the two words that follow.
    Constant,
    /// The sum of two doubles.
    AddFloats,
    SubFloats,
    MulFloats,
    /// Whether a double is less than another.
    LessFloats,
    AddWords,
    SubWords,
    MulWords,
    And,
    Or,
    Xor,
    Not,
    /// A left shift by less than 64.
    Left,
    /// A right shift by less than 64.
    Right,
    /// Whether two words are equal.
    Equal,
    /// Whether a word is less than another.
    Below,
    /// By a mask, the first or the second of two words.
    Select,
    /// The quotient of two doubles.
    Divide,
    /// The square root of a double.
    Root,
}

/// The program of a function.
#[derive(Debug)]
pub(crate) struct Program {
    /// Its number of words, its words, and a zero.
    pub(crate) words: Vec<u32>,
    /// Operations that the interpreter takes, one iteration each.
    pub(crate) steps: u64,
    /// Quotients and roots among them, which have loops of their own.
    pub(crate) loops: u64,
}

/// An operation with the values that it takes; of a constant, its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Instruction {
    op: Op,
    takes: [u32; 3],
    count: u8,
    bits: u64,
}

/// A program under construction. The first values are the arguments.
#[derive(Default)]
struct Recorder {
    instructions: Vec<Instruction>,
    known: HashMap<Instruction, u32>,
}

thread_local! {
    // Operator traits have no parameter for the recorder.
    static RECORDER: RefCell<Recorder> = RefCell::default();
}

/// The operation on constants, where it is one of words or of doubles that is the same everywhere.
fn folded(op: Op, takes: &[u64]) -> Option<u64> {
    let mask = |holds: bool| if holds { u64::MAX } else { 0 };
    Some(match (op, takes) {
        (Op::AddFloats, &[a, b]) => (f64::from_bits(a) + f64::from_bits(b)).to_bits(),
        (Op::SubFloats, &[a, b]) => (f64::from_bits(a) - f64::from_bits(b)).to_bits(),
        (Op::MulFloats, &[a, b]) => (f64::from_bits(a) * f64::from_bits(b)).to_bits(),
        (Op::AddWords, &[a, b]) => a.wrapping_add(b),
        (Op::SubWords, &[a, b]) => a.wrapping_sub(b),
        (Op::MulWords, &[a, b]) => a.wrapping_mul(b),
        (Op::And, &[a, b]) => a & b,
        (Op::Or, &[a, b]) => a | b,
        (Op::Xor, &[a, b]) => a ^ b,
        (Op::Not, &[a]) => !a,
        (Op::Left, &[a, b]) => a.wrapping_shl(b as u32),
        (Op::Right, &[a, b]) => a.wrapping_shr(b as u32),
        (Op::Equal, &[a, b]) => mask(a == b),
        (Op::Below, &[a, b]) => mask(a < b),
        (Op::Select, &[mask, yes, no]) => (yes & mask) | (no & !mask),
        _ => return None,
    })
}

/// Records an instruction and returns its value. Neither this function nor its callers are inlined: a program, with all
/// functions inlined into it, consists only of such calls.
#[inline(never)]
fn record(op: Op, takes: &[u32]) -> u32 {
    RECORDER.with_borrow_mut(|recorder| {
        let constant = |&value: &u32| {
            let of = &recorder.instructions[value as usize];
            (of.op == Op::Constant && of.count == 0).then_some(of.bits)
        };
        let constants: Option<Vec<u64>> = takes.iter().map(constant).collect();
        let folded = constants.and_then(|constants| folded(op, &constants));
        if let Some(bits) = folded {
            return recorder.add(Instruction { op: Op::Constant, takes: [0; 3], count: 0, bits });
        }
        let mut all = [0; 3];
        all[..takes.len()].copy_from_slice(takes);
        recorder.add(Instruction { op, takes: all, count: takes.len() as u8, bits: 0 })
    })
}

impl Recorder {
    fn add(&mut self, instruction: Instruction) -> u32 {
        *self.known.entry(instruction).or_insert_with(|| {
            self.instructions.push(instruction);
            self.instructions.len() as u32 - 1
        })
    }
}

/// A mask.
#[derive(Clone, Copy)]
pub(super) struct MaskValue(u32);

/// A word.
#[derive(Clone, Copy)]
pub(super) struct WordValue(u32);

/// A double.
#[derive(Clone, Copy)]
pub(super) struct FloatValue(u32);

macro_rules! operators {
    ($of:ty: $($trait:ident $method:ident $op:expr),*) => {$(
        impl $trait for $of {
            type Output = Self;
            #[inline(never)]
            fn $method(self, other: Self) -> Self {
                Self(record($op, &[self.0, other.0]))
            }
        }
    )*};
}

operators!(MaskValue: BitAnd bitand Op::And, BitOr bitor Op::Or);
operators!(WordValue: Add add Op::AddWords, Sub sub Op::SubWords, Mul mul Op::MulWords);
operators!(WordValue: BitAnd bitand Op::And, BitOr bitor Op::Or, BitXor bitxor Op::Xor);
operators!(FloatValue: Add add Op::AddFloats, Sub sub Op::SubFloats, Mul mul Op::MulFloats);

impl Mask for MaskValue {}

impl Not for MaskValue {
    type Output = Self;
    #[inline(never)]
    fn not(self) -> Self {
        Self(record(Op::Not, &[self.0]))
    }
}

impl Not for WordValue {
    type Output = Self;
    #[inline(never)]
    fn not(self) -> Self {
        Self(record(Op::Not, &[self.0]))
    }
}

impl Word for WordValue {
    type Mask = MaskValue;
    const BITS: u32 = 64;

    #[inline(never)]
    fn lit(bits: u64) -> Self {
        RECORDER.with_borrow_mut(|recorder| {
            Self(recorder.add(Instruction { op: Op::Constant, takes: [0; 3], count: 0, bits }))
        })
    }

    #[inline(never)]
    fn shl(self, by: Self) -> Self {
        Self(record(Op::Left, &[self.0, by.0]))
    }

    #[inline(never)]
    fn shr(self, by: Self) -> Self {
        Self(record(Op::Right, &[self.0, by.0]))
    }

    #[inline(never)]
    fn is(self, other: Self) -> MaskValue {
        MaskValue(record(Op::Equal, &[self.0, other.0]))
    }

    #[inline(never)]
    fn below(self, other: Self) -> MaskValue {
        MaskValue(record(Op::Below, &[self.0, other.0]))
    }

    #[inline(never)]
    fn select(mask: MaskValue, yes: Self, no: Self) -> Self {
        Self(record(Op::Select, &[mask.0, yes.0, no.0]))
    }
}

impl Neg for FloatValue {
    type Output = Self;
    #[inline(never)]
    fn neg(self) -> Self {
        Self::from_bits(self.bits() ^ Self::sign_bit())
    }
}

impl Float for FloatValue {
    type Word = WordValue;
    type Mask = MaskValue;
    const P: u32 = 53;

    #[inline(never)]
    fn lit(value: f64) -> Self {
        Self::from_bits(WordValue::lit(value.to_bits()))
    }

    fn bits(self) -> WordValue {
        WordValue(self.0)
    }

    fn from_bits(bits: WordValue) -> Self {
        Self(bits.0)
    }

    #[inline(never)]
    fn lt(self, other: Self) -> MaskValue {
        MaskValue(record(Op::LessFloats, &[self.0, other.0]))
    }

    #[inline(never)]
    fn select(mask: MaskValue, yes: Self, no: Self) -> Self {
        Self(record(Op::Select, &[mask.0, yes.0, no.0]))
    }

    #[inline(never)]
    fn over(self, other: Self) -> Self {
        Self(record(Op::Divide, &[self.0, other.0]))
    }

    #[inline(never)]
    fn root(self) -> Self {
        Self(record(Op::Root, &[self.0]))
    }
}

/// Translates a function of one or two arguments.
pub(super) fn translate(arguments: usize, function: impl FnOnce(&[FloatValue]) -> FloatValue) -> Program {
    RECORDER.set(Recorder::default());
    // Arguments are no constants: they take themselves, and are no instructions of the program.
    let given: Vec<FloatValue> = (0..arguments as u32)
        .map(|k| {
            let argument = Instruction { op: Op::Constant, takes: [k; 3], count: 3, bits: 0 };
            FloatValue(RECORDER.with_borrow_mut(|recorder| recorder.add(argument)))
        })
        .collect();
    let result = function(&given).0;
    let Recorder { instructions, .. } = RECORDER.take();
    program(&instructions, arguments, result)
}

/// The instructions that the result needs in order, each constant before the first that takes it.
fn ordered(instructions: &[Instruction], arguments: usize, result: u32) -> Vec<u32> {
    let takes = |value: u32| {
        let of = &instructions[value as usize];
        &of.takes[..if (value as usize) < arguments { 0 } else { of.count as usize }]
    };
    let mut needed = vec![false; instructions.len()];
    needed[result as usize] = true;
    for value in (0..instructions.len() as u32).rev() {
        if needed[value as usize] {
            takes(value).iter().for_each(|&operand| needed[operand as usize] = true);
        }
    }
    let is_constant = |value: u32| value as usize >= arguments && instructions[value as usize].op == Op::Constant;
    let mut out = Vec::new();
    let mut is_placed = vec![false; instructions.len()];
    for value in (arguments as u32..instructions.len() as u32).filter(|&value| needed[value as usize]) {
        if is_constant(value) && value != result {
            continue;
        }
        for &operand in takes(value).iter().filter(|&&operand| is_constant(operand)) {
            if !std::mem::replace(&mut is_placed[operand as usize], true) {
                out.push(operand);
            }
        }
        out.push(value);
    }
    out
}

/// Assigns registers, and encodes the instructions.
fn program(instructions: &[Instruction], arguments: usize, result: u32) -> Program {
    let order = ordered(instructions, arguments, result);
    let takes = |value: u32| &instructions[value as usize].takes[..instructions[value as usize].count as usize];
    let mut last_use = vec![0; instructions.len()];
    for (at, &value) in order.iter().enumerate() {
        takes(value).iter().for_each(|&operand| last_use[operand as usize] = at);
    }
    last_use[result as usize] = order.len();
    let mut register = vec![0; instructions.len()];
    let mut is_taken = [false; REGISTERS as usize];
    for k in 0..arguments {
        (register[k], is_taken[k]) = (k as u32, true);
    }
    let mut words = vec![0];
    for (at, &value) in order.iter().enumerate() {
        let Instruction { op, bits, .. } = instructions[value as usize];
        let mut word = (op as u32) << 24;
        for (k, &operand) in takes(value).iter().enumerate() {
            word |= register[operand as usize] << (6 * (k + 1));
        }
        for &operand in takes(value).iter().filter(|&&operand| last_use[operand as usize] == at) {
            is_taken[register[operand as usize] as usize] = false;
        }
        let free = is_taken.iter().position(|taken| !taken).expect("bug: a function of too many values at once");
        (register[value as usize], is_taken[free]) = (free as u32, true);
        words.push(word | free as u32);
        if op == Op::Constant {
            words.extend([bits as u32, (bits >> 32) as u32]);
        }
    }
    let from = register[result as usize];
    words.push((Op::Or as u32) << 24 | from << 12 | from << 6);
    words[0] = words.len() as u32 - 1;
    words.push(0);
    let has_loop = |value: &&u32| matches!(instructions[**value as usize].op, Op::Divide | Op::Root);
    let loops = order.iter().filter(has_loop).count() as u64;
    Program { words, steps: order.len() as u64 + 1, loops }
}
