"""Two samples, and classification by depth."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import lossdepth
from lossdepth import DDClassifier, LogisticDepth


@parametrize_with_checks([DDClassifier(), DDClassifier(rule="maximum")])
def test_the_classifier_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def test_depths_classify_what_a_line_cannot():
    X, y = make_moons(400, noise=0.2, random_state=0)
    ours = cross_val_score(DDClassifier(), X, y).mean()
    assert ours > cross_val_score(LinearDiscriminantAnalysis(), X, y).mean() + 0.05


def test_three_classes_and_a_data_frame():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X["size"] = np.where(X.iloc[:, 0] > 5.8, "large", "small")
    fitted = DDClassifier().fit(X, y)
    assert fitted.score(X, y) > 0.9
    assert fitted.depth_space(X).shape == (150, 3)
    assert np.allclose(fitted.predict_proba(X).sum(axis=1), 1.0)


def test_a_class_of_one_row_is_refused():
    with pytest.raises(ValueError, match="class `2` has 1 row"):
        DDClassifier().fit(np.arange(14.0).reshape(7, 2), [0, 0, 0, 1, 1, 1, 2])


def test_maximum_mean_discrepancy_is_that_of_scikit_learn():
    from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel  # noqa: PLC0415

    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(40, 3)), rng.normal(0.4, size=(31, 3))
    found = lossdepth.compare(X, Y, tests=["kernel"]).tests[0]
    both = np.r_[X, Y]
    both = (both - both.mean(axis=0)) / both.std(axis=0)
    K = rbf_kernel(both, gamma=1.0 / np.median(euclidean_distances(both, squared=True)))
    s = np.r_[np.full(40, 1 / 40), np.full(31, -1 / 31)]
    assert found.statistic == pytest.approx(s @ K @ s, rel=1e-9)
    rng = np.random.default_rng(2)
    drawn = [(p := rng.permutation(s)) @ K @ p for _ in range(2000)]
    share = np.mean(np.array(drawn) >= found.statistic)
    assert found.p == pytest.approx(share, abs=0.05)


def test_tables_with_categories_and_gaps():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.normal(size=300), "kind": rng.choice(["x", "y"], 300)})
    moved = frame.iloc[:120].copy()
    moved.loc[rng.random(120) < 0.4, "kind"] = "z"
    found = lossdepth.compare(frame.iloc[120:], moved)
    assert found.differ()
    assert (found.shifts[0].column, found.shifts[0].what) == ("kind", "share of z")
    assert list(found.to_pandas().columns)[:2] == ["column", "what"]
    assert "kind: share of z 0% -> " in str(found)
    assert not lossdepth.compare(frame.iloc[:150], frame.iloc[150:]).differ()


def test_bad_settings_are_refused_by_name():
    X = np.random.default_rng(4).normal(size=(20, 2))
    with pytest.raises(ValueError, match="tests"):
        lossdepth.compare(X, X, tests=["ranks"])
    with pytest.raises(ValueError, match="permutations"):
        lossdepth.compare(X, X, permutations=3)
    with pytest.raises(ValueError, match="`method` must be one of"):
        lossdepth.compare(X, X, method="nothing")
    with pytest.raises(ValueError, match="the second sample has 3 rows"):
        lossdepth.compare(X, X[:3])


def test_the_classifier_takes_any_depth():
    X, y = load_iris(return_X_y=True)
    fitted = DDClassifier(LogisticDepth(reg=0.01), rule="maximum").fit(X, y)
    assert fitted.score(X, y) > 0.85
