"""What is timed, and how: ours against scikit-learn, and ours as the work grows."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import data
import numpy as np
import peers

from lossdepth import HingeDepth, LogisticDepth

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Table = list[dict[str, Any]]

OURS = {"logistic": LogisticDepth, "hinge": HingeDepth}
EXACT = {"logistic": peers.exact_logistic, "hinge": peers.exact_hinge}


@dataclass(frozen=True)
class Effort:
    """How much time to spend."""

    threads: int
    repeats: int
    seconds: float  # that a batch of ours should take
    most: int  # queries in a batch
    share: float  # of the peer's queries
    sizes: tuple[int, ...]  # of the sample
    widths: tuple[int, ...]


def quick(threads: int) -> Effort:
    """Only enough to see that everything works."""
    return Effort(threads, 3, 0.1, 2_000, 0.2, (250, 1000, 4000), (5, 20, 80))


def full(threads: int) -> Effort:
    """Enough for figures to show."""
    return Effort(threads, 5, 1.0, 20_000, 1.0, (250, 1000, 4000, 16000), (5, 20, 80, 320))


@dataclass(frozen=True)
class Work:
    """Depths to compute, and who else computes them."""

    name: str
    X: Floats
    Z: Floats
    reg: float
    peers: list[peers.Peer]
    queries: int  # for the peers


def works(folder: Path | None) -> list[Work]:
    """List the rows of the first table."""
    images, X, Z = data.mnist(folder, 1000, 2000)
    # The penalty of C = (n + 1) / n: one over the mean weight of scikit-learn's rows.
    reg = 0.5 * len(X) / ((len(X) + 1) * peers.LN2)
    sharp = [peers.logistic("lbfgs"), peers.logistic("lbfgs", 1e-6)]
    result = [Work(f"logistic, {images}", X, Z, reg, sharp, 20)]
    speech, X, Z = data.vowels(folder)
    both = [peers.logistic("lbfgs"), peers.logistic("newton-cholesky")]
    result.append(Work(f"logistic, {speech}", X, Z, 1.0, both, 30))
    result.append(Work(f"hinge, {speech}", X, Z, 0.05, [peers.hinge(1e-6)], 20))
    rng = np.random.default_rng(2)
    X, Z = data.factors(rng, 200, 2000), data.factors(rng, 500, 2000)
    wide = [peers.logistic("lbfgs"), peers.logistic("lbfgs", 1e-6)]
    result.append(Work("logistic, synthetic, d > n", X, Z, 0.1, wide, 20))
    return result


def against(work: Work, effort: Effort, peak: float) -> Table:
    """Time ours and the peers of one work in turns."""
    note(work.name)
    kind = work.peers[0].loss
    ours = OURS[kind](reg=work.reg, n_jobs=effort.threads).fit(work.X)
    batch = enough(ours, work.Z, effort)
    few = work.Z[: max(4, round(effort.share * work.queries))]
    exact = EXACT[kind](work.X, few, work.reg)
    checked = ours.score_details(few)
    times: list[list[float]] = [[] for _ in range(len(work.peers) + 1)]
    answers: list[Any] = [None] * len(times)
    for _ in range(effort.repeats):
        answers[0] = timed(times[0], lambda: ours.score_details(batch))
        for k, peer in enumerate(work.peers, start=1):
            answers[k] = timed(times[k], lambda peer=peer: peer.depths(work.X, few, work.reg))
    fast = float(np.median(times[0])) / len(batch)
    rank = int(np.linalg.matrix_rank(work.X - work.X.mean(axis=0)))
    flops = 4.0 * len(work.X) * rank * answers[0].iterations.mean() / fast
    common = {
        "work": work.name,
        "reg": work.reg,
        "n": len(work.X),
        "d": work.X.shape[1],
        "rank": rank,
        "queries_ours": len(batch),
        "queries_peer": len(few),
        "ours_seconds": fast,
        "ours_runs": times[0],
        "iterations": float(answers[0].iterations.mean()),
        "unconverged": int((~answers[0].converged).sum()),
        "median_depth": float(np.median(exact)),
        "ours_off": float(np.abs(checked.depth - exact).max()),
        "certified": float(checked.error.max()),
        "peak_share": flops / peak if kind == "logistic" else None,
    }
    rows = []
    for peer, runs, (depths, warned) in zip(work.peers, times[1:], answers[1:], strict=True):
        slow = float(np.median(runs)) / len(few)
        found = {"peer": peer.name, "peer_seconds": slow, "peer_runs": runs, "ratio": slow / fast}
        found |= {"peer_off": float(np.abs(depths - exact).max()), "peer_warnings": warned}
        rows.append(common | found)
    return rows


def growth(effort: Effort) -> Table:
    """Time ours as the sample, its width and the number of queries grow."""

    @cache
    def fitted(n: int, d: int, reg: float) -> LogisticDepth:
        X = data.factors(np.random.default_rng(3), n, d)
        return LogisticDepth(reg=reg, n_jobs=effort.threads).fit(X)

    def row(n: int, d: int, queries: int | None) -> dict[str, Any]:
        found: dict[str, Any] = {"n": n, "d": d, "queries": queries, "by_reg": {}}
        pool = data.factors(np.random.default_rng(4), 10_000, d)
        for reg in (1.0, 0.01):
            note(f"growth, n = {n}, d = {d}, reg = {reg}, queries: {queries or 'enough'}")
            ours, times = fitted(n, d, reg), []
            batch = pool[:queries] if queries else enough(ours, pool, effort)
            for _ in range(effort.repeats):
                scores = timed(times, lambda batch=batch, ours=ours: ours.score_details(batch))
            found["by_reg"][str(reg)] = {
                "seconds": float(np.median(times)) / len(batch),
                "iterations": float(scores.iterations.mean()),
                "queries": len(batch),
                "runs": times,
            }
        return found

    rows = [row(n, 20, None) for n in effort.sizes]
    rows += [row(1000, d, None) for d in effort.widths]
    return rows + [row(1000, 20, queries) for queries in (1, 10, 100, 1000, 10_000)]


def gemm() -> float:
    """Measure the flops a second of a large matrix product, the best of ten."""
    size, times = 1024, list[float]()
    a, b = np.random.default_rng(5).normal(size=(2, size, size))
    for _ in range(10):
        timed(times, lambda: a @ b)
    return 2.0 * size**3 / min(times)


def enough(ours: LogisticDepth, pool: Floats, effort: Effort) -> Floats:
    """Repeat the queries until there are enough of them to time."""
    first: list[float] = []
    few = pool[:100]
    timed(first, lambda: ours.score_details(few))
    count = int(np.clip(effort.seconds * len(few) / first[0], len(few), effort.most))
    return pool[np.arange(count) % len(pool)]


def timed(times: list[float], run: Callable[[], Any]) -> Any:
    """Run, and note the time it took."""
    start = time.perf_counter()
    result = run()
    times.append(time.perf_counter() - start)
    return result


def note(what: str) -> None:
    """Say on the side what is going on."""
    print(what, file=sys.stderr, flush=True)
