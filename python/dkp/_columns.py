"""What a table's columns hold, for the library: names, kinds and values."""

from __future__ import annotations

import datetime
import numbers
from typing import Any

import numpy as np

Column = tuple[str, str, Any]


def is_frame(x: Any) -> bool:
    """Whether columns have names: a data frame of pandas or polars."""
    return hasattr(x, "columns") and hasattr(x, "__getitem__") and hasattr(x, "shape")


def of_frame(frame: Any) -> list[Column]:
    """The columns of a data frame."""
    names = [str(name) for name in frame.columns]
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise ValueError(f"two columns are named {twice!r}: rename one")
    return [(str(name), *_of_series(frame[name])) for name in frame.columns]


def of_array(array: np.ndarray) -> list[Column]:
    """The columns of a matrix, called x0, x1 and so on."""
    return [(f"x{i}", *of_values(array[:, i])) for i in range(array.shape[1])]


def of_values(values: Any) -> tuple[str, Any]:
    """The kind of a column, and its values as the library takes them."""
    array = np.asarray(values)
    if array.dtype.kind == "f":
        return "numbers", array.astype(np.float64, copy=False)
    if array.dtype.kind == "i" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        return "integers", array.astype(np.int64, copy=False)
    if array.dtype.kind == "u":
        return "numbers", array.astype(np.float64)
    if array.dtype.kind == "b":
        return "booleans", array.tolist()
    if array.dtype.kind == "M":
        return "texts", _dates(array)
    if array.dtype.kind in "US":
        return "texts", [str(v) for v in array.tolist()]
    return _of_objects(list(array))


def _of_series(series: Any) -> tuple[str, Any]:
    kind = str(series.dtype)
    if kind == "category" or kind.startswith(("Categorical", "Enum")):
        return "categories", [None if _is_missing(v) else str(v) for v in series.to_list()]
    array = series.to_numpy()
    if array.dtype.kind in "OT":
        return _of_objects(series.to_list())
    return of_values(array)


def _of_objects(values: list[Any]) -> tuple[str, Any]:
    known = [v for v in values if not _is_missing(v)]
    if all(isinstance(v, (bool, np.bool_)) for v in known) and known:
        return "booleans", [None if _is_missing(v) else bool(v) for v in values]
    if all(isinstance(v, numbers.Real) and not isinstance(v, (bool, np.bool_)) for v in known):
        return "numbers", np.array([np.nan if _is_missing(v) else float(v) for v in values])
    if all(isinstance(v, str) for v in known):
        return "texts", [None if _is_missing(v) else v for v in values]
    if all(isinstance(v, (datetime.date, datetime.datetime, np.datetime64)) for v in known):
        return "texts", _dates(np.array([None if _is_missing(v) else v for v in values], dtype="datetime64[us]"))
    odd = next(v for v in known if not isinstance(v, str))
    if isinstance(odd, (numbers.Number, str, bytes)) and not isinstance(odd, numbers.Complex | bytes):
        return "texts", [None if _is_missing(v) else str(v) for v in values]
    raise TypeError(f"argument must be a string or a number, not {type(odd).__name__!r}")


def _dates(array: np.ndarray) -> list[str | None]:
    if array.size and np.all((array == array.astype("datetime64[D]")) | np.isnat(array)):
        array = array.astype("datetime64[D]")
    else:
        array = array.astype("datetime64[s]")
    return [None if np.isnat(v) else str(v) for v in array]


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
