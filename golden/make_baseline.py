"""Golden values for the baselines and for how well scores tell two classes apart.

Run from this folder:

    python make_baseline.py

Writes baseline_<data>.json: the rows, the queries, and what scikit-learn says of them.

* `oc-svm`: OneClassSVM(tol=1e-10), score_samples and offset_, for several kernels and values of nu. Rows may have counts,
  which are given to it as copies.
* libsvm.json: OneClassSVM with its default tolerance, on the rows of baseline_wine.json and baseline_breast_cancer.json.
* `lof`: negative_outlier_factor_ of the rows and score_samples(queries) with novelty=True, for several k.
* `knn`: distances to the k nearest rows, by NearestNeighbors.

and evaluation.json: roc_auc_score and average_precision_score of scores with and without ties, where the first class is
the outliers and a low score is outlying; DeLong's variance, written out over all pairs.
"""

import json
import platform

import numpy as np
import scipy
import sklearn
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

VERSIONS = {
    "python": platform.python_version(),
    "numpy": np.__version__,
    "scipy": scipy.__version__,
    "scikit-learn": sklearn.__version__,
}

KERNELS = [
    {"name": "gaussian", "gamma": 0.05},
    {"name": "gaussian", "gamma": 1.0},
    {"name": "polynomial", "gamma": 0.1, "degree": 3, "coef0": 1.0},
]
SKLEARN = {"gaussian": "rbf", "polynomial": "poly"}


def one_class(rows, counts, queries, kernel, nu):
    settings = {k: v for k, v in kernel.items() if k != "name"}
    copies = np.repeat(rows, counts, axis=0)
    svm = OneClassSVM(kernel=SKLEARN[kernel["name"]], nu=nu, tol=1e-10, **settings).fit(
        copies
    )
    return {
        "kernel": kernel,
        "nu": nu,
        "own": svm.score_samples(rows).tolist(),
        "new": svm.score_samples(queries).tolist(),
        "offset": float(svm.offset_[0]),
    }


def lof(rows, queries, k):
    new = LocalOutlierFactor(n_neighbors=k, novelty=True).fit(rows)
    own = LocalOutlierFactor(n_neighbors=k).fit(rows)
    return {
        "k": k,
        "own": own.negative_outlier_factor_.tolist(),
        "new": new.score_samples(queries).tolist(),
    }


def knn(rows, queries, k):
    near = NearestNeighbors(n_neighbors=k).fit(rows)
    own, new = near.kneighbors()[0], near.kneighbors(queries)[0]
    return {
        "k": k,
        "own": {"largest": own[:, -1].tolist(), "mean": own.mean(axis=1).tolist()},
        "new": {"largest": new[:, -1].tolist(), "mean": new.mean(axis=1).tolist()},
    }


def save(name, rows, counts, queries, neighbours):
    case = {
        "versions": VERSIONS,
        "rows": rows.tolist(),
        "counts": counts.tolist(),
        "queries": queries.tolist(),
        "oc-svm": [
            one_class(rows, counts, queries, kernel, nu)
            for kernel in KERNELS
            for nu in (0.05, 0.1, 0.5)
        ],
        "lof": [lof(rows, queries, k) for k in neighbours],
        "knn": [knn(rows, queries, k) for k in neighbours],
    }
    with open(f"baseline_{name}.json", "w") as file:
        json.dump(case, file)
        file.write("\n")


def at_default_tolerance(files):
    cases = []
    for name, rows in files:
        for gamma in (0.05, 0.3):
            for nu in (0.1, 0.45):
                svm = OneClassSVM(nu=nu, gamma=gamma).fit(rows)
                own = svm.score_samples(rows).tolist()
                cases.append({"file": name, "gamma": gamma, "nu": nu, "own": own})
    with open("libsvm.json", "w") as file:
        json.dump({"versions": VERSIONS, "cases": cases}, file)
        file.write("\n")


def delong(low, high):
    """The variance, over all pairs."""
    wins = (low[:, None] < high[None, :]) + 0.5 * (low[:, None] == high[None, :])
    return wins.mean(axis=1).var(ddof=1) / len(low) + wins.mean(axis=0).var(
        ddof=1
    ) / len(high)


def rankings():
    rng = np.random.default_rng(3)
    for outliers, others, levels in [
        (1, 1, 0),
        (3, 10, 0),
        (20, 200, 0),
        (50, 80, 7),
        (5, 1000, 20),
        (40, 40, 2),
    ]:
        low, high = rng.normal(-1.0, 1.0, outliers), rng.normal(0.0, 1.0, others)
        if levels:
            low, high = np.floor(low * levels / 4), np.floor(high * levels / 4)
        y, score = np.r_[np.ones(outliers), np.zeros(others)], -np.r_[low, high]
        yield {
            "outliers": low.tolist(),
            "others": high.tolist(),
            "auc": float(roc_auc_score(y, score)),
            "average_precision": float(average_precision_score(y, score)),
            "variance": float(delong(low, high)) if min(outliers, others) > 1 else None,
        }


rng = np.random.default_rng(0)
wine = StandardScaler().fit_transform(load_wine().data)
save(
    "wine",
    wine[:150],
    np.ones(150, int),
    np.r_[wine[150:], 3 * rng.normal(size=(10, 13))],
    [1, 5, 20],
)
cancer = StandardScaler().fit_transform(load_breast_cancer().data)[:, :8]
save("breast_cancer", cancer[:300], np.ones(300, int), cancer[300:340], [3, 10, 35])
at_default_tolerance(
    [("baseline_wine.json", wine[:150]), ("baseline_breast_cancer.json", cancer[:300])]
)
# Three copies of everything: neighbours at distance 0, and ties that do not matter.
few = np.repeat(rng.normal(size=(30, 2)), 3, axis=0)
save(
    "copies",
    few,
    np.ones(90, int),
    np.r_[few[:3], 2 * rng.normal(size=(10, 2))],
    [2, 5, 8],
)
save("counted", wine[:60], 1 + np.arange(60) % 3, wine[60:80], [5])
with open("evaluation.json", "w") as file:
    json.dump({"versions": VERSIONS, "rankings": list(rankings())}, file)
    file.write("\n")
