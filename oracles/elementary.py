"""Polynomials of crates/dkp-tape/src/math and src/random/box_muller.rs: python3 elementary.py (needs mpmath)

Each is the interpolation in Chebyshev nodes, near the minimax polynomial, and its error is printed relative to
the function that it is a part of.
"""
import struct

from mpmath import mp, mpf, asin, atanh, chebyfit, cos, erfc, exp, log, pi, sin, sqrt

mp.dps = 40


def single(c):
    """The nearest number in single precision."""
    return struct.unpack("f", struct.pack("f", c))[0]


def shortest(c):
    """The fewest digits that are this number in single precision."""
    return next(s for s in (f"{c:.{d}g}" for d in range(1, 10)) if single(float(s)) == c)


def show(name, f, interval, degree, weight, rounded=float, written=repr):
    poly = chebyfit(f, interval, degree + 1)
    coefficients = [rounded(c) for c in reversed(poly)]
    a, b = interval
    error = max(abs(sum(mpf(c) * x**i for i, c in enumerate(coefficients)) - f(x)) * weight(x)
                for x in (a + (b - a) * mpf(k) / 2000 for k in range(1, 2001)))
    print(f"// {name}: degree {degree}, relative error {float(error):.1e}")
    for c in coefficients:
        print(f"    {written(c)},")


h = log(2) / 2
# e^r = 1 + r + r^2 p(r)
show("EXP", lambda r: (exp(r) - 1 - r) / r**2 if r else mpf(1) / 2, [-h, h], 9, lambda r: r**2 / exp(r))
# 2 artanh s = 2 s + 2 s^3 p(s^2)
s2 = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2
show("ATANH", lambda w: (atanh(sqrt(w)) / sqrt(w) - 1) / w if w else mpf(1) / 3, [mpf("1e-12"), s2], 6,
     lambda w: w)
# asin x = x + x^3 p(x^2) on |x| <= 1/2
show("ASIN", lambda w: (asin(sqrt(w)) / sqrt(w) - 1) / w, [mpf("1e-12"), mpf("0.25")], 11, lambda w: w)

# normals, in single precision: ln(1 + t) = t - t^2/2 + t^3 p(t), sin x = x + x^3 p(x^2), cos x = 1 - x^2/2 + x^4 p(x^2)
form = {"rounded": single, "written": shortest}
show("LN", lambda t: (log(1 + t) - t + t**2 / 2) / t**3 if abs(t) > 1e-9 else mpf(1) / 3, [sqrt(mpf(1) / 2) - 1, sqrt(2) - 1], 7,
     lambda t: abs(t**3 / log(1 + t)) if t else mpf(0), **form)
x2 = (pi / 4) ** 2
show("SIN", lambda w: (sin(sqrt(w)) / sqrt(w) - 1) / w, [mpf("1e-12"), x2], 2, lambda w: w, **form)
show("COS", lambda w: (cos(sqrt(w)) - 1 + w / 2) / w**2, [mpf("1e-9"), x2], 2, lambda w: w**2 / cos(sqrt(w)), **form)
# e^{x^2} erfc(x) = d p(t) with d = 1/(x + k), t = (x - k) d, for 0 <= x <= 27, beyond which e^{-x^2} is 0
k = mpf(4)
place = lambda t: k * (1 + t) / (1 - t)
show("SCALED_ERFC", lambda t: (place(t) + k) * exp(place(t) ** 2) * erfc(place(t)), [mpf(-1), (27 - k) / (27 + k)], 19,
     lambda t: 1 / ((place(t) + k) * exp(place(t) ** 2) * erfc(place(t))))
