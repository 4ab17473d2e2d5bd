"""A classifier trained to tell one query after the other from the sample."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from lossdepth._progress import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lossdepth._base import Floats

# A probability of 0 would be infinitely wrong; scikit-learn's log_loss stops at the same place.
_LEAST = float(np.finfo(np.float64).eps)
# How many parts of the queries each worker gets, so that all are done at about the same time.
_PARTS = 4


@dataclass(frozen=True)
class Training:
    """What all queries share, as it is sent to the workers.

    The sample is class 1 and the query class 0, so that a positive decision is for the sample.
    """

    estimator: Any
    X: Any
    # As they were given: whole numbers count rows.
    weights: Floats
    # How many copies of each row to train with, or None to train with weights.
    copies: NDArray[np.int64] | None
    total: float
    loss: str

    def risks(self, Z: Any) -> Floats:
        """Return the risk of each query, its standard error and the number of iterations."""
        return np.array([self._risk(take(Z, [i])) for i in range(Z.shape[0])])

    def _risk(self, z: Any) -> tuple[float, float, int]:
        shares = self.weights / self.weights.sum()
        estimator = self._trained(z, shares)
        rows = self._losses(estimator, self.X, 1)
        query = self._losses(estimator, z, 0)
        risk = 0.5 * (shares @ rows + query[0])
        return float(risk), 0.5 * _stderr(self.weights, rows), _iterations(estimator)

    def _trained(self, z: Any, shares: Floats) -> Any:
        estimator = clone(self.estimator)
        if self.copies is None:
            labels = np.append(np.ones(len(shares), dtype=np.int64), 0)
            mass = self.total * np.append(0.5 * shares, 0.5)
            name, estimator = weight_argument(estimator)
            return estimator.fit(stacked(self.X, z), labels, **{name: mass})
        count = int(self.copies.sum())
        sample = take(self.X, np.repeat(np.arange(len(shares)), self.copies))
        both = stacked(sample, take(z, np.zeros(count, dtype=np.intp)))
        return estimator.fit(both, np.repeat([1, 0], count))

    def _losses(self, estimator: Any, rows: Any, label: int) -> Floats:
        """Return the loss at rows of one class."""
        if hasattr(estimator, "predict_proba") and self.loss != "hinge":
            p = estimator.predict_proba(rows)[
                :, int(np.flatnonzero(estimator.classes_ == label)[0])
            ]
            if self.loss == "log":
                # Adding 0 turns the minus zero of a logarithm of 1 into zero.
                return np.asarray(0.0 - np.log2(np.clip(p, _LEAST, 1.0)))
            if self.loss == "brier":
                return np.asarray(4.0 * (1.0 - p) ** 2)
            return np.asarray(p < 0.5, dtype=np.float64)  # noqa: PLR2004
        if hasattr(estimator, "decision_function"):
            margins = (2 * label - 1) * estimator.decision_function(rows)
            if self.loss == "hinge":
                return np.asarray(np.maximum(0.0, 1.0 - margins))
            return np.asarray(margins < 0.0, dtype=np.float64)
        return np.asarray(estimator.predict(rows) != label, dtype=np.float64)


def risks(task: Training, Z: Any, n_jobs: int | None, shown: str) -> tuple[Floats, ...]:
    """Train a classifier for each query, in parallel; `shown` names what progress is of.

    Returned are the risks, their standard errors and the numbers of iterations.
    """
    rows = Z.shape[0]
    size = max(1, ceil(rows / (_PARTS * max(1, effective_n_jobs(n_jobs)))))
    size = min(size, 8) if shown else size
    parts = [range(start, min(start + size, rows)) for start in range(0, rows, size)]
    work = (delayed(task.risks)(take(Z, part)) for part in parts)
    found = []
    with Progress(rows, shown, shown=bool(shown)) as progress:
        for some in Parallel(n_jobs=n_jobs, return_as="generator" if shown else "list")(work):
            found.append(some)
            progress.advance(len(some))
    return tuple(np.ascontiguousarray(numbers) for numbers in np.concatenate(found).T)


def takes_weights(estimator: Any) -> bool:
    """Tell whether a classifier, or the last step of a pipeline, can be trained with weights."""
    return bool(has_fit_parameter(final(estimator), "sample_weight"))


def weight_argument(estimator: Any) -> tuple[str, Any]:
    """Return the name under which `fit` takes weights, and the estimator that takes them so.

    A pipeline hands them to its last step; with metadata routing to every step that asks for them,
    and, where nothing is said, to the last one alone.
    """
    if not isinstance(estimator, Pipeline):
        return "sample_weight", estimator
    if get_config()["enable_metadata_routing"]:
        last = final(estimator)
        for step in estimator.get_params().values():
            if _is_silent(step):
                step.set_fit_request(sample_weight=step is last)
        return "sample_weight", estimator
    names, step = [], estimator
    while isinstance(step, Pipeline):
        name, step = step.steps[-1]
        names.append(name)
    return "__".join([*names, "sample_weight"]), estimator


def _is_silent(step: Any) -> bool:
    """Tell whether a step could take weights and does not say if it wants them."""
    if isinstance(step, Pipeline) or not hasattr(step, "set_fit_request"):
        return False
    requests = step.get_metadata_routing().fit.requests
    return "sample_weight" in requests and requests["sample_weight"] is None


def final(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def take(table: Any, rows: Sequence[int] | NDArray[Any]) -> Any:
    """Return some rows of an array or a data frame."""
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    return (
        table[np.asarray(rows, dtype=np.intp)]
        if isinstance(table, np.ndarray)
        else table[list(rows)]
    )


def stacked(above: Any, below: Any) -> Any:
    """Return one table of two, of the same kind."""
    if isinstance(above, np.ndarray):
        return np.vstack([above, below])
    if hasattr(above, "iloc"):
        import pandas as pd  # noqa: PLC0415

        return pd.concat([above, below], ignore_index=True)
    import polars as pl  # noqa: PLC0415

    return pl.concat([above, below])


def _stderr(weights: Floats, losses: Floats) -> float:
    """Return the standard error of a weighted mean; whole numbers count rows."""
    total = weights.sum()
    squares = (losses - weights @ losses / total) ** 2
    if (weights == np.round(weights)).all():
        return float(np.sqrt(weights @ squares) / total)
    return float(np.sqrt(weights**2 @ squares) / total)


def _iterations(estimator: Any) -> int:
    found = getattr(final(estimator), "n_iter_", None)
    return 1 if found is None else max(1, int(np.max(found)))
