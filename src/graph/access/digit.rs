//! Digits of positions in a mixed radix: `(counter / divisor) % modulus`.

use crate::graph::Expr;
use crate::graph::handles::Handles;
use crate::graph::refs::Recorded;

/// A divisor or modulus: `times`, or `times * size` where the size is known when the program runs only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Radix<R: Handles = Recorded> {
    pub(crate) times: u64,
    pub(crate) size: Option<Expr<R>>,
}

impl<R: Handles> Radix<R> {
    pub(crate) const ONE: Self = Self::known(1);

    pub(crate) const fn known(times: u64) -> Self {
        Self { times, size: None }
    }

    /// The number, unless it contains a size.
    pub(crate) fn as_known(&self) -> Option<u64> {
        self.size.is_none().then_some(self.times)
    }

    /// The product; `None` if it contains two sizes or exceeds u64.
    pub(super) fn product(&self, other: &Self) -> Option<Self> {
        let size = match (&self.size, &other.size) {
            (Some(_), Some(_)) => return None,
            (size, None) | (None, size) => size.clone(),
        };
        Some(Self { times: self.times.checked_mul(other.times)?, size })
    }

    /// The greatest known radix of which a quotient by either radix is a function: `x / self` and `x / other` are
    /// functions of `x / common`.
    fn common(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.times, other.times);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        if self == other { self.clone() } else { Self::known(a.max(1)) }
    }
}

/// Ragged rows of a kernel's own elements: element `position / width` is in row `row_of(splits, position / width)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnRows<R: Handles> {
    pub(crate) splits: R::Array,
    /// Numbers per element.
    pub(crate) width: u32,
}

/// How often a value changes with the position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Grain<R: Handles> {
    /// The same value at all positions.
    Constant,
    /// One value per own row.
    Row(OwnRows<R>),
    /// A function of `position / radix`.
    Block(Radix<R>),
}

impl<R: Handles> Grain<R> {
    /// The grain of a function of two values.
    pub(super) fn and(self, other: &Self) -> Self {
        match (&self, other) {
            (_, Self::Constant) => self,
            (Self::Constant, _) => other.clone(),
            _ if self == *other => self,
            _ => Self::Block(self.block().common(&other.block())),
        }
    }

    /// A radix of which the value is a function of the quotient.
    pub(super) fn block(&self) -> Radix<R> {
        match self {
            Self::Constant => Radix::known(0),
            Self::Row(rows) => Radix::known(rows.width.into()),
            Self::Block(radix) => radix.clone(),
        }
    }
}

/// What digits are taken of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Counter<R: Handles = Recorded> {
    /// The flat position.
    Position,
    /// The offset of the own element in its row: `position / width - splits[row]`.
    Offset(OwnRows<R>),
}

/// `(counter / divisor) % modulus`, as a true integer; both operations give 0 for a radix of 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Digit<R: Handles = Recorded> {
    pub(crate) of: Counter<R>,
    pub(crate) divisor: Radix<R>,
    pub(crate) modulus: Option<Radix<R>>,
}

impl<R: Handles> Digit<R> {
    pub(crate) const POSITION: Self = Self { of: Counter::Position, divisor: Radix::ONE, modulus: None };

    /// The whole counter from a divisor on.
    pub(super) fn from(of: Counter<R>, divisor: Radix<R>) -> Self {
        Self { of, divisor, modulus: None }
    }

    /// The number of values of the digit, if known.
    pub(super) fn known_modulus(&self) -> Option<u64> {
        self.modulus.as_ref().and_then(Radix::as_known)
    }

    /// How often the digit changes.
    pub(super) fn grain(&self) -> Grain<R> {
        match &self.of {
            Counter::Position => Grain::Block(self.divisor.clone()),
            Counter::Offset(rows) => Grain::Block(Radix::known(rows.width.into())),
        }
    }

    /// The divisor and the product of divisor and modulus, if both are known: the digit is what lies between the two.
    /// An unlimited digit ends at `None`.
    fn known_range(&self) -> Option<(u64, Option<u64>)> {
        let divisor = self.divisor.as_known().filter(|&d| d > 0)?;
        match &self.modulus {
            None => Some((divisor, None)),
            Some(m) => Some((divisor, Some(divisor.checked_mul(m.as_known().filter(|&m| m > 0)?)?))),
        }
    }

    /// `digit / by` and `digit % by`: as digits, or none where they are 0. `None` if they are no digits.
    pub(super) fn split(&self, by: u64) -> Option<(Option<Self>, Option<Self>)> {
        if by == 1 {
            return Some((Some(self.clone()), None));
        }
        let above = self.divisor.product(&Radix::known(by))?;
        let rest = Self { modulus: Some(Radix::known(by)), ..self.clone() };
        match &self.modulus {
            None => Some((Some(Self { divisor: above, ..self.clone() }), Some(rest))),
            Some(m) => match m.as_known()? {
                m if m <= by => Some((None, Some(self.clone()))),
                m if m % by == 0 => {
                    let modulus = Some(Radix::known(m / by));
                    Some((Some(Self { divisor: above, modulus, ..self.clone() }), Some(rest)))
                }
                _ => None,
            },
        }
    }
}

/// Adds `times * digit` to the sum of multiples of digits.
pub(super) fn add_digit<R: Handles>(sum: &mut Vec<(i64, Digit<R>)>, times: i64, digit: &Digit<R>) -> Option<()> {
    match sum.iter_mut().find(|(_, known)| known == digit) {
        Some((known, _)) => *known = known.checked_add(times)?,
        None => sum.push((times, digit.clone())),
    }
    Some(())
}

/// The canonical form of a sum of multiples of digits: digits of one counter do not overlap, adjacent digits are one
/// where their multiples agree, greatest divisors first. Digits with unknown radices stay as they are.
pub(super) fn canonical<R: Handles>(sum: Vec<(i64, Digit<R>)>) -> Option<Vec<(i64, Digit<R>)>> {
    let mut out: Vec<(i64, Digit<R>)> = Vec::with_capacity(sum.len());
    let mut counters: Vec<Counter<R>> = Vec::new();
    for (times, digit) in &sum {
        if digit.known_range().is_none() {
            add_digit(&mut out, *times, digit)?;
        } else if !counters.contains(&digit.of) {
            counters.push(digit.of.clone());
        }
    }
    for counter in counters {
        let of_counter = |digit: &Digit<R>| digit.of == counter && digit.known_range().is_some();
        let digits: Vec<&(i64, Digit<R>)> = sum.iter().filter(|(_, digit)| of_counter(digit)).collect();
        match pieces(&digits) {
            Some(pieces) => out.extend(pieces.into_iter().rev().map(|(times, divisor, modulus)| {
                let (divisor, modulus) = (Radix::known(divisor), modulus.map(Radix::known));
                (times, Digit { of: counter.clone(), divisor, modulus })
            })),
            None => digits.into_iter().try_for_each(|(times, digit)| add_digit(&mut out, *times, digit))?,
        }
    }
    out.retain(|(times, _)| *times != 0);
    Some(out)
}

/// The sum of multiples of digits of one counter as multiples of digits that do not overlap: factor, divisor and modulus
/// of each, smallest divisor first. `None` if their limits do not divide one another.
fn pieces<R: Handles>(digits: &[&(i64, Digit<R>)]) -> Option<Vec<(i64, u64, Option<u64>)>> {
    let ranges: Vec<(i64, u64, Option<u64>)> =
        digits.iter().filter_map(|(times, d)| d.known_range().map(|(from, to)| (*times, from, to))).collect();
    let mut limits: Vec<u64> = ranges.iter().flat_map(|(_, from, to)| [Some(*from), *to]).flatten().collect();
    limits.sort_unstable();
    limits.dedup();
    if limits.windows(2).any(|w| w[1] % w[0] != 0) {
        return None;
    }
    let mut out: Vec<(i64, u64, Option<u64>)> = Vec::new();
    for (k, &from) in limits.iter().enumerate() {
        let to = limits.get(k + 1).copied();
        let mut times = 0i64;
        for (factor, first, last) in &ranges {
            if *first <= from && last.is_none_or(|last| from < last) {
                let scale = i64::try_from(from / first).ok()?;
                times = times.checked_add(factor.checked_mul(scale)?)?;
            }
        }
        let modulus = to.map(|to| to / from);
        match out.last().copied() {
            // The digit continues the one below.
            Some((below, divisor, Some(m))) if times != 0 && times == below.checked_mul(i64::try_from(m).ok()?)? => {
                out.pop();
                out.push((below, divisor, modulus.map(|own| own.saturating_mul(m))));
            }
            _ => out.push((times, from, modulus)),
        }
    }
    out.retain(|(times, ..)| *times != 0);
    Some(out)
}
