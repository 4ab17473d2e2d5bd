"""How the depths of samples are distributed."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from lossdepth._linear import LogisticDepth
from lossdepth.plot._axes import GROUPS, axes, plain
from lossdepth.plot._detector import scored


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
    ax = axes(ax, (4.8, 4.8))
    largest = 0.0
    for sample, name, color in zip((X, Y), names, GROUPS, strict=False):
        both = [scored(one, sample) for one in fitted]
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
    return plain(ax)


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
    depths = scored(detector, X)
    groups = np.zeros(len(depths), dtype=int) if labels is None else np.asarray(labels).ravel()
    if len(groups) != len(depths):
        raise ValueError(f"`labels` has {len(groups)} entries for {len(depths)} rows")
    ax = axes(ax, (6.0, 3.4))
    edges = np.linspace(min(0.0, float(depths.min())), max(1.0, float(depths.max())), bins + 1)
    if depths.max() < 0.5:  # noqa: PLR2004
        edges = np.linspace(0.0, float(depths.max()) * 1.02 + 1e-9, bins + 1)
    for i, label in enumerate(np.unique(groups)):
        part = depths[groups == label]
        name = f"{(names or {}).get(label, label)} ({len(part)})"
        color = GROUPS[i % len(GROUPS)]
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
    return plain(ax)
