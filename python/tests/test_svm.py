"""The support vector machine depth against scikit-learn, and what only a kernel depth has."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import lossdepth
from lossdepth import SVMDepth

DATA = {"wine": load_wine, "breast_cancer": load_breast_cancer}


def load(name):
    """Return a reference and a few queries in and around it."""
    X = StandardScaler().fit_transform(DATA[name]().data[:300])
    return X[4:], np.vstack([X[:4], 2.0 * X[:2], X[4:6], X[4:].mean(axis=0)])


def svc(X, z, weights, reg, gamma):
    """Return risk and objective of scikit-learn's SVC, with the best intercept for it."""
    points = np.vstack([X, z])
    labels = np.append(np.ones(len(X)), -1.0)
    mass = np.append(0.5 * weights / weights.sum(), 0.5)
    model = SVC(gamma=gamma, tol=1e-10, C=1 / (2 * reg)).fit(points, labels, sample_weight=mass)
    values = model.decision_function(points) - model.intercept_[0]
    margins = labels * (values + (labels - values)[:, None])
    risk = (np.maximum(0.0, 1.0 - margins) @ mass).min()
    vectors = model.support_vectors_
    square = model.dual_coef_[0] @ np.exp(-gamma * cdist(vectors, vectors, "sqeuclidean"))
    return risk, risk + reg * square @ model.dual_coef_[0]


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("reg", [1.0, 0.05, 0.005])
@pytest.mark.parametrize("weighted", [False, True])
def test_is_scikit_learns_svc(name, reg, weighted):
    X, Z = load(name)
    weights = np.random.default_rng(0).uniform(size=len(X)) if weighted else np.ones(len(X))
    gamma = 1 / np.median(cdist(X, X) ** 2)
    for position, variant in enumerate(["risk", "objective"]):
        detector = SVMDepth(reg=reg, gamma=gamma, intercept="free", variant=variant, scale="none")
        scores = detector.fit(X, sample_weight=weights).score_details(Z)
        assert scores.converged.all()
        for z, depth, error in zip(Z, scores.depth, scores.error, strict=True):
            assert abs(depth - svc(X, z, weights, reg, gamma)[position]) <= error + 1e-7


def test_gamma_is_the_median(sample, queries):
    gamma = 1 / np.median(cdist(sample, sample) ** 2)
    by_name = SVMDepth(reg=0.1, scale="none").fit(sample).score_samples(queries)
    np.testing.assert_allclose(
        by_name,
        SVMDepth(reg=0.1, gamma=gamma, scale="none").fit(sample).score_samples(queries),
        atol=1e-9,
    )
    gamma = 0.5 / np.quantile(cdist(sample, sample), 0.25) ** 2
    by_name = SVMDepth(reg=0.1, gamma="quartile", scale="none").fit(sample).score_samples(queries)
    np.testing.assert_allclose(
        by_name,
        SVMDepth(reg=0.1, gamma=gamma, scale="none").fit(sample).score_samples(queries),
        atol=1e-9,
    )


def test_closed_form_is_the_mean_discrepancy(sample, queries):
    def kernel(a, b):
        return np.exp(-0.2 * cdist(a, b) ** 2)

    square = kernel(sample, sample).mean() - 2 * kernel(queries, sample).mean(axis=1) + 1.0
    depths = SVMDepth(reg=2.0, gamma=0.2, scale="none").fit(sample).score_samples(queries)
    np.testing.assert_allclose(depths, 1 - square / 16, atol=1e-12)


@pytest.mark.parametrize("kernel", ["laplacian", "imq", "linear", "polynomial"])
@pytest.mark.parametrize("reg", [1.0, 0.01])
def test_precomputed_is_the_kernel(sample, queries, kernel, reg):
    settings = {"sigma": 2.0, "c": 1.5, "beta": -0.7, "gamma": 0.3, "degree": 2, "coef0": 0.5}
    functions = {
        "laplacian": lambda a, b: np.exp(-cdist(a, b, "cityblock") / 2.0),
        "imq": lambda a, b: (1.5**2 + cdist(a, b) ** 2) ** -0.7,
        "linear": lambda a, b: a @ b.T,
        "polynomial": lambda a, b: (0.3 * a @ b.T + 0.5) ** 2,
    }
    own = {"laplacian": ["sigma"], "imq": ["c", "beta"], "linear": []}
    names = own.get(kernel, ["gamma", "degree", "coef0"])
    named = SVMDepth(
        kernel=kernel, reg=reg, scale="none", **{name: settings[name] for name in names}
    )
    expected = named.fit(sample).score_details(queries[:10])

    def gram(a):
        values = functions[kernel](a, sample)
        return np.column_stack(
            [values, [functions[kernel](row[None], row[None])[0, 0] for row in a]]
        )

    given = SVMDepth(kernel="precomputed", reg=reg).fit(gram(sample))
    scores = given.score_details(gram(queries[:10]))
    assert (abs(scores.depth - expected.depth) <= scores.error + expected.error + 1e-9).all()
    if kernel in ("laplacian", "imq"):
        square = SVMDepth(kernel="precomputed", reg=reg).fit(gram(sample)[:, :-1])
        np.testing.assert_allclose(
            square.score_samples(gram(queries[:10])[:, :-1]), scores.depth, atol=1e-9
        )


def test_explanation(sample, queries):
    why = SVMDepth(reg=0.01).fit(sample).explain(queries[:3])
    assert why.contributions is None
    assert why.weights.shape == (3, 3)
    assert why.influence.shape == why.witness.shape == (3, len(sample))
    risk = 0.5 * np.maximum(0, 1 - why.witness).mean(axis=1) + 0.5 * np.maximum(0, 1 + why.value)
    np.testing.assert_allclose(risk, why.depth, atol=1e-8)
    assert len(why.top_features(2)[0]) == 2
    assert "depth" in repr(why)
    gram = np.exp(-(cdist(sample, sample) ** 2))
    bare = SVMDepth(kernel="precomputed").fit(gram).explain(gram[:2])
    assert bare.weights is None
    assert "2 rows" in repr(bare)


def test_memory_changes_nothing(sample, queries):
    plenty = SVMDepth(reg=0.01).fit(sample).score_samples(queries)
    little = SVMDepth(reg=0.01, memory=1e5).fit(sample).score_samples(queries)
    np.testing.assert_array_equal(plenty, little)


def test_function_and_clone(sample, queries):
    detector = SVMDepth(reg=0.02, kernel="imq", c=2.0)
    expected = clone(detector).fit(sample).score_samples(queries)
    got = lossdepth.depth(queries, sample, method="svm", reg=0.02, kernel="imq", c=2.0)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "cubic"}, "kernel"),
        ({"gamma": "wide"}, "gamma"),
        ({"gamma": -1.0}, "gamma"),
        ({"sigma": 2.0}, "goes with kernel `laplacian`"),
        ({"kernel": "imq", "beta": 0.5}, "beta"),
        ({"kernel": "imq", "c": 0.0}, "`c`"),
        ({"kernel": "polynomial", "degree": 0}, "degree"),
        ({"kernel": "polynomial", "coef0": -1.0}, "coef0"),
        ({"kernel": "precomputed"}, "columns"),
        ({"memory": -1.0}, "memory"),
        ({"reg": 0.0}, "reg"),
    ],
)
def test_bad_settings(sample, settings, message):
    with pytest.raises(ValueError, match=message):
        SVMDepth(**settings).fit(sample)


def test_wrong_precomputed_kernels():
    with pytest.raises(ValueError, match="symmetric"):
        SVMDepth(kernel="precomputed").fit([[1.0, 0.5], [0.2, 1.0]])
    with pytest.raises(ValueError, match="constant diagonal"):
        SVMDepth(kernel="precomputed").fit([[1.0, 0.5], [0.5, 2.0]])
    with pytest.raises(ValueError, match="positive semidefinite: row 1, column 0 is 2"):
        SVMDepth(kernel="precomputed").fit([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="negative eigenvalue"):
        SVMDepth(kernel="precomputed").fit([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    with pytest.raises(ValueError, match=r"with reference row 1 is 1\.5, more than the root"):
        SVMDepth(kernel="precomputed").fit([[1.0, 1.0], [1.0, 1.0]]).score_samples([[0.5, 1.5]])
    with pytest.raises(ValueError, match="goes with scale"):
        SVMDepth(kernel="precomputed", scale="robust").fit([[1.0, 0.5], [0.5, 1.0]])
