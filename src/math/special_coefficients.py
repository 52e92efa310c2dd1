#!/usr/bin/env python3
"""Writes src/math/special_coefficients.rs: polynomial coefficients for the special functions of src/math.

Usage: python3 src/math/special_coefficients.py | rustfmt --edition 2024 --config-path . > src/math/special_coefficients.rs
(needs mpmath; a minute)

Each polynomial is a truncated Chebyshev series of its function, within a small factor of the best polynomial of that
degree. The degree is the smallest whose error, relative to the least magnitude of the function and times the share that
the polynomial has in the result, is below 2^-(p + 4). Pieces among which a program selects coefficient by coefficient
are filled up with zeros.
"""
from mpmath import (
    mp, mpf, besseli, cos, cot, digamma, erfc, euler, exp, expm1, findroot, floor, loggamma, log, pi, psi, sin, sqrt
)

mp.dps = 50
NODES = 72
SINGLE, DOUBLE = 24, 53


def series(f, lo, hi):
    """Chebyshev coefficients of f on the interval, and its least magnitude there."""
    angles = [pi * (k + mpf(1) / 2) / NODES for k in range(NODES)]
    values = [f((lo + hi) / 2 + (hi - lo) / 2 * cos(a)) for a in angles]
    c = [2 * sum(v * cos(j * a) for v, a in zip(values, angles)) / NODES for j in range(NODES)]
    c[0] /= 2
    return c, min(abs(v) for v in values)


def monomials(c, lo, hi):
    """The powers of x of a Chebyshev series on the interval."""
    # x = middle + half * t, so t = a + b x.
    b = 2 / (hi - lo)
    a = -(lo + hi) / (hi - lo)
    total, before, now = [mpf(0)] * len(c), [mpf(0)], [mpf(1)]
    for j, coefficient in enumerate(c):
        for i, p in enumerate(now):
            total[i] += coefficient * p
        times_t = [mpf(0)] * (len(now) + 1)
        for i, p in enumerate(now):
            times_t[i] += a * p
            times_t[i + 1] += b * p
        if j > 0:
            times_t = [2 * p for p in times_t]
            for i, p in enumerate(before):
                times_t[i] -= p
        before, now = now, times_t
    return total


def fit(f, lo, hi, bits, share=1):
    """The polynomial in x - middle, where the middle is none for an interval around zero."""
    lo, hi = mpf(lo), mpf(hi)
    c, least = series(f, lo, hi)
    for n in range(1, NODES):
        if sum(abs(x) for x in c[n:]) / least * share < mpf(2) ** -(bits + 4):
            return monomials(c[:n], lo, hi)
    raise SystemExit("no fit")


def short(x):
    """About x, in few digits, so that it is exact in either width and in a subtraction."""
    return floor(x * 256) / 256


def shifted(f, lo, hi, bits, share=1):
    """The middle of the interval, and the polynomial in the distance from it."""
    lo, hi = mpf(lo), mpf(hi)
    middle = short((lo + hi) / 2)
    return middle, fit(lambda d: f(middle + d), lo - middle, hi - middle, bits, share)


def emit(c):
    return "&[" + ", ".join(repr(float(x)) for x in c) + "]"


def table(name, doc, single, double):
    print(f"\n/// {doc}")
    print(f"pub(super) const {name}: Coefficients = Coefficients {{ single: {emit(single)}, double: {emit(double)} }};")


def pieces(name, doc, make):
    """Several pieces of one function: their middles, and polynomials of equal length."""
    made = {bits: make(bits) for bits in (SINGLE, DOUBLE)}
    for bits in made:
        longest = max(len(c) for _, c in made[bits])
        made[bits] = [(m, c + [mpf(0)] * (longest - len(c))) for m, c in made[bits]]
    count = len(made[SINGLE])
    print(f"\n/// {doc}")
    print(f"pub(super) const {name}: [Piece; {count}] = [")
    for (m, single), (n, double) in zip(made[SINGLE], made[DOUBLE]):
        low = [near(c[0] - near(c[0], p), p) for c, p in ((single, SINGLE), (double, DOUBLE))]
        single, double = [near(single[0], SINGLE)] + single[1:], [near(double[0], DOUBLE)] + double[1:]
        print(f"    Piece {{ middle: [{float(m)!r}, {float(n)!r}], low: {emit(low)[1:]}, "
              f"terms: Coefficients {{ single: {emit(single)}, double: {emit(double)} }} }},")
    print("];")


def near(x, p):
    """x rounded to nearest, p bits."""
    m, e = mp.frexp(x)
    return mp.ldexp(mp.nint(m * 2**p), e - p)


def split(name, doc, x, spare=0):
    """A constant in two parts, the last `spare` bits of whose high part are zero."""
    parts = []
    for p in (SINGLE, DOUBLE):
        high = near(x, p - spare)
        parts.append([high, near(x - high, p)])
    table(name, doc + " High part, low part.", *parts)


print("""//! Polynomial coefficients and split constants of the special functions. Written by `src/math/special_coefficients.py`; not to be
//! edited by hand.
#![allow(clippy::excessive_precision, clippy::approx_constant, clippy::unreadable_literal)]

use super::machine::Coefficients;
use super::pieces::Piece;""")

# The complementary error function: u = 1 / (x + 2) from x = 1/2 on.
END = {SINGLE: mpf(11), DOUBLE: mpf(28)}
pieces("ERFCX", "`exp(x^2) erfc(x) (x + 2)` in `1 / (x + 2)`, from 1/2 to where `erfc` vanishes.", lambda bits: [
    shifted(lambda u: exp((1 / u - 2) ** 2) * erfc(1 / u - 2) / u, 1 / (END[bits] + 2), mpf(1) / mpf("2.5"), bits)])


# Its inverse. With w = -log(1 - y^2): y times a function of w, then s = sqrt(w) plus a function of s.
def inverse(w):
    """The x with erfc(x) (2 - erfc(x)) = exp(-w)."""
    if w < mpf(10) ** -20:
        return sqrt(pi * w) / 2
    q = exp(-w) / (1 + sqrt(-expm1(-w)))
    x = sqrt(w) * mpf("0.9")
    while True:
        e = erfc(x)
        d = (log(e) - log(q)) * e / (2 / sqrt(pi) * exp(-x * x))
        x += d
        if abs(d) < mpf(10) ** -30 * x:
            return x


def excess(t):
    s = 3 * (1 + t) / (1 - t)
    return inverse(s * s) - s


def mapped(w):
    s = sqrt(mpf(w))
    return (s - 3) / (s + 3)


LAST = {SINGLE: 104, DOUBLE: 746}
pieces("ERFINV", "With `w = -log(1 - y^2)` and `s = sqrt(w)`: `erfinv(y) / y` in `w` up to 6, `erfinv(|y|) - s` in `(s - 3) / (s + 3)` up "
       "to 37 and beyond.", lambda bits: [
    shifted(lambda w: inverse(w) / sqrt(-expm1(-w)) if w > mpf(10) ** -20 else sqrt(pi) / 2, 0, 6, bits),
    shifted(excess, mapped(6), mapped(37), bits, abs(excess(mapped(6))) / 2),
    shifted(excess, mapped(37), mapped(LAST[bits]), bits, abs(excess(mapped(37))) / 6)])
split("SQRT_2", "The square root of 2.", sqrt(mpf(2)))

# Bessel functions: u = 1 / (x + 3), between bounds.
BOUNDS = {SINGLE: (2, 7), DOUBLE: (3, 10)}
for order in (0, 1):
    power = mpf(order) + mpf(1) / 2

    def scaled(u):
        x = 1 / u - 3
        if x < mpf(10) ** -20:
            return mpf(3) ** power / 2**order
        return exp(-x) * besseli(order, x) / x**order / u**power
    pieces(f"BESSEL_I{order}", f"`exp(-x) I{order}(x)" + ("" if order == 0 else " / x") + f" (x + 3)^({2 * order + 1}/2)` in "
           "`1 / (x + 3)`: up to 2 and 7 (f32) or 3 and 10 (f64), and beyond.", lambda bits: [
        shifted(scaled, lo, hi, bits) for hi, lo in zip(
            [mpf(1) / 3] + [1 / (mpf(b) + 3) for b in BOUNDS[bits]],
            [1 / (mpf(b) + 3) for b in BOUNDS[bits]] + [mpf(10) ** -12])])

# The gamma function.
def fits(name, doc, f, lo, hi, share=1):
    table(name, doc, *[fit(f, lo, hi, bits, share) for bits in (SINGLE, DOUBLE)])


def stirling(v):
    if v < mpf(10) ** -6:
        return mpf(1) / 12 - v / 360 + v**2 / 1260
    x = 1 / sqrt(v)
    return (loggamma(x) - ((x - mpf(1) / 2) * log(x) - x + log(2 * pi) / 2)) * x


def tail(v):
    if v < mpf(10) ** -6:
        return mpf(1) / 12 - v / 120 + v**2 / 252
    x = 1 / sqrt(v)
    return (log(x) - 1 / (2 * x) - digamma(x)) / v


ROOT = findroot(digamma, mpf("1.4616"))
pieces("LGAMMA", "`log(gamma(2 + z)) / z` in `z`, for `|z| <= 1/2`.", lambda bits: [
    (mpf(0), fit(lambda z: loggamma(2 + z) / z if abs(z) > mpf(10) ** -20 else 1 - euler, "-0.5", "0.5", bits))])
fits("STIRLING", "`(log(gamma(x)) - (x - 1/2) log(x) + x - log(2 pi) / 2) x` in `1 / x^2`, from 7/2 on.",
     stirling, 0, 1 / mpf("3.5") ** 2, 1 / (12 * mpf("3.5") * loggamma(mpf("3.5"))))
fits("SIN_PI", "`sin(pi r) / (pi r)` in `r^2`, for `|r| <= 1/2`.",
     lambda z: sin(pi * sqrt(z)) / pi / sqrt(z) if z > mpf(10) ** -20 else mpf(1), 0, "0.25")
pieces("DIGAMMA", "`digamma(x) / d` in `d`, the distance of `x` from the root, for `x` from 1 to 2.", lambda bits: [
    (mpf(0), fit(lambda d: digamma(ROOT + d) / d if abs(d) > mpf(10) ** -20 else psi(1, ROOT), 1 - ROOT, 2 - ROOT, bits))])
fits("DIGAMMA_TAIL", "`(log(x) - 1 / (2 x) - digamma(x)) x^2` in `1 / x^2`, from 3 on.",
     tail, 0, mpf(1) / 9, mpf(1) / (12 * 9))
fits("COT_PI", "`(1 / r - pi cot(pi r)) / r` in `r^2`, for `|r| <= 1/2`.",
     lambda z: (1 / sqrt(z) - pi * cot(pi * sqrt(z))) / sqrt(z) if z > mpf(10) ** -20 else pi**2 / 3, 0, "0.25")
split("DIGAMMA_ROOT", "The positive root of digamma; one more and one less than the high part are exact as well.", ROOT, 2)
split("HALF_LOG_TAU", "`log(2 pi) / 2`.", log(2 * pi) / 2)
