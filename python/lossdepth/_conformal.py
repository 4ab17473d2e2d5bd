"""p-values of new rows, and which of them to believe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossdepth import _native

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Calibration:
    """What new rows are compared with to give them p-values; made by ``calibrate``.

    Attributes
    ----------
    size : float
        How many rows of the reference it has, by weight. No p-value is below ``1 / (1 + size)``.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import LogisticDepth
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> calibration = LogisticDepth(reg=0.1).fit(X).calibrate()
    >>> calibration.size
    100.0
    >>> bool(calibration.p_values([[9.0, 9.0]])[0] <= 0.05)
    True
    """

    def __init__(
        self, rows: Callable[[Any], Floats], native: _native.Calibration, threads: int
    ) -> None:
        self._rows = rows
        self._native = native
        self._threads = threads

    @property
    def size(self) -> float:
        """How many rows of the reference it has, by weight."""
        return self._native.size

    def p_values(self, X: Any) -> Floats:
        """Compute the p-value of each row.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The p-values, above 0 and at most 1: low is outlying.
        """
        return self._native.p_values(self._rows(X), self._threads)


def false_discovery_control(p: Any, *, method: str = "bh") -> Floats:
    """Turn p-values into q-values, the smallest false discovery rates at which rows are chosen.

    Parameters
    ----------
    p : array-like of shape (n_samples,)
        p-values.
    method : {"bh", "by"}, default="bh"
        Benjamini and Hochberg, for independent or positively dependent p-values, as those of
        ``p_values(method="split")`` are; or Benjamini and Yekutieli, whatever the dependence.

    Returns
    -------
    ndarray of shape (n_samples,)
        Rows with a q-value of at most a rate are to be chosen at that rate.

    Examples
    --------
    >>> from lossdepth import false_discovery_control
    >>> false_discovery_control([0.01, 0.04, 0.02, 0.9]).round(3)
    array([0.04 , 0.053, 0.04 , 0.9  ])
    """
    values = np.ascontiguousarray(p, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"`p` must have one dimension, got shape {values.shape}")
    return _native.adjust(values, method)
