"""The network depth beyond what all methods share, and scikit-learn's networks as a witness."""

import pickle
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

import lossdepth
from lossdepth import LogisticDepth, MLPDepth

LN2 = np.log(2.0)


def network(model, x):
    for weights, biases in zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True):
        x = np.maximum(x @ weights + biases, 0.0)
    return (x @ model.coefs_[-1] + model.intercepts_[-1])[:, 0]


def scikit_learn(X, z, hidden, reg, seed):
    """Return the objective, in bits, of a network that scikit-learn trained."""
    mass = np.append(np.full(len(X), 0.5 / len(X)), 0.5)
    model = MLPClassifier(
        hidden, solver="lbfgs", alpha=2 * LN2 * reg, max_iter=2000, random_state=seed
    )
    model.fit(np.vstack([X, z]), np.append(np.ones(len(X)), 0.0), sample_weight=mass)
    sides = np.append(np.ones(len(X)), -1.0)
    risk = mass @ np.logaddexp(0.0, -sides * network(model, np.vstack([X, z]))) / LN2
    return risk + reg * sum((w**2).sum() for w in model.coefs_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("hidden", [(100,), (30, 10)])
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_no_network_of_scikit_learn_is_better(name, hidden):
    X = {"iris": load_iris, "wine": load_wine}[name]().data
    X = StandardScaler().fit_transform(X)[::2] if name == "wine" else X[::2]
    queries = X[:40:10]
    ours = MLPDepth(hidden=hidden, variant="objective", scale="none").fit(X).score_details(queries)
    theirs = np.array([scikit_learn(X, z, hidden, 0.01, seed=0) for z in queries])
    assert (theirs >= ours.depth - ours.error).all()
    assert (ours.depth <= theirs * (1.001 if len(hidden) == 1 else 1.02)).all()


def test_errors_are_proven(sample, queries):
    risk = MLPDepth().fit(sample).score_details(queries)
    total = MLPDepth(variant="objective").fit(sample).score_details(queries)
    assert risk.converged.all()
    assert (risk.depth < total.depth).all()
    assert (total.error < 0.2 * total.depth).all()
    # Another search finds much the same, well within what is proven.
    other = MLPDepth(variant="objective", seed=5, restarts=2, tol=1e-6).fit(sample)
    assert_allclose(other.score_samples(queries), total.depth, rtol=0.01)


def test_a_score_depends_on_model_and_row_alone(sample, queries):
    for hidden in ((100,), (8, 4)):
        # A scaling adds up the rows in their order, and rounds.
        detector = MLPDepth(hidden=hidden, scale="none").fit(sample)
        depths = detector.score_samples(queries)
        assert_array_equal(detector.score_samples(queries[::-1])[::-1], depths)
        assert detector.score_samples(queries[7:8])[0] == depths[7]
        assert_array_equal(
            clone(detector).set_params(n_jobs=2).fit(sample).score_samples(queries), depths
        )
        again = MLPDepth(hidden=hidden, scale="none").fit(sample[::-1])
        assert_array_equal(again.score_samples(queries), depths)
        assert_array_equal(pickle.loads(pickle.dumps(detector)).score_samples(queries), depths)


def test_weight_k_is_k_copies_to_the_last_bit(sample, queries):
    counts = np.arange(len(sample)) % 3
    copied = MLPDepth(scale="none").fit(np.repeat(sample, counts, axis=0)).score_details(queries)
    weighted = MLPDepth(scale="none").fit(sample, sample_weight=counts).score_details(queries)
    assert_array_equal(weighted.depth, copied.depth)
    assert_array_equal(weighted.error, copied.error)
    assert_array_equal(weighted.stderr, copied.stderr)


@pytest.mark.parametrize("hidden", [100, [100], (100,), np.array([100])])
def test_forms_of_hidden(hidden, sample, queries):
    detector = MLPDepth(hidden=hidden)
    assert detector.get_params()["hidden"] is hidden
    assert_array_equal(
        detector.fit(sample).score_samples(queries), lossdepth.depth(queries, sample, "mlp")
    )


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"hidden": 0}, ValueError, "`hidden` must be at least 1, got 0"),
        ({"hidden": ()}, ValueError, "`hidden` must be at least 1, got 0"),
        ({"hidden": (5, 0)}, ValueError, "`hidden` must be at least 1, got 0"),
        ({"hidden": 10**6}, ValueError, "`hidden` must be at most 10000 units in a layer"),
        ({"hidden": -1}, ValueError, "`hidden` must not be negative or huge, got -1"),
        ({"hidden": (3, 2.5)}, TypeError, "`hidden` must be a whole number, got 2.5"),
        ({"hidden": 2.5}, TypeError, "`hidden` must be a whole number or several, got 2.5"),
        ({"hidden": "100"}, TypeError, "`hidden` must be a whole number or several, got '100'"),
        ({"hidden": None}, TypeError, "`hidden` must be a whole number or several, got None"),
        ({"restarts": 0}, ValueError, "`restarts` must be at least 1, got 0"),
        ({"seed": -1}, ValueError, "`seed` must not be negative or huge, got -1"),
        ({"seed": None}, TypeError, "`seed` must be a whole number, got None"),
        ({"variant": "constrained"}, ValueError, "method `mlp` has no variant `constrained`"),
        ({"reg": 0.0}, ValueError, "`reg` must be a positive, finite number, got 0"),
    ],
)
def test_bad_settings(settings, error, message, sample):
    with pytest.raises(error, match=re.escape(message)):
        MLPDepth(**settings).fit(sample)


def test_no_settings_of_other_methods(sample):
    with pytest.raises(TypeError):
        lossdepth.depth(sample, sample, "mlp", intercept="free")


def test_iterations_that_run_out_warn(sample, queries):
    with pytest.warns(ConvergenceWarning, match="iteration-limit"):
        MLPDepth(max_iter=2).fit(sample).score_samples(queries)


def test_explanation(sample):
    z = sample.mean(axis=0) + np.array([0.0, 6.0, 0.0])
    why = MLPDepth().fit(sample).explain([z])
    assert why.contributions is None
    assert why.influence is None
    assert why.top_features(1) == [["x1"]]
    assert why.weights[0, 1] < 0.0
    assert why.value[0] < 0.0 < why.baseline[0]
    assert_allclose(why.weights[0] @ z + why.intercept[0], why.value[0], rtol=1e-9)
    assert list(why.to_pandas(1).columns) == ["row", "feature", "weight"]
    assert "x1" in repr(why)
    why.plot()
    influence = MLPDepth(variant="objective").fit(sample).explain([z]).influence
    assert influence.shape == (1, len(sample))
    assert abs(influence.mean()) < 1e-9


def test_finds_what_linear_classifiers_cannot():
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(-3.5, 1.0, size=(100, 2)), rng.normal(3.5, 1.0, size=(100, 2))])
    queries = [[0.0, 0.0], [-3.5, -3.5], [3.5, 3.5], [3.5, -3.5]]
    linear, deep = (
        cls(reg=0.01).fit(X).score_samples(queries) for cls in (LogisticDepth, MLPDepth)
    )
    assert linear[0] > linear[1]
    assert deep[0] < deep[1:3].min()
    assert deep[3] < deep[1:3].min()
