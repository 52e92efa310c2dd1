#!/usr/bin/env python3
"""Writes src/math/tests/values.rs. Usage: python3 src/math/tests/values.py | rustfmt --edition 2024 --config-path . > src/math/tests/values.rs    (needs mpmath)"""
from mpmath import mp, mpf, erf, exp, log, asinh, acosh, atanh, sinh, tanh, tan
import random
mp.dps=400
random.seed(5)
def row(name, f, xs):
    print(f"/// Arguments and values of {name}, rounded from 400 digits.")
    print(f"pub(super) const {name.upper()}: [(f64, f64); {len(xs)}] = [")
    for x in xs:
        print(f"    ({x!r}, {float(f(mpf(x)))!r}),")
    print("];\n")
print("//! Values of functions that the standard library lacks, computed with mpmath. Written by `src/math/tests/values.py`.\n#![allow(clippy::approx_constant)]\n")
xs=[random.uniform(0,1) for _ in range(20)]+[random.uniform(1,6) for _ in range(40)]+[1e-300,1e-10,1.0,1.75,2.75,4.0,0.9999999,5.9]
row("erf", erf, xs)
xs=[random.uniform(-20,20) for _ in range(40)]+[random.uniform(-1,1) for _ in range(20)]+[-700.5,-740.2,-745.0,1e-20,36.5,-36.5]
row("sigmoid", lambda x:1/(1+exp(-x)), xs)
row("softplus", lambda x:log(1+exp(x)), xs)

def both(n, lo, hi): return [random.uniform(lo,hi) for _ in range(n)]
xs=both(30,-2,2)+both(10,-1e-3,1e-3)+both(20,-100,100)+[1e300,1e-300,1e9,6e7]
row("asinh", asinh, xs)
row("acosh", acosh, both(30,1,2)+[1+x for x in both(10,0,1e-3)]+both(20,2,100)+[1e300,1e9,6e7])
row("atanh", atanh, both(40,-1,1)+both(10,-1e-3,1e-3)+[-0.9999961600602844,0.9999961600602844,0.17,0.1700001,-0.1717])
xs=both(30,-1.5,1.5)+both(30,-20,20)
row("sinh", sinh, xs)
row("tanh", tanh, xs)
row("tan", tan, xs+[1e22,1e300,6381956970095103.0*2.0**797,-3.5e15])
