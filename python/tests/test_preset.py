"""The paper's settings: what its scripts compute, by scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import lossdepth
from lossdepth import LogisticDepth, SVMDepth

SAMPLES = {
    "wine": StandardScaler().fit_transform(load_wine().data)[:59],
    "iris": load_iris().data[:50],
}


@pytest.fixture(params=SAMPLES)
def sample(request):
    return SAMPLES[request.param]


def queries(sample):
    return np.r_[sample[:3], sample[:3] * 1.3, sample.mean(axis=0, keepdims=True)]


def stacked(sample, z):
    return np.r_[sample, [z]], np.r_[np.ones(len(sample)), -1.0]


def test_logistic_is_what_the_scripts_print(sample):
    n = len(sample)
    ours = lossdepth.depth(queries(sample), sample, "logistic", preset="paper-code", tol=1e-7)
    for z, value in zip(queries(sample), ours, strict=True):
        X, y = stacked(sample, z)
        model = LogisticRegression(
            C=1 / n, class_weight="balanced", solver="newton-cholesky", tol=1e-12, max_iter=1000
        ).fit(X, y)
        losses = np.logaddexp(0.0, -y * model.decision_function(X))
        # The sample's mean, divided by n once more.
        printed = 0.5 * losses[:-1].mean() / n + 0.5 * losses[-1]
        assert value == pytest.approx(printed, abs=1e-7)


def test_svm_is_what_the_scripts_print(sample):
    gamma = 1 / np.median(cdist(sample, sample, "sqeuclidean"))
    settings = lossdepth.preset("paper-code", "svm", len(sample)) | {"gamma": gamma, "tol": 1e-9}
    ours = SVMDepth(**settings).fit(sample).score_samples(queries(sample))
    for z, value in zip(queries(sample), ours, strict=True):
        X, y = stacked(sample, z)
        model = SVC(C=1.0, gamma=gamma, class_weight="balanced", tol=1e-10).fit(X, y)
        losses = np.maximum(0.0, 1.0 - y * model.decision_function(X))
        assert value == pytest.approx(0.5 * losses[:-1].mean() + 0.5 * losses[-1], abs=1e-6)


def test_what_is_said_beside_a_preset_counts():
    X = SAMPLES["iris"]
    ours = lossdepth.depth(X[:5], X, "svm", preset="paper", reg=0.1)
    np.testing.assert_array_equal(ours, lossdepth.depth(X[:5], X, "svm", scale="none", reg=0.1))


def test_weights_count_as_copies():
    X = SAMPLES["iris"]
    weights = np.r_[np.full(25, 2), np.ones(25)]
    ours = lossdepth.depth(X[:5], X, "svm", preset="paper-code", sample_weight=weights)
    copies = np.repeat(X, weights.astype(int), axis=0)
    theirs = lossdepth.depth(X[:5], copies, "svm", preset="paper-code")
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_hostile():
    with pytest.raises(
        ValueError, match="`preset` must be one of paper, paper-code, recommended, got `book`"
    ):
        lossdepth.preset("book", "svm", 10)
    with pytest.raises(ValueError, match="preset `paper-code` has no method `klr`"):
        lossdepth.preset("paper-code", "klr", 10)
    with pytest.raises(ValueError, match="`n` must be a positive, finite number"):
        lossdepth.preset("paper-code", "svm", float("nan"))
    with pytest.raises(ValueError, match="value `paper-code` goes with variant `risk`"):
        LogisticDepth(value="paper-code", variant="objective").fit(SAMPLES["iris"])
