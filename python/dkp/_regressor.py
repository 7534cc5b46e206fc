"""Numbers: one target, or several together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from ._base import ATTRIBUTES, PARAMETERS, DeepKernel, check_given, count, target_names
from ._seed import seed


class DeepKernelRegressor(RegressorMixin, DeepKernel):
    __doc__ = f"""Deep kernel processes for numbers: one target, or several together.

    Columns may be numbers, truth values, dates, text or categories, and values may be missing; of several targets too.
{PARAMETERS}{ATTRIBUTES}
    Examples
    --------
    >>> import numpy as np
    >>> from dkp import DeepKernelRegressor
    >>> x = np.linspace(0, 6, 60)[:, None]
    >>> model = DeepKernelRegressor(effort="quick", steps=200).fit(x, np.sin(x[:, 0]))
    >>> mean, std = model.predict([[1.5], [30.0]], return_std=True)
    >>> bool(abs(mean[0] - 1) < 0.1 and std[0] < std[1])
    True
    """

    _task = "regression"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any) -> DeepKernelRegressor:
        """Learn from rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            What is to be predicted. Of several targets some may be NaN.

        Returns
        -------
        DeepKernelRegressor
            Itself, fitted. After Ctrl-C it is what had been learned by then, and KeyboardInterrupt is raised.
        """
        check_given(self, y)
        columns = self._given(X, reset=True)
        names = target_names(y)
        values = check_array(
            y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=self, ensure_all_finite="allow-nan"
        )
        if values.ndim > 2:
            raise ValueError(f"y should have one or two dimensions, got {values.ndim}")
        if values.ndim == 1 and np.isnan(values).any():
            raise ValueError("Input y contains NaN.")
        self._single = values.ndim == 1
        values = values.reshape(len(values), -1)
        check_consistent_length(X, values)
        if names is None:
            names = ["y"] if values.shape[1] == 1 else [f"y{i}" for i in range(values.shape[1])]
        self._fit([(name, "numbers", values[:, i]) for i, name in enumerate(names)], columns)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean of the prediction for each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        return_std : bool, default=False
            Whether the standard deviation is returned too: of what the model does not know and of noise.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets), or two of them
            Means, and standard deviations.
        """
        predicted = self._by_target(X)
        mean = self._shaped(predicted[:, :, 0])
        return (mean, self._shaped(predicted[:, :, 1])) if return_std else mean

    def predict_parts(self, X: Any) -> tuple[Any, Any, Any]:
        """Mean, and the standard deviations of what the model does not know and of noise.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        tuple of three ndarray
            Means and deviations.
        """
        predicted = self._by_target(X)
        mean, model, noise = (self._shaped(predicted[:, :, i]) for i in (0, 2, 3))
        return mean, model, noise

    def predict_quantiles(self, X: Any, q: ArrayLike) -> NDArray[np.float64]:
        """Values below which the target is with given probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        q : array-like of shape (n_quantiles,)
            Probabilities.

        Returns
        -------
        ndarray of shape (n_samples, n_quantiles) or (n_samples, n_targets, n_quantiles)
            Quantiles.
        """
        quantiles = [float(p) for p in np.atleast_1d(np.asarray(q, dtype=np.float64))]
        predicted = self._by_target(X, quantiles)[:, :, 4:]
        return predicted[:, 0] if self._single else predicted

    def log_density(self, X: Any, y: Any) -> NDArray[np.float64]:
        """The logarithm of the density of what was observed; of several targets together, without those that are NaN.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            What was observed.

        Returns
        -------
        ndarray of shape (n_samples,)
            In nats.
        """
        check_is_fitted(self, "model_")
        columns = self._given(X, reset=False)
        values = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", ensure_all_finite="allow-nan")
        values = np.ascontiguousarray(values.reshape(len(values), -1))
        check_consistent_length(X, values)
        targets = len(self.model_.targets())
        if values.shape[1] != targets:
            raise ValueError(f"y has {values.shape[1]} columns, but {targets} are predicted")
        draws = count("prediction_draws", self.prediction_draws, 100_000)
        return self.model_.log_density(columns, values, draws, 0, self._threads())

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> NDArray[np.float64]:
        """Targets drawn from the posterior, jointly for the rows given.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows, at most 5,000.
        n_samples : int, default=1
            Draws.
        random_state : int or RandomState, default=0
            The seed.

        Returns
        -------
        ndarray of shape (n_rows, n_samples) or (n_rows, n_targets, n_samples)
            The draws.
        """
        check_is_fitted(self, "model_")
        columns = self._given(X, reset=False)
        draws = count("n_samples", n_samples, 100_000)
        drawn = np.moveaxis(self.model_.sample(columns, draws, seed(random_state), self._threads()), 0, -1)
        return drawn[:, 0] if self._single else drawn

    def _by_target(self, X: Any, quantiles: Sequence[float] = ()) -> NDArray[np.float64]:
        predicted = self._predicted(X, quantiles)
        return predicted.reshape(len(predicted), -1, 4 + len(quantiles))

    def _shaped(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.ascontiguousarray(values[:, 0] if self._single else values)

    def _loaded(self) -> None:
        self._single = len(self.model_.targets()) == 1
