"""log gamma, digamma and trigamma to 20 digits: python3 special.py > special.csv (needs mpmath)."""
from mpmath import mp, mpf, loggamma, digamma, polygamma, nstr

mp.dps = 40
print("x,log_gamma,digamma,trigamma")
for x in ["1e-3", "0.05", "0.3", "0.5", "1", "1.4616321449683623", "2", "2.5", "3.75", "6", "9.99", "12",
          "17.25", "57.5", "250.125", "1000", "123456.75", "1e6", "1e9"]:
    v = mpf(float(x))
    print(f"{float(x)!r},{nstr(loggamma(v), 20)},{nstr(digamma(v), 20)},{nstr(polygamma(1, v), 20)}")
