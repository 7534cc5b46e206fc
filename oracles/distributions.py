"""Log-densities of matrix distributions: python3 distributions.py > distributions.csv (needs SciPy).

Arguments are formulas, which crates/dkp/src/distributions/tests.rs repeats, so that only numbers need to be kept."""
import numpy as np
from scipy.stats import invgamma, invwishart, matrix_normal, multivariate_t, wishart


def scale(p):
    i = np.arange(p)
    return np.exp(-np.abs(i[:, None] - i) / 3) + np.diag(0.5 + 0.1 * i)


def other(p):
    i = np.arange(p)
    return 0.3 * np.exp(-((i[:, None] - i) ** 2) / 8) + np.diag(0.4 + 0.05 * i)


def rectangle(n, p):
    return np.sin(1 + np.arange(n)[:, None] + 2 * np.arange(p))


def show(name, p, parameter, value):
    print(f"{name},{p},{float(parameter)!r},{float(value)!r}")


print("distribution,dimension,parameter,log_density")
for p in [1, 2, 3, 5, 8, 13, 21, 34, 50]:
    for excess in [0.3, 1.0, 4.75, 60.5]:
        nu = p - 1 + excess
        show("wishart", p, nu, wishart(nu, scale(p)).logpdf(other(p)))
        show("inverse wishart", p, nu, invwishart(nu, scale(p)).logpdf(other(p)))
    mean = 0.1 * rectangle(p, 1)[:, 0]
    for nu in [0.7, 3.0, 12.25, 400.0]:
        show("multivariate t", p, nu, multivariate_t(mean, scale(p), nu).logpdf(rectangle(p, 2)[:, 1]))
    for n in [1, 4]:
        x, m = rectangle(n, p), 0.1 * rectangle(n, p)
        show("matrix normal", p, n, matrix_normal(m, other(n), scale(p)).logpdf(x))
    # singular: S11 is Wishart, and S21 given S11 is N(V21 V11^-1 S11, V22.1 (x) S11); dS is over S11's triangle and S21
    for n in sorted({1, 2, p // 2, p - 1} & set(range(1, p))):
        v, f = scale(p), rectangle(p, n) + np.eye(p, n)
        s = f @ f.T
        slope = np.linalg.solve(v[:n, :n], v[:n, n:]).T
        rest = v[n:, n:] - slope @ v[:n, n:]
        corner = np.atleast_1d(wishart(n, v[:n, :n]).logpdf(s[:n, :n])).item()
        show("singular wishart", p, n, corner + matrix_normal(slope @ s[:n, :n], rest, s[:n, :n]).logpdf(s[n:, :n]))
for a in [0.2, 1.0, 3.5, 60.25]:
    for x in [0.01, 0.7, 4.0, 300.0]:
        show("inverse gamma", a, x, invgamma(a, scale=1.7).logpdf(x))
