"""Depths by passes over all rows."""

from __future__ import annotations

import numpy as np
import pytest

from lossdepth import HingeDepth, LogisticDepth


def test_passes_give_the_depths_of_all_rows() -> None:
    """Depths by passes are those of all rows, within the proven errors."""
    rng = np.random.default_rng(0)
    X, Z = rng.standard_t(4, size=(3000, 4)), rng.standard_t(4, size=(20, 4))
    ours = LogisticDepth(reg=0.1, reference_rows="passes").fit(X).score_details(Z)
    full = LogisticDepth(reg=0.1).fit(X).score_details(Z)
    assert np.all(np.abs(ours.depth - full.depth) <= ours.error + full.error)
    assert np.all(ours.error <= 1e-6)


def test_other_methods_refuse_passes() -> None:
    """A loss that is not smooth has no passes."""
    with pytest.raises(ValueError, match="passes"):
        HingeDepth(reference_rows="passes").fit(np.arange(20.0).reshape(10, 2))
