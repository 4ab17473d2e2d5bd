"""Fit and score a sparse matrix: processor time, wall time and peak memory of each class.

    python benchmarks/sparse.py [--rows N] [--columns N] [--per-row N] [--classes NAMES]

Columns are drawn like words, the j-th with a chance of 1 / j^0.9. Each class has a process of its
own, whose peak memory is compared with the bytes that the dense matrix alone would take.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
from scipy.sparse import csr_array

import lossdepth


def words(rows: int, columns: int, per_row: int) -> csr_array:
    """Return logarithms of counts of words."""
    rng = np.random.default_rng(0)
    share = 1.0 / np.arange(1, columns + 1) ** 0.9
    drawn = rng.choice(columns, size=(rows, per_row), p=share / share.sum())
    place = (np.repeat(np.arange(rows), per_row), drawn.ravel())
    table = csr_array((np.ones(rows * per_row), place), shape=(rows, columns))
    table.sum_duplicates()
    table.data = np.log1p(table.data)
    return table


def measure(name: str, rows: int, columns: int, per_row: int) -> dict[str, float]:
    """Fit and score in this process."""
    X = words(rows, columns, per_row)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, used = time.perf_counter(), time.process_time()
    detector = getattr(lossdepth, name)().fit(X)
    fitted = time.process_time()
    scores = detector.score_details(X)
    return {
        "nonzeros": X.nnz,
        "fit": fitted - used,
        "score": time.process_time() - fitted,
        "wall": time.perf_counter() - started,
        "error": float(scores.error.max()),
        "peak": 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "before": 1024.0 * before,
    }


def main() -> None:
    """Measure each class in a process of its own, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--columns", type=int, default=200_000)
    parser.add_argument("--per-row", type=int, default=115)
    parser.add_argument("--classes", default="SVMDepth,LogisticDepth")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    sizes = (args.rows, args.columns, args.per_row)
    if args.one:
        print(json.dumps(measure(args.one, *sizes)))
        return
    print(f"{args.rows} x {args.columns}; dense: {8e-9 * args.rows * args.columns:.2f} GB")
    print("| class | numbers a row | fit, s | score, s | wall, s | peak, GB | largest error |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in args.classes.split(","):
        options = ["--rows", "--columns", "--per-row"]
        given = [text for pair in zip(options, map(str, sizes), strict=True) for text in pair]
        command = [sys.executable, __file__, "--one", name, *given]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        found = json.loads(done.stdout)
        print(
            f"| `{name}` | {found['nonzeros'] / args.rows:.0f} | {found['fit']:.1f} "
            f"| {found['score']:.1f} | {found['wall']:.1f} | {found['peak'] / 1e9:.2f} | {found['error']:.1e} |"
        )


if __name__ == "__main__":
    main()
