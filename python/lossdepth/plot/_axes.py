"""Colours, axes and bars: what pictures are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RED, GREY, BLUE, ORANGE = "#c0392b", "#7f8c8d", "#2c6fbb", "#e67e22"
GROUPS = (BLUE, ORANGE, "#2e8b57", "#8e44ad", "#b8860b", GREY)


def axes(ax: Any, size: tuple[float, float]) -> Any:
    """Return the axes to draw on; new ones have a figure that fits."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install matplotlib") from error
    return plt.subplots(figsize=size, layout="constrained")[1]


def bars(ax: Any, names: list[str], lengths: list[float], colors: list[str]) -> Any:
    ax = axes(ax, (6.4, 1.2 + 0.3 * len(names)))
    places = range(len(names))
    ax.barh(places, lengths, color=colors, height=0.72)
    ax.set_yticks(places, names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.tick_params(axis="y", length=0.0)
    return plain(ax)


def picture(values: NDArray[np.float64], image: tuple[int, int], meaning: str, ax: Any) -> Any:
    height, width = image
    if height * width != len(values):
        raise ValueError(f"`image` must have {len(values)} pixels, got {height} x {width}")
    ax = axes(ax, (4.6, 1.0 + 3.6 * height / width))
    limit = float(np.abs(values).max()) or 1.0
    colors = {"cmap": "RdBu", "vmin": -limit, "vmax": limit}
    drawn = ax.imshow(values.reshape(height, width), interpolation="nearest", **colors)
    ax.set(xticks=[], yticks=[])
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.85)
    bar.set_label(meaning, fontsize=9)
    return ax


def plain(ax: Any) -> Any:
    """Leave out the lines that say nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax
