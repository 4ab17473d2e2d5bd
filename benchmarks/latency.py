"""One row at a time: p50 and p99 of a default model, from Python and Rust, beside IsolationForest.

    python benchmarks/latency.py [--calls 2000] [--rust target/release/examples/latency]

One thread, a reference of 2,000 rows and 10 columns; times in microseconds.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import lossdepth
import numpy as np
import pyarrow as pa
import sklearn
from sklearn.ensemble import IsolationForest

if TYPE_CHECKING:
    from collections.abc import Callable


def measured(work: Callable[[int], object], calls: int) -> tuple[float, float]:
    """Return p50 and p99 of calls, after a few that are not counted."""
    for call in range(50):
        work(call)
    times = np.empty(calls)
    for call in range(calls):
        start = time.perf_counter()
        work(call)
        times[call] = time.perf_counter() - start
    p50, p99 = np.quantile(times, [0.5, 0.99]) * 1e6
    return float(p50), float(p99)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--rust", type=Path, default=None)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    reference, rows = rng.standard_t(4, size=(2_000, 10)), rng.standard_t(4, size=(1_000, 10))
    names = [f"c{place}" for place in range(10)]
    table = pa.table(dict(zip(names, reference.T, strict=True)))
    batches = pa.table(dict(zip(names, rows.T, strict=True))).to_batches(max_chunksize=1)
    forest = IsolationForest(random_state=0, n_jobs=1).fit(reference)
    peer = measured(lambda call: forest.score_samples(rows[call % 1_000, None]), args.calls // 4)
    found = {f"IsolationForest.score_samples (scikit-learn {sklearn.__version__})": peer}
    for method in (
        lossdepth.AutoDepth,
        lossdepth.SVMDepth,
        lossdepth.LogisticDepth,
        lossdepth.ForestDepth,
    ):
        detector = method().fit(reference)
        scorer = lossdepth.ArrowScorer(method().fit(table), ["depth"])
        found[f"{method.__name__}.score_samples"] = measured(
            lambda call, detector=detector: detector.score_samples(rows[call % 1_000, None]),
            args.calls,
        )
        found[f"ArrowScorer of {method.__name__}"] = measured(
            lambda call, scorer=scorer: scorer.score(batches[call % 1_000]), args.calls
        )
        if args.rust is not None:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "m.safetensors"
                detector.save(path)
                command = [args.rust, path, str(args.calls)]
                out = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
            p50, p99 = map(float, out.stdout.split())
            found[f"Rust, Model::score of {method.__name__}"] = p50, p99
    print(f"lossdepth {lossdepth.__version__}, {args.calls} calls")
    print(f"{'':60} {'p50 us':>9} {'p99 us':>9} {'p99 ratio':>9}")
    for name, (p50, p99) in found.items():
        print(f"{name:60} {p50:9.0f} {p99:9.0f} {peer[1] / p99:9.1f}")


if __name__ == "__main__":
    main()
