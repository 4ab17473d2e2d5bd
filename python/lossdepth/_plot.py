"""Pictures; imported only when one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np

if TYPE_CHECKING:
    from lossdepth._results import Explanation

_AGAINST, _FOR = "#c0392b", "#7f8c8d"


def contributions(why: Explanation, row: int, top: int, ax: Any) -> Any:
    """Draw what each column does for or against a row, the most telling on top."""
    if why.contributions is not None:
        table, meaning = why.contributions, "contribution (negative: gives the row away)"
    elif why.weights is not None:
        table, meaning = why.weights, "gradient (negative: gives the row away)"
    else:
        table, meaning = why._telling(), "cuts a tree makes in the column"  # noqa: SLF001
    values = table[row]
    # The most telling is the most negative, or the one with the most cuts.
    sign = 1.0 if why.cuts is None else -1.0
    largest = np.argsort(-np.abs(values), kind="stable")
    shown = sorted(largest[:top].tolist(), key=lambda j: sign * float(values[j]))
    names = [str(why.feature_names[j]) for j in shown]
    lengths = [float(values[j]) for j in shown]
    if len(largest) > top:
        names.append(f"{len(largest) - top} others")
        lengths.append(float(values[largest[top:]].sum()))
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 1.2 + 0.3 * len(names)), layout="constrained")
    places = range(len(names))
    ax.barh(places, lengths, color=[_AGAINST if sign * length < 0 else _FOR for length in lengths])
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ax.axvline(0.0, color="black", linewidth=0.8)
    index = why.scores.index
    name = row if index is None else index[row]
    ax.set_title(f"row {name}: depth {why.depth[row]:.3f} ± {why.scores.stderr[row]:.2g}")
    ax.set_xlabel(meaning)
    return ax
