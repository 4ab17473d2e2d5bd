"""Rows a second and core inside each engine, beside the command line's; memory of a worker.

    LOSSDEPTH_BIN=target/release/lossdepth .venv-engines/bin/python benchmarks/engines.py [--rows N]

One worker of one thread each. An engine is started and has scored a few rows before the clock runs;
rows are in its memory. What the command line takes to start and to read the model is measured with
one row and taken off.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lossdepth
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = ("depth", "error")


def timed(work: Callable[[], Any]) -> float:
    """Return the shorter of two times."""
    times = []
    for _ in range(2):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def command_line(table: pa.Table, model: str, folder: Path) -> float:
    """Time the program, without what it takes for one row."""
    program = os.environ["LOSSDEPTH_BIN"]

    def run(rows: pa.Table) -> float:
        source = folder / "rows.parquet"
        pq.write_table(rows, source)
        out = folder / "scores.parquet"
        command = [program, "score", source, "--model", model, "--threads", "1", "--quiet"]
        return timed(lambda: subprocess.run([*command, "--out", out], check=True))  # noqa: S603

    return run(table) - run(table.slice(0, 1))


def scorer(table: pa.Table, model: str) -> float:
    """Time the scorer alone, without stderr and with it, as the command line has it."""
    one = lossdepth.ArrowScorer(model, (*COLUMNS, "stderr"))
    one(table.slice(0, 100))
    return timed(lambda: one(table))


def polars(table: pa.Table, model: str) -> float:
    """Time Polars, eager."""
    import polars as pl  # noqa: PLC0415
    from lossdepth.engines.polars import scores  # noqa: PLC0415

    frame, made = pl.DataFrame(table), scores(model, (*COLUMNS, "stderr"))
    return timed(lambda: frame.select(made))


def duckdb(table: pa.Table, model: str) -> float:
    """Time DuckDB with one thread."""
    import duckdb as db  # noqa: PLC0415
    from lossdepth.engines.duckdb import register  # noqa: PLC0415

    connection = db.connect()
    connection.execute("SET threads = 1")
    connection.register("rows", table)
    connection.execute("CREATE TABLE t AS FROM rows")
    register(connection, (*COLUMNS, "stderr"))
    query = f"SELECT lossdepth_scores('{model}', t) AS s FROM t"  # noqa: S608
    return timed(lambda: connection.sql(query).to_arrow_table())


def dask(table: pa.Table, model: str) -> float:
    """Time Dask with one worker process."""
    import dask.dataframe as dd  # noqa: PLC0415
    from distributed import Client, LocalCluster  # noqa: PLC0415
    from lossdepth.engines.dask import score  # noqa: PLC0415

    options: Any = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        frame = dd.from_pandas(table.to_pandas(), npartitions=8).persist()
        found = score(frame, model, (*COLUMNS, "stderr"))["depth"].sum()
        found.compute()
        took = timed(found.compute)
        peak = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        print(f"  memory of a Dask worker: {max(peak.values()):.0f} MB")
        return took


def ray(table: pa.Table, model: str) -> float:
    """Time Ray Data with one actor: the time that a larger dataset takes more."""
    import ray as engine  # noqa: PLC0415
    from lossdepth.engines.ray import score  # noqa: PLC0415

    engine.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)

    def run(rows: pa.Table) -> float:
        parts = [rows.slice(a, 25_000) for a in range(0, rows.num_rows, 25_000)]
        data = engine.data.from_arrow(parts).materialize()
        columns = (*COLUMNS, "stderr")
        return timed(lambda: score(data, model, columns, batch_size=None).materialize())

    took = run(table) - run(table.slice(0, 1))
    engine.shutdown()
    return took


def spark(table: pa.Table, model: str) -> float:
    """Time Spark with one core."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from lossdepth.spark import DepthDetectorModel  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.memory", "2g").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    frame = session.createDataFrame(table.to_pandas()).repartition(8).cache()
    frame.count()
    made = DepthDetectorModel.fromFile(model, columns=[*COLUMNS, "stderr"]).transform(frame)

    def run() -> None:
        made.write.format("noop").mode("overwrite").save()

    run()
    took = timed(run)
    session.stop()
    return took


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument(
        "--engines", nargs="*", default=["polars", "duckdb", "dask", "ray", "spark"]
    )
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    names = [f"c{place}" for place in range(10)]
    table = pa.table({name: rng.standard_t(4, size=args.rows) for name in names})
    works = {"polars": polars, "duckdb": duckdb, "dask": dask, "ray": ray, "spark": spark}
    packages = {"spark": "pyspark"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = str(folder / "m.safetensors")
        lossdepth.AutoDepth().fit(table.slice(0, 2_000)).save(model)
        ours = command_line(table, model, folder)
        print(f"lossdepth {lossdepth.__version__}, auto, reference 2,000 x 10, {args.rows:,} rows")
        rate = args.rows / ours
        print(f"{'command line':24} {rate:10,.0f} rows/s")
        rate = args.rows / scorer(table, model)
        print(f"{'ArrowScorer':24} {rate:10,.0f} rows/s {100 * rate * ours / args.rows:5.0f} %")
        for engine in args.engines:
            rate = args.rows / works[engine](table, model)
            title = f"{engine} {version(packages.get(engine, engine))}"
            print(f"{title:24} {rate:10,.0f} rows/s {100 * rate * ours / args.rows:5.0f} %")


if __name__ == "__main__":
    main()
