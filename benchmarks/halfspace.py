"""Time the halfspace depth against R's ddalpha, one thread each, by processor time.

    python benchmarks/halfspace.py [--quick] [--json FILE]

Needs R with the package ddalpha (Debian: r-cran-ddalpha); without it, it says so and stops.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from lossdepth import HalfspaceDepth

R_SCRIPT = """
suppressMessages(library(ddalpha))
folder <- commandArgs(trailingOnly = TRUE)[1]
exact <- commandArgs(trailingOnly = TRUE)[2] == "exact"
X <- as.matrix(read.csv(file.path(folder, "X.csv"), header = FALSE))
Z <- as.matrix(read.csv(file.path(folder, "Z.csv"), header = FALSE))
start <- proc.time()[1]
depth <- if (exact) {
  depth.halfspace(Z, X, exact = TRUE)
} else {
  depth.halfspace(Z, X, exact = FALSE, num.directions = 1000)
}
cat(sprintf("%.17g\\n", c(proc.time()[1] - start, depth)))
"""

# Rows, columns, queries, and how many times faster we mean to be.
EXACT = [(1000, 2, 300, 5), (1000, 3, 12, 10), (500, 4, 3, 20), (100, 5, 3, 20)]
KINDS = {"outlying": 1.5, "middling": 0.5, "central": 0.1}


def ddalpha(X: Any, Z: Any, how: str) -> tuple[float, Any]:
    """Return the seconds that ddalpha takes, and its depths."""
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in (("X", X), ("Z", Z)):
            np.savetxt(Path(folder) / f"{name}.csv", rows, delimiter=",", fmt="%.17g")
        script = Path(folder) / "run.R"
        script.write_text(R_SCRIPT, encoding="utf-8")
        command = ["Rscript", str(script), folder, how]
        ran = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    numbers = np.array(ran.stdout.split(), dtype=float)
    return numbers[0], numbers[1:]


def ours(X: Any, Z: Any, budget: int) -> tuple[float, Any]:
    """Return the seconds that we take, preparation included, and the scores."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        detector = HalfspaceDepth(budget=budget, n_jobs=1)
        detector.fit(X)
        scores = detector.score_details(Z)
        return time.process_time() - start, scores


def exact(*, quick: bool) -> list[dict[str, Any]]:
    """Compare where ddalpha is exact: a third of the queries of each kind."""
    table = []
    for n, d, queries, goal in EXACT[: 2 if quick else None]:
        rng = np.random.default_rng(d)
        X = rng.normal(size=(n, d))
        count = max(3, queries // 10) if quick else queries
        scale = np.resize([1.0, 0.5, 0.1], count)[:, None]
        Z = scale * rng.normal(size=(count, d))
        runs = [ours(X, Z, 1000) for _ in range(3)]
        theirs, depths = ddalpha(X, Z, "exact")
        runs += [ours(X, Z, 1000) for _ in range(2)]
        mine, scores = min(runs, key=lambda run: run[0])
        table.append(
            {
                "n": n,
                "d": d,
                "ours_ms": 1e3 * mine / count,
                "ddalpha_ms": 1e3 * theirs / count,
                "ratio": theirs / mine,
                "goal": goal,
                "closed": float(scores.converged.mean()),
                "equal": float(np.isclose(scores.depth, depths).mean()),
            }
        )
        print(
            "n {n}, d {d}: {ours_ms:.3f} ms, ddalpha {ddalpha_ms:.3f} ms, {ratio:.0f} times "
            "as fast (goal {goal}); closed {closed:.0%}, equal {equal:.0%}".format(**table[-1]),
            flush=True,
        )
    return table


def many(*, quick: bool) -> list[dict[str, Any]]:
    """Compare attained depths in many columns with 1000 random directions, in no more time."""
    table = []
    for d in (10,) if quick else (10, 50, 200):
        rng = np.random.default_rng(d)
        X = rng.normal(size=(1000, d))
        for kind, scale in KINDS.items():
            Z = scale * rng.normal(size=(40, d))
            theirs, depths = ddalpha(X, Z, "random")
            for budget in (80, 40, 20, 10, 5, 2, 1):
                mine, scores = ours(X, Z, budget)
                if mine <= theirs:
                    break
            table.append(
                {
                    "d": d,
                    "queries": kind,
                    "budget": budget,
                    "ours_ms": 1e3 * mine / 40,
                    "ddalpha_ms": 1e3 * theirs / 40,
                    "depth": float(scores.depth.mean()),
                    "ddalpha": float(depths.mean()),
                    "never_above": bool((scores.depth <= depths + 1e-12).all()),
                    "closed": float(scores.converged.mean()),
                    "lower": float((scores.depth - scores.error).clip(0).mean()),
                }
            )
            print(
                "d {d}, {queries}: depth {depth:.3f} (at least {lower:.3f}) in {ours_ms:.0f} ms, "
                "ddalpha {ddalpha:.3f} in {ddalpha_ms:.0f} ms; never above {never_above}, "
                "closed {closed:.0%}".format(**table[-1]),
                flush=True,
            )
    return table


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: fewer queries and sizes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every figure")
    args = parser.parse_args()
    probe = ["Rscript", "-e", 'cat(as.character(packageVersion("ddalpha")))']
    found = shutil.which("Rscript") and subprocess.run(  # noqa: S603
        probe, check=False, capture_output=True, text=True
    )
    if not found or found.returncode:
        print("skipped: R with the package ddalpha is not installed")
        return
    print(f"ddalpha {found.stdout}")
    result = {
        "ddalpha": found.stdout,
        "exact": exact(quick=args.quick),
        "many": many(quick=args.quick),
    }
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
