"""Classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from . import _columns, _dkp
from ._base import ATTRIBUTES, PARAMETERS, DeepKernel, check_given, target_names


class DeepKernelClassifier(ClassifierMixin, DeepKernel):
    __doc__ = f"""Deep kernel processes for classes.

    Columns may be numbers, truth values, dates, text or categories, and values may be missing.
{PARAMETERS}{ATTRIBUTES}    classes_ : ndarray
        The classes.

    Examples
    --------
    >>> import numpy as np
    >>> from dkp import DeepKernelClassifier
    >>> x = np.linspace(-1, 1, 80)[:, None]
    >>> model = DeepKernelClassifier(effort="quick", steps=100).fit(x, np.where(x[:, 0] > 0, "right", "left"))
    >>> model.predict([[-0.7], [0.7]]).tolist()
    ['left', 'right']
    """

    _task = "classification"

    def fit(self, X: Any, y: Any) -> DeepKernelClassifier:
        """Learn from rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        DeepKernelClassifier
            Itself, fitted. After Ctrl-C it is what had been learned by then, and KeyboardInterrupt is raised.
        """
        check_given(self, y)
        columns = self._given(X, reset=True)
        names = target_names(y) or ["y"]
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        check_consistent_length(X, labels)
        self.classes_, index = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class only, {self.classes_[0]!r}: there is nothing to learn")
        self._labels = _dkp.labels_of_classes(*_columns.of_values(self.classes_))
        self._fit([(names[0], "categories", [self._labels[i] for i in index])], columns)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        predicted = self._predicted(X)
        known = self.model_.labels() or []
        # a class whose rows were all held out has no probability
        none = np.zeros(len(predicted))
        return np.column_stack([predicted[:, known.index(l)] if l in known else none for l in self._labels])

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.
        """
        best = np.argmax(self.predict_proba(X), axis=1)
        classes: NDArray[Any] = self.classes_[best]
        return classes

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))

    def log_density(self, X: Any, y: Any) -> NDArray[np.float64]:
        """The logarithm of the probability of what was observed.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        ndarray of shape (n_samples,)
            In nats; minus infinity for a class that was not learned.
        """
        probabilities = self.predict_proba(X)
        labels = column_or_1d(y)
        check_consistent_length(X, labels)
        place = {label: i for i, label in enumerate(self.classes_.tolist())}
        known = [probabilities[n, place[v]] if v in place else 0.0 for n, v in enumerate(labels.tolist())]
        with np.errstate(divide="ignore"):
            return np.log(known)

    def _loaded(self) -> None:
        labels = self.model_.labels() or []
        try:
            numbers = np.array([float(label) for label in labels])
            self.classes_ = numbers.astype(np.int64) if np.all(numbers == np.floor(numbers)) else numbers
        except ValueError:
            self.classes_ = np.array([label == "true" for label in labels] if labels == ["false", "true"] else labels)
        self._labels = labels
