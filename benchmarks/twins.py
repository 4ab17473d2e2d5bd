"""Classifiers of scikit-learn as depths: trained for each query, and by their native twins.

Prints a Markdown table: the time a query takes, the ratio, and how far the values are apart.
One thread each. The classifiers are trained for a few queries only; the twins score all rows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import lossdepth
import numpy as np
import sklearn
from lossdepth import LossDepth
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

DATA = {"wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
CLASSIFIERS: list[tuple[Any, dict[str, Any]]] = [
    (LogisticRegression(C=1.0, tol=1e-8, max_iter=10_000), {}),
    (LogisticRegression(C=1000.0, tol=1e-8, max_iter=10_000), {}),
    (SVC(C=1.0, gamma=0.05, tol=1e-6), {"loss": "hinge"}),
    (SVC(C=100.0, gamma=0.05, tol=1e-6), {"loss": "hinge"}),
    (RandomForestClassifier(1000, bootstrap=False, max_depth=2), {}),
    (GaussianProcessClassifier(RBF(4.0), optimizer=None), {"weighting": "repeat"}),
]


def timed(detector: LossDepth, X: Any, rows: Any, repeats: int) -> tuple[float, Any]:
    """Return the seconds a query takes, at best, and the depths."""
    detector.fit(X)
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        depths = detector.score_samples(rows)
        best = min(best, (time.perf_counter() - start) / len(rows))
    return best, depths


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="wine alone, two queries")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    print(f"lossdepth {lossdepth.__version__}, scikit-learn {sklearn.__version__}, one thread\n")
    print("| data | rows × columns | classifier | trained, ms | twin, ms | ratio | difference |")
    print("|---|---|---|---:|---:|---:|---:|")
    with threadpool_limits(1):
        for name, load in list(DATA.items())[: 1 if quick else 3]:
            X = StandardScaler().fit_transform(load().data)
            for classifier, settings in CLASSIFIERS:
                process = isinstance(classifier, GaussianProcessClassifier)
                count = 2 if quick or process else 5
                places = np.linspace(0, len(X) - 1, count).astype(int)
                common = {"contamination": None, **settings}
                slow = LossDepth(classifier, fast=False, **common)
                fast = LossDepth(classifier, fast=True, **common)
                sample = X[:600] if process else X
                seconds, expected = timed(slow, sample, X[places], 1)
                ours, depths = timed(fast, sample, X, 1 if quick else 3)
                apart = np.abs(depths[places] - expected).max()
                label = f"{type(classifier).__name__}" + (
                    f"(C={classifier.C:g})" if hasattr(classifier, "C") else ""
                )
                print(
                    f"| {name} | {sample.shape[0]} × {X.shape[1]} | {label} "
                    f"| {1e3 * seconds:.3g} | {1e3 * ours:.2g} "
                    f"| {seconds / ours:,.0f}× | {apart:.0e} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
