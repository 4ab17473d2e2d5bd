"""An independent witness: classifiers of scikit-learn, trained for one query at a time."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from lossdepth import HingeDepth, LogisticDepth

DATA = {"wine": load_wine, "breast_cancer": load_breast_cancer, "digits": load_digits}
each = pytest.mark.parametrize("name", DATA)


def load(name):
    """Return a reference, a few queries in and around it, and weights."""
    X = StandardScaler().fit_transform(DATA[name]().data[:500])
    rng = np.random.default_rng(0)
    return X[4:], np.vstack([X[:4], 2.0 * X[:2], X[4:].mean(axis=0)]), rng.uniform(size=len(X) - 4)


def problem(X, z, weights):
    points = np.vstack([X, z])
    labels = np.append(np.ones(len(X)), -1.0)
    return points, labels, np.append(0.5 * weights / weights.sum(), 0.5)


def logistic(X, z, weights, reg):
    """Return the risk, in bits, of scikit-learn's optimum after a few more Newton steps."""
    points, labels, mass = problem(X, z, weights)
    model = LogisticRegression(
        C=1 / (2 * reg * np.log(2)), solver="newton-cholesky", tol=1e-12, max_iter=10_000
    )
    model.fit(points, labels, sample_weight=mass)
    w = np.append(model.coef_[0], model.intercept_)
    design = np.hstack([points, np.ones((len(points), 1))])
    ridge = np.append(np.full(X.shape[1], 2 * reg), 0.0)
    for _ in range(5):
        margins = labels * (design @ w)
        p = 1 / (1 + np.exp(margins))
        gradient = design.T @ (-labels * p * mass) / np.log(2) + ridge * w
        hessian = (design.T * (mass * p * (1 - p))) @ design / np.log(2) + np.diag(ridge)
        w = w - np.linalg.solve(hessian, gradient)
    assert np.abs(gradient).max() < 1e-12
    return mass @ np.logaddexp(0.0, -labels * (design @ w)) / np.log(2)


@each
@pytest.mark.parametrize("reg", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("weighted", [False, True])
def test_logistic(name, reg, weighted):
    X, Z, weights = load(name)
    weights = weights if weighted else np.ones(len(X))
    scores = LogisticDepth(reg=reg, scale="none").fit(X, sample_weight=weights).score_details(Z)
    for z, depth, error in zip(Z, scores.depth, scores.error, strict=True):
        assert abs(depth - logistic(X, z, weights, reg)) <= error + 1e-9


def hinge(X, z, weights, reg):
    """Return the objective at scikit-learn's weights, with the best intercept for them."""
    points, labels, mass = problem(X, z, weights)
    model = SVC(kernel="linear", tol=1e-10, C=1 / (2 * reg)).fit(points, labels, sample_weight=mass)
    w = model.coef_[0]
    values = points @ w
    # The risk is piecewise linear in the intercept: the best is where some margin is 1.
    margins = labels * (values + (labels - values)[:, None])
    return (np.maximum(0.0, 1.0 - margins) @ mass).min() + reg * w @ w


# The error holds whether the solver converged or not.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@each
@pytest.mark.parametrize("reg", [1.0, 1e-1, 1e-2])
def test_hinge(name, reg):
    X, Z, weights = load(name)
    detector = HingeDepth(reg=reg, variant="objective", scale="none").fit(X, sample_weight=weights)
    scores = detector.score_details(Z)
    for z, depth, error in zip(Z, scores.depth, scores.error, strict=True):
        assert abs(depth - hinge(X, z, weights, reg)) <= error + 1e-7


@pytest.mark.parametrize("reg", [1.0, 0.1])
def test_hinge_converges_on_plain_data(reg):
    X = np.random.default_rng(0).normal(size=(200, 2))
    scores = HingeDepth(reg=reg, scale="none").fit(X).score_details(X)
    assert scores.converged.all()
