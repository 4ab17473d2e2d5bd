"""The depth over two columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lossdepth.plot._axes import ORANGE, axes
from lossdepth.plot._detector import numbers, scored, typical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_DOT = {"s": 9.0, "linewidths": 0.3, "edgecolors": "black"}


def depth_map(
    detector: Any,
    X: Any,
    *,
    columns: tuple[Any, Any] = (0, 1),
    resolution: int = 121,
    margin: float = 0.15,
    levels: Sequence[float] | None = None,
    points: bool = True,
    colorbar: bool = True,
    ax: Any = None,
) -> Any:
    """Draw the depth over two columns, with contours and the border of the outliers.

    Parameters
    ----------
    detector : object
        A fitted depth.
    X : {array-like, dataframe} of shape (n_samples, n_features)
        Rows to draw, which also set the range; usually the reference. If there are more than two
        columns the map is a slice: the other columns are held at their medians in X.
    columns : tuple of two int or str, default=(0, 1)
        The columns across and up, by number or name.
    resolution : int, default=121
        The number of points of the grid on either side.
    margin : float, default=0.15
        How far the map goes beyond the rows, as a share of their range.
    levels : sequence of float or None, default=None
        The depths of the contours; about five by default. The colours go from 0 to 1, or to the
        deepest point of the map if that is below 0.5.
    points : bool, default=True
        Whether to draw the rows; outliers are orange.
    colorbar : bool, default=True
        Whether to draw the scale of the colours.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import LogisticDepth, plot
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> ax = plot.depth_map(LogisticDepth(reg=0.01).fit(X), X)
    >>> ax.get_xlabel()
    'x0'
    """
    check_is_fitted(detector)
    rows = detector._rows(X)  # noqa: SLF001
    names, places = numbers(detector)
    chosen = [_place(names, column) for column in columns]
    if chosen[0] == chosen[1]:
        raise ValueError(f"`columns` must be two different ones, got {columns!r}")
    across, up = (places[place] for place in chosen)
    sides = [_side(rows[:, place], margin, resolution) for place in (across, up)]
    grid = np.tile(typical(rows, detector), (resolution * resolution, 1))
    mesh = np.meshgrid(*sides)
    grid[:, across], grid[:, up] = mesh[0].ravel(), mesh[1].ravel()
    depths = scored(detector, grid).reshape(resolution, resolution)
    ax = axes(ax, (5.6, 4.6))
    shades, lined, ticks = _levels(float(depths.max()))
    filled = ax.contourf(*sides, depths, levels=shades, cmap="viridis")
    lined = lined if levels is None else sorted(levels)
    lines = ax.contour(*sides, depths, levels=lined, colors="white", linewidths=0.8)
    ax.clabel(lines, fontsize=8, fmt=lambda level: f"{level:g}")
    offset = getattr(detector, "offset_", None)
    if offset is not None and depths.min() < offset < depths.max():
        ax.contour(*sides, depths, levels=[offset], colors=ORANGE, linewidths=1.4, linestyles="--")
    if points:
        # In a slice the rows are elsewhere: their depth is not that of the map under them.
        out = np.zeros(len(rows), dtype=bool) if offset is None else scored(detector, rows) < offset
        ax.scatter(*rows[~out][:, [across, up]].T, color="white", **_DOT)
        ax.scatter(*rows[out][:, [across, up]].T, color=ORANGE, **_DOT)
    ax.set(
        xlabel=names[chosen[0]],
        ylabel=names[chosen[1]],
        xlim=(sides[0][0], sides[0][-1]),
        ylim=(sides[1][0], sides[1][-1]),
        title=type(detector).__name__,
    )
    if colorbar:
        ax.figure.colorbar(filled, ax=ax, label="depth", ticks=ticks)
    return ax


def _place(names: list[str], column: Any) -> int:
    """Return the number of a column that is given by number or name."""
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"`columns` must be among {', '.join(names)}, got `{column}`")
        return names.index(column)
    if not 0 <= column < len(names):
        raise ValueError(f"`columns` must be below {len(names)}, got {column}")
    return int(column)


def _levels(deepest: float) -> tuple[NDArray[np.float64], list[float], list[float]]:
    """Return the levels of the shades, of the lines and of the ticks of a map."""
    if deepest > 0.5:  # noqa: PLR2004
        return np.linspace(0.0, 1.0, 21), [0.1, 0.3, 0.5, 0.7, 0.9], [0.0, 0.25, 0.5, 0.75, 1.0]
    # Round steps, three to six of them.
    step = 10.0 ** np.floor(np.log10(max(deepest, 1e-300)))
    step *= next(part for part in (0.2, 0.5, 1.0, 2.0) if deepest / (part * step) < 7.0)  # noqa: PLR2004
    lines = [float(f"{k * step:.3g}") for k in range(1, int(deepest / step) + 1)]
    return np.linspace(0.0, deepest, 21), lines, [0.0, *lines]


def _side(values: NDArray[np.float64], margin: float, resolution: int) -> NDArray[np.float64]:
    low, high = float(values.min()), float(values.max())
    room = margin * (high - low) or 1.0
    return np.linspace(low - room, high + room, resolution)
