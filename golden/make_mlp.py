"""Golden values for the network depth, by scikit-learn.

Run from this folder:

    python make_mlp.py

Writes mlp_<data>.json: the reference rows and counts, the queries, and for each architecture and penalty the smallest
objective that MLPClassifier reaches from a few seeds with each solver, with the risk of that network. Rows are as they
ship with scikit-learn, standardised (weighted by the counts) or not.

The objective of a network f that tells the query z from rows x_i of weight omega_i is

    1/2 sum omega_i l(f(x_i)) + 1/2 l(-f(z)) + reg |weights|^2

with l(m) = log2(1 + exp(-m)) and biases not penalised. MLPClassifier minimises, in nats,

    sum s_i l(y_i f(x_i)) / sum s_i + alpha / 2 |weights|^2 / sum s_i

* lbfgs: sample_weight s = [omega_1/2, ..., omega_n/2, 1/2], alpha = 2 ln 2 reg.
* adam: the query repeated as often as the others count together, so that a batch holds both; alpha = 2 ln 2 reg times the
  size of a batch.

Training is not convex, so these are not minima, only networks: none may be better than what we prove, and ours should be at
least as good.
"""

import json
import platform
import warnings

import numpy as np
import scipy
import sklearn
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

LN2 = np.log(2)
SEEDS = 3


def network(model, x):
    """Evaluate the output before the logistic function."""
    for weights, biases in zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True):
        x = np.maximum(x @ weights + biases, 0)
    return (x @ model.coefs_[-1] + model.intercepts_[-1])[:, 0]


def objective(model, rows, omega, z, reg):
    risk = 0.5 * omega @ np.logaddexp(0, -network(model, rows)) / LN2
    risk += 0.5 * np.logaddexp(0, network(model, z[None]))[0] / LN2
    return risk + reg * sum((w**2).sum() for w in model.coefs_), risk


def fits(rows, counts, z, hidden, reg):
    omega = counts / counts.sum()
    for seed in range(SEEDS):
        model = MLPClassifier(
            hidden,
            solver="lbfgs",
            alpha=2 * LN2 * reg,
            max_iter=2000,
            random_state=seed,
        )
        mass = np.append(0.5 * omega, 0.5)
        yield model.fit(
            np.vstack([rows, z]), np.append(np.ones(len(rows)), 0), sample_weight=mass
        )
        copies = np.repeat(rows, counts, axis=0)
        batch = min(200, 2 * len(copies))
        alpha = 2 * LN2 * reg * batch
        model = MLPClassifier(
            hidden,
            solver="adam",
            alpha=alpha,
            batch_size=batch,
            max_iter=1000,
            random_state=seed,
        )
        yield model.fit(
            np.vstack([copies, np.repeat(z[None], len(copies), axis=0)]),
            np.repeat([1, 0], len(copies)),
        )


def main():
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(11)
    for name, load, scaled in (
        ("iris", load_iris, False),
        ("wine", load_wine, True),
        ("wine_raw", load_wine, False),
        ("breast_cancer", load_breast_cancer, True),
    ):
        raw = load().data[::2][:200]
        counts = (
            rng.integers(1, 4, size=len(raw))
            if name == "iris"
            else np.ones(len(raw), dtype=int)
        )
        scaler = StandardScaler().fit(raw, sample_weight=counts)
        rows = scaler.transform(raw) if scaled else raw
        queries = np.vstack(
            [
                rows[:2],
                load().data[1:2] if not scaled else 1.5 * rows[5:6],
                rows.mean(axis=0),
            ]
        )
        cases = []
        for hidden, reg in (
            ((100,), 0.01),
            ((20,), 0.1),
            ((100,), 0.001),
            ((20, 10), 0.01),
        ):
            best = [
                min(
                    objective(m, rows, counts / counts.sum(), z, reg)
                    for m in fits(rows, counts, z, hidden, reg)
                )
                for z in queries
            ]
            cases.append(
                {
                    "hidden": hidden,
                    "reg": reg,
                    "objective": [b[0] for b in best],
                    "risk": [b[1] for b in best],
                }
            )
        versions = {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        }
        file = {
            "made_by": "golden/make_mlp.py",
            "versions": versions | {"scikit-learn": sklearn.__version__},
            "seeds": SEEDS,
            "rows": rows.tolist(),
            "counts": counts.tolist(),
            "queries": queries.tolist(),
            "cases": cases,
        }
        with open(f"mlp_{name}.json", "w", encoding="utf-8") as out:
            json.dump(file, out)
            out.write("\n")
        print(
            name,
            [[round(o, 4) for o in case["objective"]] for case in cases],
            flush=True,
        )


if __name__ == "__main__":
    main()
