"""The Gaussian process depth against GaussianProcessClassifier in a loop: time and agreement.

    python processes.py --data DIR [--rows N]

DIR holds glass.mat and vowels.mat of ODDS. One thread each, in turns; processor time, the smallest
of three.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np  # noqa: E402
import sklearn  # noqa: E402
from lossdepth import GPDepth, __version__  # noqa: E402
from scipy.io import loadmat  # noqa: E402
from scipy.spatial.distance import cdist  # noqa: E402
from sklearn.gaussian_process import GaussianProcessClassifier  # noqa: E402
from sklearn.gaussian_process.kernels import RBF  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def peer(X: Floats, Z: Floats) -> Floats:
    """Fit scikit-learn to the sample and n copies of each query."""
    n, scale = len(X), np.quantile(cdist(X, X), 0.25)
    labels = np.r_[np.ones(n), np.zeros(n)]
    found = []
    for z in Z:
        rows = np.vstack([X, np.repeat(z[None], n, axis=0)])
        model = GaussianProcessClassifier(kernel=RBF(scale), optimizer=None, max_iter_predict=1000)
        p = model.fit(rows, labels).predict_proba(np.vstack([X, z]))
        found.append(-0.5 * np.mean(np.log2(p[:n, 1])) - 0.5 * np.log2(p[n, 0]))
    return np.array(found)


def main() -> None:
    """Print a row for each sample."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=3, help="queries for the peer, on vowels")
    args = parser.parse_args()
    print(f"lossdepth {__version__}, scikit-learn {sklearn.__version__}, one thread each")
    names = "sample | n | ours, a query | with standard error | peer, a query | ratio | difference"
    print(f"| {names} | largest error |")
    print("|---|---|---|---|---|---|---|---|")
    for name, few, runs in (("glass", 10 * args.rows, 12), ("vowels", args.rows, 3)):
        X = np.ascontiguousarray(loadmat(args.data / f"{name}.mat")["X"], dtype=float)
        ours = GPDepth(scale="none", n_jobs=1)
        # Fitting does not score the rows.
        ours.fit(X)
        Z = X[:: len(X) // few][:few]
        fast, full, slow = [], [], []
        # The best of so many runs, in turns.
        for _ in range(runs):
            start = time.process_time()
            depths = ours.score_samples(X[:300])
            fast.append((time.process_time() - start) / len(depths))
            start = time.process_time()
            details = ours.score_details(X[:300])
            full.append((time.process_time() - start) / len(depths))
            start = time.process_time()
            expected = peer(X, Z)
            slow.append((time.process_time() - start) / few)
        difference = np.abs(ours.score_samples(Z) - expected).max()
        print(
            f"| {name} | {len(X)} | {1e3 * min(fast):.3g} ms | {1e3 * min(full):.3g} ms "
            f"| {1e3 * min(slow):.4g} ms "
            f"| {min(slow) / min(fast):.0f}× | {difference:.1e} | {details.error.max():.1e} |"
        )


if __name__ == "__main__":
    main()
