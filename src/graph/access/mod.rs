//! Accesses: how the index of a load comes about from the position of the element being computed.
//!
//! Operations record slices, paddings, gathers and broadcasts as index arithmetic. The access of a load is what that
//! arithmetic amounts to, as one statement: the own position or a run, one fixed element, strided digits of uniform
//! dimensions, the row of the element, a place in a row, or an index that is data. One function makes it from the index
//! ([`Expr::access`]). It is cached as the form of the expression, outside of digests, plan keys and files. Fusion,
//! copying, vector loads, traffic and binding windows ask it; nothing else matches patterns of index arithmetic.
//!
//! A kernel that reads without bounds checks keeps its own proof over the index expression.

mod column_ranges;
mod columns;
mod digit;
mod element;
mod form;
mod lines;
mod place;
mod positions;
mod structure;
#[cfg(test)]
mod tests;
mod uniform;

pub(crate) use column_ranges::{ColumnRange, ColumnRanges, LinearPosition};
pub(crate) use digit::{Counter, Digit, Radix};
pub(in crate::graph) use structure::Structure;
pub(crate) use uniform::{Uniform, UniformDigit, UniformValue};

use super::Expr;
use super::expr::ExprKind;
use super::handles::Handles;
use super::refs::Recorded;
use digit::Grain;
use form::{Form, Sum, Term};

/// How the index of a load comes about from the position `i` of the element being computed. Expressions are functions
/// of `i`; all arithmetic is modulo 2^32.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access<R: Handles = Recorded> {
    /// `start + step * i`; the own position is start 0, step 1.
    Run { start: Expr<R>, step: i64 },
    /// The same element at all positions.
    Fixed(Expr<R>),
    /// `base + digits`: uniform dimensions.
    Strided { base: Expr<R>, digits: Digits<R> },
    /// The row of the own element `i / inner.own`: element `row_of(rows)`.
    Row { rows: R::Array, inner: Inner<R> },
    /// Element `start of row in of + base + step(k)`, where `k` is the offset of the own element in its own row; `row`
    /// and `base` are constant in the own row.
    Place { own: RowsRef<R>, of: RowsRef<R>, row: Expr<R>, base: Expr<R>, step: Step, inner: Inner<R> },
    /// The transposition of the elements of each row with their numbers. Number `n` of an element of own row `r` is in line
    /// `r * own_width + n`. It reads the element at the same offset in row `line / width` of `of`, there number
    /// `line % width`.
    Lines { own: R::Array, own_width: u32, of: R::Array, width: u32 },
    /// Element `element` of `i / inner.own`, a value without further structure.
    Gathered { element: Expr<R>, inner: Inner<R>, order: Order },
    /// The first access where the condition holds, else the second.
    Choice(Expr<R>, Box<[Self; 2]>),
}

/// A sum of multiples of digits.
pub(crate) type Digits<R = Recorded> = Box<[(i64, Digit<R>)]>;

/// Rows that an access refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RowsRef<R: Handles = Recorded> {
    Splits(R::Array),
    /// Rows of this many elements. As for splits, a place lies in the row wherever the load counts: adjoints rely on it.
    Uniform(Radix<R>),
}

/// How the offset in the row that is read follows from the offset `k` in the own row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// `step * k`.
    Along(i64),
    /// `k` modulo the length of the row that is read.
    Cyclic,
    /// `k / repeats`.
    Each(u64),
}

/// Numbers within an element: `digits` of the position, added to the element that is read times `width`. An own element
/// has `own` numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inner<R: Handles = Recorded> {
    pub(crate) own: u32,
    pub(crate) width: u32,
    pub(crate) digits: Digits<R>,
}

/// What is known of the elements that are gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Any elements, in any order.
    Any,
    /// Each at most once, in ascending order.
    Ascending,
    /// Each exactly once.
    Permutation,
}

impl<R: Handles> Expr<R> {
    /// The access of a load at this index, from the expression alone: positions that the index loads from an array are
    /// data.
    pub(crate) fn access(&self) -> Access<R> {
        Access::of_form(&self.form())
    }
}

impl<R: Handles> Expr<R> {
    /// The array, if the expression is a load at the own position.
    pub(crate) fn own_load(&self) -> Option<&R::Array> {
        match self.kind() {
            ExprKind::Load(array, at) if at.is_own_position() => Some(array),
            _ => None,
        }
    }
}

impl<R: Handles> Access<R> {
    /// Whether the element that is read is the one at the own position.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self, Self::Run { start, step: 1 } if start.as_u32() == Some(0))
    }

    /// The accesses between which the conditions choose.
    pub(crate) fn choices(&self) -> Vec<&Self> {
        match self {
            Self::Choice(_, of) => of.iter().flat_map(Self::choices).collect(),
            access => vec![access],
        }
    }

    fn of_form(form: &Form<R>) -> Self {
        match form {
            Form::Choice(c, of) => Self::Choice(c.clone(), Box::new(of.each_ref().map(Self::of_form))),
            Form::Sum(sum) => Self::of_sum(sum),
        }
    }

    fn of_sum(sum: &Sum<R>) -> Self {
        if sum.is_position() {
            return Self::Run { start: Expr::u32(0), step: 1 };
        }
        let joined = || sum.clone().with_own_elements().unwrap_or_else(|| sum.clone());
        // An offset from the start of a row stays one, since it is known to lie within the row.
        let placed = if sum.has_start() { Self::structured(sum) } else { None };
        placed.or_else(|| Self::structured(&joined())).unwrap_or_else(|| element::gathered(sum))
    }

    /// The access, if it is no value without further structure.
    fn structured(sum: &Sum<R>) -> Option<Self> {
        let grain = grain_of(&sum.terms);
        if grain == Grain::Constant && sum.digits.iter().all(|(_, digit)| digit.of == Counter::Position) {
            let base = value_of(&sum.terms, sum.constant);
            return Some(match &sum.digits[..] {
                [] => Self::Fixed(base),
                [(step, digit)] if *digit == Digit::POSITION => Self::Run { start: base, step: *step },
                digits => Self::Strided { base, digits: digits.into() },
            });
        }
        place::row(sum).or_else(|| place::place(sum)).or_else(|| lines::lines(sum))
    }
}

/// How often a sum of terms changes with the position.
fn grain_of<R: Handles>(terms: &[Term<R>]) -> Grain<R> {
    terms.iter().fold(Grain::Constant, |grain, term| grain.and(term.value.grain()))
}

/// The expression `constant + Σ times * value`.
fn value_of<R: Handles>(terms: &[Term<R>], constant: i64) -> Expr<R> {
    let mut parts: Vec<(i64, Expr<R>)> = terms.iter().map(|term| (term.times, term.value.clone())).collect();
    parts.push((constant, Expr::u32(1)));
    // Differences begin with what is added, and need no negation.
    let scaled = |times: i64, value: Expr<R>| value.mul(Expr::u32(times as u32));
    let (added, subtracted): (Vec<_>, Vec<_>) = parts.into_iter().filter(|(t, _)| *t != 0).partition(|(t, _)| *t > 0);
    let sum = added.into_iter().fold(Expr::u32(0), |sum, (times, value)| sum.add(scaled(times, value)));
    subtracted.into_iter().fold(sum, |sum, (times, value)| sum.sub(scaled(-times, value)))
}
