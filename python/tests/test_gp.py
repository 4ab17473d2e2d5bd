"""Kernel logistic and Gaussian process depths against scikit-learn and themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, load_wine
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF

from lossdepth import GPDepth, KernelLogisticDepth, LogisticDepth, depth


def peer(X, z, length_scale):
    """The Gaussian process depth, literally: scikit-learn on the sample and n copies of z."""
    n = len(X)
    both = np.vstack([X, np.repeat(z[None], n, axis=0)])
    model = GaussianProcessClassifier(
        kernel=RBF(length_scale), optimizer=None, max_iter_predict=1000
    )
    model.fit(both, np.r_[np.ones(n), np.zeros(n)])
    sample, query = model.predict_proba(X)[:, 1], model.predict_proba(z[None])[0, 0]
    return -0.5 * np.mean(np.log2(sample)) - 0.5 * np.log2(query)


@pytest.mark.filterwarnings("ignore::lossdepth.ScaleWarning")
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_gp_is_that_of_scikit_learn(load):
    X = load().data[:140]
    Z = np.vstack([X[:2], load().data[140:143], X[:1] + 5.0])
    length_scale = np.quantile(cdist(X, X), 0.25)
    details = GPDepth(scale="none").fit(X).score_details(Z)
    expected = [peer(X, z, length_scale) for z in Z]
    assert np.all(np.abs(details.depth - expected) <= details.error + 1e-9)
    assert np.all(details.error <= 1e-6)
    assert_allclose(
        GPDepth(gamma=0.5 / length_scale**2, scale="none").fit(X).score_samples(Z),
        details.depth,
        atol=1e-9,
    )


def test_a_linear_kernel_is_the_linear_depth():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(60, 3)), rng.normal(size=(8, 3))
    linear = LogisticDepth(reg=0.05).fit(X).score_details(Z)
    kernel = (
        KernelLogisticDepth(reg=0.05, kernel="linear", intercept="free").fit(X).score_details(Z)
    )
    assert np.all(np.abs(linear.depth - kernel.depth) <= linear.error + kernel.error)


def test_the_mode_is_kernel_logistic_regression():
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(80, 2)), rng.normal(size=(8, 2))
    mode = GPDepth(probabilities="mode").fit(X).score_details(Z)
    klr = (
        KernelLogisticDepth(reg=1 / (4 * 80 * np.log(2)), gamma="quartile").fit(X).score_details(Z)
    )
    assert np.all(np.abs(mode.depth - klr.depth) <= mode.error + klr.error)


@pytest.mark.parametrize("method", ["klr", "gp"])
def test_weights_are_copies(method):
    rng = np.random.default_rng(2)
    X, Z = rng.normal(size=(30, 2)), rng.normal(size=(5, 2))
    counts = rng.integers(0, 4, size=30)
    weighted = depth(Z, X, method=method, sample_weight=counts)
    assert_allclose(weighted, depth(Z, np.repeat(X, counts, axis=0), method=method), atol=2e-6)


@pytest.mark.parametrize("method", ["klr", "gp"])
def test_a_precomputed_kernel_is_the_same_kernel(method):
    rng = np.random.default_rng(3)
    X, Z = rng.normal(size=(40, 2)), rng.normal(size=(5, 2))
    gram, cross = (np.exp(-0.7 * cdist(a, X, "sqeuclidean")) for a in (X, Z))
    given = depth(cross, gram, method=method, kernel="precomputed")
    assert_allclose(given, depth(Z, X, method=method, gamma=0.7, scale="none"), atol=2e-6)


@pytest.mark.parametrize("cls", [KernelLogisticDepth, GPDepth])
def test_explanations(cls):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 2))
    detector = cls(scale="standard").fit(X)
    why = detector.explain([[3.0, 0.0], [0.0, 0.0]])
    assert why.weights.shape == (2, 2)
    assert why.influence.shape == why.witness.shape == (2, 50)
    assert why.contributions is None
    # f is larger on the sample than at a query that is easy to tell apart, and falls towards it.
    assert why.witness[0].mean() > why.value[0]
    assert why.weights[0, 0] < 0
    assert_allclose(why.depth, detector.score_samples([[3.0, 0.0], [0.0, 0.0]]))


@pytest.mark.parametrize("kernel", ["laplacian", "imq", "linear", "polynomial"])
@pytest.mark.parametrize("cls", [KernelLogisticDepth, GPDepth])
def test_every_kernel(cls, kernel):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(70, 3))
    details = cls(kernel=kernel).fit(X).score_details(X[:5])
    assert np.all(details.error <= 1e-6)
    assert np.all((details.depth > 0) & (details.depth <= 1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"probabilities": "best"}, "`probabilities` must be one of averaged, mode"),
        ({"tol": 0.0}, "`tol` must be"),
        ({"gamma": "wide"}, "`gamma` must be"),
        ({"memory": 10.0}, "`memory`"),
        ({"kernel": "precomputed"}, "precomputed kernel"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        GPDepth(**settings).fit(np.arange(12.0).reshape(6, 2))
