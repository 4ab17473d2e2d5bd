"""Processor time of a row inside each engine, beside the command line's; memory of a worker.

    LOSSDEPTH_BIN=target/release/lossdepth .venv-engines/bin/python benchmarks/engines.py \
        [--rows N] [--methods NAME...] [--engines NAME...] [--repeats N]

One worker of one thread each. The clock is processor time, of all processes of an engine together:
its own work on the rows counts, waiting for the machine does not. An engine is started and has
scored all rows several times before the clock runs, so that what Java compiles first is not
measured; rows are in its memory. Runs of the engine, of the engine without scoring, and of
``lossdepth score --threads 1`` alternate. The run without scoring moves the same rows through the
same interface and gives as many columns, but copies them from the input: it is what the engine
takes for itself. What its processes do while there is nothing to do is measured first, as a share
of a core, and taken off the other times. So is what the command line takes to start and to read the
model, and Ray to start an actor, which is measured with one row. All give depth, error, stderr and
percentile. Each engine runs in a process of its own.

The memory is that of the process that scores, with the rows where they are in the same process:
the peak, and the proportional share (PSS) after the work. Linux only.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import lossdepth
import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from typing_extensions import Self

Run = Callable[[], Any]

COLUMNS = ("depth", "error", "stderr", "percentile")
ROWS_OF_A_PARTITION = 100_000
# Runs before the clock runs: Java compiles what is hot.
WARM_UP = 2
# For so many seconds the processes of an engine are watched while there is nothing to do.
IDLE = 5


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


def worker_memory() -> tuple[int, int]:
    """Return the memory of a process that scores, another one than this if there is one.

    The peak, and what it holds now with a fair part of what it shares with others (PSS).
    """
    root = psutil.Process()
    found = []
    for process in root.children(recursive=True):
        folder = Path("/proc") / str(process.pid)
        try:
            if "lossdepth/_native" in (folder / "maps").read_text():
                found.append(memory_of(folder))
        except OSError:
            continue
    return max(found, default=memory_of(Path("/proc/self")))


def memory_of(folder: Path) -> tuple[int, int]:
    """Return the largest memory that a process has had and its proportional share, in bytes."""

    def kilobytes(file: str, field: str) -> int:
        lines = (folder / file).read_text().splitlines()
        return int(next(line for line in lines if line.startswith(field)).split()[1])

    return 1024 * kilobytes("status", "VmHWM"), 1024 * kilobytes("smaps_rollup", "Pss:")


def command_line(folder: Path, rows: str) -> list[Any]:
    """Return the arguments of the program."""
    command = [os.environ["LOSSDEPTH_BIN"], "score", folder / rows, "--quiet", "--threads", "1"]
    return [*command, "--model", folder / "m.safetensors", "--out", folder / "scores.parquet"]


class Runs(NamedTuple):
    """What is measured of an engine: the work, and the same without scoring.

    `small` and `small_identity` do the same to one row, if that costs something each time.
    """

    score: Run
    identity: Run | None = None
    small: Run | None = None
    small_identity: Run | None = None


@contextmanager
def scorer(table: pa.Table, model: str) -> Iterator[Runs]:
    """Score without an engine, in batches of the size that Spark makes."""
    one = lossdepth.ArrowScorer(model, COLUMNS)
    batches = table.to_batches(max_chunksize=10_000)
    yield Runs(lambda: [one(batch) for batch in batches])


@contextmanager
def polars(table: pa.Table, model: str) -> Iterator[Runs]:
    """Run Polars, eager."""
    import polars as pl  # noqa: PLC0415
    from lossdepth.engines.polars import scores  # noqa: PLC0415

    frame, made = pl.DataFrame(table), scores(model, COLUMNS)

    def copied(rows: Any) -> Any:
        fields = rows.struct.unnest().get_columns()[: len(COLUMNS)]
        return pl.DataFrame(dict(zip(COLUMNS, fields, strict=True))).to_struct(rows.name)

    kind = pl.Struct(dict.fromkeys(COLUMNS, pl.Float64))
    identity = pl.struct(frame.columns).map_batches(copied, return_dtype=kind, is_elementwise=True)
    yield Runs(lambda: frame.select(made), lambda: frame.select(identity))


@contextmanager
def duckdb(table: pa.Table, model: str) -> Iterator[Runs]:
    """Run DuckDB with one thread."""
    import duckdb as db  # noqa: PLC0415
    from lossdepth.engines.duckdb import register  # noqa: PLC0415

    connection = db.connect()
    connection.execute("SET threads = 1")
    connection.register("rows", table)
    connection.execute("CREATE TABLE t AS FROM rows")
    register(connection, COLUMNS)

    def copied(*arguments: Any) -> Any:
        return pa.StructArray.from_arrays(
            [arguments[1].combine_chunks().field(place) for place in range(len(COLUMNS))],
            names=list(COLUMNS),
        )

    fields = ", ".join(f"{name} DOUBLE" for name in COLUMNS)
    special: Any = {"type": "arrow", "null_handling": "special"}
    connection.create_function("identity", copied, None, f"STRUCT({fields})", **special)

    def run(function: str) -> Run:
        query = f"SELECT {function}('{model}', t) AS s FROM t"  # noqa: S608
        return lambda: connection.sql(query).to_arrow_table()

    yield Runs(run("lossdepth_scores"), run("identity"))


@contextmanager
def dask(table: pa.Table, model: str) -> Iterator[Runs]:
    """Run Dask with one worker process."""
    import dask.dataframe as dd  # noqa: PLC0415
    from distributed import Client, LocalCluster  # noqa: PLC0415
    from lossdepth.engines.dask import score  # noqa: PLC0415

    def copied(part: Any) -> Any:
        there = {name: part.iloc[:, place] for place, name in enumerate(COLUMNS)}
        return part.assign(**there)

    options: Any = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster):
        parts = -(-table.num_rows // ROWS_OF_A_PARTITION)
        frame = dd.from_pandas(table.to_pandas(), npartitions=parts).persist()
        yield Runs(
            score(frame, model, COLUMNS)["depth"].sum().compute,
            frame.map_partitions(copied)["depth"].sum().compute,
        )


class Identity:
    """An actor of Ray that copies columns."""

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Add columns to a table."""
        for place, name in enumerate(COLUMNS):
            batch = batch.append_column(name, batch.column(place))
        return batch


@contextmanager
def ray(table: pa.Table, model: str) -> Iterator[Runs]:
    """Run Ray Data with one actor, which every run starts anew."""
    import ray as engine  # noqa: PLC0415
    from lossdepth.engines.ray import score  # noqa: PLC0415

    engine.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    engine.data.DataContext.get_current().enable_progress_bars = False

    def runs(rows: pa.Table) -> tuple[Run, Run]:
        starts = range(0, rows.num_rows, ROWS_OF_A_PARTITION)
        parts = [rows.slice(start, ROWS_OF_A_PARTITION) for start in starts]
        data = engine.data.from_arrow(parts).materialize()
        pool = engine.data.ActorPoolStrategy(min_size=1, max_size=1)
        options: Any = {"batch_format": "pyarrow", "batch_size": 16_384, "compute": pool}
        return (
            lambda: score(data, model, COLUMNS).materialize(),
            lambda: data.map_batches(Identity, **options).materialize(),
        )

    yield Runs(*runs(table), *runs(table.slice(0, 1)))
    engine.shutdown()


@contextmanager
def spark(table: pa.Table, model: str) -> Iterator[Runs]:
    """Run Spark with one core."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from lossdepth.spark import DepthDetectorModel  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "2g")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1")
    session = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    parts = -(-table.num_rows // ROWS_OF_A_PARTITION)
    with tempfile.TemporaryDirectory() as folder:
        # The data frame of pandas would be sent as text.
        pq.write_table(table, Path(folder) / "rows.parquet")
        frame = session.read.parquet(folder).repartition(parts).cache()
        frame.count()
    made = DepthDetectorModel.fromFile(model, columns=list(COLUMNS)).transform(frame)

    names, few = made.schema.names, len(COLUMNS)

    def copied(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield pa.record_batch([*batch.columns, *batch.columns[:few]], names=names)

    def run(rows: Any) -> Run:
        return rows.write.format("noop").mode("overwrite").save

    yield Runs(run(made), run(frame.mapInArrow(copied, made.schema)))
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
    with ENGINES[name][0](table, str(folder / "m.safetensors")) as runs:
        work = [run for run in (runs.score, runs.identity) if run is not None]
        for run in work * WARM_UP:
            run()
        # What the processes of the engine do all the time, also while one of them computes.
        idle = 0.0
        if runs.identity is not None:
            used, clock = seconds_of(partial(time.sleep, IDLE))
            idle = used / clock

        def net(work: Run | None) -> tuple[float, float]:
            if work is None:
                return 0.0, 0.0
            used, clock = seconds_of(work)
            return used - idle * clock, clock

        found, memory = [], []
        for _ in range(repeats):
            used, clock = net(runs.score)
            # Now, as an actor of Ray soon ends.
            memory.append(worker_memory())
            start_used, start_clock = net(runs.small)
            used, clock = used - start_used, clock - start_clock
            own = net(runs.identity)[0] - net(runs.small_identity)[0]
            ours = seconds_of_program(program) - seconds_of_program(start)
            found.append((used, clock, own, ours, used / ours, (used - own) / ours))
    peak, share = max(memory)
    names = ("used", "clock", "own", "program", "ratio", "ratio_without")
    middle = (median(column) for column in zip(*found, strict=True))
    return {**dict(zip(names, middle, strict=True)), "peak": peak, "share": share, "idle": idle}


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
    print("microseconds of processor time a row, and of the clock in brackets\n")
    print(
        "| method | engine | a row | the engine's own | command line | share | share without the "
        "engine's own | while idle, of a core | memory of a worker: peak (PSS) |"
    )
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
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
                names = ("used", "clock", "own", "program")
                used, clock, own, program = (1e6 * of[key] / args.rows for key in names)
                title = f"{ENGINES[engine][1]} {version(ENGINES[engine][1])}"
                print(
                    f"| {method} | {title} | {used:.2f} ({clock:.2f}) | {own:.2f} | {program:.2f} "
                    f"| {100 / of['ratio']:.0f} % | {100 / of['ratio_without']:.0f} % "
                    f"| {100 * of['idle']:.1f} % | {of['peak'] / 1e6:,.0f} MB "
                    f"({of['share'] / 1e6:,.0f} MB) |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
