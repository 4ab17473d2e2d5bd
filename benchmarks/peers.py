"""The other side: scikit-learn in a loop, and slow solutions to measure both sides against.

The classifier that tells z from rows x_1 ... x_n minimises

    1/2 mean l(f(x_i)) + 1/2 l(-f(z)) + reg ||w||^2

which is scikit-learn's problem for sample_weight = [1/(2n), ..., 1/(2n), 1/2] with C = 1/(2 reg)
for the hinge loss and C = 1/(2 reg ln 2) for the logistic loss, which counts in bits here.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from scipy.spatial.distance import cdist
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LN2 = np.log(2.0)
LOSSES: dict[str, Callable[[Any], Any]] = {
    "logistic": lambda m: np.logaddexp(0.0, -m) / LN2,
    "hinge": lambda m: np.maximum(0.0, 1.0 - m),
    "svm": lambda m: np.maximum(0.0, 1.0 - m),
}


@dataclass(frozen=True)
class Peer:
    """A classifier of scikit-learn, to be fitted once for each query."""

    name: str
    build: Callable[[float], Any]
    loss: str

    def depths(self, X: Floats, Z: Floats, reg: float, pool: Parallel) -> tuple[Floats, int]:
        """Compute the depths of the rows of Z, and count the warnings on the way."""
        parts = np.array_split(Z, pool.n_jobs)
        depths, warned = zip(
            *pool(delayed(self._loop)(X, part, reg) for part in parts), strict=True
        )
        return np.concatenate(depths), sum(warned)

    def _loop(self, X: Floats, Z: Floats, reg: float) -> tuple[Floats, int]:
        sides, mass = _question(len(X))
        loss, rows = LOSSES[self.loss], np.vstack([X, Z[:1]])
        depths = np.empty(len(Z))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for k, z in enumerate(Z):
                rows[-1] = z
                model = self.build(reg).fit(rows, sides, sample_weight=mass)
                depths[k] = mass @ loss(sides * model.decision_function(rows))
        return depths, len(caught)


def logistic(solver: str, tol: float = 1e-4) -> Peer:
    """LogisticRegression; the tolerance is scikit-learn's default unless given."""

    def build(reg: float) -> LogisticRegression:
        c = 1.0 / (2.0 * reg * LN2)
        return LogisticRegression(C=c, solver=solver, tol=tol, max_iter=10_000)

    return Peer(f"LogisticRegression, {solver}, tol {tol:g}", build, "logistic")


def hinge(tol: float) -> Peer:
    """SVC with a linear kernel."""

    def build(reg: float) -> SVC:
        return SVC(kernel="linear", C=1.0 / (2.0 * reg), tol=tol)

    return Peer(f"SVC, linear, tol {tol:g}", build, "hinge")


def forest_depths(X: Floats, Z: Floats, seed: int) -> Floats:
    """Compute depths by RandomForestClassifier with a thousand trees, one forest for each query."""
    sides, mass = _question(len(X))
    rows, depths = np.vstack([X, Z[:1]]), np.empty(len(Z))
    for k, z in enumerate(Z):
        rows[-1] = z
        model = RandomForestClassifier(
            1000, criterion="log_loss", max_depth=2, bootstrap=False, random_state=seed + k
        )
        p = model.fit(rows, sides, sample_weight=mass).predict_proba(rows)
        depths[k] = -mass @ np.log2(np.where(sides > 0, p[:, 1], p[:, 0]))
    return depths


def svm(X: Floats, tol: float = 1e-3) -> Peer:
    """SVC with a Gaussian kernel of our default width; by default its default tolerance."""
    gamma = width(X)

    def build(reg: float) -> SVC:
        return SVC(gamma=gamma, C=1.0 / (2.0 * reg), tol=tol)

    return Peer(f"SVC, tol {tol:g}", build, "svm")


def width(X: Floats) -> float:
    """One over the median squared distance."""
    return float(1.0 / np.median(cdist(X, X, "sqeuclidean")))


def exact_svm(X: Floats, Z: Floats, reg: float) -> Floats:
    """Compute depths by SVC with a tiny tolerance, then the exact minimum over the intercept."""
    sides, mass = _question(len(X))
    rows, gamma = np.vstack([X, Z[:1]]), width(X)
    depths = np.empty(len(Z))
    for k, z in enumerate(Z):
        rows[-1] = z
        model = SVC(gamma=gamma, C=1.0 / (2.0 * reg), tol=1e-10)
        values = model.fit(rows, sides, sample_weight=mass).decision_function(rows)
        kinks = sides - values
        depths[k] = (LOSSES["hinge"](sides * (values + kinks[:, None])) @ mass).min()
    return depths


def exact_logistic(X: Floats, Z: Floats, reg: float) -> Floats:
    """Compute depths by Newton's method with the full Hessian, down to rounding."""
    sides, mass = _question(len(X))
    centre = X.mean(axis=0)
    left, scale, axes = np.linalg.svd(X - centre, full_matrices=False)
    keep = scale > 1e-12 * scale[0]
    # The penalty does not see rotations: the sample's axes, one for the rest of z, the intercept.
    rows = np.zeros((len(sides), keep.sum() + 2))
    rows[:-1, :-2], rows[:, -1] = left[:, keep] * scale[keep], 1.0
    penalty = np.full(rows.shape[1], 2.0 * reg * LN2)
    penalty[-1] = 0.0
    depths = np.empty(len(Z))
    for k, z in enumerate(Z - centre):
        inside = axes[keep] @ z
        rows[-1, :-2], rows[-1, -2] = inside, np.linalg.norm(z - inside @ axes[keep])
        margins = sides * (rows @ _newton(sides[:, None] * rows, mass, penalty))
        depths[k] = mass @ LOSSES["logistic"](margins)
    return depths


def exact_hinge(X: Floats, Z: Floats, reg: float) -> Floats:
    """Compute depths by SVC with a tiny tolerance, then the exact minimum over the intercept."""
    sides, mass = _question(len(X))
    rows = np.vstack([X, Z[:1]])
    depths = np.empty(len(Z))
    for k, z in enumerate(Z):
        rows[-1] = z
        model = SVC(kernel="linear", C=1.0 / (2.0 * reg), tol=1e-10)
        values = rows @ model.fit(rows, sides, sample_weight=mass).coef_[0]
        # The risk is piecewise linear in the intercept, so one of its kinks is a minimum.
        kinks = sides - values
        depths[k] = (LOSSES["hinge"](sides * (values + kinks[:, None])) @ mass).min()
    return depths


def _question(n: int) -> tuple[Floats, Floats]:
    """Return sides and masses of n rows and, last, the query."""
    return np.append(np.ones(n), -1.0), np.append(np.full(n, 0.5 / n), 0.5)


def _newton(signed: Floats, mass: Floats, penalty: Floats) -> Floats:
    def objective(theta: Floats) -> float:
        return float(mass @ np.logaddexp(0.0, -signed @ theta) + 0.5 * penalty @ theta**2)

    theta, polish = np.zeros(signed.shape[1]), 3
    while polish:
        wrong = np.exp(-np.logaddexp(0.0, signed @ theta))
        gradient = penalty * theta - signed.T @ (mass * wrong)
        hessian = (signed.T * (mass * wrong * (1.0 - wrong))) @ signed + np.diag(penalty)
        step, value, length = -np.linalg.solve(hessian, gradient), objective(theta), 1.0
        gain = -float(gradient @ step)
        if gain < 1e-10 * value:
            polish -= 1  # close enough for full steps, each of which doubles the digits
        else:
            while objective(theta + length * step) > value - 0.1 * length * gain:
                length /= 2.0
        theta = theta + length * step
    return theta
