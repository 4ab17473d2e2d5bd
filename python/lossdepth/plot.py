"""Pictures. They need matplotlib, which is imported when the first one is drawn.

Every function takes the axes to draw on, makes new ones if there are none, and returns them; the
figure is ``ax.figure``. Results draw themselves: :meth:`Scores.plot`, :meth:`Explanation.plot` and
:meth:`Bagplot.plot` are here under their own names.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from lossdepth._linear import LogisticDepth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lossdepth._halfspace import Bagplot
    from lossdepth._results import Explanation, Scores

__all__ = [
    "bagplot",
    "contributions",
    "dd_plot",
    "depth_map",
    "distribution",
    "influence",
    "scores",
]

_RED, _GREY, _BLUE, _ORANGE = "#c0392b", "#7f8c8d", "#2c6fbb", "#e67e22"
_GROUPS = (_BLUE, _ORANGE, "#2e8b57", "#8e44ad", "#b8860b", _GREY)
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
    names, places = _numbers(detector)
    chosen = [_place(names, column) for column in columns]
    if chosen[0] == chosen[1]:
        raise ValueError(f"`columns` must be two different ones, got {columns!r}")
    across, up = (places[place] for place in chosen)
    sides = [_side(rows[:, place], margin, resolution) for place in (across, up)]
    grid = np.tile(_typical(rows, detector), (resolution * resolution, 1))
    mesh = np.meshgrid(*sides)
    grid[:, across], grid[:, up] = mesh[0].ravel(), mesh[1].ravel()
    depths = _scored(detector, grid).reshape(resolution, resolution)
    ax = _axes(ax, (5.6, 4.6))
    shades, lined, ticks = _levels(float(depths.max()))
    filled = ax.contourf(*sides, depths, levels=shades, cmap="viridis")
    lined = lined if levels is None else sorted(levels)
    lines = ax.contour(*sides, depths, levels=lined, colors="white", linewidths=0.8)
    ax.clabel(lines, fontsize=8, fmt=lambda level: f"{level:g}")
    offset = getattr(detector, "offset_", None)
    if offset is not None and depths.min() < offset < depths.max():
        ax.contour(*sides, depths, levels=[offset], colors=_ORANGE, linewidths=1.4, linestyles="--")
    if points:
        # In a slice the rows are elsewhere: their depth is not that of the map under them.
        out = (
            np.zeros(len(rows), dtype=bool) if offset is None else _scored(detector, rows) < offset
        )
        ax.scatter(*rows[~out][:, [across, up]].T, color="white", **_DOT)
        ax.scatter(*rows[out][:, [across, up]].T, color=_ORANGE, **_DOT)
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


def dd_plot(
    X: Any,
    Y: Any,
    detector: Any = None,
    *,
    names: tuple[str, str] = ("X", "Y"),
    ax: Any = None,
) -> Any:
    """Draw the depths of two samples, in the one and in the other: a DD-plot.

    If both samples come from one distribution the points lie along the diagonal; a shift or a
    different spread pulls them off it, each in its own way (Liu, Parelius and Singh 1999).

    Parameters
    ----------
    X, Y : {array-like, dataframe} of shape (n_samples, n_features)
        The two samples, with the same columns.
    detector : object or None, default=None
        A depth, fitted or not: it is cloned for each sample. ``LogisticDepth(scale="standard",
        reg=0.01)`` by default.
    names : tuple of two str, default=("X", "Y")
        What to call them.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import plot
    >>> rng = np.random.default_rng(0)
    >>> ax = plot.dd_plot(rng.normal(size=(50, 2)), rng.normal(1.0, size=(50, 2)))
    >>> ax.get_xlabel()
    'depth in X'
    """
    depth = LogisticDepth(scale="standard", reg=0.01) if detector is None else detector
    fitted = [clone(depth).fit(sample) for sample in (X, Y)]
    ax = _axes(ax, (4.8, 4.8))
    largest = 0.0
    for sample, name, color in zip((X, Y), names, _GROUPS, strict=False):
        both = [_scored(one, sample) for one in fitted]
        largest = max(largest, *(float(depths.max()) for depths in both))
        ax.scatter(*both, s=16.0, alpha=0.75, linewidths=0.0, color=color, label=name)
    end = min(1.0, 1.04 * largest)
    ax.plot([0.0, end], [0.0, end], color="black", linewidth=0.8, zorder=0)
    ax.set(
        xlabel=f"depth in {names[0]}",
        ylabel=f"depth in {names[1]}",
        xlim=(-0.02 * end, 1.02 * end),
        ylim=(-0.02 * end, 1.02 * end),
        aspect="equal",
    )
    place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 2}
    ax.legend(frameon=False, handletextpad=0.2, **place)
    return _plain(ax)


def distribution(
    detector: Any,
    X: Any,
    labels: Any = None,
    *,
    names: dict[Any, str] | None = None,
    bins: int = 40,
    ax: Any = None,
) -> Any:
    """Draw how the depths of some rows are distributed, by group.

    Parameters
    ----------
    detector : object
        A fitted depth.
    X : {array-like, dataframe} of shape (n_samples, n_features)
        The rows to score.
    labels : array-like of shape (n_samples,) or None, default=None
        The group of each row, such as a known class.
    names : dict or None, default=None
        What to call the groups, by label.
    bins : int, default=40
        The number of bars.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on. Each group has an area of 1; the line is `offset_`.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import LogisticDepth, plot
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> ax = plot.distribution(LogisticDepth().fit(X), X)
    >>> ax.get_xlabel()
    'depth'
    """
    depths = _scored(detector, X)
    groups = np.zeros(len(depths), dtype=int) if labels is None else np.asarray(labels).ravel()
    if len(groups) != len(depths):
        raise ValueError(f"`labels` has {len(groups)} entries for {len(depths)} rows")
    ax = _axes(ax, (6.0, 3.4))
    edges = np.linspace(min(0.0, float(depths.min())), max(1.0, float(depths.max())), bins + 1)
    if depths.max() < 0.5:  # noqa: PLR2004
        edges = np.linspace(0.0, float(depths.max()) * 1.02 + 1e-9, bins + 1)
    for i, label in enumerate(np.unique(groups)):
        part = depths[groups == label]
        name = f"{(names or {}).get(label, label)} ({len(part)})"
        color = _GROUPS[i % len(_GROUPS)]
        weights = np.full(len(part), 1.0 / (len(part) * (edges[1] - edges[0])))
        shown = {"bins": edges, "weights": weights, "color": color}
        ax.hist(part, alpha=0.35, label=None if labels is None else name, **shown)
        ax.hist(part, histtype="step", linewidth=1.2, **shown)
    offset = getattr(detector, "offset_", None)
    if offset is not None:
        ax.axvline(offset, color="black", linewidth=1.0, linestyle="--")
        ax.annotate(
            "offset",
            (offset, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3.0, -3.0),
            textcoords="offset points",
            va="top",
            fontsize=9,
        )
    if labels is not None:
        ax.legend(frameon=False)
    ax.set(
        xlabel="depth", ylabel="density", xlim=(edges[0], edges[-1]), title=type(detector).__name__
    )
    return _plain(ax)


def scores(result: Scores, *, level: float = 0.95, top: int = 5, ax: Any = None) -> Any:
    """Draw depths from the most outlying to the most central, with confidence intervals.

    Parameters
    ----------
    result : Scores
        What `score_details` returned.
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

    Examples
    --------
    >>> from lossdepth import LogisticDepth, plot
    >>> result = LogisticDepth().fit([[0.0], [1.0], [2.0]]).score_details([[1.0], [9.0]])
    >>> plot.scores(result).get_ylabel()
    'depth'
    """
    order = np.argsort(result.depth, kind="stable")
    places = np.arange(len(order))
    low, high = (end[order] for end in result.interval(level))
    ax = _axes(ax, (6.4, 3.6))
    if len(order) > 60:  # noqa: PLR2004
        ax.fill_between(places, low, high, color=_BLUE, alpha=0.2, linewidth=0.0, step="mid")
        ax.plot(places, result.depth[order], color=_BLUE, linewidth=1.4)
    else:
        ax.vlines(places, low, high, color=_BLUE, alpha=0.45, linewidth=1.6)
        ax.plot(places, result.depth[order], "o", color=_BLUE, markersize=4.0)
    named = order[:top]
    ax.plot(places[: len(named)], result.depth[named], "o", color=_RED, markersize=4.0)
    if len(named):
        listed = ", ".join(str(_row_name(result, row)) for row in named)
        ax.annotate(
            f"most outlying: {listed}",
            (0.02, 0.96),
            xycoords="axes fraction",
            va="top",
            fontsize=9,
            color=_RED,
        )
    ax.set(
        xlabel="rows, most outlying first",
        ylabel="depth",
        ylim=(0.0, 1.05 * float(high.max(initial=1e-9))),
        xlim=(-0.02 * len(order) - 0.5, 1.02 * len(order) - 0.5),
        title=f"{len(order)} depths, {100 * level:g} % intervals",
    )
    return _plain(ax)


def contributions(
    why: Explanation,
    row: int = 0,
    *,
    top: int = 10,
    image: tuple[int, int] | None = None,
    ax: Any = None,
) -> Any:
    """Draw what each column does for or against a row: bars, or a picture for pixels.

    Parameters
    ----------
    why : Explanation
        What `explain` returned.
    row : int, default=0
        Which of the explained rows, by number.
    top : int, default=10
        How many columns get a bar of their own, the largest in size; the others share one.
    image : tuple of two int or None, default=None
        Height and width, if the columns are the pixels of an image, row by row.
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
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> ax = plot.contributions(LogisticDepth(reg=0.01).fit(X).explain([[0.0, 5.0, 0.0]]))
    >>> ax.get_yticklabels()[0].get_text()
    'x1'
    """
    _check_row(why, row)
    if why.contributions is not None:
        table, meaning = why.contributions, "contribution (negative: gives the row away)"
    elif why.weights is not None:
        table, meaning = why.weights, "gradient (negative: gives the row away)"
    else:
        table, meaning = why._telling(), "cuts a tree makes in the column"  # noqa: SLF001
    stored: Any = table
    values = stored[row] if why.rest is None else stored[[row]].toarray().ravel()
    # The most telling is the most negative, or the one with the most cuts.
    sign = 1.0 if why.cuts is None else -1.0
    if image is not None:
        ax = _picture(sign * values, image, meaning, ax)
        ax.set_title(_title(why, row))
        return ax
    largest = np.argsort(-np.abs(values), kind="stable")
    shown = sorted(largest[:top].tolist(), key=lambda j: sign * float(values[j]))
    names = [str(why.feature_names[j]) for j in shown]
    lengths = [float(values[j]) for j in shown]
    if len(largest) > top:
        names.append(f"{len(largest) - top} others")
        lengths.append(float(values[largest[top:]].sum()))
    colors = [_RED if sign * length < 0 else _GREY for length in lengths]
    ax = _bars(ax, names, lengths, colors)
    ax.set_title(_title(why, row))
    ax.set_xlabel(meaning)
    return ax


def influence(why: Explanation, row: int = 0, *, top: int = 10, ax: Any = None) -> Any:
    """Draw which reference rows matter most for a depth.

    Parameters
    ----------
    why : Explanation
        What `explain` returned.
    row : int, default=0
        Which of the explained rows, by number.
    top : int, default=10
        How many reference rows to show.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on: more mass at a reference row with a positive bar would raise the depth.

    Examples
    --------
    >>> from lossdepth import LogisticDepth, plot
    >>> why = LogisticDepth().fit([[0.0], [1.0], [2.0]]).explain([[9.0]])
    >>> len(plot.influence(why).patches)
    3
    """
    _check_row(why, row)
    rows = why.most_influential(top)[row]
    values = np.asarray(why.influence)[row, rows]
    order = np.argsort(-values, kind="stable")
    lengths = values[order].tolist()
    colors = [_RED if length < 0 else _BLUE for length in lengths]
    ax = _bars(ax, [f"row {rows[i]}" for i in order], lengths, colors)
    ax.set_title(_title(why, row))
    ax.set_xlabel("influence of a reference row on the depth, per unit of mass")
    return ax


def bagplot(bag: Bagplot, X: Any = None, *, ax: Any = None) -> Any:
    """Draw a bagplot: the inner half of a sample, the fence and the outliers.

    Parameters
    ----------
    bag : Bagplot
        What `HalfspaceDepth.bagplot` returned.
    X : {array-like, dataframe} of shape (n_samples, 2) or None, default=None
        The sample, to draw its rows.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import HalfspaceDepth, plot
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> ax = plot.bagplot(HalfspaceDepth().fit(X).bagplot(), X)
    >>> len(ax.patches)
    3
    """
    if not hasattr(bag, "hull"):
        got = type(bag).__name__
        raise TypeError(
            f"`bag` must be what `HalfspaceDepth().fit(X).bagplot()` returns, got {got}"
        )
    ax = _axes(ax, (5.0, 4.6))
    ax.fill(*bag.hull.T, facecolor=_BLUE, alpha=0.18, linewidth=0.0, label="within the fence")
    ax.fill(*bag.bag.T, facecolor=_BLUE, alpha=0.45, linewidth=0.0, label="inner half")
    ax.fill(
        *bag.fence.T, facecolor="none", edgecolor=_GREY, linewidth=0.8, linestyle=":", label="fence"
    )
    if X is not None:
        rows = np.asarray(X, dtype=np.float64)
        out = np.zeros(len(rows), dtype=bool)
        out[bag.outliers] = True
        ax.scatter(*rows[~out].T, s=7.0, color="black", linewidths=0.0)
        ax.scatter(*rows[out].T, s=18.0, color=_RED, linewidths=0.0, label="outliers")
    ax.plot(*bag.median, "+", color="white", markersize=12.0, markeredgewidth=3.5)
    ax.plot(*bag.median, "+", color="black", markersize=11.0, markeredgewidth=1.6, label="median")
    ax.legend(frameon=False, fontsize=8)
    columns = getattr(X, "columns", ("x0", "x1"))
    ax.set(xlabel=str(columns[0]), ylabel=str(columns[1]), title="Bagplot")
    return _plain(ax)


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    """Return the axes to draw on; new ones have a figure that fits."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install matplotlib") from error
    return plt.subplots(figsize=size, layout="constrained")[1]


def _bars(ax: Any, names: list[str], lengths: list[float], colors: list[str]) -> Any:
    ax = _axes(ax, (6.4, 1.2 + 0.3 * len(names)))
    places = range(len(names))
    ax.barh(places, lengths, color=colors, height=0.72)
    ax.set_yticks(places, names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.tick_params(axis="y", length=0.0)
    return _plain(ax)


def _picture(values: NDArray[np.float64], image: tuple[int, int], meaning: str, ax: Any) -> Any:
    height, width = image
    if height * width != len(values):
        raise ValueError(f"`image` must have {len(values)} pixels, got {height} x {width}")
    ax = _axes(ax, (4.6, 1.0 + 3.6 * height / width))
    limit = float(np.abs(values).max()) or 1.0
    colors = {"cmap": "RdBu", "vmin": -limit, "vmax": limit}
    drawn = ax.imshow(values.reshape(height, width), interpolation="nearest", **colors)
    ax.set(xticks=[], yticks=[])
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.85)
    bar.set_label(meaning, fontsize=9)
    return ax


def _plain(ax: Any) -> Any:
    """Leave out the lines that say nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _title(why: Explanation, row: int) -> str:
    name = _row_name(why.scores, row)
    return f"row {name}: depth {why.depth[row]:.3g} ± {why.scores.stderr[row]:.2g}"


def _row_name(result: Scores, row: Any) -> Any:
    return row if result.index is None else result.index[row]


def _check_row(why: Explanation, row: int) -> None:
    if not -len(why) <= row < len(why):
        raise IndexError(f"`row` must be one of the {len(why)} explained rows, got {row}")


def _scored(detector: Any, X: Any) -> NDArray[np.float64]:
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


def _numbers(detector: Any) -> tuple[list[str], list[int]]:
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


def _typical(rows: NDArray[np.float64], detector: Any) -> NDArray[np.float64]:
    """Return the medians of the columns, and the most frequent levels of categories."""
    typical = np.asarray(np.median(rows, axis=0))
    encoding = getattr(vars(detector).get("model_"), "encoding", None)
    for _, kind, start, width in [] if encoding is None else encoding["groups"]:
        if kind != "number":
            levels, counts = np.unique(rows[:, start : start + width], axis=0, return_counts=True)
            typical[start : start + width] = levels[counts.argmax()]
    return typical


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
