"""Standard errors from random halves of the training data."""

from __future__ import annotations

import numpy as np
import pytest

from lossdepth import AutoDepth, ForestDepth, SVMDepth, load

X = np.random.default_rng(3).normal(size=(120, 3))
Z = np.array([[0.1, 0.2, -0.1], [2.0, -1.5, 1.0]])


@pytest.mark.parametrize("estimator", [AutoDepth, ForestDepth, SVMDepth])
def test_halves_give_a_standard_error_and_change_nothing_else(
    estimator: type[AutoDepth], tmp_path: object
) -> None:
    plain = estimator().fit(X).score_details(Z)
    fitted = estimator(resamples=8).fit(X)
    halves = fitted.score_details(Z)
    assert np.array_equal(plain.depth, halves.depth)
    assert np.array_equal(plain.error, halves.error)
    assert np.all(halves.stderr > 0)
    fitted.save(f"{tmp_path}/model.safetensors")
    again = load(f"{tmp_path}/model.safetensors").score_details(Z)
    assert np.array_equal(again.stderr, halves.stderr)


def test_one_half_is_refused() -> None:
    with pytest.raises(ValueError, match="`resamples` must be 0 or at least 2, got 1"):
        AutoDepth(resamples=1).fit(X)
