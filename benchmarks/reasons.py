"""How often SHAP values of an isolation forest name the columns that were corrupted.

The tables are those of the example `judge_reasons` of the library:

    cargo run --release -p lossdepth --example judge_reasons -- --rows 26 --seed 1 --write tables
    python benchmarks/reasons.py tables --kernel-rows 10

Needs scikit-learn and shap. The forest is fitted to the whole table, corrupted rows included, as
ours are. A column is the first reason if its SHAP value lowers the score most. `KernelExplainer`
runs with its defaults (2048 + 2 d coalitions) and 50 background rows, on the first rows of each
table only, since it takes long; `TreeExplainer`, which is for trees alone, on all of them. Times
are processor times of one thread.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
import shap  # noqa: E402
import sklearn  # noqa: E402
from sklearn.ensemble import IsolationForest  # noqa: E402

Found = dict[int, list[int]]


def read(path: Path) -> tuple[np.ndarray, list[list[int]]]:
    """Return the rows of a table, and for each the columns that were corrupted."""
    lines = [line.rsplit(",", 1) for line in path.read_text().splitlines()]
    rows = np.array([[float(value) for value in values.split(",")] for values, _ in lines])
    return rows, [[int(name) for name in names.split()] for _, names in lines]


def hits(values: np.ndarray, corrupted: list[list[int]]) -> Found:
    """Count, for rows with one and with two corrupted columns, those found and all."""
    found = {1: [0, 0], 2: [0, 0]}
    for row, columns in zip(values, corrupted, strict=True):
        order = np.argsort(row, kind="stable")
        first = order[:1] if len(columns) == 1 else order[:3]
        found[len(columns)][0] += set(columns) <= set(first.tolist())
        found[len(columns)][1] += 1
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", type=Path)
    parser.add_argument("--kernel-rows", type=int, default=10)
    arguments = parser.parse_args()
    print(
        f"shap {shap.__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}",
        file=sys.stderr,
    )
    print("| explanation | table | first % | both % | ms a row |")
    print("|---|---|---:|---:|---:|")
    totals = {}
    for path in sorted(arguments.tables.glob("*.csv")):
        rows, corrupted = read(path)
        odd = [i for i, columns in enumerate(corrupted) if columns]
        forest = IsolationForest(random_state=0, n_jobs=1).fit(rows)
        background = shap.sample(rows, 50, random_state=0)
        explainers = {
            "TreeExplainer": (shap.TreeExplainer(forest).shap_values, odd),
            "KernelExplainer": (
                lambda x, f=forest, b=background: shap.KernelExplainer(
                    f.score_samples, b
                ).shap_values(x, silent=True),
                odd[: arguments.kernel_rows],
            ),
        }
        for name, (explain, chosen) in explainers.items():
            if not chosen:
                continue
            start = time.process_time()
            values = explain(rows[chosen])
            seconds = time.process_time() - start
            found = hits(values, [corrupted[i] for i in chosen])
            report(name, path.stem, found, seconds, len(chosen))
            total = totals.setdefault(name, [{1: [0, 0], 2: [0, 0]}, 0.0, 0])
            for size in found:
                total[0][size] = [a + b for a, b in zip(total[0][size], found[size], strict=True)]
            total[1] += seconds
            total[2] += len(chosen)
    for name, (found, seconds, count) in totals.items():
        report(name, "**all**", found, seconds, count)


def report(name: str, table: str, found: Found, seconds: float, rows: int) -> None:
    """Print a row of the table."""
    first, both = (100 * found[size][0] / max(found[size][1], 1) for size in (1, 2))
    print(
        f"| {name} | {table} | {first:.0f} | {both:.0f} | {1000 * seconds / rows:.1f} |", flush=True
    )


if __name__ == "__main__":
    main()
