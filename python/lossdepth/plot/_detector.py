"""What pictures ask of a fitted depth."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def scored(detector: Any, X: Any) -> NDArray[np.float64]:
    """Score a table, or a grid in the order of its columns, which has no names."""
    names = getattr(detector, "feature_names_in_", None)
    if names is not None and isinstance(X, np.ndarray) and getattr(detector, "twin_", 0) is None:
        import pandas as pd  # noqa: PLC0415

        # A pipeline may look for its columns by name.
        X = pd.DataFrame(X, columns=names)
    model = vars(detector).get("model_")
    if isinstance(X, np.ndarray) and getattr(model, "compared", None) is not None:
        # Rows as the model takes them.
        scores = detector._score(model, X, "score")  # noqa: SLF001
        return np.asarray(detector._named(scores, None).depth)  # noqa: SLF001
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return np.asarray(detector.score_samples(X))


def _names(detector: Any) -> list[str]:
    names = getattr(detector, "feature_names_in_", None)
    count = detector.n_features_in_
    return [f"x{j}" for j in range(count)] if names is None else [str(name) for name in names]


def numbers(detector: Any) -> tuple[list[str], list[int]]:
    """Return the names of the columns of numbers, and where they are in the rows of the model."""
    encoding = getattr(vars(detector).get("model_"), "encoding", None)
    if encoding is None:
        names = _names(detector)
        return names, list(range(len(names)))
    columns = encoding["columns"]
    found = [
        (columns[at]["name"], start)
        for at, kind, start, _ in encoding["groups"]
        if kind == "number"
    ]
    return [name for name, _ in found], [start for _, start in found]


def typical(rows: NDArray[np.float64], detector: Any) -> NDArray[np.float64]:
    """Return the medians of the columns, and the most frequent levels of categories."""
    typical = np.asarray(np.median(rows, axis=0))
    encoding = getattr(vars(detector).get("model_"), "encoding", None)
    for _, kind, start, width in [] if encoding is None else encoding["groups"]:
        if kind != "number":
            levels, counts = np.unique(rows[:, start : start + width], axis=0, return_counts=True)
            typical[start : start + width] = levels[counts.argmax()]
    return typical
