"""Size, time and memory of a report as tables grow: the table of docs/report.md.

    LOSSDEPTH_BIN=target/release/lossdepth python benchmarks/report.py [ROWS...]

Processor time, as other work may run beside it; the memory is the largest that the process had.
Needs GNU time.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

PROGRAM = Path(os.environ.get("LOSSDEPTH_BIN", "target/release/lossdepth")).resolve()
ROWS = (1_000, 100_000, 1_000_000)


def table(n: int) -> pd.DataFrame:
    """Make a table of orders: numbers, a date, categories, gaps and an id."""
    rng = np.random.default_rng(1)
    days = pd.to_timedelta(rng.integers(0, 366, n), unit="D")
    frame = pd.DataFrame(
        {
            "id": [f"R-{i:07}" for i in range(n)],
            "amount": rng.lognormal(5, 1, n).round(2),
            "weight": rng.normal(20, 4, n).round(3),
            "delay": rng.gamma(2, 5, n).round(1),
            "count": rng.poisson(9, n).astype(float),
            "discount": rng.choice([0, 5, 10, 15, 20], n, p=[0.6, 0.15, 0.1, 0.1, 0.05]),
            "day": pd.Timestamp("2024-01-01") + days,
            "paid": rng.choice(["yes", "no"], n),
            "size": rng.choice(list("SML"), n),
            "region": rng.choice(list("NSEW"), n),
            "store": rng.choice([f"store {i}" for i in range(12)], n),
        }
    )
    frame["discount"] = frame["discount"].astype(float)
    frame.loc[rng.random(n) < 0.05, "delay"] = np.nan
    frame.loc[rng.random(n) < 0.02, "discount"] = np.nan
    return frame


def main() -> None:
    """Print a line for every size."""
    print("| rows | page | CPU seconds | memory |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        data, page = Path(folder, "data.csv"), Path(folder, "page.html")
        for rows in [int(text) for text in sys.argv[1:]] or ROWS:
            table(rows).to_csv(data, index=False)
            # A process started from here would count our memory as its own.
            timed = ["/usr/bin/time", "-f", "%U %S %M"]
            command = [*timed, PROGRAM, "report", data, "--out", page, "--quiet"]
            done = subprocess.run(  # noqa: S603
                command, stderr=subprocess.PIPE, text=True, check=True
            )
            user, system, kibibytes = map(float, done.stderr.split()[-3:])
            seconds, megabytes = user + system, kibibytes * 1.024e-3
            size = page.stat().st_size / 1000
            print(f"| {rows:,} | {size:.0f} kB | {seconds:.1f} | {megabytes:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
