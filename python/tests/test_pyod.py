"""The face of PyOD, tested with PyOD itself."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

import lossdepth
from lossdepth import _function
from lossdepth._function import METHODS

pytest.importorskip("pyod")
# What PyOD and its dependencies have to say while they are imported is not ours to answer for.
pytestmark = pytest.mark.filterwarnings("ignore:::pyod", "ignore:::numba")


@pytest.fixture
def DepthDetector():  # noqa: N802
    from lossdepth.pyod import DepthDetector  # noqa: PLC0415

    return DepthDetector


@pytest.fixture
def data():
    from pyod.utils.data import generate_data  # noqa: PLC0415

    return generate_data(n_train=150, n_test=60, n_features=3, contamination=0.1, random_state=1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", METHODS)
def test_every_method_as_a_detector_of_pyod(DepthDetector, data, method):
    from pyod.models.base import BaseDetector  # noqa: PLC0415

    X, Z, y, labels = data
    clf = DepthDetector(METHODS[method](), contamination=0.1).fit(X)
    assert isinstance(clf, BaseDetector)
    assert clf.labels_.sum() == (clf.decision_scores_ > clf.threshold_).sum() <= 15
    assert_array_equal(clf.decision_scores_, clf.decision_function(X))
    assert_array_equal(clf.decision_function(Z), -METHODS[method]().fit(X).score_samples(Z))
    assert set(clf.predict(Z)) <= {0, 1}
    # PyOD's outliers are uniform in a box, its inliers a cluster: easy for all but linear depths.
    assert (
        clf.decision_function(Z)[labels == 1].mean() > clf.decision_function(Z)[labels == 0].mean()
    )
    assert y.sum() == 15


def test_what_pyod_makes_of_the_scores(DepthDetector, data):
    from pyod.models.knn import KNN  # noqa: PLC0415
    from pyod.utils.utility import standardizer  # noqa: PLC0415

    X, Z, _, labels = data
    clf = DepthDetector(lossdepth.SVMDepth(reg=0.01), contamination=0.1).fit(X)
    for method in ("linear", "unify"):
        p = clf.predict_proba(Z, method=method)
        assert p.shape == (60, 2)
        assert_allclose(p.sum(axis=1), 1.0)
        assert p[labels == 1, 1].mean() > p[labels == 0, 1].mean()
    prediction, confidence = clf.predict(Z, return_confidence=True)
    assert_array_equal(prediction, clf.predict(Z))
    assert ((confidence >= 0) & (confidence <= 1)).all()
    assert (prediction == labels).mean() > 0.85
    # Alongside a model of PyOD, as its examples do.
    other = KNN().fit(X)
    scores = standardizer(np.column_stack([clf.decision_function(Z), other.decision_function(Z)]))
    assert np.corrcoef(scores.T)[0, 1] > 0.3
    assert scores.mean(axis=1).argmax() in np.flatnonzero(labels == 1)


def test_clones_and_pickles(DepthDetector, data):
    X, Z, _, _ = data
    clf = DepthDetector(lossdepth.LogisticDepth(reg=0.1), contamination=0.2).fit(X)
    fresh = clone(clf)
    assert not hasattr(fresh, "detector_")
    assert fresh.set_params(detector__reg=0.5).detector.reg == 0.5
    again = pickle.loads(pickle.dumps(clf))
    assert_array_equal(again.predict(Z), clf.predict(Z))
    assert clf.detector_.explain(Z[:1]).contributions.shape == (1, 3)


def test_defaults_and_errors(DepthDetector, data):
    X, Z, _, _ = data
    clf = DepthDetector()
    with pytest.raises(Exception, match="not fitted"):
        clf.predict(Z)
    # The same as for those who call `depth`.
    assert isinstance(clf.fit(X).detector_, METHODS[_function.DEFAULT_METHOD])
    expected = lossdepth.depth(Z, X)
    assert_array_equal(clf.decision_function(Z), -expected)
    with pytest.raises(ValueError, match="contamination"):
        DepthDetector(contamination=0.9)
    with pytest.raises(ValueError, match="row 0, column 1 is not finite"):
        clf.fit([[0.0, np.inf], [1.0, 1.0], [2.0, 0.5]])


def test_any_classifier_in_pyod(DepthDetector, data):
    X, Z, _, _ = data
    clf = DepthDetector(lossdepth.LossDepth(GaussianNB(), contamination=None)).fit(X[:50])
    assert clf.decision_function(Z).shape == (60,)


def test_pyod_is_imported_only_when_asked_for(tmp_path):
    script = "import sys, lossdepth; assert not {'pyod', 'matplotlib', 'numba'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)
