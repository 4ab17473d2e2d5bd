"""Power of the kernel two-sample test beside a reference implementation, on the same samples.

    python benchmarks/power.py [--quick] [--json FILE]

The reference is the permutation test of Gretton et al. (2012) written out in NumPy: the unbiased
estimate of the squared maximum mean discrepancy, scikit-learn's Gaussian kernel, the median of the
distances of all rows as its width.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import lossdepth
import numpy as np
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.preprocessing import StandardScaler

LEVEL, PERMUTATIONS = 0.05, 199

# What differs, the rows of both samples, the columns, and the sizes of the difference.
TASKS: list[tuple[str, int, int, int, tuple[float, ...]]] = [
    ("none", 50, 50, 3, (0.0,)),
    ("shift of one column", 50, 50, 3, (0.25, 0.5, 0.75)),
    ("scale of all columns", 50, 50, 3, (1.25, 1.5, 2.0)),
    ("correlation", 50, 50, 3, (0.3, 0.6, 0.9)),
    ("shift of one column", 80, 30, 10, (0.5, 1.0)),
]


def pair(what: str, shape: tuple[int, int, int], size: float, rng: Any) -> tuple[Any, Any]:
    """Draw two samples: rows of the first, rows of the second, columns."""
    m, n, d = shape
    X, Y = rng.normal(size=(m, d)), rng.normal(size=(n, d))
    if what.startswith("shift"):
        Y[:, 0] += size
    elif what.startswith("scale"):
        Y *= size
    elif what == "correlation":
        Y[:, 1] = size * Y[:, 0] + np.sqrt(1 - size**2) * Y[:, 1]
    return X, Y


def reference(X: Any, Y: Any, rng: Any) -> float:
    """Return the p-value of the permutation test of Gretton et al."""
    pooled = StandardScaler().fit_transform(np.concatenate([X, Y]))
    total, m = len(pooled), len(X)
    width = np.median(euclidean_distances(pooled)[np.triu_indices(total, 1)])
    K = rbf_kernel(pooled, gamma=1 / (2 * width**2))
    np.fill_diagonal(K, 0.0)

    def unbiased(order: Any) -> float:
        x, y = order[:m], order[m:]
        within = K[np.ix_(x, x)].sum() / (m * (m - 1))
        within += K[np.ix_(y, y)].sum() / ((total - m) * (total - m - 1))
        return float(within - 2 * K[np.ix_(x, y)].mean())

    found = unbiased(np.arange(total))
    drawn = [unbiased(rng.permutation(total)) for _ in range(PERMUTATIONS)]
    return (1 + sum(value >= found for value in drawn)) / (1 + PERMUTATIONS)


def ours(X: Any, Y: Any, seed: int) -> float:
    """Return the p-value of our kernel test."""
    kwargs = {"tests": ["kernel"], "permutations": PERMUTATIONS, "random_state": seed, "n_jobs": 1}
    return lossdepth.compare(X, Y, **kwargs).tests[0].p


def main() -> None:
    """Read the arguments, simulate, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: fewer pairs")
    parser.add_argument("--pairs", type=int, default=500, help="pairs of samples for each row")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every figure")
    arguments = parser.parse_args()
    pairs = 10 if arguments.quick else arguments.pairs
    table = []
    print(f"shares of {pairs} pairs rejected at the level of {LEVEL:.0%}")
    for what, m, n, d, sizes in TASKS:
        for size in sizes:
            rng = np.random.default_rng([m, n, d, round(100 * size)])
            rejected: list[tuple[bool, bool]] = []
            for seed in range(pairs):
                X, Y = pair(what, (m, n, d), size, rng)
                rejected.append((ours(X, Y, seed) <= LEVEL, reference(X, Y, rng) <= LEVEL))
            mine, theirs = np.array(rejected).T
            row: dict[str, Any] = {"what": what, "m": m, "n": n, "d": d, "size": size}
            row |= {"ours": float(mine.mean()), "reference": float(theirs.mean())}
            row["only_ours"] = int((mine & ~theirs).sum())
            row["only_reference"] = int((theirs & ~mine).sum())
            table.append(row)
            print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(table, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
