"""Coefficients of Temme's uniform expansion of the incomplete gamma function, as a Rust table:
python3 gamma_coefficients.py > ../crates/dkp-tape/src/random/gamma_coefficients.rs (needs mpmath)

With half eta^2 = mu - log(1 + mu), x = a (1 + mu), the expansion (Temme 1979; DLMF 8.12) is
    Q(a, x) = erfc(eta sqrt(a/2))/2 + exp(-a eta^2/2)/sqrt(2 pi a) * sum_k C_k(eta) a^-k,
    C_0 = 1/mu - 1/eta,   C_k = (1/eta) dC_{k-1}/deta + gamma_k/mu,
where Gamma*(a) ~ sum_k (-1)^k gamma_k a^-k is the scaled gamma function. Everything is a power series in eta.
"""
from fractions import Fraction as F
from mpmath import mp, mpf

mp.dps = 60
KEEP = [28, 24, 22, 20, 18, 16, 14, 12, 10]  # coefficients kept of C_0 .. C_8
ORDER = 60                                    # of the series that they are derived from

# mu(eta) = eta + eta^2/3 + ...: from mu' mu = eta (1 + mu)
mu = [F(0), F(1)]
for n in range(2, ORDER + 3):
    # coefficient of eta^n in mu mu' - eta (1 + mu): solve for mu_n, which enters as (n + 1) mu_1 mu_n
    s = sum(F(j) * mu[j] * mu[n + 1 - j] for j in range(2, n))
    mu.append((mu[n - 1] - s) / (n + 1))

# 1/mu = (1/eta) r(eta), r = 1/(mu/eta)
q = mu[1:]
r = [F(1)]
for n in range(1, ORDER + 1):
    r.append(-sum(q[j] * r[n - j] for j in range(1, n + 1)))

# C_0 = (r - 1)/eta; gamma_k from requiring that C_k has no pole: coefficient of 1/eta must cancel
C = [r[1:]]
gamma = [F(1)]
for k in range(1, len(KEEP)):
    previous = C[-1]
    # (1/eta) C' = c_1/eta + 2 c_2 + 3 c_3 eta + ...; gamma_k/mu = gamma_k (1/eta + r_1 + r_2 eta + ...)
    g = -previous[1]
    gamma.append(g)
    C.append([(n + 2) * previous[n + 2] + g * r[n + 1] for n in range(len(previous) - 2)])

print("//! Written by `oracles/gamma_coefficients.py`; do not edit.")
print("//!")
print("//! Row k holds the power series of C_k(η) in Temme's expansion of the incomplete gamma function.")
print()
print(f"pub(super) const TEMME: [&[f64]; {len(KEEP)}] = [")
for k, keep in enumerate(KEEP):
    print("    &[")
    for c in C[k][:keep]:
        print(f"        {float(mpf(c.numerator) / mpf(c.denominator))!r},")
    print("    ],")
print("];")
print()
print("/// γ_k of Γ*(a) ~ Σ (−1)ᵏ γ_k a⁻ᵏ.")
print(f"pub(super) const SCALED_GAMMA: [f64; {len(gamma)}] = [")
for g in gamma:
    print(f"    {float(g)!r},")
print("];")
