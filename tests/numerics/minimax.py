#!/usr/bin/env python3
"""Coefficients of the polynomials in dialects/train/Formulas.h (needs mpmath and numpy).

Each polynomial minimises the largest weighted error over its interval (Remez exchange); then its coefficients are rounded to
f32. The printed error is that of the rounded polynomial in exact arithmetic.
"""
import mpmath as mp
import numpy as np

mp.mp.dps = 60


def remez(f, weight, degree, lo, hi):
    """Minimax polynomial c[0..degree] of f on [lo, hi] under |weight * error|; returns (c, error)."""
    n = degree + 2
    points = [(lo + hi) / 2 - (hi - lo) / 2 * mp.cos(mp.pi * i / (n - 1)) for i in range(n)]
    grid = [lo + (hi - lo) * mp.mpf(i) / 2000 for i in range(2001)]
    values = [(f(x), weight(x)) for x in grid]
    for _ in range(20):
        rows = [[x**k for k in range(degree + 1)] + [(-1) ** i / weight(x)] for i, x in enumerate(points)]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([f(x) for x in points]))
        c = [solution[k] for k in range(degree + 1)]
        level = abs(solution[degree + 1])
        errors = [w * (v - mp.polyval(c[::-1], x)) for x, (v, w) in zip(grid, values)]
        # One extremum for each run of equal sign.
        extrema = []
        for i, e in enumerate(errors):
            if extrema and (errors[extrema[-1]] > 0) == (e > 0):
                if abs(e) > abs(errors[extrema[-1]]):
                    extrema[-1] = i
            else:
                extrema.append(i)
        while len(extrema) > n:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        if len(extrema) < n:
            break
        points = [grid[i] for i in extrema]
        worst = max(abs(errors[i]) for i in extrema)
        if worst <= level * (1 + mp.mpf(10) ** -4):
            break
    return c, max(abs(e) for e in errors)


def rounded(f, weight, degree, lo, hi):
    c, _ = remez(f, weight, degree, lo, hi)
    c = [mp.mpf(float(np.float32(float(x)))) for x in c]
    grid = [lo + (hi - lo) * mp.mpf(i) / 4000 for i in range(4001)]
    return c, max(abs(weight(x) * (f(x) - mp.polyval(c[::-1], x))) for x in grid)


def show(name, result, scale):
    c, error = result
    print(f"{name}: error {mp.nstr(error / scale, 4)} x 2^-24")
    for k, x in enumerate(c):
        print(f"  c{k} = {float(x).hex():>24}  {float(x)!r}")


def split(name, x, bits):
    hi = mp.mpf(int(mp.nint(x * mp.mpf(2) ** bits))) / mp.mpf(2) ** bits
    lo = float(np.float32(float(x - hi)))
    print(f"{name}: hi = {float(hi).hex()}  lo = {lo.hex()}")


ulp = mp.mpf(2) ** -24
tiny = mp.mpf(10) ** -9  # keeps the removable singularities at 0 out of the grid
half = mp.log(2) / 2 * (1 + mp.mpf(2) ** -12)
split("ln 2, 9 bits", mp.log(2), 9)
split("ln 2, 15 bits", mp.log(2), 15)
split("2 pi", 2 * mp.pi, 21)
# exp(r) = 1 + r + r^2 P(r)
show("exp", rounded(lambda r: (mp.exp(r) - 1 - r) / r**2, lambda r: r**2 / mp.exp(r), 4, -half, half + tiny), ulp)
# log(1 + f) = f + f^2 (-1/2 + f P(f)), f in [sqrt(1/2) - 1, sqrt(2) - 1]
show("log", rounded(lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3, lambda f: abs(f**3 / mp.log1p(f)), 7,
                    mp.sqrt(0.5) - 1, mp.sqrt(2) - 1 + tiny), ulp)
# With z = d^2, |d| <= 1/8: cos(2 pi d) = 1 + z P(z); sin(2 pi d) = 2 pi d + d z Q(z)
cos = lambda z: (mp.cos(2 * mp.pi * mp.sqrt(z)) - 1) / z
sin = lambda z: (mp.sin(2 * mp.pi * mp.sqrt(z)) / mp.sqrt(z) - 2 * mp.pi) / z
show("cos", rounded(cos, lambda z: z, 3, tiny, mp.mpf(1) / 64), ulp)
show("sin", rounded(sin, lambda z: mp.sqrt(z) * z, 3, tiny, mp.mpf(1) / 64), ulp)
