"""What both estimators share: settings, columns, and what was learned."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _columns, _dkp
from ._progress import Progress
from ._seed import seed

#: Settings of the library's model that are handed on as they are.
_CHOICES = (
    "effort family posterior layers width likelihood input_layer inducing scale_features share_noise steps draws batch "
    "rate rate_warm_up decay_from last_rate kl_warm_up temperature start_steps delta gamma input_delta input_gamma"
).split()

PARAMETERS = """
    Parameters
    ----------
    effort : {'quick', 'normal', 'best'}, default='normal'
        How much work the fit is worth: sizes that are not given follow from it.
    family : str, default='diwp' for numbers, 'nngp' for classes
        The family of models: 'diwp', 'nngp', 'dgp', 'linear_dgp' or 'dwp'.
    posterior : str, default: the family's first
        The family's posterior, by name.
    layers : int, default=1
        Hidden layers.
    kernel : str or list of str, default='sqexp'
        A kernel, for all layers or one for each hidden layer and the output. Where it is not given, classifiers choose.
    width : int, optional
        Features of a deep Gaussian process's layers, or the width of a deep Wishart process's.
    likelihood : str, default='auto'
        How targets scatter.
    input_layer : {'fixed', 'omega', 'gram'}, optional
        What the input layer draws.
    inducing, steps, draws, batch : int, optional
        Inducing points, steps of training, posterior draws and rows a step.
    scale_features, share_noise : bool, optional
        Whether each feature has a learned scale, and whether outputs share the noise of their pseudo-targets.
    rate, decay_from, last_rate, temperature : float, optional
        The learning rate and its course, and the weight of divergences in training.
    rate_warm_up, kl_warm_up, start_steps : int, optional
        Steps over which the rate rises and divergences come to count, and those of the limit that is trained first.
    delta, gamma, input_delta, input_gamma : float, optional
        Where concentrations start.
    parameters : dict, optional
        Values at which parameters start, by name.
    freeze : list of str, optional
        Parameters that stay as they start.
    tie : dict, optional
        Parameters that share the values of others, by name.
    scaling : {'own', 'shared', 'ranks'}, optional
        In which scale the model sees features.
    holdout : float, default=0.0
        The share of rows that is held out and judged when training has ended (`evaluation_`).
    prediction_draws : int, default=50
        Posterior draws for predictions.
    callback : callable, optional
        Is called with a dictionary at every step: phase, what, step, steps and bound.
    verbose : bool, default=False
        Whether progress is shown.
    n_jobs : int, optional
        Threads; by default all cores. They change no bit of any result.
    random_state : int or RandomState, optional
        The seed; without one it is 0, so that the same data give the same model.
"""

ATTRIBUTES = """
    Attributes
    ----------
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of str
        Their names, where X had any.
    partial_ : bool
        Whether the fit was interrupted: then the model is what had been learned by then.
    bound_ : dict
        The bound in nats a row, with its parts.
    feature_relevance_ : ndarray
        For each column, its share of what matters.
    history_ : dict of ndarray
        The course of training.
    evaluation_ : dict or None
        Metrics of the rows that were held out.
"""


class DeepKernel(BaseEstimator):
    """An estimator without its targets."""

    _task: str

    def __init__(
        self,
        *,
        effort: str | None = None,
        family: str | None = None,
        posterior: str | None = None,
        layers: int | None = None,
        kernel: str | Sequence[str] | None = None,
        width: int | None = None,
        likelihood: str | None = None,
        input_layer: str | None = None,
        inducing: int | None = None,
        scale_features: bool | None = None,
        share_noise: bool | None = None,
        steps: int | None = None,
        draws: int | None = None,
        batch: int | None = None,
        rate: float | None = None,
        rate_warm_up: int | None = None,
        decay_from: float | None = None,
        last_rate: float | None = None,
        kl_warm_up: int | None = None,
        temperature: float | None = None,
        start_steps: int | None = None,
        delta: float | None = None,
        gamma: float | None = None,
        input_delta: float | None = None,
        input_gamma: float | None = None,
        parameters: dict[str, float] | None = None,
        freeze: Sequence[str] | None = None,
        tie: dict[str, str] | None = None,
        scaling: str | None = None,
        holdout: float = 0.0,
        prediction_draws: int = 50,
        callback: Callable[[dict[str, Any]], Any] | None = None,
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.effort = effort
        self.family = family
        self.posterior = posterior
        self.layers = layers
        self.kernel = kernel
        self.width = width
        self.likelihood = likelihood
        self.input_layer = input_layer
        self.inducing = inducing
        self.scale_features = scale_features
        self.share_noise = share_noise
        self.steps = steps
        self.draws = draws
        self.batch = batch
        self.rate = rate
        self.rate_warm_up = rate_warm_up
        self.decay_from = decay_from
        self.last_rate = last_rate
        self.kl_warm_up = kl_warm_up
        self.temperature = temperature
        self.start_steps = start_steps
        self.delta = delta
        self.gamma = gamma
        self.input_delta = input_delta
        self.input_gamma = input_gamma
        self.parameters = parameters
        self.freeze = freeze
        self.tie = tie
        self.scaling = scaling
        self.holdout = holdout
        self.prediction_draws = prediction_draws
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # what the library needs

    def _settings(self, targets: list[str]) -> str:
        model: dict[str, Any] = {name: _plain(getattr(self, name)) for name in _CHOICES if getattr(self, name) is not None}
        if self.kernel is not None:
            model["kernel"] = [self.kernel] if isinstance(self.kernel, str) else list(self.kernel)
        model["set"] = [f"{name}={value}" for name, value in (self.parameters or {}).items()]
        model["freeze"] = list(self.freeze or [])
        model["tie"] = [f"{name}={other}" for name, other in (self.tie or {}).items()]
        model["seed"] = seed(self.random_state)
        table: dict[str, Any] = {"target": targets, "task": self._task, "holdout": _plain(self.holdout)}
        if self.scaling is not None:
            table["scaling"] = self.scaling
        return json.dumps({"table": table, "model": model})

    def _threads(self) -> int:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if self.n_jobs is None:
            return cores
        return max(1, cores + 1 + self.n_jobs) if self.n_jobs < 0 else self.n_jobs

    def _given(self, X: Any, *, reset: bool) -> list[_columns.Column]:
        if reset:
            # whatever goes wrong, an earlier model is gone
            for name in ("model_", "partial_", "_loaded_names"):
                self.__dict__.pop(name, None)
        if _columns.is_frame(X):
            if not hasattr(self, "_loaded_names"):
                validate_data(self, X, reset=reset, skip_check_array=True)
            if X.shape[0] == 0:
                raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
            columns = _columns.of_frame(X)
            for name, kind, values in columns:
                if kind == "numbers" and np.isinf(values).any():
                    raise ValueError(f"Input X contains infinity: column {name!r}")
            if hasattr(self, "_loaded_names") or hasattr(self, "feature_names_in_"):
                return columns
            # names that are no texts are none
            return [(f"x{i}", kind, values) for i, (_, kind, values) in enumerate(columns)]
        if isinstance(X, (list, tuple)) and np.asarray(X).dtype.kind in "US":
            X = np.array(X, dtype=object)
        least = 2 if reset else 1
        array = validate_data(
            self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan", ensure_min_samples=least
        )
        columns = _columns.of_array(array)
        if hasattr(self, "feature_names_in_"):
            names = [str(name) for name in self.feature_names_in_]
            columns = [(name, kind, values) for name, (_, kind, values) in zip(names, columns, strict=True)]
        return columns

    def _fit(self, targets: list[_columns.Column], columns: list[_columns.Column]) -> None:
        taken = {name for name, _, _ in columns}
        named = []
        for name, kind, values in targets:
            while name in taken:
                name = f"{name}_"
            taken.add(name)
            named.append((name, kind, values))
        settings = self._settings([name for name, _, _ in named])
        watch = _watch(self.callback, Progress() if self.verbose else None)
        model, interrupted = _dkp.fit(columns + named, settings, self._threads(), watch)
        if model is not None:
            self.model_ = model
            self.partial_ = interrupted is not None
        if interrupted is not None:
            try:
                raise interrupted
            finally:
                # an exception that its own frame names lives until the next collection
                del interrupted

    def _predicted(self, X: Any, quantiles: Sequence[float] = ()) -> NDArray[np.float64]:
        check_is_fitted(self, "model_")
        columns = self._given(X, reset=False)
        draws = count("prediction_draws", self.prediction_draws, 100_000)
        return self.model_.predict(columns, list(quantiles), draws, 0, self._threads())

    # what was learned

    def _card(self) -> dict[str, Any]:
        check_is_fitted(self, "model_")
        card: dict[str, Any] = json.loads(self.model_.card())
        return card

    @property
    def bound_(self) -> dict[str, Any] | None:
        """The bound in nats a row, with its parts; None after an interruption."""
        bound: dict[str, Any] | None = self._card()["bound"]
        return bound

    @property
    def evaluation_(self) -> dict[str, Any] | None:
        """Metrics of the rows that were held out, if there were any."""
        evaluation: dict[str, Any] | None = self._card()["evaluation"]
        return evaluation

    @property
    def feature_relevance_(self) -> NDArray[np.float64]:
        """For each column, its share of what matters; 0 where a column was left out."""
        check_is_fitted(self, "model_")
        if hasattr(self, "_loaded_names"):
            names = self._loaded_names
        elif hasattr(self, "feature_names_in_"):
            names = [str(name) for name in self.feature_names_in_]
        else:
            names = [f"x{i}" for i in range(self.n_features_in_)]
        shares = dict(self.model_.relevance(self._threads()))
        return np.array([shares.get(name, 0.0) for name in names])

    @property
    def history_(self) -> dict[str, NDArray[np.float64]]:
        """The course of training: arrays by name, of which `step` is one."""
        check_is_fitted(self, "model_")
        return self.model_.history()

    def posterior_grams(self, n_samples: int = 1, random_state: Any = None) -> tuple[list[NDArray[np.float64]], Any]:
        """Gram matrices at the inducing points, drawn from the posterior.

        Parameters
        ----------
        n_samples : int, default=1
            Draws.
        random_state : int or RandomState, optional
            The seed, 0 by default.

        Returns
        -------
        grams : list of ndarray of shape (n_samples, n_inducing, n_inducing)
            Of the input, and of each hidden layer after its process.
        omega : ndarray of shape (n_samples, n_encoded, n_encoded) or None
            The matrix that mixes the encoded features, where the input layer draws it.
        """
        check_is_fitted(self, "model_")
        draws = count("n_samples", n_samples, 10_000)
        drawn = self.model_.posterior_grams(draws, seed(random_state), self._threads())
        return drawn["grams"], drawn["omega"]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file that the `dkp` command reads.

        Parameters
        ----------
        path : path-like
            The file.
        """
        check_is_fitted(self, "model_")
        self.model_.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Any:
        """Read a model file, as the `dkp` command writes it too.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        estimator
            A fitted estimator.
        """
        model = _dkp.Model.load(path)
        if (model.labels() is None) == (cls._task == "classification"):
            other = "DeepKernelRegressor" if model.labels() is None else "DeepKernelClassifier"
            raise ValueError(f"{path}: this is a model for {other}")
        estimator = cls()
        estimator.model_, estimator.partial_ = model, False
        # columns are found by name; a file does not say which others there were
        estimator._loaded_names = [name for name, _ in json.loads(model.card())["encoder"]["columns"]]
        estimator._loaded()
        return estimator

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """The report: one page of HTML with the pictures of the model.

        Parameters
        ----------
        path : path-like, optional
            A file to write it to.

        Returns
        -------
        str
            The page.
        """
        check_is_fitted(self, "model_")
        page = self.model_.report(self._threads())
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        if not hasattr(self, "model_"):
            bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
            return bundle
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        if not hasattr(self, "model_"):
            return f"<pre>{html.escape(repr(self))}</pre>"
        page = html.escape(self.report(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'

    def _loaded(self) -> None:
        """Sets what is known of targets from the model alone."""


def count(name: str, value: Any, most: int) -> int:
    """A number of draws."""
    count = int(value)
    if not 1 <= count <= most:
        raise ValueError(f"{name} must be from 1 to {most}")
    return count


def check_given(estimator: BaseEstimator, y: Any) -> None:
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")


def target_names(y: Any) -> list[str] | None:
    """The names of y, if it is of a data frame."""
    if _columns.is_frame(y):
        return [str(name) for name in y.columns]
    name = getattr(y, "name", None)
    return [name] if isinstance(name, str) and name else None


def _plain(value: Any) -> Any:
    """A NumPy scalar as Python's own."""
    return value.item() if isinstance(value, np.generic) else value


def _watch(callback: Any, progress: Progress | None) -> Any:
    if callback is None and progress is None:
        return None

    def watch(event: dict[str, Any]) -> None:
        if progress is not None:
            progress(event)
        if callback is not None:
            callback(event)

    return watch
