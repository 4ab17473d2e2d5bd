"""Rows a second and core inside each engine, beside the command line's; memory of a worker.

    LOSSDEPTH_BIN=target/release/lossdepth .venv-engines/bin/python benchmarks/engines.py \
        [--rows N] [--methods NAME...] [--engines NAME...] [--repeats N]

One worker of one thread each. The clock is processor time, of all processes of an engine together:
its own work on the rows counts, waiting for the machine does not. An engine is started and has
scored a few rows before the clock runs; rows are in its memory. Runs of the engine and of
``lossdepth score --threads 1`` alternate. What the command line takes to start and to read the
model, and Ray to start an actor, is measured with one row and taken off. All give depth, error,
stderr and percentile. Each engine runs in a process of its own. An idle machine is needed all the
same: the processes of Dask, Ray and Spark also do something while they wait.

The memory is the peak of the process that scores, with the rows where they are in the same
process. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import lossdepth
import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Self

    Run = Callable[[], Any]

COLUMNS = ("depth", "error", "stderr", "percentile")
ROWS_OF_A_PARTITION = 100_000


class ProcessorTime:
    """Processor time of this process and all that it started, in seconds, also of those that ended.

    A process is read several times a second, so that of one that ends little is missing. What the
    reading itself takes is left out.
    """

    INTERVAL = 0.2

    def __enter__(self) -> Self:
        self._first: dict[psutil.Process, float] = self._read()
        self._last = dict(self._first)
        self._reading, self._over = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._started = time.perf_counter()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.clock = time.perf_counter() - self._started
        self._over.set()
        self._thread.join()
        used = sum(now - self._first.get(process, 0.0) for process, now in self._last.items())
        self.seconds = used - self._reading

    def _watch(self) -> None:
        while not self._over.wait(self.INTERVAL):
            self._last |= self._read()
        self._reading = time.thread_time()
        self._last |= self._read()

    @staticmethod
    def _read() -> dict[psutil.Process, float]:
        root, found = psutil.Process(), {}
        for process in [root, *root.children(recursive=True)]:
            try:
                times = process.cpu_times()
            except psutil.NoSuchProcess:
                continue
            found[process] = times.user + times.system
        return found


def seconds_of(work: Run) -> tuple[float, float]:
    """Return the processor time and the time on the clock."""
    with ProcessorTime() as used:
        work()
    return used.seconds, used.clock


def seconds_of_program(command: list[Any]) -> float:
    """Return the processor time of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def worker_memory() -> int:
    """Return the peak memory of a process that scores, another one than this if there is one."""
    root = psutil.Process()
    peaks = []
    for process in root.children(recursive=True):
        folder = Path("/proc") / str(process.pid)
        try:
            if "lossdepth/_native" in (folder / "maps").read_text():
                peaks.append(peak_memory(folder))
        except OSError:
            continue
    return max(peaks, default=peak_memory(Path("/proc/self")))


def peak_memory(folder: Path) -> int:
    """Return the largest memory that a process has had, in bytes."""
    lines = (folder / "status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def command_line(folder: Path, rows: str) -> list[Any]:
    """Return the arguments of the program."""
    command = [os.environ["LOSSDEPTH_BIN"], "score", folder / rows, "--quiet", "--threads", "1"]
    return [*command, "--model", folder / "m.safetensors", "--out", folder / "scores.parquet"]


@contextmanager
def scorer(table: pa.Table, model: str) -> Iterator[tuple[Run, Run | None]]:
    """Score without an engine, in batches of the size that Spark makes."""
    one = lossdepth.ArrowScorer(model, COLUMNS)
    batches = table.to_batches(max_chunksize=10_000)
    yield lambda: [one(batch) for batch in batches], None


@contextmanager
def polars(table: pa.Table, model: str) -> Iterator[tuple[Run, Run | None]]:
    """Run Polars, eager."""
    import polars as pl  # noqa: PLC0415
    from lossdepth.engines.polars import scores  # noqa: PLC0415

    frame, made = pl.DataFrame(table), scores(model, COLUMNS)
    yield lambda: frame.select(made), None


@contextmanager
def duckdb(table: pa.Table, model: str) -> Iterator[tuple[Run, Run | None]]:
    """Run DuckDB with one thread."""
    import duckdb as db  # noqa: PLC0415
    from lossdepth.engines.duckdb import register  # noqa: PLC0415

    connection = db.connect()
    connection.execute("SET threads = 1")
    connection.register("rows", table)
    connection.execute("CREATE TABLE t AS FROM rows")
    register(connection, COLUMNS)
    query = f"SELECT lossdepth_scores('{model}', t) AS s FROM t"  # noqa: S608
    yield lambda: connection.sql(query).to_arrow_table(), None


@contextmanager
def dask(table: pa.Table, model: str) -> Iterator[tuple[Run, Run | None]]:
    """Run Dask with one worker process."""
    import dask.dataframe as dd  # noqa: PLC0415
    from distributed import Client, LocalCluster  # noqa: PLC0415
    from lossdepth.engines.dask import score  # noqa: PLC0415

    options: Any = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster):
        parts = -(-table.num_rows // ROWS_OF_A_PARTITION)
        frame = dd.from_pandas(table.to_pandas(), npartitions=parts).persist()
        yield score(frame, model, COLUMNS)["depth"].sum().compute, None


@contextmanager
def ray(table: pa.Table, model: str) -> Iterator[tuple[Run, Run | None]]:
    """Run Ray Data with one actor, which every run starts anew."""
    import ray as engine  # noqa: PLC0415
    from lossdepth.engines.ray import score  # noqa: PLC0415

    engine.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    engine.data.DataContext.get_current().enable_progress_bars = False

    def run(rows: pa.Table) -> Run:
        starts = range(0, rows.num_rows, ROWS_OF_A_PARTITION)
        parts = [rows.slice(start, ROWS_OF_A_PARTITION) for start in starts]
        data = engine.data.from_arrow(parts).materialize()
        return lambda: score(data, model, COLUMNS).materialize()

    yield run(table), run(table.slice(0, 1))
    engine.shutdown()


@contextmanager
def spark(table: pa.Table, model: str) -> Iterator[tuple[Run, Run | None]]:
    """Run Spark with one core."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from lossdepth.spark import DepthDetectorModel  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "2g")
    builder = builder.config("spark.driver.host", "127.0.0.1")
    session = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    parts = -(-table.num_rows // ROWS_OF_A_PARTITION)
    frame = session.createDataFrame(table.to_pandas()).repartition(parts).cache()
    frame.count()
    made = DepthDetectorModel.fromFile(model, columns=list(COLUMNS)).transform(frame)
    yield made.write.format("noop").mode("overwrite").save, None
    session.stop()


ENGINES = {
    "scorer": (scorer, "lossdepth"),
    "polars": (polars, "polars"),
    "duckdb": (duckdb, "duckdb"),
    "dask": (dask, "dask"),
    "ray": (ray, "ray"),
    "spark": (spark, "pyspark"),
}


def measure(name: str, folder: Path, repeats: int) -> dict[str, float]:
    """Alternate runs of an engine and of the program; return seconds and bytes."""
    table = pq.read_table(folder / "rows.parquet")
    program, start = command_line(folder, "rows.parquet"), command_line(folder, "row.parquet")
    with ENGINES[name][0](table, str(folder / "m.safetensors")) as (run, of_one_row):
        (of_one_row or run)()
        found = []
        for _ in range(repeats):
            used, clock = seconds_of(run)
            peak = worker_memory()
            if of_one_row is not None:
                of_start = seconds_of(of_one_row)
                used, clock = used - of_start[0], clock - of_start[1]
            ours = seconds_of_program(program) - seconds_of_program(start)
            found.append((used, clock, ours, used / ours))
    used, clock, ours, ratio = (median(column) for column in zip(*found, strict=True))
    return {"used": used, "clock": clock, "ours": ours, "ratio": ratio, "bytes": peak}


def main() -> None:
    """Measure, and print a table of Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--methods", nargs="*", default=["auto", "svm"])
    parser.add_argument("--engines", nargs="*", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        name, place = args.measure
        print(json.dumps(measure(name, Path(place), args.repeats)))
        return
    rng = np.random.default_rng(0)
    table = pa.table({f"c{place}": rng.standard_t(4, size=args.rows) for place in range(10)})
    print(f"lossdepth {lossdepth.__version__}, reference 2,000 x 10, {args.rows:,} rows;")
    print("rows a second of processor time, and of the clock in brackets\n")
    print("| method | engine | rows/s | command line | share | memory of a worker |")
    print("|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pq.write_table(table, folder / "rows.parquet")
        pq.write_table(table.slice(0, 1), folder / "row.parquet")
        for method in args.methods:
            detector = lossdepth.AutoDepth() if method == "auto" else lossdepth.SVMDepth()
            detector.fit(table.slice(0, 2_000)).save(str(folder / "m.safetensors"))
            for engine in args.engines:
                command = [sys.executable, __file__, "--repeats", str(args.repeats)]
                command += ["--measure", engine, name]
                done = subprocess.run(  # noqa: S603
                    command, check=True, stdout=subprocess.PIPE, text=True
                )
                of = json.loads(done.stdout.splitlines()[-1])
                rate, clock, ours = (args.rows / of[key] for key in ("used", "clock", "ours"))
                title = f"{ENGINES[engine][1]} {version(ENGINES[engine][1])}"
                print(
                    f"| {method} | {title} | {rate:,.0f} ({clock:,.0f}) | {ours:,.0f} "
                    f"| {100 / of['ratio']:.0f} % | {of['bytes'] / 1e6:,.0f} MB |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
