"""Golden values for the support vector machine depth.

Run from this folder:

    python make_svm.py

Writes svm_<data>.json: the reference rows and counts, the queries, and for each kernel, intercept and penalty the
depths of all queries in the variants `risk` and `objective`. Rows are as they ship with scikit-learn; they are
standardised by StandardScaler, weighted by the counts, which is scale `standard`.

The penalised risk of f = sum a_j k(x_j, .) + b that tells the query z from rows x_i of weight omega_i is

    1/2 sum omega_i max(0, 1 - f(x_i)) + 1/2 max(0, 1 + f(z)) + reg |f|^2

* intercept `free`: SVC(tol=1e-10) with sample_weight = [omega_1/2, ..., omega_n/2, 1/2] and C = 1/(2 reg), its own
  Gaussian kernel or a precomputed matrix. Its intercept comes from averages over the support vectors; the exact
  minimiser over b, one of the kinks, is taken instead. `polish` is the largest change that made to a depth.
* intercept `none` and `penalised` (kernel + 1): the dual quadratic program by a dense interior-point method in NumPy,
  down to a gap of about 1e-15. `gap` is the largest that was left.

gamma is 1 / median(cdist(X, X)^2) over all pairs, a row of count k being there k times.
"""

# ruff: noqa: B023  (functions that are used up within the turn of the loop that makes them)

import json
import platform

import numpy as np
import scipy
import sklearn
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

REGS = [1, 0.05, 0.005]


def kernel_matrix(kernel, x, y):
    name = kernel["name"]
    if name == "gaussian":
        return np.exp(-kernel["gamma"] * cdist(x, y, "sqeuclidean"))
    if name == "laplacian":
        return np.exp(-cdist(x, y, "cityblock") / kernel["sigma"])
    if name == "imq":
        return (kernel["c"] ** 2 + cdist(x, y, "sqeuclidean")) ** kernel["beta"]
    if name == "linear":
        return x @ y.T
    return (kernel["gamma"] * (x @ y.T) + kernel["coef0"]) ** kernel["degree"]


def depths(k, y, c, beta, b, reg):
    """beta are signed dual variables: f = K beta / (2 reg) + b."""
    f = k @ beta / (2 * reg) + b
    risk = float(c @ np.maximum(0, 1 - y * f))
    return risk, risk + float(beta @ k @ beta) / (4 * reg)


def free(kernel, x, k, y, c, reg):
    if kernel["name"] == "gaussian":
        model = SVC(
            kernel="rbf",
            gamma=kernel["gamma"],
            C=1 / (2 * reg),
            tol=1e-10,
            cache_size=500,
        )
        model.fit(x, y, sample_weight=c)
    else:
        model = SVC(kernel="precomputed", C=1 / (2 * reg), tol=1e-10, cache_size=500)
        model.fit(k, y, sample_weight=c)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0] * 2 * reg
    before = depths(k, y, c, beta, model.intercept_[0], reg)
    f = k @ beta / (2 * reg)
    kinks = y - f
    risks = [c @ np.maximum(0, 1 - y * (f + b)) for b in kinks]
    after = depths(k, y, c, beta, kinks[int(np.argmin(risks))], reg)
    return after, max(abs(p - q) for p, q in zip(before, after))


def interior(k, y, c, reg):
    """max sum a - a'Qa/2 over 0 <= a <= c with Q = yy'K / (2 reg), by Mehrotra's method."""
    q = np.outer(y, y) * k / (2 * reg)
    a, n = 0.5 * c, len(y)
    s = np.ones(n) * 0.5  # multipliers of a >= 0
    t = np.ones(n) * 0.5  # multipliers of a <= c
    gap = np.inf
    best = a
    for _ in range(100):
        r = q @ a - 1 - s + t
        mu = (s @ a + t @ (c - a)) / (2 * n)
        here = np.maximum(0, 1 - q @ a)
        now = float(c @ here - a.sum() + a @ q @ a)
        if now < gap:
            gap, best = now, a.copy()
        if mu < 1e-19:
            break
        u = c - a
        h = q + np.diag(s / a + t / u)
        h[np.diag_indices(n)] *= 1 + 1e-16

        def step(ms, mt):
            da = np.linalg.solve(h, -r + (ms - s * a) / a - (mt - t * u) / u)
            return da, (ms - s * a - s * da) / a, (mt - t * u + t * da) / u

        def reach(da, ds, dt):
            with np.errstate(divide="ignore", invalid="ignore"):
                return min(
                    1,
                    *(
                        0.9995 * np.min(np.where(d < 0, -v / d, np.inf))
                        for v, d in [(a, da), (u, -da), (s, ds), (t, dt)]
                    ),
                )

        da, ds, dt = step(0, 0)
        length = reach(da, ds, dt)
        ahead = (
            (s + length * ds) @ (a + length * da)
            + (t + length * dt) @ (u - length * da)
        ) / (2 * n)
        aim = mu * (ahead / mu) ** 3
        da, ds, dt = step(aim - ds * da, aim + dt * da)
        length = reach(da, ds, dt)
        a, s, t = a + length * da, s + length * ds, t + length * dt
    return best * y, gap


def queries_of(rows, held_out):
    """Sample points, points not in the sample, points between and beyond, and the mean."""
    rng = np.random.default_rng(7)
    pick = rng.choice(len(rows), size=8, replace=False)
    mean = np.round(rows.mean(axis=0), 3)
    far = np.round(mean + 4 * (rows[pick[6]] - mean), 3)
    middle = np.round((rows[pick[4]] + rows[pick[5]]) / 2, 3)
    return np.vstack([rows[pick[:4]], held_out[:5], [mean, middle, far]])


def case(rows, counts, queries, kernels):
    scaler = StandardScaler().fit(rows, sample_weight=counts)
    scaled, targets = scaler.transform(rows), scaler.transform(queries)
    keep = counts > 0
    copies = np.repeat(scaled, counts, axis=0)
    gamma = 1 / np.median(cdist(copies, copies, "sqeuclidean"))
    c = np.append(0.5 * counts[keep] / counts.sum(), 0.5)
    y = np.append(np.ones(keep.sum()), -1)
    cases = []
    for kernel in kernels:
        kernel = {k: gamma if v == "auto" else v for k, v in kernel.items()}
        for intercept in ["free", "none", "penalised"]:
            for reg in REGS:
                entry = {"kernel": kernel, "intercept": intercept, "reg": reg}
                found = []
                for z in targets:
                    x = np.vstack([scaled[keep], z])
                    k = kernel_matrix(kernel, x, x) + (intercept == "penalised")
                    if intercept == "free":
                        found.append(free(kernel, x, k, y, c, reg))
                    else:
                        beta, gap = interior(k, y, c, reg)
                        found.append((depths(k, y, c, beta, 0, reg), gap))
                entry["risk"] = [f[0][0] for f in found]
                entry["objective"] = [f[0][1] for f in found]
                entry["polish" if intercept == "free" else "gap"] = max(
                    f[1] for f in found
                )
                cases.append(entry)
    return {
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "scale": "standard",
        "rows": rows.tolist(),
        "counts": counts.tolist(),
        "queries": queries.tolist(),
        "cases": cases,
    }


def data():
    gaussian = {"name": "gaussian", "gamma": "auto"}
    others = [
        {"name": "laplacian", "sigma": 8.0},
        {"name": "imq", "c": 2.0, "beta": -0.7},
        {"name": "linear"},
        {"name": "polynomial", "gamma": "auto", "degree": 3, "coef0": 1.0},
    ]
    wine = load_wine().data
    ones = np.ones(150, dtype=int)
    yield (
        "wine",
        wine[:150],
        ones,
        queries_of(wine[:150], wine[150::5]),
        [gaussian, *others],
    )
    counts = np.random.default_rng(8).integers(0, 4, size=150)
    yield (
        "wine_counted",
        wine[:150],
        counts,
        queries_of(wine[:150], wine[150::5]),
        [gaussian],
    )
    cancer = load_breast_cancer().data
    ones = np.ones(250, dtype=int)
    yield (
        "breast_cancer",
        cancer[:250],
        ones,
        queries_of(cancer[:250], cancer[300::50]),
        [gaussian, {"name": "gaussian", "gamma": 0.5}],
    )
    digits = load_digits().data
    yield (
        "digits",
        digits[:250],
        ones,
        queries_of(digits[:250], digits[300::50]),
        [gaussian],
    )


for name, rows, counts, queries, kernels in data():
    golden = case(rows, counts, queries, kernels)
    with open(f"svm_{name}.json", "w") as file:
        json.dump(golden, file)
        file.write("\n")
    for entry in golden["cases"]:
        left = entry.get("gap", entry.get("polish"))
        span = min(entry["risk"]), max(entry["risk"])
        print(
            name,
            entry["kernel"]["name"],
            entry["intercept"],
            entry["reg"],
            left,
            "depths",
            *span,
        )
