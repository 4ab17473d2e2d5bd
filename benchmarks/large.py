"""Score a Parquet file of a million rows and twenty columns: how long, and how much memory.

    python benchmarks/large.py target/release/lossdepth [--rows N] [--method NAME]

Needs numpy and pyarrow. Fails if the peak memory is above 1.5 GB.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

LIMIT = 1.5e9


def write(path: Path, rows: int, columns: int, seed: int) -> None:
    """Write a table of normal numbers, in row groups of the size most programs write."""
    rng = np.random.default_rng(seed)
    schema = pa.schema([(f"x{j}", pa.float64()) for j in range(columns)])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, 100_000):
            block = rng.standard_normal((columns, min(100_000, rows - start)))
            writer.write_table(pa.table(list(block), schema=schema))


def main() -> None:
    """Make the files, run the program, report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--method", default="logistic")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, reference, out = (
            Path(folder) / name for name in ("data.parquet", "reference.parquet", "out.parquet")
        )
        write(data, args.rows, args.columns, seed=1)
        write(reference, 1000, args.columns, seed=2)
        started = time.perf_counter()
        command = [
            args.program,
            "score",
            data,
            "--reference",
            reference,
            "--method",
            args.method,
            "--out",
            out,
        ]
        subprocess.run(command, check=True)  # noqa: S603
        seconds = time.perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        scores = pq.read_table(out)
        if scores.num_rows != args.rows or scores["row"][-1].as_py() != args.rows - 1:
            raise SystemExit("rows are missing")
        size = data.stat().st_size
        print(
            f"{args.rows} x {args.columns}, {size / 1e6:.0f} MB: {seconds:.1f} s, {peak:.2e} bytes"
        )
    if peak > LIMIT:
        raise SystemExit(f"more than {LIMIT / 1e9} GB")


if __name__ == "__main__":
    main()
