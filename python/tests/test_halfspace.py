"""The halfspace depth: against the definition, its directions, its regions, bad input."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import lossdepth
from lossdepth import HalfspaceDepth


def by_directions(Z, X, count=2000):
    """Return the least mass over many directions: never below the depth."""
    U = np.random.default_rng(1).normal(size=(count, X.shape[1]))
    return np.array([((X - z) @ U.T >= -1e-12).mean(axis=0).min() for z in Z])


def test_one_column_is_a_matter_of_ranks():
    rng = np.random.default_rng(2)
    X, Z = rng.integers(0, 9, size=(50, 1)), rng.integers(-1, 10, size=(30, 1))
    expected = np.minimum((X.T >= Z).mean(axis=1), (X.T <= Z).mean(axis=1))
    assert (lossdepth.depth(Z, X, method="halfspace") == expected).all()


def test_a_vector_is_one_row():
    X = np.random.default_rng(3).normal(size=(40, 3))
    assert lossdepth.halfspace(X[0], X) == lossdepth.halfspace(X[:1], X)
    assert lossdepth.halfspace(X[0].tolist(), X) == lossdepth.halfspace(X[:1], X)
    with pytest.raises(ValueError, match="2 features"):
        lossdepth.halfspace([0.0, 0.0], X)


@pytest.mark.parametrize("columns", [2, 3, 4])
def test_directions_attain_the_depth_and_none_is_better(columns):
    rng = np.random.default_rng(columns)
    X = rng.normal(size=(80, columns)).round(1)
    Z = np.vstack([X[:5], 0.5 * rng.normal(size=(5, columns))])
    depths, U = lossdepth.depth(Z, X, method="halfspace", return_direction=True)
    assert np.allclose(np.linalg.norm(U, axis=1), 1.0)
    attained = [((X - z) @ u >= -1e-12).mean() for z, u in zip(Z, U, strict=True)]
    assert (depths == np.array(attained)).all()
    assert (by_directions(Z, X) >= depths).all()
    assert (depths == HalfspaceDepth().fit(X).score_samples(Z)).all()


def test_more_columns_give_an_interval():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, 12))
    detector = HalfspaceDepth(budget=3).fit(X)
    with pytest.warns(ConvergenceWarning, match="Raise budget"):
        scores = detector.score_details(np.zeros((1, 12)))
    assert not scores.converged[0]
    assert 0 <= scores.depth[0] - scores.error[0] + 1e-12 < scores.depth[0]
    assert by_directions(np.zeros((1, 12)), X)[0] >= scores.depth[0] - scores.error[0]
    far = detector.score_details(np.full((1, 12), 3.0))
    assert far.converged[0]
    assert far.depth[0] == 0.0


def test_units_do_not_matter():
    rng = np.random.default_rng(6)
    X, Z = rng.normal(size=(60, 3)), rng.normal(size=(10, 3))
    A = np.array([[1e6, 0.0, 0.0], [3.0, 1e-3, 0.0], [0.5, 0.2, 1.0]])
    plain = HalfspaceDepth().fit(X).score_samples(Z)
    assert (plain == HalfspaceDepth().fit(X @ A + 7.0).score_samples(Z @ A + 7.0)).all()
    assert (plain == HalfspaceDepth(scale="whiten").fit(X).score_samples(Z)).all()


def test_weights_are_copies():
    rng = np.random.default_rng(7)
    X, Z, w = rng.normal(size=(30, 2)), rng.normal(size=(8, 2)), rng.integers(1, 4, size=30)
    weighted = lossdepth.depth(Z, X, method="halfspace", sample_weight=w)
    assert (weighted == lossdepth.depth(Z, np.repeat(X, w, axis=0), method="halfspace")).all()


def test_explanation_is_the_halfspace():
    X = np.random.default_rng(8).normal(size=(40, 3))
    detector = HalfspaceDepth().fit(X)
    why = detector.explain([[1.0, 0.5, 0.0]])
    inside = (X - [1.0, 0.5, 0.0]) @ -why.weights[0] >= 0
    assert inside.mean() == why.scores.depth[0]
    assert np.allclose(why.influence[0], inside - inside.mean())
    # Two more of four more observations are inside (Agresti and Coull).
    p = (40 * why.scores.depth[0] + 2) / 44
    assert why.scores.stderr[0] == pytest.approx(np.sqrt(p * (1 - p) / 44))


def test_median_and_contours():
    X = np.random.default_rng(9).normal(size=(101, 2))
    detector = HalfspaceDepth().fit(X)
    point, depth = detector.median()
    assert detector.score_samples([point])[0] == depth
    assert depth >= detector.score_samples(X).max()
    inner, outer = detector.contours([0.3, 0.1])
    assert detector.score_samples(0.999 * inner + 0.001 * point).min() >= 0.3
    assert detector.score_samples(1.001 * outer - 0.001 * point).max() < 0.1
    assert detector.contours([0.99])[0].shape == (0, 2)


def test_bagplot():
    X = np.vstack([np.random.default_rng(10).normal(size=(150, 2)), [[30.0, 1.0]]])
    plot = HalfspaceDepth().fit(X).bagplot()
    assert 150 in plot.outliers
    assert (plot.depths == HalfspaceDepth().fit(X).score_samples(X)).all()
    assert plot.hull[:, 0].max() < 30.0
    assert plot.bag.shape == plot.fence.shape


def test_lower_dimension_and_more_columns_than_rows():
    line = np.outer(np.arange(5.0), [1.0, 2.0, 4.0])
    depths = lossdepth.depth([[2.0, 4.0, 8.0], [2.0, 4.0, 8.5]], line, method="halfspace")
    assert depths.tolist() == [0.6, 0.0]
    X = np.random.default_rng(11).normal(size=(6, 40))
    assert (lossdepth.depth(X, X, method="halfspace", budget=2) == 1 / 6).all()


def test_pickles_and_copies():
    X = np.random.default_rng(12).normal(size=(30, 2))
    detector = HalfspaceDepth().fit(X)
    for other in (pickle.loads(pickle.dumps(detector)), copy.deepcopy(detector)):
        assert (other.score_samples(X) == detector.score_samples(X)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: HalfspaceDepth(budget=0).fit(X), "`budget` must be at least 1"),
        (lambda X: HalfspaceDepth(tol=-1.0).fit(X), "`tol` must be finite and not negative"),
        (lambda X: HalfspaceDepth().fit(X).contours([0.0]), "`depth` must be above 0"),
        (lambda X: HalfspaceDepth().fit(X).bagplot(0.5), "`factor` must be at least 1"),
        (lambda X: HalfspaceDepth().fit(X[:, :1]).median(), "two columns, got 1"),
        (lambda X: lossdepth.depth(X, X, return_direction=True), "goes with method `halfspace`"),
        (lambda X: lossdepth.depth(X, X, method="halfspace", reg=1.0), "reg"),
    ],
)
def test_bad_input(call, message):
    X = np.random.default_rng(13).normal(size=(10, 2))
    with pytest.raises((ValueError, TypeError), match=message):
        call(X)
