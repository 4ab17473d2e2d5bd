"""Depths with what is known about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lossdepth import _native

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray

# How many rows a text shows.
SHOWN = 10


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """Depths, with what is known about each.

    Attributes
    ----------
    depth : ndarray of shape (n_samples,)
        The depth, between 0 and 1: high is central, low is outlying.
    error : ndarray of shape (n_samples,)
        A proven bound on the distance between `depth` and the exact optimum.
    stderr : ndarray of shape (n_samples,)
        The sampling standard error: how much `depth` would vary over samples like the reference.
        NaN for `AutoDepth` and `ForestDepth`, which have none, and where few rows decide about a
        depth of `PotentialDepth`, `ZonoidDepth` or `SimplicialDepth`. For linear depths it includes
        that the scalings ``"standard"`` and ``"whiten"`` are learned on the reference; kernel
        depths and networks take the scaling and the width of the kernel for given.
    iterations : ndarray of shape (n_samples,)
        How many iterations the solver took.
    stop : ndarray of shape (n_samples,)
        Why it stopped: ``"converged"``, ``"iteration-limit"`` or ``"stalled"``. The error holds in
        any case.
    index : object or None
        The index of the table that was scored, if it was a pandas one.
    """

    depth: NDArray[np.float64]
    error: NDArray[np.float64]
    stderr: NDArray[np.float64]
    iterations: NDArray[np.int64]
    stop: NDArray[np.str_]
    index: Any = field(default=None)
    _shares: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = field(default=None)

    @cached_property
    def percentile(self) -> NDArray[np.float64]:
        """The share of the reference that is at most as deep, between 0 and 1.

        For it the reference is scored once, at the first use: all of it, or 5,000 rows that stand
        for a larger one. A saved model keeps what was found.

        Examples
        --------
        >>> from lossdepth import LogisticDepth
        >>> X = [[0.0], [1.0], [2.0], [3.0]]
        >>> LogisticDepth().fit(X).score_details([[1.5], [9.0]]).percentile
        array([1., 0.])
        """
        if self._shares is None:
            raise AttributeError("these scores have no percentile")
        return self._shares(self.depth)

    @property
    def converged(self) -> NDArray[np.bool_]:
        """Whether the error of each row is within the tolerance."""
        return np.asarray(self.stop == "converged", dtype=np.bool_)

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        r"""Return confidence intervals for the depths in the distribution behind the reference.

        The ends are :math:`\operatorname{logit}^{-1}(\operatorname{logit} d \pm q s / (d (1 - d)))`
        with the depth d, its standard error s and the normal quantile q, moved apart by `error`: to
        first order depth ± q · stderr, but within [0, 1].

        Parameters
        ----------
        level : float, default=0.95
            The probability with which an interval should cover, between 0 and 1.

        Returns
        -------
        tuple of ndarray of shape (n_samples,)
            The lower and the upper ends.

        Examples
        --------
        >>> from lossdepth import LogisticDepth
        >>> scores = LogisticDepth().fit([[0.0], [1.0], [2.0]]).score_details([[9.0]])
        >>> low, high = scores.interval()
        >>> bool(low[0] < scores.depth[0] < high[0])
        True
        """
        return _native.intervals(self.depth, self.error, self.stderr, level)

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with a line for each row and the index that was scored.

        Examples
        --------
        >>> from lossdepth import LogisticDepth
        >>> scores = LogisticDepth().fit([[0.0], [1.0], [2.0]]).score_details([[1.0], [9.0]])
        >>> list(scores.to_pandas().columns)
        ['depth', 'error', 'stderr', 'percentile', 'iterations', 'converged', 'stop']
        """
        import pandas as pd  # noqa: PLC0415

        return pd.DataFrame(self._columns(), index=self.index)

    def to_polars(self) -> pl.DataFrame:
        """Return a data frame with a line for each row."""
        import polars as pl  # noqa: PLC0415

        return pl.DataFrame(self._columns())

    def plot(self, *, level: float = 0.95, top: int = 5, ax: Any = None) -> Any:
        """Draw the depths, the most outlying first, with confidence intervals; needs matplotlib.

        Parameters
        ----------
        level : float, default=0.95
            The probability with which an interval covers.
        top : int, default=5
            How many of the most outlying rows are named.
        ax : matplotlib.axes.Axes or None, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.
        """
        from lossdepth import plot  # noqa: PLC0415

        return plot.scores(self, level=level, top=top, ax=ax)

    def _columns(self) -> dict[str, NDArray[Any]]:
        names = ["depth", "error", "stderr", "percentile", "iterations", "converged", "stop"]
        if self._shares is None:
            names.remove("percentile")
        return {name: getattr(self, name) for name in names}

    def __len__(self) -> int:
        return len(self.depth)

    def __repr__(self) -> str:
        wrong = len(self) - int(self.converged.sum())
        state = f"{wrong} not converged" if wrong else "all converged"
        lines = [
            f"{type(self).__name__}: {counted_rows(len(self))}, {state}",
            f"{'row':>6}  {'depth':>8}  {'error':>8}  {'stderr':>8}  iterations",
        ]
        lines += [
            f"{i:>6}  {self.depth[i]:8.6f}  {self.error[i]:8.1e}  {self.stderr[i]:8.1e}"
            f"  {self.iterations[i]:>10}" + ("" if self.converged[i] else f"  {self.stop[i]}")
            for i in range(min(len(self), SHOWN))
        ]
        if len(self) > SHOWN:
            lines.append(f"{'...':>6}")
        return "\n".join(lines)


def counted_rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
