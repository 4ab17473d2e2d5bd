"""How an estimator asks its native model about rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lossdepth import _checks, _native
from lossdepth._fitting import Fitting
from lossdepth._input import as_table, is_sparse
from lossdepth._progress import in_parts, threads
from lossdepth._scores import Scores
from lossdepth._sparse import SMALL, sparse_model, sparse_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from lossdepth._sparse import Rows

    Floats = NDArray[np.float64]

T = TypeVar("T")

# Beyond it the native core does not go.
_LARGEST = 1e100

# How many numbers of sparse queries are made dense at a time, for a model of dense rows.
_DENSE = SMALL


class Scoring(Fitting):
    """What an estimator does to score rows."""

    _remedy: ClassVar[str] = "Scale the data, or raise tol, max_iter or reg."

    def _scores(self, X: Any, *, stderr: bool = False) -> Scores:
        check_is_fitted(self, "model_")
        model = sparse_model(self.model_)
        if model is not None:
            score = partial(model.score, depths_only=not stderr)
            return self._named(self._ask(score, self._sparse_rows(X)), X)
        if is_sparse(X) and self._takes_sparse and X.shape[0] * X.shape[1] > _DENSE:
            X = self._sparse(X, reset=False)
            step = max(1, _DENSE // X.shape[1])
            parts = [
                self._score(
                    self.model_, self._rows(X[start : start + step]), "score", stderr=stderr
                )
                for start in range(0, X.shape[0], step)
            ]
            depth, error, spread, iterations, stop = map(np.concatenate, zip(*parts, strict=True))
            return self._named((depth, error, spread, iterations, stop), X)
        return self._named(self._score(self.model_, self._rows(X), "score", stderr=stderr), X)

    def _score(
        self, model: _native.Model, rows: Floats, what: str, *, stderr: bool = False
    ) -> _native._Scores:
        """Score all rows, with standard errors or without; with progress, if wanted, in parts."""
        score = partial(model.score, depths_only=not stderr)
        # Errors count rows from the first: what will fail is not taken apart.
        if not self.verbose or not (np.abs(rows) <= _LARGEST).all():
            return self._ask(score, rows)
        what = f"{type(self).__name__} {what}"
        parts = list(in_parts(lambda part: self._ask(score, part), rows, what))
        depth, error, spread, iterations, stop = map(np.concatenate, zip(*parts, strict=True))
        return depth, error, spread, iterations, stop

    def _ask(self, work: Callable[[Any, int], T], rows: Floats | Rows) -> T:
        """Let the native core work; it counts columns, users call them by name."""
        try:
            return work(rows, threads(self.n_jobs))
        except ValueError as error:
            raise ValueError(self._in_words(error)) from None

    def _named(self, scores: _native._Scores, X: Any) -> Scores:
        """Name the native scores, and warn if some are not as exact as they should be."""
        depth, error, stderr, iterations, stop = scores
        names, converged = np.array(_native.STOPS), _native.STOPS.index("converged")
        failed = stop != converged
        result = Scores(
            depth,
            error,
            stderr,
            iterations,
            names[stop] if failed.any() else np.broadcast_to(names[converged], stop.shape),
            _checks.index(X),
            partial(_shares, self.model_, threads(self.n_jobs)),
        )
        if failed.any():
            counts = zip(*np.unique(result.stop[failed], return_counts=True), strict=True)
            why = ", ".join(f"{reason}: {count}" for reason, count in counts)
            _checks.warn(
                f"{failed.sum()} of {len(failed)} depths are less exact than asked "
                f"for ({why}); the largest error is {result.error[failed].max():.2g}. "
                + self._remedy,
                ConvergenceWarning,
            )
        return result

    def _sparse_rows(self, X: Any) -> Rows:
        """Turn queries, sparse or dense, into the rows that a model of sparse rows takes."""
        if not is_sparse(X):
            return sparse_rows(self._numbers(as_table(X), reset=False))
        return sparse_rows(self._sparse(X, reset=False))


def _shares(model: _native.Model | _native.SparseModel, count: int, depths: Floats) -> Floats:
    """Return the share of the reference that is at most as deep."""
    return model.percentiles(depths, count)
