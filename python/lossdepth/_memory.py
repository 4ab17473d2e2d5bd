"""How much memory there is, and what does not fit into it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from lossdepth import _native

if TYPE_CHECKING:
    from numpy.typing import NDArray


def half_of_memory() -> float | None:
    """Return half of the bytes this process may use, if the system says how many they are."""
    half = _native.half_of_memory()
    if half is not None:
        return half
    try:
        return 0.5 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def dense(X: Any) -> NDArray[np.float64]:
    """Make a sparse matrix dense, if there is memory for it."""
    needed, most = 8.0 * X.shape[0] * X.shape[1], half_of_memory()
    if most is not None and needed > most:
        raise ValueError(
            f"a depth needs dense rows, and those of this sparse matrix of shape {X.shape} would "
            f"take {needed / 1e9:.3g} GB, more than half of the memory ({most / 1e9:.3g} GB); "
            "reduce the columns first, for example with sklearn.decomposition.TruncatedSVD"
        )
    return np.require(X.toarray(order="C"), np.float64, ["C", "A"])
