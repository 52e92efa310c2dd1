//! Values that are the same for all numbers of an element.

use super::digit::{Counter, Digit, Grain, Radix};
use super::form::{Form, Sum, Term};
use super::place::inner_digits;
use super::{Access, Inner, Order, grain_of, value_of};
use crate::graph::Expr;
use crate::graph::digest::DigestMap;
use crate::graph::handles::Handles;

/// The access of an index without further structure.
pub(super) fn gathered<R: Handles>(sum: &Sum<R>) -> Access<R> {
    wide_elements(sum).unwrap_or_else(|| {
        let inner = Inner { own: 1, width: 1, digits: Box::default() };
        let element = of_elements(sum, 1).unwrap_or_else(|| unreachable!("bug: every value is one of its position"));
        Access::Gathered { element, inner, order: Order::Any }
    })
}

/// The access, if the index is a number within an element that is gathered for the own element as a whole.
fn wide_elements<R: Handles>(sum: &Sum<R>) -> Option<Access<R>> {
    let block = match grain_of(&sum.terms) {
        Grain::Constant => return None,
        grain => grain.block(),
    };
    let own = u32::try_from(block.times).ok().filter(|&own| own > 1 && block.size.is_none())?;
    let is_inner = |digit: &Digit<R>| inner_digits(&[(1, digit.clone())], own).is_some();
    let (inner, outer): (Vec<_>, Vec<_>) = sum.digits.iter().cloned().partition(|(_, digit)| is_inner(digit));
    let factors = outer.iter().map(|(times, _)| *times).chain(sum.terms.iter().map(|term| term.times));
    let width = factors.chain([sum.constant]).fold(0, gcd);
    let by_width = |times: i64| times / width;
    let elements = Sum {
        constant: by_width(sum.constant),
        digits: outer.iter().map(|(times, digit)| (by_width(*times), digit.clone())).collect(),
        terms: sum.terms.iter().map(|term| Term { times: by_width(term.times), ..term.clone() }).collect(),
    };
    let element = of_elements(&elements, own)?;
    let inner = Inner { own, width: u32::try_from(width).ok()?, digits: inner.into() };
    Some(Access::Gathered { element, inner, order: Order::Any })
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The sum as an expression in the own element `position / width`.
fn of_elements<R: Handles>(sum: &Sum<R>, width: u32) -> Option<Expr<R>> {
    let mut known = DigestMap::default();
    let mut terms = Vec::with_capacity(sum.terms.len() + sum.digits.len());
    for term in &sum.terms {
        terms.push(Term { value: of_element(&term.value, width, &mut known)?, ..term.clone() });
    }
    for (times, digit) in &sum.digits {
        terms.push(Term { times: *times, value: digit_of_element(digit, width)?, is_start: false });
    }
    Some(value_of(&terms, sum.constant))
}

/// The digit as an expression in the own element `position / width`.
fn digit_of_element<R: Handles>(digit: &Digit<R>, width: u32) -> Option<Expr<R>> {
    let (counter, divisor) = match &digit.of {
        Counter::Position => {
            let divisor = digit.divisor.times;
            (Expr::index(), divisor.is_multiple_of(width.into()).then_some(divisor / u64::from(width))?)
        }
        Counter::Offset(rows) => {
            let element = Expr::index().div(Expr::u32((rows.width % width == 0).then_some(rows.width / width)?));
            let row = Expr::row_of(&rows.splits, element.clone());
            (element.sub(Expr::load(&rows.splits, row)), digit.divisor.times)
        }
    };
    let Ok(divisor) = u32::try_from(divisor) else { return Some(Expr::u32(0)) };
    let mut out = counter.div(Expr::u32(divisor));
    // Sizes are constant in the own row; here they become expressions of the element.
    let of_element = |size: &Expr<R>| of_element(size, width, &mut DigestMap::default());
    if let Some(size) = &digit.divisor.size {
        out = out.div(of_element(size)?);
    }
    match &digit.modulus {
        None => {}
        Some(Radix { times: 1, size: Some(size) }) => out = out.rem(of_element(size)?),
        Some(modulus) => {
            if let Ok(modulus) = u32::try_from(modulus.as_known()?) {
                out = out.rem(Expr::u32(modulus));
            }
        }
    }
    Some(out)
}

/// Rewrites an expression of the position as an expression of the own element `position / width`. `None` if it may
/// differ among the numbers of an element.
fn of_element<R: Handles>(e: &Expr<R>, width: u32, known: &mut DigestMap<Option<Expr<R>>>) -> Option<Expr<R>> {
    if !e.has_index() || width == 1 {
        return Some(e.clone());
    }
    if let Some(known) = known.get(&e.digest()) {
        return known.clone();
    }
    let digit = match e.form() {
        Form::Sum(sum) => sum.as_digit().and_then(|digit| digit_of_element(digit, width)),
        Form::Choice(..) => None,
    };
    let found = digit.or_else(|| {
        let operands: Option<Vec<Expr<R>>> = e.operands().map(|o| of_element(o, width, known)).collect();
        operands.filter(|operands| !operands.is_empty()).map(|operands| e.with_operands(operands.into_iter()))
    });
    known.insert(e.digest(), found.clone());
    found
}

impl<R: Handles> Expr<R> {
    /// The value as an expression of the own element, of `width` numbers each. `None` if it may differ among the numbers
    /// of an element.
    pub(crate) fn of_element(&self, width: u32) -> Option<Self> {
        of_element(self, width, &mut DigestMap::default())
    }

    /// For an index that selects consecutive numbers for each own element, of `width` numbers each: the first of them, as
    /// an expression of the own element. `None` for runs, which select consecutive numbers throughout.
    pub(crate) fn first_of_element(&self, width: u32) -> Option<Self> {
        first_of_form(self.form(), width)
    }
}

fn first_of_form<R: Handles>(form: Form<R>, width: u32) -> Option<Expr<R>> {
    match form {
        Form::Sum(sum) => first_of_sum(sum, width),
        Form::Choice(condition, branches) => {
            let [a, b] = *branches;
            Some(condition.of_element(width)?.select(first_of_form(a, width)?, first_of_form(b, width)?))
        }
    }
}

fn first_of_sum<R: Handles>(mut sum: Sum<R>, width: u32) -> Option<Expr<R>> {
    let starts_element = |(times, digit): &(i64, Digit<R>)| {
        let is_position = digit.of == Counter::Position && digit.divisor == Radix::ONE;
        *times == 1 && is_position && digit.modulus.is_some()
    };
    let at = sum.digits.iter().position(starts_element)?;
    let (_, digit) = sum.digits.remove(at);
    let number = Digit { modulus: Some(Radix::known(width.into())), ..Digit::POSITION };
    let (above, below) = digit.split(width.into())?;
    if below? != number {
        return None;
    }
    sum.digits.extend(above.map(|above| (width.into(), above)));
    of_elements(&sum, width)
}
