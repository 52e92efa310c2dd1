//! Python's slice arithmetic, as expressions in the length of the row.

use crate::graph::expr::Expr;

/// Endpoint of a slice in a row of length `n`: a boundary between elements, clamped to the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Endpoint {
    /// `min(a, n)`: counted from the front.
    Front(u32),
    /// `max(n - b, 0)`: counted from the back.
    Back(u32),
}

/// `start:stop:step`, for rows of any length.
///
/// Both directions take every `step`-th element between two boundaries `lo <= hi`, forwards from `lo` or backwards from
/// `hi`. The number of elements depends on the row's length alone. Slices that always keep equally many elements have
/// the same expression: `[:-1]` and `[1:]` are both `max(n, 1) - 1`, so their partitions are identical.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    lo: Endpoint,
    hi: Endpoint,
    step: u32,
    backwards: bool,
}

/// `max(n - k, 0)`.
fn less(n: Expr, k: u32) -> Expr {
    if k == 0 { n } else { n.max(Expr::u32(k)).sub(Expr::u32(k)) }
}

/// Saturates a number of elements at `u32::MAX`, which no row exceeds.
fn clamp(v: u64) -> u32 {
    u32::try_from(v).unwrap_or(u32::MAX)
}

impl Endpoint {
    fn at(self, n: Expr) -> Expr {
        match self {
            Self::Front(0) => Expr::u32(0),
            Self::Front(a) => n.min(Expr::u32(a)),
            Self::Back(b) => less(n, b),
        }
    }
}

impl Span {
    /// The whole row, in order.
    pub(crate) const FULL: Self = Self { lo: Endpoint::Front(0), hi: Endpoint::Back(0), step: 1, backwards: false };

    /// The span of `start:stop:step`; `None` if the step is 0.
    pub(crate) fn new(start: Option<i64>, stop: Option<i64>, step: i64) -> Option<Self> {
        if step == 0 {
            return None;
        }
        let backwards = step < 0;
        // Backwards, a bound lies behind the element that it names, instead of before it.
        let shift = u64::from(backwards);
        let bound = |i: i64| {
            if i >= 0 {
                Endpoint::Front(clamp(i.unsigned_abs() + shift))
            } else {
                Endpoint::Back(clamp(i.unsigned_abs() - shift))
            }
        };
        let (first, last) = if backwards { (stop, start) } else { (start, stop) };
        Some(Self {
            lo: first.map_or(Endpoint::Front(0), bound),
            hi: last.map_or(Endpoint::Back(0), bound),
            step: clamp(step.unsigned_abs()),
            backwards,
        })
    }

    /// Number of elements between both bounds in a row of length `n`.
    fn between(&self, n: Expr) -> Expr {
        match (self.lo, self.hi) {
            (Endpoint::Front(a), Endpoint::Back(b)) => less(n, a.saturating_add(b)),
            (Endpoint::Front(a), Endpoint::Front(b)) if a < b => less(n, a).min(Expr::u32(b - a)),
            (Endpoint::Back(a), Endpoint::Back(b)) if a > b => less(n, b).min(Expr::u32(a - b)),
            (Endpoint::Back(a), Endpoint::Front(b)) if a > 0 && b > 0 => {
                let lo = self.lo.at(n.clone());
                self.hi.at(n).max(lo.clone()).sub(lo)
            }
            _ => Expr::u32(0),
        }
    }

    /// Number of elements taken from a row of length `n`.
    pub(crate) fn length(&self, n: Expr) -> Expr {
        let span = self.between(n);
        if self.step == 1 {
            return span;
        }
        // ceil(span / step), without overflow.
        span.clone().min(Expr::u32(1)).add(less(span, 1).div(Expr::u32(self.step)))
    }

    /// Offset of the `k`-th taken element in a row of length `n`, from which more than `k` are taken.
    pub(crate) fn offset(&self, n: Expr, k: Expr) -> Expr {
        let away = k.mul(Expr::u32(self.step));
        if self.backwards {
            let hi = match self.hi {
                Endpoint::Back(b) => n.sub(Expr::u32(b)),
                front => front.at(n),
            };
            hi.sub(Expr::u32(1)).sub(away)
        } else {
            let lo = match self.lo {
                Endpoint::Front(a) => Expr::u32(a),
                back => back.at(n),
            };
            lo.add(away)
        }
    }

    /// Offset of the first taken element in a row of length `n`, if the taken elements are contiguous and in order.
    /// Anywhere within the row if none are taken.
    pub(crate) fn run_start(&self, n: Expr) -> Option<Expr> {
        (self.step == 1 && !self.backwards).then(|| self.lo.at(n))
    }

    /// Numbers of elements taken from the shortest and the longest row, given rows of `shortest..=longest`. `None` if
    /// longer rows may give fewer.
    pub(crate) fn lengths(&self, (shortest, longest): (u32, u32)) -> Option<(u32, u32)> {
        let number = |n| self.length(Expr::u32(n)).as_u32();
        match (self.lo, self.hi) {
            (Endpoint::Back(_), Endpoint::Front(_)) => None,
            _ => number(shortest).zip(number(longest)),
        }
    }

    /// Number of elements that each row of at least `shortest` loses, if all lose equally many.
    pub(crate) fn loss(&self, shortest: u32) -> Option<u32> {
        match (self.lo, self.hi) {
            (Endpoint::Front(a), Endpoint::Back(b)) if self.step == 1 => {
                a.checked_add(b).filter(|&lost| lost <= shortest)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python's own definition, element by element.
    fn python(n: i64, start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<u32> {
        let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
        let place = |i: i64| (if i < 0 { i + n } else { i }).clamp(low, high);
        let mut i = start.map_or(if step > 0 { low } else { high }, place);
        let stop = stop.map_or(if step > 0 { high } else { low }, place);
        let mut out = Vec::new();
        while if step > 0 { i < stop } else { i > stop } {
            out.push(i as u32);
            i += step;
        }
        out
    }

    #[test]
    fn spans_are_pythons() {
        let ends: Vec<Option<i64>> = [None].into_iter().chain((-7..=7).map(Some)).collect();
        for n in 0..6u32 {
            for &start in &ends {
                for &stop in &ends {
                    for step in (-4..=4).filter(|&s| s != 0) {
                        let span = Span::new(start, stop, step).unwrap();
                        let len = span.length(Expr::u32(n)).as_u32().unwrap();
                        let got: Vec<u32> =
                            (0..len).map(|k| span.offset(Expr::u32(n), Expr::u32(k)).as_u32().unwrap()).collect();
                        let want = python(i64::from(n), start, stop, step);
                        assert_eq!(got, want, "n {n} start {start:?} stop {stop:?} step {step}");
                        if let (Some(at), Some(&first)) = (span.run_start(Expr::u32(n)), want.first()) {
                            assert_eq!(at.as_u32(), Some(first));
                        }
                        if let Some((least, most)) = span.lengths((n, n + 2)) {
                            let longer = python(i64::from(n) + 1, start, stop, step).len() as u32;
                            assert!(least <= longer && longer <= most);
                        }
                        if let Some(lost) = span.loss(n) {
                            assert_eq!(want.len() as u32, n - lost);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        for start in [Some(i64::MIN), Some(i64::MAX), None] {
            for stop in [Some(i64::MIN), Some(i64::MAX), None] {
                for step in [i64::MIN, -1, 1, i64::MAX] {
                    let span = Span::new(start, stop, step).unwrap();
                    let want =
                        python(5, start.map(|s| s.clamp(-9, 9)), stop.map(|s| s.clamp(-9, 9)), step.clamp(-9, 9));
                    assert_eq!(span.length(Expr::u32(5)).as_u32(), Some(want.len() as u32));
                }
            }
        }
        assert_eq!(Span::new(None, None, 0), None);
    }

    #[test]
    fn equal_lengths_have_one_expression() {
        let n = Expr::index();
        let length = |start, stop| Span::new(start, stop, 1).unwrap().length(n.clone());
        assert_eq!(length(None, Some(-1)), length(Some(1), None));
        assert_eq!(length(None, Some(2)), length(Some(-2), None));
        assert_eq!(length(Some(1), Some(-1)), length(Some(2), None));
        assert_eq!(Span::FULL.length(n.clone()), n);
        assert_eq!(Span::new(None, None, -1).unwrap().length(n.clone()), n);
    }
}
