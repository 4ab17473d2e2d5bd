"""Checks of what an estimator is given, and warnings about what it finds."""

from __future__ import annotations

import inspect
import warnings
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_array

from lossdepth import _native

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_HERE = Path(__file__).parent


def share(contamination: Any) -> float:
    """Check a contamination."""
    if not isinstance(contamination, Real):
        raise TypeError(f"`contamination` must be a number, got {contamination!r}")
    value = float(contamination)
    if not 0.0 <= value <= 0.5:  # noqa: PLR2004
        raise ValueError(f"`contamination` must be between 0 and 0.5, got {contamination}")
    return value


def weights(sample_weight: Any, rows: int) -> Floats | None:
    """Bring weights to an array of doubles; the native core checks their number and values."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        values = np.full(rows, sample_weight, dtype=np.float64)
    else:
        values = check_array(
            sample_weight,
            dtype=np.float64,
            order="C",
            ensure_2d=False,
            ensure_all_finite=False,
            input_name="sample_weight",
        )
    if values.ndim != 1:
        raise ValueError(f"`sample_weight` must have one dimension, got shape {values.shape}")
    if not values.any():
        raise ValueError("`sample_weight` must not be zero for every row")
    return np.require(values, np.float64, ["C", "A"])


def offset(depths: Floats, weights: Floats | None, contamination: float) -> float:
    """Find the largest depth below which lies no more than a share of the weight."""
    return _native.threshold(depths, weights, contamination)


def index(X: Any) -> Any:
    """Return the index of a pandas table; a list has a method of that name."""
    found = getattr(X, "index", None)
    return None if callable(found) else found


def warn(message: str, category: type[Warning]) -> None:
    """Warn the caller of the public method: the first frame outside of this package."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and _HERE in Path(frame.f_code.co_filename).parents:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
