"""Deep kernel processes: Bayesian models for tables that know what they do not know."""

from . import priors
from ._dkp import __version__
from ._classifier import DeepKernelClassifier
from ._regressor import DeepKernelRegressor

__all__ = ["DeepKernelClassifier", "DeepKernelRegressor", "__version__", "priors"]
