"""Why rows have the depths they have."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lossdepth._scores import SHOWN, counted_rows

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray

    from lossdepth._scores import Scores


class Cut(NamedTuple):
    """One side of the boxes that the trees of a forest put around a row.

    Attributes
    ----------
    feature : str
        The column.
    side : str
        ``"above"`` if larger values are outside of the box, ``"below"`` if smaller ones are,
        ``"level"`` if other levels of a category are, ``"gap"`` if it is about gaps of the column:
        values are outside if the row has a gap, gaps if it has a value.
    threshold : float
        Midway between the row and the nearest value of the reference on the other side; NaN for a
        category or a gap.
    probability : float
        The share of the trees that make this cut.
    share : float
        The share of the reference that this cut alone leaves with the row.

    Examples
    --------
    >>> from lossdepth import ForestDepth
    >>> why = ForestDepth().fit([[0.0], [1.0], [2.0]]).explain([[5.0]])
    >>> why.cuts[0]
    [Cut(feature='x0', side='below', threshold=3.5, probability=1.0, share=0.0)]
    """

    feature: str
    side: str
    threshold: float
    probability: float
    share: float


def named_cut(names: NDArray[np.object_], cut: tuple[int, float, bool, float, float]) -> Cut:
    """Make a cut of what the native core says about it."""
    feature, threshold, above, probability, share = cut
    side = "above" if above else "below"
    return Cut(str(names[feature]), side, threshold, probability, share)


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    r"""The classifiers behind some depths, taken apart.

    For each row z the classifier of a linear depth, :math:`f(x) = \langle w, x \rangle + b`, tells
    the sample (:math:`f > 0`) from the row (:math:`f < 0`). Measured from the mean of the sample,
    :math:`f(z) = f(\bar x) + \sum_j w_j (z_j - \bar x_j)`: a baseline and a contribution of each
    column. The most negative contributions are the columns that give the row away. A method that
    has no such thing leaves the attribute None.

    Attributes
    ----------
    scores : Scores
        The depths and what is known about them.
    value : ndarray of shape (n_samples,)
        f(z): for a linear f exactly `baseline` plus the contributions, added from left to right.
    baseline : ndarray of shape (n_samples,)
        The mean of f over the reference; for a linear f that is f at the mean. For a network it is
        f at the mean.
    intercept : ndarray of shape (n_samples,)
        b, so that f(x) is `weights` times x plus b on the original columns, near z where f is not
        linear; 0 where `weights` is None.
    weights : ndarray of shape (n_samples, n_features) or None
        The gradient of f at z in terms of the original columns: w where f is linear. A category
        has no slope: what its level adds to f against the average row, to first order.
    contributions : ndarray of shape (n_samples, n_features) or None
        The part of each column in f(z); of a category, the levels together.
    influence : ndarray of shape (n_samples, n_reference) or None
        How the depth would change, per unit of mass, if the sample had more mass at each reference
        row. Their weighted mean is 0; removing row i, of normalised weight w, changes the depth by
        about -w / (1 - w) times its influence.
    witness : ndarray of shape (n_samples, n_reference) or None
        f at each reference row, for depths with a kernel: the witness function.
    feature_names : ndarray of shape (n_features,)
        The names of the compared columns, whatever the method makes of them; ``x0``, ``x1``, ... if
        the reference had none.
    cuts : list of list of Cut or None
        For a forest: the cuts that its trees make around each row, the most frequent first. None
        where cuts are across columns: with rotations, or a scaling that mixes columns.
    notes : list of list of str or None
        For each row, which of its cells are gaps or have a level that the reference lacks; None if
        there is no such cell.
    rest : ndarray of shape (n_samples,) or None
        Where the reference was a large sparse matrix, `weights` and `contributions` are sparse
        arrays of the 100 columns with the largest contributions in either direction; these are the
        contributions of all others together, and None otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import LogisticDepth
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> why = LogisticDepth(reg=0.01).fit(X).explain([[0.0, 5.0, 0.0]])
    >>> why.top_features(1)
    [['x1']]
    >>> total = why.baseline[0]
    >>> for contribution in why.contributions[0]:
    ...     total = total + contribution
    >>> bool(total == why.value[0])
    True
    """

    scores: Scores
    value: NDArray[np.float64]
    baseline: NDArray[np.float64]
    intercept: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    contributions: NDArray[np.float64] | None
    influence: NDArray[np.float64] | None
    witness: NDArray[np.float64] | None
    feature_names: NDArray[np.object_]
    cuts: list[list[Cut]] | None = None
    notes: list[list[str]] | None = None
    rest: NDArray[np.float64] | None = None

    @property
    def depth(self) -> NDArray[np.float64]:
        """The depths that are explained."""
        return self.scores.depth

    def top_features(self, count: int = 3) -> list[list[str]]:
        """Return for each row the names of the columns that do most to give it away.

        Parameters
        ----------
        count : int, default=3
            How many.

        Returns
        -------
        list of list of str
            The most negative contribution first; for a forest the columns with the most cuts.
        """
        return [[str(name) for name in self.feature_names[order]] for order in self._order(count)]

    def most_influential(self, count: int = 3) -> NDArray[np.intp]:
        """Return for each row the reference rows with the largest influence in either direction.

        Parameters
        ----------
        count : int, default=3
            How many.

        Returns
        -------
        ndarray of shape (n_samples, count)
            Numbers of reference rows, the largest influence first.
        """
        if self.influence is None:
            raise AttributeError("this method has no influence of reference rows")
        return np.argsort(-np.abs(self.influence), axis=1, kind="stable")[:, : _at_least_0(count)]

    def to_pandas(self, top: int | None = None) -> pd.DataFrame:
        """Return a long data frame: a line for each row and column.

        Parameters
        ----------
        top : int or None, default=None
            Only that many columns for each row, those that do most to give it away.

        Returns
        -------
        pandas.DataFrame
            With the columns ``row``, ``feature``, ``weight`` and ``contribution``, the most
            negative contribution of each row first; ``row`` is the index of the row in a pandas
            table, its number otherwise. For a forest a line for each row and cut, the most frequent
            first, with the columns ``row`` and those of :class:`Cut`.
        """
        import pandas as pd  # noqa: PLC0415

        return pd.DataFrame(self._columns(top))

    def to_polars(self, top: int | None = None) -> pl.DataFrame:
        """Return the table of `to_pandas` as a polars data frame."""
        import polars as pl  # noqa: PLC0415

        columns = self._columns(top)
        return pl.DataFrame(columns | {"feature": [str(name) for name in columns["feature"]]})

    def plot(
        self,
        row: int = 0,
        *,
        kind: str = "features",
        top: int = 10,
        image: tuple[int, int] | None = None,
        ax: Any = None,
    ) -> Any:
        """Draw why a row has its depth; needs matplotlib.

        Parameters
        ----------
        row : int, default=0
            Which of the explained rows, by number.
        kind : {"features", "rows"}, default="features"
            Whether to draw what the columns do, or which rows of the reference matter most.
        top : int, default=10
            How many columns get a bar of their own, the largest in size, while the others share
            one; or how many reference rows are shown.
        image : tuple of two int or None, default=None
            Height and width, if the columns are the pixels of an image: a picture, not bars.
        ax : matplotlib.axes.Axes or None, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.

        See Also
        --------
        lossdepth.plot.contributions : What ``kind="features"`` draws.
        lossdepth.plot.influence : What ``kind="rows"`` draws.
        """
        from lossdepth import plot  # noqa: PLC0415

        if kind == "features":
            return plot.contributions(self, row, top=top, image=image, ax=ax)
        if kind == "rows":
            return plot.influence(self, row, top=top, ax=ax)
        raise ValueError(f"`kind` must be one of features, rows, got `{kind}`")

    def _telling(self) -> NDArray[np.float64]:
        """Return how much each column does to give each row away."""
        if self.contributions is not None:
            return -self.contributions
        if self.weights is not None:
            return np.abs(self.weights)
        if self.cuts is not None:
            return self._cut_shares(self.cuts)
        raise AttributeError("this method does not say what its columns do")

    def _cut_shares(self, cuts: list[list[Cut]]) -> NDArray[np.float64]:
        """Return how many cuts a tree makes in each column, on average."""
        places = {str(name): j for j, name in enumerate(self.feature_names)}
        shares = np.zeros((len(self), len(self.feature_names)))
        for row, made in zip(shares, cuts, strict=True):
            for cut in made:
                row[places[cut.feature]] += cut.probability
        return shares

    def _order(self, count: int | None) -> NDArray[np.intp]:
        most = None if count is None else _at_least_0(count)
        if self.rest is not None:
            return self._stored_order(self.contributions, most)
        return np.argsort(-self._telling(), axis=1, kind="stable")[:, :most]

    @staticmethod
    def _stored_order(contributions: Any, most: int | None) -> NDArray[np.intp]:
        """Return the columns stored in each row, as many as all have, the most negative first."""
        starts, columns = contributions.indptr, contributions.indices
        count = np.diff(starts).min()
        count = count if most is None else min(count, most)
        found = np.empty((len(starts) - 1, count), dtype=np.intp)
        for order, (start, stop) in zip(found, pairwise(starts), strict=True):
            first = np.argsort(contributions.data[start:stop], kind="stable")[:count]
            order[:] = columns[start:stop][first]
        return found

    def _columns(self, top: int | None) -> dict[str, Any]:
        if self.cuts is not None:
            return self._cut_columns(self.cuts, None if top is None else _at_least_0(top))
        order = self._order(top)
        rows = np.arange(len(self)) if self.scores.index is None else self.scores.index
        parts: dict[str, Any] = {"weight": self.weights, "contribution": self.contributions}
        return {
            "row": np.repeat(np.asarray(rows), order.shape[1]),
            "feature": self.feature_names[order].ravel(),
        } | {
            name: (
                np.take_along_axis(part, order, axis=1)
                if self.rest is None
                else np.asarray(part[np.arange(len(self))[:, None], order].todense())
            ).ravel()
            for name, part in parts.items()
            if part is not None
        }

    def _cut_columns(self, cuts: list[list[Cut]], top: int | None) -> dict[str, Any]:
        rows = np.arange(len(self)) if self.scores.index is None else self.scores.index
        made = [cut for row in cuts for cut in row[:top]]
        return {"row": np.repeat(np.asarray(rows), [len(row[:top]) for row in cuts])} | {
            name: [getattr(cut, name) for cut in made] for name in Cut._fields
        }

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        lines = [
            f"{type(self).__name__}: {counted_rows(len(self))}, {len(self.feature_names)} features"
        ]
        if self.contributions is None and self.weights is None and self.cuts is None:
            lines += [f"{i:>6}  depth {depth:.6f}" for i, depth in enumerate(self.depth[:SHOWN])]
            return "\n".join(lines + [f"{'...':>6}"] * (len(self) > SHOWN))
        shown = self._telling() if self.contributions is None else self.contributions
        for i, order in enumerate(self._order(3)[:SHOWN]):
            parts = (f"{self.feature_names[j]} {shown[i, j]:+.3g}" for j in order)
            lines.append(f"{i:>6}  depth {self.depth[i]:.6f}  most telling: {', '.join(parts)}")
        if len(self) > SHOWN:
            lines.append(f"{'...':>6}")
        return "\n".join(lines)


def _at_least_0(count: int) -> int:
    if count < 0:
        raise ValueError(f"the number to return must not be negative, got {count}")
    return count
