"""Priors and posteriors as arrays."""

import numpy as np
import pytest

from dkp import DeepKernelRegressor, priors

X = np.linspace(-2, 2, 30)[:, None] * [1.0, 0.5]


def test_an_infinitely_wide_network_is_its_formula():
    drawn = priors.draw("nngp", X, layers=1, parameters=[1.5, 0.7], functions=4)
    gram = X @ X.T / 2
    for kernel in drawn.kernels:
        distance = np.diag(gram)[:, None] + np.diag(gram) - 2 * gram
        gram = 1.5**2 * np.exp(-0.5 * np.maximum(distance, 0) / 0.7**2)
        assert np.allclose(kernel, gram, rtol=1e-10)
    assert drawn.functions.shape == (30, 4) and len(drawn.grams) == 2


@pytest.mark.parametrize("family", priors.families())
def test_draws_are_positive_definite_and_have_a_seed(family):
    one, same, other = (priors.draw(family, X, layers=2, functions=2, random_state=s) for s in (1, 1, 2))
    for gram in one.grams + one.kernels:
        assert gram.shape == (30, 30) and np.allclose(gram, gram.T)
        assert np.linalg.eigvalsh(gram).min() > -1e-8 * np.trace(gram)
    assert np.array_equal(one.functions, same.functions) and not np.array_equal(one.functions, other.functions)


def test_inverse_wishart_layers_have_the_kernel_as_their_mean():
    x = X[::6]
    drawn = [priors.draw("diwp", x, layers=1, delta=20.0, random_state=s) for s in range(3000)]
    # the hidden layer's kernel given its input, and the layer's draw
    ratio = [d.grams[1][0, 0] / d.kernels[0][0, 0] for d in drawn]
    assert abs(np.mean(ratio) - 1) < 5 * np.std(ratio) / np.sqrt(3000)


def test_posterior_draws_of_gram_matrices():
    y = np.sin(2 * X[:, 0])
    model = DeepKernelRegressor(inducing=8, steps=40, start_steps=40, draws=2, likelihood="gaussian", layers=2).fit(X, y)
    grams, omega = model.posterior_grams(5, random_state=1)
    assert len(grams) == 3 and all(g.shape == (5, 8, 8) for g in grams)
    assert all(np.linalg.eigvalsh(g).min() > -1e-8 for g in grams)
    assert omega is None or omega.shape == (5, 2, 2)
    assert not np.array_equal(grams[1][0], grams[1][1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(family="dkm"), "family dkm: there are"),
        (dict(kernel="none"), "none"),
        (dict(parameters=[1.0]), "parameters|parameter"),
        (dict(delta=-1.0), "δ|delta"),
        (dict(X=np.full((3, 2), np.nan)), "NaN"),
        (dict(functions=0), "functions must be from 1"),
        (dict(random_state=-1), "random_state must be from 0"),
    ],
)
def test_bad_priors_are_refused(arguments, message):
    settings = {"family": "diwp", "X": X, **arguments}
    with pytest.raises(ValueError, match=message):
        priors.draw(**settings)
