"""scikit-learn's own checks, and its tools."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from dkp import DeepKernelClassifier, DeepKernelRegressor

QUICK = dict(inducing=20, steps=60, start_steps=60, draws=1, n_jobs=1)


@parametrize_with_checks(
    [
        DeepKernelRegressor(**QUICK, likelihood="gaussian"),
        DeepKernelClassifier(**QUICK, temperature=1.0, kernel="sqexp"),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)
