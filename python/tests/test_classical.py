"""Classical depths: against the definitions, bad input, central points and regions."""

import numpy as np
import pandas as pd
import pytest

import lossdepth
from lossdepth import HalfspaceDepth, LogisticDepth, MahalanobisDepth
from lossdepth._function import METHODS

CLASSICAL = ("mahalanobis", "spatial", "projection", "zonoid", "simplicial", "l2", "potential")


def test_mahalanobis_is_that_of_numpy():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(50, 3)), rng.normal(size=(7, 3))
    off = Z - X.mean(axis=0)
    expected = 1 / (1 + np.einsum("ij,jk,ik->i", off, np.linalg.inv(np.cov(X.T)), off))
    np.testing.assert_allclose(lossdepth.depth(Z, X, "Mahalanobis"), expected, rtol=1e-12)
    why = MahalanobisDepth().fit(X).explain(Z[:1])
    assert np.isclose(why.contributions.sum(), 1 - 1 / expected[0])


@pytest.mark.parametrize("method", CLASSICAL)
def test_names_of_ddalpha_are_accepted(method):
    X = np.random.default_rng(1).normal(size=(20, 2))
    other = {"mahalanobis": "depth.Mahalanobis", "l2": "depth.L2"}.get(method, f"depth.{method}")
    assert (lossdepth.depth(X, X, other) == lossdepth.depth(X, X, method)).all()


@pytest.mark.parametrize("method", CLASSICAL)
def test_numbers_are_wanted(method):
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": ["x", "y", "x", "y"]})
    with pytest.raises(ValueError, match=f"method `{method}` compares numbers only"):
        METHODS[method]().fit(table)


@pytest.mark.parametrize("method", CLASSICAL)
def test_threads_and_batches_do_not_change_a_bit(method):
    X = np.random.default_rng(2).normal(size=(40, 3))
    all_of_them = METHODS[method](n_jobs=2).fit(X).score_samples(X)
    detector = METHODS[method](n_jobs=1).fit(X)
    assert (
        np.concatenate([detector.score_samples(X[i : i + 1]) for i in range(40)]) == all_of_them
    ).all()


def test_deepest_points_say_what_is_known():
    X = np.random.default_rng(3).normal(size=(60, 2))
    found = lossdepth.ZonoidDepth().fit(X).deepest_point()
    np.testing.assert_allclose(found.point, X.mean(axis=0))
    assert (found.depth, found.found) == (1.0, "proven")
    point, depth = HalfspaceDepth().fit(X).median()
    found = HalfspaceDepth().fit(X).deepest_point()
    assert (found.point == point).all()
    assert found.depth == depth
    detector = lossdepth.L2Depth().fit(X)
    found = detector.deepest_point()
    assert found.found == "local search"
    assert detector.score_samples(X).max() <= found.depth <= found.upper < found.depth + 1e-3


def test_central_regions_are_the_deepest_rows():
    X = np.random.default_rng(4).normal(size=(60, 2))
    detector = LogisticDepth(reg=0.1).fit(X)
    depths = detector.score_samples(X)
    region = detector.central_region(0.5)
    assert len(region.rows) == 30
    assert depths[region.rows].min() == region.depth
    np.testing.assert_allclose(region.mean, X[region.rows].mean(axis=0))
    with pytest.raises(ValueError, match="`share` must be above 0 and at most 1, got 2"):
        detector.central_region(2)


def test_directions_in_place_of_the_exact_search():
    X = np.random.default_rng(5).normal(size=(100, 4))
    exact = HalfspaceDepth().fit(X).score_samples(X[:10])
    with pytest.warns(match="less exact"):
        scores = HalfspaceDepth(num_directions=5).fit(X).score_details(X[:10])
    assert (scores.depth >= exact).all()
    assert (scores.depth - scores.error <= exact).all()
