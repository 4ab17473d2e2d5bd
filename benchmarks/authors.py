"""How long the scripts behind the paper's tables would take on this machine, by scikit-learn.

    python benchmarks/authors.py --data DIR [--markdown FILE]

The scripts fit one classifier for each row that is scored. Here a few of these fits are timed, one
thread's processor time, and multiplied by how many there are; the times of `lossdepth reproduce`
are in the pages that it writes.

* A fit that would take minutes is timed in part: networks on more than 1000 rows for ten epochs and
  counted as a hundred (the scripts allow a thousand), Gaussian processes on more than 1500 rows by
  the cube of the number of rows. Both make the estimate low rather than high.
* LOF and OC-SVM are one fit for a data set and take seconds.
"""

from __future__ import annotations

import argparse
import gzip
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.io
import sklearn
from scipy.spatial.distance import pdist
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

if TYPE_CHECKING:
    from collections.abc import Callable

warnings.filterwarnings("ignore")

SETS = {
    "wine": "odds/wine.mat",
    "glass": "adbench/14_glass.npz",
    "lympho": "adbench/21_Lymphography.npz",
    "vowels": "odds/vowels.mat",
    "pima": "odds/pima.mat",
    "breastw": "odds/breastw.mat",
    "thyroid": "odds/thyroid.mat",
    "annthyroid": "odds/annthyroid.mat",
    "pendigits": "odds/pendigits.mat",
}
METHODS = ["LR", "SVM", "RF", "MLP", "GP"]


def read(path: Path) -> np.ndarray:
    """Read the rows of a data set."""
    if path.suffix == ".npz":
        return np.load(path)["X"].astype(float)
    return scipy.io.loadmat(path)["X"].astype(float)


def images(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read the training images and their classes."""
    with gzip.open(folder / "train-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(folder / "train-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    return pixels.astype(float), labels


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of something: what else the machine does should not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def fit(method: str, X: np.ndarray, z: np.ndarray) -> float:
    """Return the seconds that one query takes."""
    n = len(X)
    rows, labels = np.r_[X, [z]], np.r_[np.ones(n), 0]
    balanced = {"class_weight": "balanced"}
    if method == "LR":
        model = LogisticRegression(C=1 / n, max_iter=1000, **balanced)
        return seconds(lambda: model.fit(rows, labels).predict_proba(rows))
    if method == "SVM":
        some = X[np.random.default_rng(0).permutation(n)[:1000]]
        gamma = 1 / np.median(pdist(some, "sqeuclidean"))
        model = SVC(C=1.0, gamma=gamma, **balanced)
        return seconds(lambda: model.fit(rows, labels).decision_function(rows))
    if method == "RF":
        model = RandomForestClassifier(
            1000, criterion="log_loss", max_depth=2, bootstrap=False, **balanced
        )
        return seconds(lambda: model.fit(rows, labels).predict_proba(rows))
    repeated, labels = np.r_[X, np.repeat([z], n, axis=0)], np.r_[np.ones(n), np.zeros(n)]
    if method == "MLP":
        large = n > 1000
        model = MLPClassifier((100,), alpha=0.01 * n, max_iter=10 if large else 1000)
        spent = seconds(lambda: model.fit(repeated, labels).predict_proba(repeated))
        return 10 * spent if large else spent
    if n > 1500:
        return fit("GP", X[:1000], z) * (n / 1000) ** 3
    scale = np.quantile(pdist(X), 0.25)
    model = GaussianProcessClassifier(RBF(scale), optimizer=None)
    return seconds(lambda: model.fit(repeated, labels).predict_proba(repeated))


def queries(method: str, n: int) -> int:
    """Return how many fits are timed."""
    return 1 if method in ("MLP", "GP") and n > 500 else 3


def duration(t: float) -> str:
    """Write seconds in a unit that fits."""
    for unit, size in (("days", 86400), ("h", 3600), ("min", 60)):
        if t >= 1.5 * size:
            return f"{t / size:.1f} {unit}"
    return f"{t:.0f} s"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--markdown", type=Path)
    args = parser.parse_args()
    lines = ["| set | " + " | ".join(METHODS) + " | all |", "| --- |" + " ---: |" * 6]
    total = 0.0
    for name, file in SETS.items():
        X = read(args.data / file)
        rng = np.random.default_rng(0)
        cells, row = [], 0.0
        for method in METHODS:
            chosen = rng.choice(len(X), queries(method, len(X)), replace=False)
            spent = np.mean([fit(method, X, X[i]) for i in chosen]) * len(X)
            cells.append(duration(spent))
            row += spent
        total += row
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {duration(row)} |")
        print(lines[-1], flush=True)
    lines.append(f"| **odds** | | | | | | **{duration(total)}** |")
    pixels, labels = images(args.data / "mnist")
    for n, seeds in ((100, 10), (1000, 10), (5000, 1)):
        X, others = pixels[labels == 3][:n], pixels[labels != 3][:3]
        for method in ("LR", "SVM"):
            spent = np.mean([fit(method, X, z) for z in others]) * 14_000 * 10 * seeds
            total += 2 * spent
            each = f"two sets of images, {method}, n = {n}, {10 * seeds} samples, 14 000 queries"
            lines.append(f"| {each} | | | | | | {duration(2 * spent)} |")
            print(lines[-1], flush=True)
    lines.append(f"| **all** | | | | | | **{duration(total)}** |")
    text = f"scikit-learn {sklearn.__version__}, one thread.\n\n" + "\n".join(lines) + "\n"
    print(text)
    if args.markdown:
        args.markdown.write_text(text)


if __name__ == "__main__":
    main()
