"""Settings by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from lossdepth import _native

# The presets whose settings are those of the paper.
PAPER = ("paper", "paper-code")


def preset(name: str, method: str, n_samples: float) -> dict[str, Any]:
    """Return settings for a method: those of the paper, or the ones we recommend.

    Parameters
    ----------
    name : {"paper", "paper-code", "recommended"}
        ``"paper"`` for what the text of *Data Depth as a Risk* says, ``"paper-code"`` for what the
        scripts behind its tables do: other penalties, which depend on the size of the sample, a
        free intercept, and for ``"logistic"`` and ``"forest"`` another number (``value``).
        ``"recommended"`` for what to start with on data that nothing is known about: units set by
        the bulk of the sample, kernels as wide as a typical row's neighbourhood.
    method : str
        The method, as in :func:`depth`. The paper has ``"logistic"``, ``"hinge"``, ``"svm"``,
        ``"gp"``, ``"forest"``, ``"mlp"`` and ``"halfspace"``, its scripts neither ``"hinge"`` nor
        ``"halfspace"``.
    n_samples : float
        How many rows the sample has.

    Returns
    -------
    dict
        Parameters for the estimator of the method.

    See Also
    --------
    depth : Takes a preset by name.

    Examples
    --------
    >>> from lossdepth import SVMDepth, preset
    >>> preset("paper-code", "svm", n_samples=99)
    {'reg': 0.005, 'kernel': 'gaussian', 'gamma': 'auto', 'intercept': 'free', 'scale': 'none'}
    >>> SVMDepth(**preset("paper", "svm", n_samples=99)).reg
    1.0
    """
    return _native.preset(name, method, float(n_samples))


def observations(n_rows: int, sample_weight: Any) -> float:
    """Count the observations that weighted rows stand for."""
    if sample_weight is None:
        return float(n_rows)
    weights = np.broadcast_to(np.asarray(sample_weight, dtype=float), (n_rows,))
    whole = bool((weights == np.floor(weights)).all())
    return float(weights.sum()) if whole else float((weights > 0).sum())
