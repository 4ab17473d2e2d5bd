"""Golden values for the linear depths, by scikit-learn.

Run from this folder:

    python make.py

Writes logistic_<data>.json and hinge_<data>.json: the reference rows and counts, the queries, and for each penalty
the depths of all queries in the variants `risk` and `objective`, with a free intercept. Rows are as they ship with
scikit-learn; they are standardised by StandardScaler, weighted by the counts, which is scale `standard`.

The penalised risk of a classifier f(x) = <w, x> + b that tells the query z from rows x_i of weight omega_i is

    1/2 sum omega_i l(f(x_i)) + 1/2 l(-f(z)) + reg |w|^2

so sample_weight = [omega_1/2, ..., omega_n/2, 1/2], C = 1/(2 reg) for the hinge and 1/(2 reg ln 2) for the logistic
loss, which is in base 2.

* logistic: LogisticRegression(solver="newton-cholesky", tol=1e-12), then Newton steps in NumPy until they change
  nothing. `polish` is the largest change that made to a depth.
* hinge: SVC(kernel="linear", tol=1e-10). Its intercept comes from averages over the support vectors; the exact
  minimiser over b, one of the kinks, is taken instead. `polish` is the largest change that made to a depth.
"""

import json
import platform
import warnings

import numpy as np
import scipy
import sklearn
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

LN2 = np.log(2)


def logistic_loss(m):
    return np.logaddexp(0, -m) / LN2


def hinge_loss(m):
    return np.maximum(0, 1 - m)


def polish(x, y, c, reg, theta):
    """Newton steps for the mean loss in nats, from scikit-learn's answer; theta = [w, b]."""
    x1 = np.column_stack([x, np.ones(len(x))])
    penalty = np.full(x1.shape[1], 2 * reg * LN2)
    penalty[-1] = 0

    def gradient(theta):
        slope = -y * c * np.exp(-np.logaddexp(0, y * (x1 @ theta)))
        return x1.T @ slope + penalty * theta

    smallest = np.linalg.norm(gradient(theta))
    for _ in range(20):
        p = np.exp(-np.logaddexp(0, -(x1 @ theta)))
        hessian = (x1.T * (c * p * (1 - p))) @ x1 + np.diag(penalty)
        # Constant columns and a separable sample leave the intercept's row nearly 0: a trace of damping.
        hessian[-1, -1] += 1e-18
        step = theta - np.linalg.solve(hessian, gradient(theta))
        size = np.linalg.norm(gradient(step))
        if not size < smallest:
            break
        theta, smallest = step, size
    return theta, smallest


def depths(loss, c, y, values, w, reg):
    risk = float(c @ loss(y * values))
    return risk, risk + reg * float(w @ w)


def logistic(x, y, c, reg):
    model = LogisticRegression(
        solver="newton-cholesky", tol=1e-12, C=1 / (2 * reg * LN2), max_iter=1000
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where it cannot reach 1e-12 the polish does
        model.fit(x, y, sample_weight=c)
    theta = np.append(model.coef_[0], model.intercept_[0])
    before = depths(logistic_loss, c, y, x @ theta[:-1] + theta[-1], theta[:-1], reg)
    theta, gradient = polish(x, y, c, reg, theta)
    after = depths(logistic_loss, c, y, x @ theta[:-1] + theta[-1], theta[:-1], reg)
    return after, max(abs(a - b) for a, b in zip(before, after)), gradient


def hinge(x, y, c, reg):
    model = SVC(kernel="linear", tol=1e-10, C=1 / (2 * reg), cache_size=500)
    model.fit(x, y, sample_weight=c)
    w = model.coef_[0]
    before = depths(hinge_loss, c, y, x @ w + model.intercept_[0], w, reg)
    kinks = y - x @ w
    risks = [c @ hinge_loss(y * (x @ w + b)) for b in kinks]
    after = depths(hinge_loss, c, y, x @ w + kinks[int(np.argmin(risks))], w, reg)
    return after, max(abs(a - b) for a, b in zip(before, after)), None


def queries_of(rows, held_out):
    """Sample points, points not in the sample, points between and beyond, and the mean."""
    rng = np.random.default_rng(7)
    pick = rng.choice(len(rows), size=8, replace=False)
    mean = np.round(rows.mean(axis=0), 3)
    far = np.round(mean + 4 * (rows[pick[6]] - mean), 3)
    middle = np.round((rows[pick[4]] + rows[pick[5]]) / 2, 3)
    return np.vstack([rows[pick[:4]], held_out[:5], [mean, middle, far]])


def case(method, rows, counts, queries, regs):
    solve = {"logistic": logistic, "hinge": hinge}[method]
    scaler = StandardScaler().fit(rows, sample_weight=counts)
    scaled, targets = scaler.transform(rows), scaler.transform(queries)
    keep = counts > 0
    c = np.append(0.5 * counts[keep] / counts.sum(), 0.5)
    y = np.append(np.ones(keep.sum()), -1)
    cases = []
    for reg in regs:
        found = [solve(np.vstack([scaled[keep], z]), y, c, reg) for z in targets]
        entry = {
            "reg": reg,
            "risk": [f[0][0] for f in found],
            "objective": [f[0][1] for f in found],
            "polish": max(f[1] for f in found),
        }
        if method == "logistic":
            entry["gradient"] = max(f[2] for f in found)
        cases.append(entry)
    return {
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "method": method,
        "scale": "standard",
        "rows": rows.tolist(),
        "counts": counts.tolist(),
        "queries": queries.tolist(),
        "cases": cases,
    }


def data():
    wine = load_wine().data
    yield (
        "wine",
        wine[:150],
        np.ones(150, dtype=int),
        queries_of(wine[:150], wine[150::5]),
    )
    counts = np.random.default_rng(8).integers(0, 4, size=150)
    yield "wine_counted", wine[:150], counts, queries_of(wine[:150], wine[150::5])
    cancer = load_breast_cancer().data
    yield (
        "breast_cancer",
        cancer[:300],
        np.ones(300, dtype=int),
        queries_of(cancer[:300], cancer[300::50]),
    )
    digits = load_digits().data
    yield (
        "digits",
        digits[:300],
        np.ones(300, dtype=int),
        queries_of(digits[:300], digits[300::50]),
    )


for name, rows, counts, queries in data():
    for method, regs in [("logistic", [1, 1e-2, 1e-4]), ("hinge", [1, 0.05, 0.005])]:
        if method == "hinge" and name not in ("wine", "wine_counted", "breast_cancer"):
            continue
        golden = case(method, rows, counts, queries, regs)
        with open(f"{method}_{name}.json", "w") as file:
            json.dump(golden, file)
            file.write("\n")
        for entry in golden["cases"]:
            numbers = {k: v for k, v in entry.items() if not isinstance(v, list)}
            print(
                method,
                name,
                numbers,
                "depths",
                min(entry["risk"]),
                "to",
                max(entry["risk"]),
            )
