"""Deep kernel processes: Bayesian models for tables that know what they do not know."""

from . import priors
from ._dkp import __version__
from ._estimators import DeepKernelClassifier, DeepKernelRegressor

__all__ = ["DeepKernelClassifier", "DeepKernelRegressor", "__version__", "priors"]
