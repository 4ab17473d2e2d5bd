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
    table = why.weights if why.contributions is None else why.contributions
    if table is None:
        raise AttributeError("this method does not say what its columns do")
    values = table[row]
    largest = np.argsort(-np.abs(values), kind="stable")
    shown = sorted(largest[:top].tolist(), key=lambda j: float(values[j]))
    names = [str(why.feature_names[j]) for j in shown]
    lengths = [float(values[j]) for j in shown]
    if len(largest) > top:
        names.append(f"{len(largest) - top} others")
        lengths.append(float(values[largest[top:]].sum()))
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 1.2 + 0.3 * len(names)), layout="constrained")
    places = range(len(names))
    ax.barh(places, lengths, color=[_AGAINST if length < 0 else _FOR for length in lengths])
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ax.axvline(0.0, color="black", linewidth=0.8)
    index = why.scores.index
    name = row if index is None else index[row]
    ax.set_title(f"row {name}: depth {why.depth[row]:.3f} ± {why.scores.stderr[row]:.2g}")
    meaning = "gradient" if why.contributions is None else "contribution"
    ax.set_xlabel(f"{meaning} (negative: gives the row away)")
    return ax
