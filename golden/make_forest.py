"""Golden values for the forest depth, by scikit-learn's random forests.

Run from this folder (about ten minutes on one core):

    python make_forest.py

Writes forest_<data>.json: the reference rows and counts, the queries, the settings, and for each query three numbers
computed from the probabilities averaged over all trees, each with its Monte-Carlo standard error by the jackknife
over the forests:

* log: 1/2 sum omega_i l(x_i) + 1/2 l(z) with l = -log2 of the probability of the true class,
* brier: the same with l = 4 (1 - probability of the true class)^2,
* paper-code: 1/2 sum omega_i l(x_i) / N + 1/2 l(z) in nats, where N is the sum of the counts.

The forests are RandomForestClassifier(criterion="log_loss", bootstrap=False). The masses omega_i/2 and 1/2 are given
as the counts and their sum N, which has the same ratios, but sums of whole numbers are exact: with fractions the
rounding of scikit-learn's sums decides which of two equally good splits wins. Between two equally good splits of one
feature, below and above the query, scikit-learn takes the lower one; the depth gives each one half. So every forest
sees its columns with random signs, which makes a fair coin of the lower one: a column can tie only once on the way to
the query's leaf, since the cut takes away one of the two sides.

All numbers are multiples of 1/1024 or whole: scikit-learn rounds to single precision and takes values within 1e-7 for
equal, which then changes nothing.
"""

import json
import platform

import numpy as np
import sklearn
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier

LN2 = np.log(2)


def jackknife(parts, statistic):
    """The statistic of the mean of the parts, less its bias, and its standard error."""
    k = len(parts)
    total = parts.sum(0)
    full = statistic(total / k)
    left_out = np.array([statistic((total - part) / (k - 1)) for part in parts])
    value = k * full - (k - 1) * left_out.mean()
    return float(value), float(
        np.sqrt((k - 1) / k * ((left_out - left_out.mean()) ** 2).sum())
    )


def query(rows, counts, z, settings, forests, rng):
    """One row for each forest: the probability of the query's class at every row, and last at the query."""
    x, y = np.vstack([rows, z]), np.r_[np.zeros(len(rows)), 1]
    weight = np.r_[counts, counts.sum()]
    parts = []
    for _ in range(forests):
        signs = rng.choice([-1.0, 1.0], x.shape[1])
        model = RandomForestClassifier(
            n_estimators=1000,
            criterion="log_loss",
            bootstrap=False,
            random_state=int(rng.integers(2**31)),
            **settings,
        ).fit(x * signs, y, sample_weight=weight)
        parts.append(model.predict_proba(x * signs)[:, 1])
    return np.array(parts)


def witness(rows, counts, z, settings, forests, rng):
    parts = query(rows, counts, z, settings, forests, rng)
    total = counts.sum()
    omega = counts / total

    def log(p):
        return -0.5 * omega @ np.log2(1 - p[:-1]) - 0.5 * np.log2(p[-1])

    def brier(p):
        return 2 * omega @ p[:-1] ** 2 + 2 * (1 - p[-1]) ** 2

    def paper_code(p):
        return -0.5 * omega @ np.log(1 - p[:-1]) / total - 0.5 * np.log(p[-1])

    named = {"log": log, "brier": brier, "paper-code": paper_code}
    return {name: jackknife(parts, statistic) for name, statistic in named.items()}


def grid(x):
    return np.round(x * 1024) / 1024


def samples(rng):
    """Name, rows, counts, queries, settings of the forest, number of forests."""
    iris = load_iris().data * 10  # whole numbers, with ties and duplicates
    iris = np.round(iris)
    yield (
        "iris",
        iris,
        np.ones(150),
        iris[[0, 60, 101, 117, 141]],
        {"max_depth": 2, "max_features": "sqrt"},
        20,
    )
    wine = grid(load_wine().data)
    counts = rng.integers(0, 4, len(wine)).astype(float)
    odd = wine[:6].copy()
    odd[4] += 1 / 512
    odd[5, [0, 3, 7]] += [4, 3, 2]
    yield (
        "wine",
        wine,
        np.ones(len(wine)),
        odd,
        {"max_depth": 2, "max_features": "sqrt"},
        20,
    )
    yield "wine_counted", wine, counts, odd, {"max_depth": 3, "max_features": 4}, 20
    digits = load_digits().data[:120]  # columns that do not vary
    yield (
        "digits",
        digits,
        np.ones(120),
        digits[[0, 7, 50]],
        {"max_depth": 2, "max_features": "sqrt"},
        20,
    )
    # Nine columns, six of them constant in the sample: most draws find nothing and go on.
    sparse = np.zeros((40, 9))
    sparse[:, [1, 4, 8]] = rng.integers(0, 4, (40, 3))
    queries = sparse[:4].copy()
    queries[2, 0] = 1.0  # differs in a column that is constant otherwise
    queries[3] += 0.5
    yield (
        "constants",
        sparse,
        np.ones(40),
        queries,
        {"max_depth": 2, "max_features": 3},
        20,
    )
    # Few values, many duplicates of the queries, both sides of a query often equal.
    coarse = rng.integers(0, 3, (24, 4)).astype(float)
    yield (
        "duplicates",
        coarse,
        np.ones(24),
        np.vstack([coarse[:4], np.ones(4)]),
        {"max_depth": 2, "max_features": 2},
        30,
    )
    normal = grid(rng.standard_normal((200, 5)) @ rng.standard_normal((5, 5)))
    yield (
        "normal",
        normal,
        np.ones(200),
        np.vstack([normal[:3], np.zeros(5)]),
        {"max_depth": 4, "max_features": 2},
        20,
    )
    tails = grid(rng.standard_t(2, (300, 8)))
    yield (
        "tails",
        tails,
        np.ones(300),
        np.vstack([tails[:3], np.zeros(8)]),
        {"max_depth": 1, "max_features": 0.5},
        20,
    )
    few = np.array([[0.0, 0, 5], [1, 0, 4], [2, 3, 4]])
    yield (
        "few",
        few,
        np.ones(3),
        np.array([[1.0, 1, 4.5], [1, 0, 4], [9, 9, 9]]),
        {"max_depth": 3, "max_features": 1},
        20,
    )


def main():
    rng = np.random.default_rng(20)
    for name, rows, counts, queries, settings, forests in samples(rng):
        found = [witness(rows, counts, z, settings, forests, rng) for z in queries]
        case = {
            "versions": {
                "python": platform.python_version(),
                "numpy": np.__version__,
                "scikit-learn": sklearn.__version__,
            },
            "trees": 1000 * forests,
            "max_depth": settings["max_depth"],
            "max_features": str(settings["max_features"]),
            "rows": rows.tolist(),
            "counts": counts.tolist(),
            "queries": queries.tolist(),
            "witnesses": found,
        }
        with open(f"forest_{name}.json", "w") as file:
            json.dump(case, file)
            file.write("\n")
        print(name, [w["log"] for w in found], flush=True)


if __name__ == "__main__":
    main()
