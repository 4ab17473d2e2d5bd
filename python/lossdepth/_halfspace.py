"""The halfspace depth, and what it looks like in the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lossdepth import _native
from lossdepth._docs import documented
from lossdepth._native_depth import NativeDepth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lossdepth._base import Floats

# Rows explained at a time: each takes a number for every row of the reference.
_BLOCK = 256


@dataclass(frozen=True, eq=False)
class Bagplot:
    """What a bagplot (Rousseeuw, Ruts and Tukey 1999) shows: a box plot for two columns.

    Attributes
    ----------
    median : ndarray of shape (2,)
        The deepest point.
    median_depth : float
        The depth of the deepest region.
    bag : ndarray of shape (n_corners, 2)
        A polygon with the inner half of the sample, counterclockwise.
    fence : ndarray of shape (n_corners, 2)
        The bag, blown up around the median: what lies beyond is outlying.
    hull : ndarray of shape (n_corners, 2)
        The convex hull of the rows within the fence.
    outliers : ndarray of shape (n_outliers,)
        The numbers of the rows beyond the fence.
    depths : ndarray of shape (n_samples,)
        The depth of every row of the sample.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import HalfspaceDepth
    >>> X = np.vstack([np.random.default_rng(0).normal(size=(100, 2)), [[20.0, 0.0]]])
    >>> HalfspaceDepth().fit(X).bagplot().outliers
    array([100])
    """

    median: Floats
    median_depth: float
    bag: Floats
    fence: Floats
    hull: Floats
    outliers: NDArray[np.int64]
    depths: Floats

    def plot(self, X: Any = None, *, ax: Any = None) -> Any:
        """Draw it; needs matplotlib.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, 2) or None, default=None
            The sample, to draw its rows.
        ax : matplotlib.axes.Axes or None, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.
        """
        from lossdepth import plot  # noqa: PLC0415

        return plot.bagplot(self, X, ax=ax)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class HalfspaceDepth(NativeDepth):
    r"""Halfspace depth (Tukey): linear classifiers, 0-1 loss.

    The depth of z is the least mass of a closed halfspace that holds it,
    :math:`\min_{u \ne 0} \sum_i \omega_i 1[\langle u, x_i \rangle \ge \langle u, z \rangle]`: twice
    the best 0-1 risk of a linear classifier that tells z from the sample. Rows equal to z always
    count. It does not depend on the units or axes of the data.

    The depth is the upper end of an interval, attained by a direction; `error` in `score_details`
    is its width, and both ends are proven. Up to two columns (or a sample that spans no more) it is
    always exact; from three to six it is while `budget` lasts, which is the rule for hundreds of
    rows; beyond that outlying rows are exact and others come with the interval. With
    `num_directions` every row of three or more columns gets that treatment, which is faster.

    It compares numbers and dates only: truth values are 0 and 1, categories are refused, and so are
    gaps unless `missing` says how to fill them.

    {parameters}

    See Also
    --------
    LogisticDepth : A smooth relative, fast in any dimension.
    depth : Depths without an estimator, also with directions.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import HalfspaceDepth
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> detector = HalfspaceDepth().fit(X)
    >>> detector.score_samples([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [9.0, 0.0, 0.0]])
    array([0.415, 0.135, 0.   ])
    """

    _method = "halfspace"
    _remedy: ClassVar[str] = "Raise budget or tol; the depth and its error hold as they are."

    _truth_is_number: ClassVar[bool] = True

    scale: str = "none"
    budget: int = 100
    num_directions: int = 0
    missing: str = "error"

    def directions(self, X: Any) -> tuple[Floats, Floats]:
        """Compute the depth of each row and the direction that attains it.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows to score.

        Returns
        -------
        depths : ndarray of shape (n_samples,)
            The depths, as `score_samples` gives them.
        directions : ndarray of shape (n_samples, n_features)
            Unit vectors u: the depth is the mass of the rows x of the sample with
            ``(x - z) @ u >= 0``.

        Examples
        --------
        >>> from lossdepth import HalfspaceDepth
        >>> HalfspaceDepth().fit([[0.0], [1.0], [2.0]]).directions([[1.5]])
        (array([0.33333333]), array([[1.]]))
        """
        check_is_fitted(self, "model_")
        rows = self._rows(X)
        depths = np.empty(len(rows))
        directions = np.empty(rows.shape)
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            scores, parts = self._ask(self.model_.explain, rows[part])
            depths[part] = self._named(scores, None).depth
            directions[part] = -np.asarray(parts["weights"])
        return depths, directions

    def contours(self, depths: Any) -> list[Floats]:
        """Compute the regions of at least some depths, for two columns.

        Parameters
        ----------
        depths : array-like of shape (n_levels,)
            The depths, above 0 and at most 1.

        Returns
        -------
        list of ndarray of shape (n_corners, 2)
            The corners of each region, a convex polygon, counterclockwise: two for a segment, one
            for a point, none if no point is as deep.

        Examples
        --------
        >>> from lossdepth import HalfspaceDepth
        >>> square = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0], [2.0, 2.0]]
        >>> [len(polygon) for polygon in HalfspaceDepth().fit(square).contours([0.2, 0.6, 0.9])]
        [4, 1, 0]
        """
        regions = self._regions()
        return [regions.contour(depth) for depth in np.ravel(depths).tolist()]

    def median(self) -> tuple[Floats, float]:
        """Compute the deepest point and its depth, for two columns.

        Returns
        -------
        point : ndarray of shape (2,)
            The centre of mass of the deepest region: the Tukey median.
        depth : float
            The depth of that region.

        Examples
        --------
        >>> from lossdepth import HalfspaceDepth
        >>> square = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0], [2.0, 2.0]]
        >>> HalfspaceDepth().fit(square).median()
        (array([2., 2.]), 0.6)
        """
        point, depth, _ = self._regions().median()
        return point[0], depth

    def bagplot(self, factor: float = 3.0) -> Bagplot:
        """Compute what a bagplot shows, for two columns.

        Parameters
        ----------
        factor : float, default=3.0
            How many times as far from the median as the bag the fence is.

        Returns
        -------
        Bagplot
            Median, bag, fence, hull and outliers.
        """
        parts = self._regions().bagplot(factor)
        parts["median"] = parts["median"][0]
        return Bagplot(**parts)

    def _regions(self) -> _native.Regions:
        check_is_fitted(self, "model_")
        return _native.Regions(*self.model_.reference())
