"""What a table's columns hold, for the library: names, kinds and values."""

from __future__ import annotations

import datetime
import decimal
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
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
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
    if array.dtype.kind == "m":
        seconds = array / np.timedelta64(1, "s")
        return "numbers", np.where(np.isnat(array), np.nan, seconds)
    if array.dtype.kind == "S":
        return "texts", [v.decode("utf-8", "replace") for v in array.tolist()]
    if array.dtype.kind == "U":
        return "texts", array.tolist()
    return _of_objects(list(array))


def _of_series(series: Any) -> tuple[str, Any]:
    kind = str(series.dtype)
    if kind == "category" or kind.startswith(("Categorical", "Enum")):
        return "categories", [None if _is_missing(v) else _text(v) for v in series.to_list()]
    if kind.startswith("datetime64[") and "," in kind:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    array = series.to_numpy()
    if array.dtype.kind in "OT":
        return _of_objects(series.to_list())
    return of_values(array)


def _of_objects(values: list[Any]) -> tuple[str, Any]:
    known = [v for v in values if not _is_missing(v)]
    if not known:
        # missing, whatever the column holds elsewhere
        return "texts", [None] * len(values)
    if all(isinstance(v, (bool, np.bool_)) for v in known):
        return "booleans", [None if _is_missing(v) else bool(v) for v in values]
    if all(_is_number(v) for v in known):
        return "numbers", np.array([np.nan if _is_missing(v) else _float(v) for v in values])
    if all(isinstance(v, (datetime.date, np.datetime64)) for v in known):
        plain = [np.datetime64("NaT") if _is_missing(v) else _without_zone(v) for v in values]
        return "texts", _dates(np.array(plain, dtype="datetime64[us]"))
    if all(isinstance(v, (datetime.timedelta, np.timedelta64)) for v in known):
        plain = [np.timedelta64("NaT") if _is_missing(v) else np.timedelta64(v) for v in values]
        return of_values(np.array(plain, dtype="timedelta64[us]"))
    for v in known:
        if not (isinstance(v, (str, datetime.time, bool, np.bool_)) or _is_number(v)):
            raise TypeError(f"argument must be a string or a number, not {type(v).__name__!r}")
    return "texts", [None if _is_missing(v) else _text(v) for v in values]


def _is_number(value: Any) -> bool:
    real = isinstance(value, (numbers.Real, decimal.Decimal)) and not isinstance(value, (bool, np.bool_))
    return real and not isinstance(value, np.timedelta64)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{value} is too large for a number") from None


def _text(value: Any) -> str:
    """A value as files have it, alone or among others."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if _is_number(value):
        number = _float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    return str(value)


def _without_zone(value: Any) -> Any:
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return value


def _dates(array: np.ndarray) -> list[str | None]:
    if array.size and np.all((array == array.astype("datetime64[D]")) | np.isnat(array)):
        array = array.astype("datetime64[D]")
    else:
        array = array.astype("datetime64[s]")
    return [None if np.isnat(v) else str(v) for v in array]


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, decimal.Decimal)) and bool(value != value)
