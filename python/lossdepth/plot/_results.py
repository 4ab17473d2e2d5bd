"""Pictures of results: scores, explanations, bagplots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossdepth.plot._axes import BLUE, GREY, RED, axes, bars, picture, plain

if TYPE_CHECKING:
    from lossdepth._explanation import Explanation
    from lossdepth._halfspace import Bagplot
    from lossdepth._scores import Scores


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
    ax = axes(ax, (6.4, 3.6))
    if len(order) > 60:  # noqa: PLR2004
        ax.fill_between(places, low, high, color=BLUE, alpha=0.2, linewidth=0.0, step="mid")
        ax.plot(places, result.depth[order], color=BLUE, linewidth=1.4)
    else:
        ax.vlines(places, low, high, color=BLUE, alpha=0.45, linewidth=1.6)
        ax.plot(places, result.depth[order], "o", color=BLUE, markersize=4.0)
    named = order[:top]
    ax.plot(places[: len(named)], result.depth[named], "o", color=RED, markersize=4.0)
    if len(named):
        listed = ", ".join(str(_row_name(result, row)) for row in named)
        ax.annotate(
            f"most outlying: {listed}",
            (0.02, 0.96),
            xycoords="axes fraction",
            va="top",
            fontsize=9,
            color=RED,
        )
    ax.set(
        xlabel="rows, most outlying first",
        ylabel="depth",
        ylim=(0.0, 1.05 * float(high.max(initial=1e-9))),
        xlim=(-0.02 * len(order) - 0.5, 1.02 * len(order) - 0.5),
        title=f"{len(order)} depths, {100 * level:g} % intervals",
    )
    return plain(ax)


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
        ax = picture(sign * values, image, meaning, ax)
        ax.set_title(_title(why, row))
        return ax
    largest = np.argsort(-np.abs(values), kind="stable")
    shown = sorted(largest[:top].tolist(), key=lambda j: sign * float(values[j]))
    names = [str(why.feature_names[j]) for j in shown]
    lengths = [float(values[j]) for j in shown]
    if len(largest) > top:
        names.append(f"{len(largest) - top} others")
        lengths.append(float(values[largest[top:]].sum()))
    colors = [RED if sign * length < 0 else GREY for length in lengths]
    ax = bars(ax, names, lengths, colors)
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
    colors = [RED if length < 0 else BLUE for length in lengths]
    ax = bars(ax, [f"row {rows[i]}" for i in order], lengths, colors)
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
    ax = axes(ax, (5.0, 4.6))
    ax.fill(*bag.hull.T, facecolor=BLUE, alpha=0.18, linewidth=0.0, label="within the fence")
    ax.fill(*bag.bag.T, facecolor=BLUE, alpha=0.45, linewidth=0.0, label="inner half")
    ax.fill(
        *bag.fence.T, facecolor="none", edgecolor=GREY, linewidth=0.8, linestyle=":", label="fence"
    )
    if X is not None:
        rows = np.asarray(X, dtype=np.float64)
        out = np.zeros(len(rows), dtype=bool)
        out[bag.outliers] = True
        ax.scatter(*rows[~out].T, s=7.0, color="black", linewidths=0.0)
        ax.scatter(*rows[out].T, s=18.0, color=RED, linewidths=0.0, label="outliers")
    ax.plot(*bag.median, "+", color="white", markersize=12.0, markeredgewidth=3.5)
    ax.plot(*bag.median, "+", color="black", markersize=11.0, markeredgewidth=1.6, label="median")
    ax.legend(frameon=False, fontsize=8)
    columns = getattr(X, "columns", ("x0", "x1"))
    ax.set(xlabel=str(columns[0]), ylabel=str(columns[1]), title="Bagplot")
    return plain(ax)


def _title(why: Explanation, row: int) -> str:
    name = _row_name(why.scores, row)
    return f"row {name}: depth {why.depth[row]:.3g} ± {why.scores.stderr[row]:.2g}"


def _row_name(result: Scores, row: Any) -> Any:
    return row if result.index is None else result.index[row]


def _check_row(why: Explanation, row: int) -> None:
    if not -len(why) <= row < len(why):
        raise IndexError(f"`row` must be one of the {len(why)} explained rows, got {row}")
