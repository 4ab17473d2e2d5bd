"""Time the classical depths against ddalpha (R) and data-depth, one thread, by processor time.

    python benchmarks/classical.py [--quick] [--json FILE]

Needs R with the package ddalpha (Debian: r-cran-ddalpha); without it, it says so and stops.
data-depth is timed where it is installed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shutil
import subprocess
import tempfile
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from lossdepth._function import METHODS

R_SCRIPT = """
suppressMessages(library(ddalpha))
arguments <- commandArgs(trailingOnly = TRUE)
X <- as.matrix(read.csv(file.path(arguments[1], "X.csv"), header = FALSE))
Z <- as.matrix(read.csv(file.path(arguments[1], "Z.csv"), header = FALSE))
start <- proc.time()[1]
depth <- eval(parse(text = arguments[2]))
cat(sprintf("%.17g\\n", c(proc.time()[1] - start, depth)))
cat(as.character(packageVersion("ddalpha")), file = file.path(arguments[1], "version"))
"""

# Method, rows, columns, queries, the call of ddalpha, and the name in data-depth.
TASKS: list[tuple[str, int, int, int, str, str | None]] = [
    ("mahalanobis", 1000, 5, 20000, "depth.Mahalanobis(Z, X)", "mahalanobis"),
    ("spatial", 1000, 5, 1000, "depth.spatial(Z, X)", "spatial"),
    ("l2", 1000, 5, 1000, "depth.L2(Z, X)", "L2"),
    ("potential", 1000, 5, 1000, "depth.potential(Z, X)", "potential"),
    ("zonoid", 1000, 2, 200, "depth.zonoid(Z, X)", "zonoid"),
    ("zonoid", 1000, 5, 200, "depth.zonoid(Z, X)", "zonoid"),
    ("simplicial", 500, 2, 2000, "depth.simplicial(Z, X, exact = TRUE)", "simplicial"),
    ("simplicial", 5000, 2, 2000, "depth.simplicial(Z, X, exact = TRUE)", "simplicial"),
    ("simplicial", 80, 3, 5, "depth.simplicial(Z, X, exact = TRUE)", "simplicial"),
    ("projection", 201, 2, 100, 'depth.projection(Z, X, method = "linearize")', None),
]


def ddalpha(X: Any, Z: Any, call: str) -> tuple[float, Any, str]:
    """Return the seconds that ddalpha takes, its depths and its version."""
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in (("X", X), ("Z", Z)):
            np.savetxt(Path(folder) / f"{name}.csv", rows, delimiter=",", fmt="%.17g")
        script = Path(folder) / "run.R"
        script.write_text(R_SCRIPT, encoding="utf-8")
        command = ["Rscript", str(script), folder, call]
        ran = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        known = (Path(folder) / "version").read_text(encoding="utf-8")
    numbers = np.array(ran.stdout.split(), dtype=float)
    return numbers[0], numbers[1:], known


def data_depth(X: Any, Z: Any, name: str) -> float | None:
    """Return the seconds that data-depth takes, if it is installed."""
    try:
        from depth.model.DepthEucl import DepthEucl  # noqa: PLC0415
    except ModuleNotFoundError:
        return None
    # The kernel of ddalpha's default, which is not the default here.
    extra = {"kernel": "GKernel"} if name == "potential" else {}
    with contextlib.redirect_stdout(io.StringIO()):
        start = time.process_time()
        model = DepthEucl().load_dataset(X)
        getattr(model, name)(Z, evaluate_dataset=False, **extra)
        return time.process_time() - start


def ours(method: str, X: Any, Z: Any) -> tuple[float, Any]:
    """Return the seconds that we take, preparation included, and the depths."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        depths = METHODS[method](n_jobs=1).fit(X).score_samples(Z)
        return time.process_time() - start, depths


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: fewer queries")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every figure")
    arguments = parser.parse_args()
    if shutil.which("Rscript") is None:
        print("R is not here; it needs R with the package ddalpha")
        return
    table = []
    for method, n, d, queries, call, other in TASKS:
        rng = np.random.default_rng(d)
        count = max(3, queries // 20) if arguments.quick else queries
        X, Z = rng.normal(size=(n, d)), 0.7 * rng.normal(size=(count, d))
        mine, depths = min((ours(method, X, Z) for _ in range(3)), key=lambda run: run[0])
        theirs, expected, known = ddalpha(X, Z, call)
        second = data_depth(X, Z, other) if other else None
        if method == "potential":
            h = n ** (-2 / (d + 4))
            expected = expected / (n * (2 * np.pi * h) ** -(d // 2))
        row = {
            "method": method,
            "n": n,
            "d": d,
            "queries": count,
            "ours_ms": 1e3 * mine,
            "ddalpha_ms": 1e3 * theirs,
            "ratio": theirs / mine,
            "data_depth_ms": None if second is None else 1e3 * second,
            "equal": float(np.isclose(depths, expected, atol=1e-6).mean()),
            "ddalpha": known,
        }
        table.append(row)
        print(
            "{method}, n {n}, d {d}, {queries} queries: {ours_ms:.1f} ms, "
            "ddalpha {ddalpha_ms:.0f} ms, {ratio:.0f} times as fast; equal {equal:.0%}".format(
                **row
            )
            + ("" if second is None else f"; data-depth {1e3 * second:.0f} ms"),
            flush=True,
        )
    try:
        print("ddalpha", table[0]["ddalpha"], "data-depth", version("data-depth"))
    except PackageNotFoundError:
        print("ddalpha", table[0]["ddalpha"], "without data-depth")
    if arguments.json:
        arguments.json.write_text(json.dumps(table, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
