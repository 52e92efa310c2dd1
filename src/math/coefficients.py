#!/usr/bin/env python3
"""Writes src/math/coefficients.rs: polynomial coefficients for the functions of src/math.

Usage: python3 src/math/coefficients.py | rustfmt --edition 2024 --config-path . > src/math/coefficients.rs
(needs mpmath)

Each polynomial interpolates its function in Chebyshev's points, which is within a small factor of the best polynomial
of that degree; the degree is the smallest whose error, times the weight it has in the result, is below 2^-(p + 5) of
the result.
"""
from mpmath import mp, mpf, chebyfit, exp, log, sin, cos, atan, asin, sinh, erf, erfc, sqrt, pi, polyval, floor

mp.dps = 70
EPS = mpf(10) ** -25


def safe(f):
    """f, away from a removable singularity at zero."""
    return lambda x: f(x if abs(x) > EPS else EPS)


def root(f):
    """f(x, x * x) as a function of z = x * x."""
    return safe(lambda z: f(sqrt(z), z))


def fit(f, lo, hi, weight, bits):
    for n in range(1, 40):
        c, err = chebyfit(f, [lo, hi], n, error=True)
        if err * weight < mpf(2) ** -(bits + 5):
            return list(reversed(c))
    raise SystemExit("no fit")


def log_tail(s, w):
    return ((log((1 + s) / (1 - s)) / s - 2) / w - mpf(2) / 3) / w


TABLE = [
    ("EXP", "`(exp(r) - 1 - r) / r^2` in `r`, for `|r| <= ln(2) / 2`.",
     safe(lambda r: (exp(r) - 1 - r) / r**2), mpf("-0.351"), mpf("0.351"), mpf("0.36")),
    ("LOG", "`((log((1 + s) / (1 - s)) / s - 2) / w - 2 / 3) / w` in `w = s * s`, for `s <= 3 - 2 sqrt(2)`.",
     root(log_tail), 0, mpf("0.02960"), mpf("0.00045") * 2**6),
    ("SIN", "`(sin(x) / x - 1) / z` in `z = x * x`, for `x <= pi / 4`.",
     root(lambda x, z: (sin(x) / x - 1) / z), 0, mpf("0.6177"), mpf("0.62")),
    ("COS", "`(cos(x) - 1 + z / 2) / z^2` in `z = x * x`, for `x <= pi / 4`.",
     root(lambda x, z: (cos(x) - 1 + z / 2) / z**2), 0, mpf("0.6177"), mpf("0.54")),
    ("ATAN", "`(atan(x) / x - 1) / z` in `z = x * x`, for `x <= 7 / 16`.",
     root(lambda x, z: (atan(x) / x - 1) / z), 0, mpf("0.1920"), mpf("0.2")),
    ("ASIN", "`(asin(x) / x - 1) / z` in `z = x * x`, for `x <= 1 / 2`.",
     root(lambda x, z: (asin(x) / x - 1) / z), 0, mpf("0.2501"), mpf("0.26")),
    ("SINH", "`(sinh(x) / x - 1) / z` in `z = x * x`, for `x <= 1`.",
     root(lambda x, z: (sinh(x) / x - 1) / z), 0, mpf("1.001"), mpf(1)),
    ("ERF", "`erf(x) / x - 1` in `z = x * x`, for `x <= 1`.",
     root(lambda x, z: erf(x) / x - 1), 0, mpf("1.001"), mpf(1)),
    ("RECIPROCAL", "`1 / (1 + f)` in `f`, to a few percent, for `1 + f` between the roots of 1/2 and 2.",
     lambda f: 1 / (1 + f), sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1, None),
]
ERFC = [("1.0", "1.75"), ("1.75", "2.75"), ("2.75", "4.0"), ("4.0", "6.0")]


def emit(c):
    return "&[" + ", ".join(repr(float(x)) for x in c) + "]"


def split(x, bits):
    """x rounded to `bits` bits towards zero."""
    m, e = mp.frexp(x)
    return mp.ldexp(floor(m * 2**bits), e - bits)


def near(x, p):
    """x rounded to nearest, p bits, as a float."""
    m, e = mp.frexp(x)
    return mp.ldexp(mp.nint(m * 2**p), e - p)


print("//! Polynomial coefficients and split constants. Written by `src/math/coefficients.py`; not to be edited by hand.")
print("#![allow(clippy::excessive_precision, clippy::approx_constant, clippy::unreadable_literal)]")
print("\nuse super::machine::Coefficients;")
for name, doc, f, lo, hi, weight in TABLE:
    print(f"\n/// {doc}")
    print(f"pub(super) const {name}: Coefficients = Coefficients {{")
    for field, bits in (("single", 24), ("double", 53)):
        c = list(reversed(chebyfit(f, [lo, hi], 3))) if weight is None else fit(f, lo, hi, weight, bits)
        print(f"    {field}: {emit(c)},")
    print("};")
print("\n/// `erfc(middle + d)` in `d`, on the four pieces from 1 to 6.")
print("pub(super) const ERFC: [Coefficients; 4] = [")
degree = {}
for bits in (24, 53):
    degree[bits] = max(len(fit(lambda d: erfc((mpf(a) + mpf(b)) / 2 + d), -(mpf(b) - mpf(a)) / 2, (mpf(b) - mpf(a)) / 2, 1, bits))
                       for a, b in ERFC)
for a, b in ERFC:
    a, b = mpf(a), mpf(b)
    print("    Coefficients {")
    for field, bits in (("single", 24), ("double", 53)):
        c = list(reversed(chebyfit(lambda d: erfc((a + b) / 2 + d), [-(b - a) / 2, (b - a) / 2], degree[bits])))
        print(f"        {field}: {emit(c)},")
    print("    },")
print("];")

for name, doc, x, spare in [
    ("LN_2", "ln 2; the high part has room for an exponent's product.", log(mpf(2)), {24: 9, 53: 13}),
    ("PI_2", "pi / 2.", pi / 2, None),
    ("PI_4", "pi / 4.", pi / 4, None),
    ("ATAN_HALF", "atan(1/2).", atan(mpf("0.5")), None),
    ("ATAN_THREE_HALVES", "atan(3/2).", atan(mpf("1.5")), None),
    ("TWO_THIRDS", "2 / 3.", mpf(2) / 3, None),
    ("LOG2_E", "1 / ln 2.", 1 / log(mpf(2)), None),
]:
    print(f"\n/// {doc} High part, low part.")
    print(f"pub(super) const {name}: Coefficients = Coefficients {{")
    for field, p in (("single", 24), ("double", 53)):
        high = near(x, p) if spare is None else split(x, p - spare[p])
        print(f"    {field}: {emit([high, near(x - high, p)])},")
    print("};")

mp.dps = 500
big = int(floor(2 / pi * mpf(2) ** (64 * 19)))
print("\n/// The first 1,216 bits of 2 / pi.")
print("pub(super) const TWO_OVER_PI: [u64; 19] = [")
for i in range(19):
    print(f"    {(big >> (64 * (18 - i))) & (2**64 - 1):#018x},")
print("];")
