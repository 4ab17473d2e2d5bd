"""All rows of a table against all, as tables grow: time, memory and AUC, ours beside two peers.

    python benchmarks/growth.py [--smallest N] [--largest N] [--knn-rows N] [--threads N]
        [--repeats N] [--only NAME...]

The default method (`AutoDepth`), scikit-learn's `IsolationForest` and the distance to the fifth
neighbour (`NearestNeighbors` on standardised columns) get the same rows in the same run, each in a
process of its own, one after another, and so again for each repeat. Times are processor time of
`fit` and `score_samples` and of the clock in brackets, and both as multiples of IsolationForest's;
medians of the repeats. Imports and the making of the table are not in them. Neighbours are left out
above `--knn-rows`: their time grows nearly with the square of the rows.

`planted` has 10 correlated columns with heavy tails, and one row in a hundred with a column of
another row: each value is normal, the combination is not. The others have the shape of three large
public tables, at their full size, and are simulated: `http` (few columns, outliers in one tight
cluster), `cover` (several dense groups, a small group beside them) and `donors` (mostly yes or no,
one row in seventeen an outlier).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import roc_auc_score

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Labels = NDArray[np.bool_]

SIZES = (1_000, 10_000, 100_000, 1_000_000)
SEED = 0
PEER = "IsolationForest"


def marked(rng: np.random.Generator, rows: int, outliers: int) -> Labels:
    """Choose which rows are outliers."""
    labels = np.zeros(rows, dtype=bool)
    labels[rng.choice(rows, outliers, replace=False)] = True
    return labels


def planted(rows: int) -> tuple[Floats, Labels]:
    """Make correlated rows, some with one value from another row."""
    rng, columns = np.random.default_rng(SEED), 10
    mix = rng.normal(size=(3, columns))
    made = rng.standard_t(5, size=(rows, 3)) @ mix + 0.3 * rng.standard_t(5, size=(rows, columns))
    labels = marked(rng, rows, rows // 100)
    places = np.flatnonzero(labels)
    chosen = rng.integers(0, columns, size=len(places))
    made[places, chosen] = made[rng.permutation(rows)[: len(places)], chosen]
    return made, labels


def http(rows: int) -> tuple[Floats, Labels]:
    """Make few columns of logarithms, and outliers in one tight cluster."""
    rng = np.random.default_rng(SEED)
    labels = marked(rng, rows, rows * 2_211 // 567_498)
    made = rng.normal(size=(rows, 3)) * [0.3, 0.5, 1.2] + [0, 5, 8]
    made[labels] = rng.normal(size=(labels.sum(), 3)) * 0.1 + [4, 9, 9]
    return np.round(made, 2), labels


def cover(rows: int) -> tuple[Floats, Labels]:
    """Make dense groups in ten columns, and a small group beside them."""
    rng, columns = np.random.default_rng(SEED), 10
    labels = marked(rng, rows, rows * 2_747 // 286_048)
    centres, spreads = rng.normal(size=(6, columns)) * 1.5, rng.uniform(0.3, 1.2, (6, columns))
    group = rng.integers(0, 5, size=rows)
    group[labels] = 5
    made = centres[group] + spreads[group] * rng.normal(size=(rows, columns))
    made[labels, :3] -= 2.5
    return made, labels


def donors(rows: int) -> tuple[Floats, Labels]:
    """Make eight columns of yes or no with two of numbers, and outliers that are mostly yes."""
    rng = np.random.default_rng(SEED)
    labels = marked(rng, rows, rows * 36_710 // 619_326)
    share = np.where(labels[:, None], 0.8, rng.uniform(0.1, 0.6, 8))
    flags = (rng.random((rows, 8)) < share).astype(float)
    numbers = rng.lognormal(size=(rows, 2)) * np.where(labels[:, None], 1.5, 1.0)
    return np.hstack([flags, numbers]), labels


TABLES = {
    **{f"planted {rows}": (planted, rows) for rows in SIZES},
    "http": (http, 567_498),
    "cover": (cover, 286_048),
    "donors": (donors, 619_326),
}


def ours(table: Floats, threads: int) -> Floats:
    """Score by the default method."""
    from lossdepth import AutoDepth  # noqa: PLC0415

    return -AutoDepth(n_jobs=threads).fit(table).score_samples(table)


def isolation_forest(table: Floats, threads: int) -> Floats:
    """Score by scikit-learn's isolation forest."""
    from sklearn.ensemble import IsolationForest  # noqa: PLC0415

    detector = IsolationForest(random_state=SEED, n_jobs=threads).fit(table)
    return -detector.score_samples(table)


def neighbours(table: Floats, threads: int) -> Floats:
    """Score by the distance to the fifth neighbour."""
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    scaled = StandardScaler().fit_transform(table)
    found = NearestNeighbors(n_neighbors=5, n_jobs=threads).fit(scaled).kneighbors()[0]
    return found[:, -1]


METHODS: dict[str, Callable[[Floats, int], Floats]] = {
    "auto": ours,
    PEER: isolation_forest,
    "KNN": neighbours,
}


def measure(table: str, method: str, threads: int) -> dict[str, float]:
    """Score a table in this process."""
    make, size = TABLES[table]
    rows, labels = make(size)
    # Imports, and threads that start, are not part of the time.
    METHODS[method](rows[:200], threads)
    used, clock = time.process_time(), time.perf_counter()
    scores = METHODS[method](rows, threads)
    used, clock = time.process_time() - used, time.perf_counter() - clock
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"used": used, "clock": clock, "peak": peak, "auc": roc_auc_score(labels, scores)}


def in_a_process(table: str, method: str, threads: int) -> dict[str, float]:
    """Score a table in a process of its own."""
    command = [sys.executable, __file__, "--threads", str(threads), "--measure", table, method]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    found: dict[str, float] = json.loads(done.stdout)
    return found


def line(title: str, method: str, found: dict[str, float], peer: dict[str, float]) -> str:
    """Return a row of the table."""
    ratios = [found[clock] / peer[clock] for clock in ("used", "clock")]
    return (
        f"| {title} | {method} | {found['used']:.2f} s ({found['clock']:.2f} s) "
        f"| {ratios[0]:.2g} ({ratios[1]:.2g}) | {found['peak'] / 1e6:,.0f} MB "
        f"| {found['auc']:.3f} |"
    )


def main() -> None:
    """Measure every table with every method, and print a table of Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smallest", type=int, default=0, help="skip smaller tables")
    parser.add_argument("--largest", type=int, default=1_000_000, help="skip larger tables")
    parser.add_argument("--knn-rows", type=int, default=100_000, help="skip KNN above this")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=TABLES, default=list(TABLES))
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(*args.measure, args.threads)))
        return
    print(f"lossdepth {version('lossdepth')}, scikit-learn {version('scikit-learn')}, ", end="")
    print(f"{args.threads} thread(s)\n")
    print(f"| table | rows | method | time | as multiple of {PEER} | peak memory | AUC |")
    print("|---|---:|---|---:|---:|---:|---:|", flush=True)
    for table in args.only:
        size = TABLES[table][1]
        if not args.smallest <= size <= args.largest:
            continue
        methods = [method for method in METHODS if method != "KNN" or size <= args.knn_rows]
        runs: dict[str, list[dict[str, float]]] = {method: [] for method in methods}
        for _ in range(args.repeats):
            for method in methods:
                runs[method].append(in_a_process(table, method, args.threads))
        medians = {
            method: {key: median(run[key] for run in of) for key in of[0]}
            for method, of in runs.items()
        }
        for method, found in medians.items():
            title = f"{table.split()[0]} | {size:,}"
            print(line(title, method, found, medians[PEER]), flush=True)


if __name__ == "__main__":
    main()
