//! The register machine: translates a program to a WGSL function.
//!
//! Registers hold **bits** as words of 32 or 64; a float operation bitcasts its operands and its result, at no cost.
//! Every sum and product, and every argument of a function that computes any, is [`opaque`]. This integer operation
//! between any two float operations prevents a compiler from contracting a product into a sum, reassociating, cancelling
//! a rounding error or folding a NaN. Selections act on words too, so that no compiler replaces them by `min`.
//!
//! Equal expressions share a register (common subexpression elimination); dead instructions are omitted.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Neg, Not, Sub};

use super::MathFn;
use super::machine::{Float, Mask, Word};

/// An instruction: its text with the names of its operand registers.
struct Instruction {
    text: String,
    takes: Vec<u32>,
}

/// A function under construction.
#[derive(Default)]
struct Recorder {
    instructions: Vec<Instruction>,
    known: HashMap<String, u32>,
    calls: Vec<MathFn>,
    /// Whether an instruction adds, subtracts or multiplies floats.
    has_float_arithmetic: bool,
}

/// The bits of a value, as an expression that compilers cannot equate with `bits`. `zero`: a zero of the type of `bits`
/// that compilers cannot fold.
///
/// The operation is idempotent, so that two in a row keep one. An exclusive or would not do: compilers simplify
/// `(bits ^ zero) ^ zero` to `bits`.
pub(crate) fn opaque(bits: &str, zero: &str) -> String {
    format!("{bits} | {zero}")
}

thread_local! {
    // Operator traits have no parameter for the recorder.
    static RECORDER: RefCell<Recorder> = RefCell::default();
}

/// Emits an instruction and returns its register; each `#` in the text is replaced by an operand.
///
/// Neither this function nor its callers are inlined: a program, with all functions inlined into it, consists only of
/// such calls.
#[inline(never)]
fn emit(text: &str, takes: &[u32]) -> u32 {
    let mut names = takes.iter();
    let mut full = String::new();
    for c in text.chars() {
        match c {
            '#' => write!(full, "r{}", names.next().expect("a register for each mark")).expect("a string takes text"),
            c => full.push(c),
        }
    }
    RECORDER.with_borrow_mut(|recorder| {
        if let Some(&register) = recorder.known.get(&full) {
            return register;
        }
        let register = recorder.instructions.len() as u32;
        recorder.known.insert(full.clone(), register);
        recorder.instructions.push(Instruction { text: full, takes: takes.to_vec() });
        register
    })
}

/// The name of a function in a module.
pub(super) fn name(f: MathFn, bits: u32) -> String {
    format!("rg_{}_f{bits}", f.name())
}

/// A register that holds a boolean.
#[derive(Clone, Copy)]
pub(super) struct MaskRegister(u32);

impl Mask for MaskRegister {}

impl BitAnd for MaskRegister {
    type Output = Self;
    #[inline(never)]
    fn bitand(self, other: Self) -> Self {
        Self(emit("# && #", &[self.0, other.0]))
    }
}

impl BitOr for MaskRegister {
    type Output = Self;
    #[inline(never)]
    fn bitor(self, other: Self) -> Self {
        Self(emit("# || #", &[self.0, other.0]))
    }
}

impl Not for MaskRegister {
    type Output = Self;
    #[inline(never)]
    fn not(self) -> Self {
        Self(emit("!#", &[self.0]))
    }
}

/// A register that holds a word.
#[derive(Clone, Copy)]
pub(super) struct WordRegister<const BITS: u32>(u32);

/// A register that holds the bits of a float.
#[derive(Clone, Copy)]
pub(super) struct FloatRegister<const BITS: u32>(u32);

macro_rules! word_operators {
    ($($trait:ident $method:ident $text:literal),*) => {$(
        impl<const BITS: u32> $trait for WordRegister<BITS> {
            type Output = Self;
            #[inline(never)]
            fn $method(self, other: Self) -> Self {
                Self(emit($text, &[self.0, other.0]))
            }
        }
    )*};
}

word_operators!(
    Add add "# + #",
    Sub sub "# - #",
    Mul mul "# * #",
    BitAnd bitand "# & #",
    BitOr bitor "# | #",
    BitXor bitxor "# ^ #"
);

impl<const BITS: u32> Not for WordRegister<BITS> {
    type Output = Self;
    #[inline(never)]
    fn not(self) -> Self {
        Self(emit("~#", &[self.0]))
    }
}

impl<const BITS: u32> Word for WordRegister<BITS> {
    type Mask = MaskRegister;
    const BITS: u32 = BITS;

    #[inline(never)]
    fn lit(value: u64) -> Self {
        Self(if BITS == 32 { emit(&format!("{:#x}u", value as u32), &[]) } else { emit(&format!("{value:#x}lu"), &[]) })
    }

    #[inline(never)]
    fn shl(self, by: Self) -> Self {
        Self(emit(if BITS == 32 { "# << #" } else { "# << u32(#)" }, &[self.0, by.0]))
    }

    #[inline(never)]
    fn shr(self, by: Self) -> Self {
        Self(emit(if BITS == 32 { "# >> #" } else { "# >> u32(#)" }, &[self.0, by.0]))
    }

    #[inline(never)]
    fn is(self, other: Self) -> MaskRegister {
        MaskRegister(emit("# == #", &[self.0, other.0]))
    }

    #[inline(never)]
    fn below(self, other: Self) -> MaskRegister {
        MaskRegister(emit("# < #", &[self.0, other.0]))
    }

    #[inline(never)]
    fn select(mask: MaskRegister, yes: Self, no: Self) -> Self {
        Self(emit("select(#, #, #)", &[no.0, yes.0, mask.0]))
    }
}

/// Emits a float expression with its operands and result bitcast from and to words.
#[inline(never)]
fn float(bits: u32, text: &str, takes: &[u32]) -> u32 {
    emit(&format!("bitcast<u{bits}>({})", text.replace('#', &format!("bitcast<f{bits}>(#)"))), takes)
}

macro_rules! float_operators {
    ($($trait:ident $method:ident $text:literal),*) => {$(
        impl<const BITS: u32> $trait for FloatRegister<BITS> {
            type Output = Self;
            #[inline(never)]
            fn $method(self, other: Self) -> Self {
                let result = format!("bitcast<u{BITS}>(bitcast<f{BITS}>(#) {} bitcast<f{BITS}>(#))", $text);
                RECORDER.with_borrow_mut(|recorder| recorder.has_float_arithmetic = true);
                Self(emit(&opaque(&result, "zero"), &[self.0, other.0]))
            }
        }
    )*};
}

float_operators!(Add add "+", Sub sub "-", Mul mul "*");

impl<const BITS: u32> Neg for FloatRegister<BITS> {
    type Output = Self;
    #[inline(never)]
    fn neg(self) -> Self {
        Self::from_bits(self.bits() ^ Self::sign_bit())
    }
}

impl<const BITS: u32> FloatRegister<BITS> {
    /// Emits a call of another function of this module.
    #[inline(never)]
    fn call(f: MathFn, takes: &[u32]) -> Self {
        RECORDER.with_borrow_mut(|recorder| {
            if !recorder.calls.contains(&f) {
                recorder.calls.push(f);
            }
        });
        let marks = vec!["#"; takes.len()].join(", ");
        Self(float(BITS, &format!("{}({marks})", name(f, BITS)), takes))
    }
}

impl<const BITS: u32> Float for FloatRegister<BITS> {
    type Word = WordRegister<BITS>;
    type Mask = MaskRegister;
    const P: u32 = if BITS == 32 { 24 } else { 53 };

    #[inline(never)]
    fn lit(value: f64) -> Self {
        Self::from_bits(WordRegister::lit(if BITS == 32 {
            u64::from((value as f32).to_bits())
        } else {
            value.to_bits()
        }))
    }

    fn bits(self) -> WordRegister<BITS> {
        WordRegister(self.0)
    }

    fn from_bits(bits: WordRegister<BITS>) -> Self {
        Self(bits.0)
    }

    #[inline(never)]
    fn lt(self, other: Self) -> MaskRegister {
        MaskRegister(emit(&format!("bitcast<f{BITS}>(#) < bitcast<f{BITS}>(#)"), &[self.0, other.0]))
    }

    #[inline(never)]
    fn select(mask: MaskRegister, yes: Self, no: Self) -> Self {
        Self(emit("select(#, #, #)", &[no.0, yes.0, mask.0]))
    }

    #[inline(never)]
    fn over(self, other: Self) -> Self {
        Self::call(MathFn::Div, &[self.0, other.0])
    }

    #[inline(never)]
    fn root(self) -> Self {
        Self::call(MathFn::Sqrt, &[self.0])
    }
}

/// A WGSL function.
pub(super) struct WgslFunction {
    /// The function's definition.
    pub text: String,
    /// The functions that it calls.
    pub calls: Vec<MathFn>,
}

/// Names of a function's arguments.
const ARGUMENTS: [&str; 2] = ["x", "y"];

/// Translates a program of one or two arguments to a WGSL function.
pub(super) fn translate<const BITS: u32>(
    name: &str,
    arguments: usize,
    program: impl FnOnce(&[FloatRegister<BITS>]) -> FloatRegister<BITS>,
) -> WgslFunction {
    let registers = begin(BITS, arguments).map(FloatRegister);
    let result = program(&registers[..arguments]).0;
    finish(BITS, name, arguments, result)
}

/// Starts a function and returns the registers of its arguments.
fn begin(bits: u32, arguments: usize) -> [u32; 2] {
    RECORDER.set(Recorder::default());
    let mut registers = [0; 2];
    for (register, x) in registers.iter_mut().zip(&ARGUMENTS[..arguments]) {
        *register = emit(&format!("bitcast<u{bits}>({x})"), &[]);
    }
    registers
}

/// Ends a function, which returns the register `result`.
fn finish(bits: u32, name: &str, arguments: usize, result: u32) -> WgslFunction {
    let Recorder { mut instructions, calls, has_float_arithmetic, .. } = RECORDER.take();
    if has_float_arithmetic {
        // An argument may be a product, which compilers contract into the function's first sum.
        for argument in &mut instructions[..arguments] {
            argument.text = opaque(&argument.text, "zero");
        }
    }

    let mut needed = vec![false; instructions.len()];
    needed[result as usize] = true;
    for (i, instruction) in instructions.iter().enumerate().rev() {
        if needed[i] {
            instruction.takes.iter().for_each(|&r| needed[r as usize] = true);
        }
    }
    let parameters: Vec<_> = ARGUMENTS[..arguments].iter().map(|x| format!("{x}: f{bits}")).collect();
    let mut text = format!("fn {name}({}) -> f{bits} {{\n", parameters.join(", "));
    text += if bits == 32 { "    let zero = rg_zero();\n" } else { "    let zero = u64(rg_zero());\n" };
    for (i, instruction) in instructions.iter().enumerate().filter(|(i, _)| needed[*i]) {
        writeln!(text, "    let r{i} = {};", instruction.text).expect("a string takes text");
    }
    writeln!(text, "    return bitcast<f{bits}>(r{result});\n}}").expect("a string takes text");
    WgslFunction { text, calls }
}
