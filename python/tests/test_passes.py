"""Depths by passes over all rows."""

from __future__ import annotations

import numpy as np
import pytest

from lossdepth import HingeDepth, LogisticDepth, SVMDepth


def test_passes_give_the_depths_of_all_rows() -> None:
    """Depths by passes are those of all rows, within the proven errors."""
    rng = np.random.default_rng(0)
    X, Z = rng.standard_t(4, size=(3000, 4)), rng.standard_t(4, size=(20, 4))
    ours = LogisticDepth(reg=0.1, reference_rows="passes").fit(X).score_details(Z)
    full = LogisticDepth(reg=0.1).fit(X).score_details(Z)
    assert np.all(np.abs(ours.depth - full.depth) <= ours.error + full.error)
    assert np.all(ours.error <= 1e-6)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "imq"])
def test_svm_passes_give_the_depths_of_all_rows(kernel: str) -> None:
    """Depths of svm by passes are those of all rows, within the proven errors."""
    rng = np.random.default_rng(1)
    X, Z = rng.standard_t(4, size=(20_000, 4)), rng.standard_t(4, size=(20, 4))
    # Widths that depend on the data are those of all rows, or of a sample.
    settings = {"kernel": kernel, "tol": 1e-5}
    settings |= {"gaussian": {"gamma": 0.1}, "laplacian": {"sigma": 4.0}, "imq": {}}[kernel]
    ours = SVMDepth(**settings, reference_rows="passes").fit(X).score_details(Z)
    full = SVMDepth(**settings).fit(X).score_details(Z)
    assert np.all(np.abs(ours.depth - full.depth) <= ours.error + full.error)
    assert np.all(ours.error <= 1e-5)


def test_svm_passes_refuse_a_small_penalty() -> None:
    """The closed form holds from a quarter of the largest kernel value on."""
    with pytest.raises(ValueError, match=r"at least 0\.25"):
        SVMDepth(reg=0.1, reference_rows="passes").fit(np.arange(20.0).reshape(10, 2))


def test_other_methods_refuse_passes() -> None:
    """Other losses have no passes."""
    with pytest.raises(ValueError, match="passes"):
        HingeDepth(reference_rows="passes").fit(np.arange(20.0).reshape(10, 2))
