"""Draws from the priors of the family: Gram matrices, kernels and functions as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from . import _dkp
from ._seed import seed


@dataclass(frozen=True)
class PriorDraw:
    """A draw at n points.

    Attributes
    ----------
    grams : list of ndarray of shape (n, n)
        The input's Gram matrix, and that of each hidden layer after its process.
    kernels : list of ndarray of shape (n, n)
        The kernel of each: of the hidden layers, then of the output.
    functions : ndarray of shape (n, n_functions)
        Functions drawn with the output's kernel.
    """

    grams: list[NDArray[np.float64]]
    kernels: list[NDArray[np.float64]]
    functions: NDArray[np.float64]


def families() -> dict[str, str]:
    """The families of priors, with what they are.

    Returns
    -------
    dict
        Titles by name.
    """
    return dict(_dkp.prior_families())


def draw(
    family: str,
    X: ArrayLike,
    *,
    kernel: str = "sqexp",
    parameters: Sequence[float] | None = None,
    layers: int = 1,
    delta: float | None = None,
    width: int | None = None,
    functions: int = 1,
    random_state: Any = None,
) -> PriorDraw:
    """Draw Gram matrices, and functions with the kernel of the last.

    Parameters
    ----------
    family : str
        One of `families()`.
    X : array-like of shape (n, n_features)
        Points.
    kernel : str, default='sqexp'
        The kernel of every layer.
    parameters : sequence of float, optional
        The kernel's parameters, in its order; by default 1 each.
    layers : int, default=1
        Hidden layers.
    delta : float, optional
        Of inverse-Wishart layers.
    width : int, optional
        Of finite layers.
    functions : int, default=1
        How many functions.
    random_state : int or RandomState, optional
        The seed, 0 by default.

    Returns
    -------
    PriorDraw
        The draw.

    Examples
    --------
    >>> import numpy as np
    >>> from dkp import priors
    >>> drawn = priors.draw("diwp", np.linspace(-3, 3, 50)[:, None], layers=2, delta=5.0, functions=3)
    >>> [g.shape for g in drawn.grams], drawn.functions.shape
    ([(50, 50), (50, 50), (50, 50)], (50, 3))
    """
    x = check_array(X, dtype=np.float64, input_name="X")
    values = None if parameters is None else [float(p) for p in parameters]
    if not 0 <= layers <= 50:
        raise ValueError("layers must be from 0 to 50")
    if not 1 <= functions <= 100_000:
        raise ValueError("functions must be from 1 to 100000")
    if width is not None and not 1 <= width <= 100_000:
        raise ValueError("width must be from 1 to 100000")
    drawn = _dkp.draw_prior(family, x, kernel, values, layers, delta, width, functions, seed(random_state))
    return PriorDraw(drawn["grams"], drawn["kernels"], drawn["functions"])
