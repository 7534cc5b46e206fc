"""dx/da of the Gamma(a, 1) quantile function at given (a, x): python3 gamma_derivative.py > gamma_derivative.csv

dx/da = -(dP(a, x)/da) / p(x; a) with P the regularised lower incomplete gamma function. Two independent ways,
compared where both are practical: numerical differentiation of mpmath's incomplete gamma function in 60 digits
(a < 20), and quadrature of dP/da = integral of p(t; a)(log t - psi(a)) over t < x (a >= 5). Needs mpmath and SciPy.
"""
import sys
from mpmath import mp, mpf, diff, digamma, exp, gammainc, log, loggamma, nstr, quad, sqrt
from scipy.stats import gamma

mp.dps = 60


def log_density(a, x):
    return (a - 1) * log(x) - x - loggamma(a)


def by_differentiation(a, x):
    d = diff(lambda b: gammainc(b, 0, x, regularized=True), a)
    return -d / exp(log_density(a, x))


def by_quadrature(a, x):
    psi, at = digamma(a), log_density(a, x)
    width = sqrt(a)
    low = max(mpf(0), a - 60 * width)
    # the integral over all t vanishes: take the side that does not cancel
    if x < a:
        pieces = sorted({low, x} | {x - k * width for k in (1, 2, 4, 8, 16, 32) if x - k * width > low})
        sign = -1
    else:
        pieces = sorted({x} | {x + k * width for k in (1, 2, 4, 8, 16, 32, 64)})
        sign = 1
    integral = quad(lambda t: exp(log_density(a, t) - at) * (log(t) - psi) if t > 0 else mpf(0), pieces)
    return sign * integral


print("a,quantile,x,dx_da")
for a in [0.05, 0.1, 0.3, 0.5, 0.9, 1.0, 1.5, 2.25, 3.7, 5.0, 7.5, 9.9, 10.0, 11.5, 14.0, 17.0, 20.0, 25.0, 32.0, 57.25,
          100.0, 333.3, 1e3, 1e4, 1e5, 1e6]:
    for q in [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 0.99, 0.999,
              1 - 1e-4, 1 - 1e-5, 1 - 1e-6]:
        x = float(gamma.ppf(q, a) if q <= 0.5 else gamma.isf(1 - q, a))
        A, X = mpf(a), mpf(x)
        value = by_differentiation(A, X) if a < 20 else by_quadrature(A, X)
        if 5 <= a < 20:
            other = by_quadrature(A, X)
            assert abs(other / value - 1) < 1e-15, (a, q, value, other)
        print(f"{a!r},{q!r},{x!r},{nstr(value, 18)}")
    print(a, file=sys.stderr)
