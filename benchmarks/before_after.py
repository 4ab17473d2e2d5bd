"""Time two builds of lossdepth in turns: the same work, two environments.

Prints a Markdown table: the time a query takes with each build, the ratio, and the memory of each
process at its peak. `scripts/bench --base REV` builds both and runs this.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# What is timed: the class, its settings, the rows, and how many queries at most.
WORKS: dict[str, tuple[str, dict[str, Any], str, int]] = {
    "logistic, images, reg 0.72": ("LogisticDepth", {"reg": 0.72}, "images", 2000),
    "logistic, vowels, reg 1": ("LogisticDepth", {"reg": 1.0}, "vowels", 20_000),
    "logistic, vowels, reg 0.001": ("LogisticDepth", {"reg": 0.001}, "vowels", 20_000),
    "logistic, d > n, reg 0.1": ("LogisticDepth", {"reg": 0.1}, "wide", 2000),
    "hinge, vowels, reg 0.05": ("HingeDepth", {"reg": 0.05}, "vowels", 2000),
    "squared hinge, vowels, reg 0.05": ("SquaredHingeDepth", {"reg": 0.05}, "vowels", 2000),
    "exponential, vowels, reg 1": ("ExponentialDepth", {"reg": 1.0}, "vowels", 2000),
    "svm, vowels, reg 1": ("SVMDepth", {"reg": 1.0}, "vowels", 20_000),
    "svm, vowels, reg 0.05": ("SVMDepth", {"reg": 0.05}, "vowels", 2000),
    "svm, vowels, reg 1/(2n+2)": ("SVMDepth", {"reg": 0.5 / 1457}, "vowels", 2000),
    "klr, vowels, reg 0.05": ("KernelLogisticDepth", {"reg": 0.05}, "vowels", 500),
    "gp, glass": ("GPDepth", {}, "glass", 200),
    "forest, vowels": ("ForestDepth", {}, "vowels", 20_000),
    "mlp, glass": ("MLPDepth", {"reg": 0.01}, "glass", 200),
    "halfspace, n = 1000, d = 2": ("HalfspaceDepth", {}, "plane", 2000),
    "halfspace, n = 200, d = 3": ("HalfspaceDepth", {}, "space", 100),
}


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="Python with the earlier build")
    parser.add_argument("after", type=Path, help="Python with the later build")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of mnist/ and odds/")
    parser.add_argument("--rounds", type=int, default=7, help="timed runs of each; default: 7")
    parser.add_argument("--only", metavar="TEXT", default="", help="works whose names have it")
    parser.add_argument("--work", metavar="NAME", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        work(args.work, args.data)
        return
    print("| work | before | after | ratio | peak before | peak after |")
    print("|---|---:|---:|---:|---:|---:|")
    for name in WORKS:
        if args.only not in name:
            continue
        print(f"{name} ...", file=sys.stderr, flush=True)
        sides = [Side(python, name, args.data) for python in (args.before, args.after)]
        for k in range(args.rounds):
            for side in sides if k % 2 else sides[::-1]:
                side.run()
        (before, low), (after, high) = (side.end() for side in sides)
        print(
            f"| {name} | {1e6 * before:.3g} µs | {1e6 * after:.3g} µs | {after / before:.2f} "
            f"| {low} MB | {high} MB |",
            flush=True,
        )


class Side:
    """A process with one of the builds, which waits for its turn."""

    def __init__(self, python: Path, name: str, folder: Path | None) -> None:
        command = [str(python), __file__, "-", "-", "--work", name]
        command += ["--data", str(folder)] if folder else []
        self.seconds: list[float] = []
        self.process = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.answer()  # it is ready

    def answer(self) -> dict[str, Any]:
        """Return the next line of the process."""
        found: dict[str, Any] = json.loads(pipe(self.process.stdout).readline())
        return found

    def run(self) -> None:
        """Have it time one batch."""
        pipe(self.process.stdin).write("run\n")
        pipe(self.process.stdin).flush()
        self.seconds.append(self.answer()["seconds"])

    def end(self) -> tuple[float, int]:
        """Return the median time and the peak of memory."""
        pipe(self.process.stdin).close()
        peak = self.answer()["megabytes"]
        self.process.wait()
        return statistics.median(self.seconds), peak


def pipe(end: IO[str] | None) -> IO[str]:
    """Return an end of a pipe, which is there."""
    if end is None:
        raise TypeError("the process was started without pipes")
    return end


def work(name: str, folder: Path | None) -> None:
    """Time batches whenever a line comes in; say what memory it took at the end."""
    import lossdepth  # noqa: PLC0415

    kind, settings, rows, most = WORKS[name]
    X, Z = tables(folder)[rows]()
    ours = getattr(lossdepth, kind)(scale="none", n_jobs=1, **settings).fit(X)
    batch = Z[:20]
    first = clock(ours.score_samples, batch)
    # About half a second.
    count = int(min(most, max(20, 0.5 * len(batch) / first)))
    batch = Z[[k % len(Z) for k in range(count)]]
    ours.score_samples(batch)
    tell(ready=count)
    for _ in sys.stdin:
        tell(seconds=clock(ours.score_samples, batch) / count)
    tell(megabytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def tables(folder: Path | None) -> dict[str, Callable[[], tuple[Floats, Floats]]]:
    """List how the rows are made: the sample and the queries."""
    import numpy as np  # noqa: PLC0415

    import data  # noqa: PLC0415

    def normal(n: int, d: int) -> tuple[Floats, Floats]:
        rng = np.random.default_rng(7)
        return rng.normal(size=(n, d)), rng.normal(size=(500, d))

    def wide() -> tuple[Floats, Floats]:
        rng = np.random.default_rng(2)
        return data.factors(rng, 200, 2000), data.factors(rng, 500, 2000)

    def glass() -> tuple[Floats, Floats]:
        path = folder / "odds" / "glass.mat" if folder else None
        if path is None or not path.exists():
            return normal(214, 9)
        from scipy.io import loadmat  # noqa: PLC0415

        X = loadmat(path)["X"].astype(float)
        return X, np.random.default_rng(6).permutation(X)

    return {
        "images": lambda: data.mnist(folder, 1000, 2000)[1:],
        "vowels": lambda: data.vowels(folder)[1:],
        "wide": wide,
        "glass": glass,
        "plane": lambda: normal(1000, 2),
        "space": lambda: normal(200, 3),
    }


def clock(run: Callable[[Floats], Any], batch: Floats) -> float:
    """Return the processor time that a run takes."""
    start = time.process_time()
    run(batch)
    return time.process_time() - start


def tell(**fields: float) -> None:
    """Answer with one line."""
    print(json.dumps(fields), flush=True)


if __name__ == "__main__":
    main()
