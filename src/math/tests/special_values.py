#!/usr/bin/env python3
"""Writes src/math/tests/special_values.rs. Usage: python3 src/math/tests/special_values.py | rustfmt --edition 2024 --config-path . > src/math/tests/special_values.rs    (needs mpmath)"""
import random

from mpmath import besseli, digamma, erfc, erfinv, exp, frexp, isfinite, ldexp, log, loggamma, mp, mpf, nint, pi, sqrt

mp.dps = 60
random.seed(7)
U = random.uniform


def power(lo, hi):
    return 10 ** U(lo, hi)


def inverse(q):
    """The x whose complementary error function is q."""
    q = mpf(q)
    if q > 1:
        return -inverse(2 - q)
    if q > mpf("0.1"):
        return erfinv(1 - q)
    x = sqrt(-log(q)) * mpf("0.95")
    while True:
        e = erfc(x)
        d = (log(e) - log(q)) * e / (2 / sqrt(pi) * exp(-x * x))
        x += d
        if abs(d) < mpf(10) ** -40 * x:
            return x


def near(x):
    """x as a double, subnormal ones included."""
    m, e = frexp(x)
    p = min(53, e + 1074)
    return ldexp(nint(m * 2**p), e - p)


def row(name, f, xs):
    print(f"\n/// Arguments and values of {name}: rounded, and what rounding took.")
    print(f"pub(super) const {name.upper()}: [(f64, f64, f64); {len(xs)}] = [")
    for x in xs:
        y = f(mpf(x))
        assert isfinite(y)
        print(f"    ({x!r}, {float(near(y))!r}, {float(y - near(y))!r}),")
    print("];")


def times(n, f):
    return [f() for _ in range(n)]


print("""//! Values of the special functions, computed with mpmath. Written by `src/math/tests/special_values.py`.
#![allow(clippy::approx_constant, clippy::excessive_precision)]""")
row("erfc", erfc, times(20, lambda: U(-6, 6)) + times(20, lambda: U(0.4, 5)) + times(20, lambda: U(5, 26)) + [26.6, 27.2, 0.5, -0.5, 1e-300])
row("erfinv", lambda y: inverse(1 - y) if y > mpf(10) ** -5 else -inverse(1 + y) if y < -mpf(10) ** -5 else sqrt(pi) / 2 * (y + pi / 12 * y**3),
    times(40, lambda: U(-1, 1)) + times(20, lambda: 1 - power(-16, 0)) + [1e-300, 1e-20, 0.9975, 0.9987, 1 - 2.0**-53, -1 + 2.0**-53])
row("erfcinv", inverse, times(30, lambda: U(0, 2)) + times(10, lambda: 2 - power(-16, 0)) + times(25, lambda: power(-300, 0)) + [5e-324, 1e-310])
row("ndtri", lambda p: -sqrt(mpf(2)) * inverse(2 * p), times(30, lambda: U(0, 1)) + times(10, lambda: 1 - power(-16, 0)) + times(25, lambda: power(-300, 0)) + [5e-324, 1e-310, 0.6852181648729948])
row("lgamma", lambda x: loggamma(x), times(40, lambda: U(0, 5)) + times(15, lambda: U(5, 100)) + times(15, lambda: power(-300, 300))
    + [s * power(-15, -1) + n for n in (1, 2) for s in (1, -1) for _ in range(4)] + [1.5046197471834377, 0.5, 2.5, 3.5, 3.4999])
row("digamma", digamma, times(40, lambda: U(0, 5)) + times(15, lambda: U(5, 100)) + times(15, lambda: power(-300, 300))
    + [1.4616321449683623 + s * power(-15, -1) for s in (1, -1) for _ in range(5)] + [1.4616321449683623, 1.4616321449683622, 2.0000001, 3.0000001])
xs = times(25, lambda: U(-3, 3)) + times(15, lambda: U(3, 10)) + times(10, lambda: U(10, 100))
row("bessel_i0", lambda x: besseli(0, x), xs + times(5, lambda: U(100, 713)) + [713.9, 1e-10, 0.0])
row("bessel_i0e", lambda x: exp(-abs(x)) * besseli(0, x), xs + times(5, lambda: U(100, 1900)) + [1e-10, 0.0])
row("bessel_i1", lambda x: besseli(1, x), xs + times(5, lambda: U(100, 713)) + [713.9, 1e-10, 1e-300])
row("bessel_i1e", lambda x: exp(-abs(x)) * besseli(1, x), xs + times(5, lambda: U(100, 1900)) + [1e-10, 1e-300])
