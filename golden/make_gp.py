"""Kernel logistic and Gaussian process depths by means that share nothing with ours.

    python golden/make_gp.py

writes klr_*.json and gp_*.json beside this file. Kernel logistic regression is solved by Newton's method in the dual
coefficients with dense linear algebra; the Gaussian process is scikit-learn's, fitted to the sample and as many copies
of the query as the sample has rows.
"""

import json
import platform
from pathlib import Path

import numpy as np
import scipy
import sklearn
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF

HERE = Path(__file__).parent
VERSIONS = {
    "python": platform.python_version(),
    "numpy": np.__version__,
    "scipy": scipy.__version__,
    "scikit-learn": sklearn.__version__,
}


def write(name, content):
    text = json.dumps(
        {"versions": VERSIONS, **content}, indent=None, separators=(",", ":")
    )
    (HERE / name).write_text(text + "\n")


def newton(gram, weights, signs, reg, free):
    """Minimises sum w log2(1 + exp(-s f)) + reg a'Ka over f = Ka + b."""
    n = len(gram)
    a, b = np.zeros(n), 0.0
    bits = 1 / np.log(2)

    def objective(a, b):
        f = gram @ a + b
        return weights @ np.logaddexp(0, -signs * f) * bits + reg * a @ gram @ a

    for _ in range(200):
        f = gram @ a + b
        p = expit(-signs * f)
        slope = -weights * signs * p * bits
        curve = weights * p * (1 - p) * bits
        # 2 reg a + slope + curve (K da + db) = 0, and for a free b also sum a = 0.
        system = np.zeros((n + 1, n + 1))
        system[:n, :n] = curve[:, None] * gram + 2 * reg * np.eye(n)
        system[:n, n] = curve
        system[n, :n] = 1.0
        rhs = np.r_[curve * (gram @ a + b) - slope, 0.0]
        if free:
            new = np.linalg.solve(system, rhs)
        else:
            new = np.r_[np.linalg.solve(system[:n, :n], rhs[:n]), 0.0]
        step = 1.0
        old = objective(a, b)
        while (
            objective(a + step * (new[:n] - a), b + step * (new[n] - b)) > old + 1e-15
            and step > 1e-12
        ):
            step /= 2
        da, db = step * (new[:n] - a), step * (new[n] - b)
        a, b = a + da, b + db
        if max(np.abs(gram @ da + db).max(), 0) < 1e-13:
            break
    f = gram @ a + b
    risk = weights @ np.logaddexp(0, -signs * f) * bits
    return risk, risk + reg * a @ gram @ a


KERNELS = {
    "gaussian": lambda x, y, s: np.exp(-s * cdist(x, y, "sqeuclidean")),
    "laplacian": lambda x, y, s: np.exp(-cdist(x, y, "cityblock") / s),
    "imq": lambda x, y, s: (s**2 + cdist(x, y, "sqeuclidean")) ** -0.5,
    "polynomial": lambda x, y, s: (s * x @ y.T + 1.0) ** 3,
}


def klr(name, rows, counts, queries, kernels):
    cases = []
    signs = np.r_[np.ones(len(rows)), -1.0]
    weights = np.r_[0.5 * counts / counts.sum(), 0.5]
    for kernel, setting in kernels:
        for reg in (1.0, 0.01, 1e-4):
            for free in (False, True):
                found = []
                for z in queries:
                    points = np.vstack([rows, z])
                    gram = KERNELS[kernel](points, points, setting)
                    found.append(newton(gram, weights, signs, reg, free))
                risk, objective = np.array(found).T
                cases.append(
                    {
                        "kernel": kernel,
                        "setting": setting,
                        "reg": reg,
                        "intercept": "free" if free else "none",
                        "risk": risk.tolist(),
                        "objective": objective.tolist(),
                    }
                )
    data = {
        "rows": rows.tolist(),
        "counts": counts.tolist(),
        "queries": queries.tolist(),
        "cases": cases,
    }
    write(f"klr_{name}.json", data)


def gp(name, rows, counts, queries):
    copies = np.repeat(rows, counts.astype(int), axis=0)
    n = len(copies)
    scale = np.quantile(cdist(copies, copies), 0.25)
    averaged, mode = [], []
    for z in queries:
        x = np.vstack([copies, np.repeat(z[None], n, axis=0)])
        y = np.r_[np.ones(n), np.zeros(n)]
        model = GaussianProcessClassifier(
            kernel=RBF(scale), optimizer=None, max_iter_predict=10_000
        ).fit(x, y)
        base = model.base_estimator_
        p, q = model.predict_proba(copies)[:, 1], model.predict_proba(z[None])[0, 0]
        averaged.append(-0.5 * np.mean(np.log2(p)) - 0.5 * np.log2(q))
        f = base.kernel_(base.X_train_, np.vstack([copies, z])).T @ (
            base.y_train_ - base.pi_
        )
        loss = np.logaddexp(0, np.r_[-f[:n], f[n]]) / np.log(2)
        mode.append(0.5 * loss[:n].mean() + 0.5 * loss[n])
    data = {
        "rows": rows.tolist(),
        "counts": counts.tolist(),
        "queries": queries.tolist(),
        "length_scale": scale,
    }
    write(f"gp_{name}.json", {**data, "averaged": averaged, "mode": mode})


def main():
    random = np.random.default_rng(3)
    wine, iris, cancer = load_wine().data, load_iris().data, load_breast_cancer().data
    standard = lambda x: (x - x.mean(0)) / x.std(0)
    wine, cancer = standard(wine), standard(cancer)

    def some(x, n, outside):
        """A sample, and queries of which some are rows of it, some others, and some far away."""
        order = random.permutation(len(x))
        rows = x[order[:n]]
        far = x[order[-outside:]] + random.normal(size=(outside, x.shape[1])) * 3
        return rows, np.vstack([rows[:3], x[order[n : n + 3]], far])

    rows, queries = some(wine, 80, 3)
    kernels = [
        ("gaussian", 0.05),
        ("laplacian", 9.0),
        ("imq", 2.0),
        ("polynomial", 0.1),
    ]
    klr("wine", rows, np.ones(len(rows)), queries, kernels)
    rows, queries = some(iris, 60, 3)
    klr(
        "iris_counted",
        rows,
        random.integers(0, 4, len(rows)).astype(float),
        queries,
        [("gaussian", 0.5)],
    )

    rows, queries = some(iris, 150 - 8, 4)
    gp("iris", rows, np.ones(len(rows)), queries)
    rows, queries = some(wine, 120, 4)
    gp("wine", rows, np.ones(len(rows)), queries)
    rows, queries = some(cancer, 200, 4)
    gp("breast_cancer", rows, np.ones(len(rows)), queries)
    rows, queries = some(wine, 70, 3)
    gp("wine_counted", rows, random.integers(0, 4, len(rows)).astype(float), queries)


if __name__ == "__main__":
    main()
