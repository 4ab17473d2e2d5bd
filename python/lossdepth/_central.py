"""Central points and central parts of a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class DeepestPoint(NamedTuple):
    """A point that is as deep as could be found.

    Attributes
    ----------
    point : ndarray of shape (n_columns,)
        The point, in the compared columns.
    depth : float
        Its depth.
    upper : float
        No point is deeper than this; 1 where nothing is known.
    found : str
        ``"proven"`` if no point is deeper, ``"local search"`` for a heuristic.
    row : int
        The number of the deepest training row.
    row_depth : float
        The depth of that row.

    Examples
    --------
    >>> from lossdepth import ZonoidDepth
    >>> ZonoidDepth().fit([[0.0], [1.0], [5.0]]).deepest_point().point
    array([2.])
    """

    point: NDArray[np.float64]
    depth: float
    upper: float
    found: str
    row: int
    row_depth: float


class CentralRegion(NamedTuple):
    """The deepest training rows.

    Attributes
    ----------
    depth : float
        All rows of at least this depth.
    rows : ndarray of shape (n_rows,)
        Their numbers.
    share : float
        Their share of the weight; more than asked for where depths are tied.
    mean : ndarray of shape (n_columns,)
        Their weighted mean: the depth-trimmed mean, in the compared columns.

    Examples
    --------
    >>> from lossdepth import HalfspaceDepth
    >>> HalfspaceDepth().fit([[0.0], [1.0], [2.0], [4.0], [50.0]]).central_region(0.5).rows
    array([1, 2, 3])
    """

    depth: float
    rows: NDArray[np.int64]
    share: float
    mean: NDArray[np.float64]
