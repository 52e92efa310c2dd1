//! Indices over uniform dimensions whose sizes are parameters of the program.
//!
//! The strides of such dimensions are no constants, so that [`Access::Strided`](super::Access::Strided) has no place for
//! them. Gradients ask for the sum of digits with sizes as factors.

use crate::graph::Expr;
use crate::graph::expr::ExprKind;
use crate::graph::opcode::BinaryOp;
use crate::graph::size::{Factors, Size};

/// `base + Σ ± times * ((position / divisor) % modulus) + Σ ± times * value`, modulo 2^32.
#[derive(Debug, Clone)]
pub(crate) struct Uniform {
    /// The same at all positions.
    pub(crate) base: Expr,
    pub(crate) digits: Vec<UniformDigit>,
    /// Other values.
    pub(crate) values: Vec<UniformValue>,
}

/// `± times * value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UniformValue {
    pub(crate) is_negative: bool,
    pub(crate) times: Size,
    pub(crate) value: Expr,
}

/// `± times * ((position / divisor) % modulus)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UniformDigit {
    pub(crate) is_negative: bool,
    pub(crate) times: Size,
    pub(crate) divisor: Size,
    pub(crate) modulus: Option<Size>,
}

impl UniformDigit {
    const POSITION: Self = Self { is_negative: false, times: Size::Const(1), divisor: Size::Const(1), modulus: None };

    /// `digit / by`, where the factor is 1. `None` if that is no digit.
    fn divided(&self, by: &Size) -> Option<Self> {
        let modulus = match &self.modulus {
            None => None,
            Some(modulus) => Some(Factors::of(modulus).exact(by)?),
        };
        Some(Self { divisor: self.divisor.mul(by), modulus, ..self.clone() })
    }

    /// `digit % by`, where the factor is 1. `None` if that is no digit.
    fn rest(&self, by: &Size) -> Option<Self> {
        let modulus = match &self.modulus {
            None => by.clone(),
            Some(modulus) if Factors::of(modulus).exact(by).is_some() => by.clone(),
            Some(modulus) if Factors::of(by).exact(modulus).is_some() => modulus.clone(),
            Some(_) => return None,
        };
        Some(Self { modulus: Some(modulus), ..self.clone() })
    }
}

impl Uniform {
    fn of_base(base: Expr) -> Self {
        Self { base, digits: Vec::new(), values: Vec::new() }
    }

    fn of_value(value: Expr) -> Self {
        let value = UniformValue { is_negative: false, times: Size::Const(1), value };
        Self { values: vec![value], ..Self::of_base(Expr::u32(0)) }
    }

    /// The sum of both, or the difference.
    fn plus(mut self, other: Self, subtracts: bool) -> Self {
        self.base = if subtracts { self.base.sub(other.base) } else { self.base.add(other.base) };
        for digit in other.digits {
            self.digits.push(UniformDigit { is_negative: digit.is_negative != subtracts, ..digit });
        }
        for value in other.values {
            let value = UniformValue { is_negative: value.is_negative != subtracts, ..value };
            let opposite = UniformValue { is_negative: !value.is_negative, ..value.clone() };
            match self.values.iter().position(|known| *known == opposite) {
                Some(k) => drop(self.values.remove(k)),
                None => self.values.push(value),
            }
        }
        self.digits = apart(self.digits);
        self
    }

    fn scaled(mut self, by: &Size) -> Self {
        self.base = self.base.mul(Expr::size(by));
        self.digits.iter_mut().for_each(|digit| digit.times = digit.times.mul(by));
        self.values.iter_mut().for_each(|value| value.times = value.times.mul(by));
        self
    }

    /// The digit, if the sum is one.
    fn as_digit(&self) -> Option<&UniformDigit> {
        match (&self.digits[..], &self.values[..]) {
            ([digit], []) if self.base.as_u32() == Some(0) && !digit.is_negative => {
                Some(digit).filter(|digit| digit.times == Size::Const(1))
            }
            _ => None,
        }
    }
}

/// The digits, with those that overlap split where the others begin, and equal ones added.
fn apart(digits: Vec<UniformDigit>) -> Vec<UniformDigit> {
    let one = Size::Const(1);
    let mut limits: Vec<Size> = Vec::new();
    for limit in digits.iter().flat_map(|d| [Some(d.divisor.clone()), d.modulus.as_ref().map(|m| d.divisor.mul(m))]) {
        limits.extend(limit.filter(|limit| !limits.iter().any(|known| Factors::are_same(known, limit))));
    }
    limits.sort_by_key(|limit| Factors::of(limit).order());
    let mut out: Vec<UniformDigit> = Vec::new();
    for mut digit in digits {
        // Without a limit, the digit begins anew at each of the greater limits.
        while digit.modulus.is_none() {
            let from = Factors::of(&digit.divisor);
            let next = limits.iter().find_map(|limit| {
                let by = Factors::of(limit).exact(&digit.divisor).filter(|by| *by != one)?;
                (from.order() < Factors::of(limit).order()).then_some((limit, by))
            });
            let Some((limit, by)) = next else { break };
            let (times, divisor) = (digit.times.mul(&by), limit.clone());
            add(&mut out, UniformDigit { modulus: Some(by), ..digit.clone() });
            digit = UniformDigit { times, divisor, ..digit };
        }
        add(&mut out, digit);
    }
    out
}

/// Adds a digit to a sum.
fn add(sum: &mut Vec<UniformDigit>, digit: UniformDigit) {
    let is_same = |a: &Option<Size>, b: &Option<Size>| match (a, b) {
        (Some(a), Some(b)) => Factors::are_same(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    let parts = |digit: &UniformDigit| {
        let (times, of) = Factors::of(&digit.times).parts();
        let times = i64::try_from(times).unwrap_or(i64::MAX);
        (if digit.is_negative { -times } else { times }, of)
    };
    let (times, of) = parts(&digit);
    let known = sum.iter().position(|known| {
        let is_digit = Factors::are_same(&known.divisor, &digit.divisor) && is_same(&known.modulus, &digit.modulus);
        is_digit && Factors::are_same(&parts(known).1, &of)
    });
    let Some(k) = known else { return sum.push(digit) };
    let total = parts(&sum[k]).0.saturating_add(times);
    match u32::try_from(total.unsigned_abs()) {
        Ok(0) => drop(sum.remove(k)),
        Ok(times) => {
            sum[k].is_negative = total < 0;
            sum[k].times = Size::Const(times).mul(&of);
        }
        Err(_) => sum.push(digit),
    }
}

impl Expr {
    /// The index as a sum of digits of uniform dimensions and other values.
    pub(crate) fn uniform(&self) -> Uniform {
        sum(self).unwrap_or_else(|| Uniform::of_value(self.clone()))
    }
}

/// The sum; `None` if the expression is a value of its own.
fn sum(e: &Expr) -> Option<Uniform> {
    use BinaryOp::{Add, IndexDiv, IndexRem, Mul, Sub};
    if !e.has_index() {
        return Some(Uniform::of_base(e.clone()));
    }
    match e.kind() {
        ExprKind::Index => Some(Uniform { digits: vec![UniformDigit::POSITION], ..Uniform::of_base(Expr::u32(0)) }),
        ExprKind::Binary(Add, a, b) => Some(a.uniform().plus(b.uniform(), false)),
        ExprKind::Binary(Sub, a, b) => Some(a.uniform().plus(b.uniform(), true)),
        ExprKind::Binary(Mul, a, b) => match (a.as_size(), b.as_size()) {
            (_, Some(by)) => Some(a.uniform().scaled(&by)),
            (Some(by), _) => Some(b.uniform().scaled(&by)),
            _ => None,
        },
        ExprKind::Binary(op @ (IndexDiv | IndexRem), a, by) => {
            let by = by.as_size()?;
            let a = a.uniform();
            let digit = if *op == IndexDiv { a.as_digit()?.divided(&by) } else { a.as_digit()?.rest(&by) };
            Some(Uniform { digits: vec![digit?], ..Uniform::of_base(Expr::u32(0)) })
        }
        _ => None,
    }
}
