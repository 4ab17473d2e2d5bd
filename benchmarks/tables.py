"""What is timed, and how: ours against scikit-learn, and ours as the work grows."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel
from lossdepth import ForestDepth, HingeDepth, LogisticDepth, SVMDepth
from threadpoolctl import threadpool_limits

import data
import peers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Table = list[dict[str, Any]]

OURS = {
    "logistic": partial(LogisticDepth, scale="none"),
    "hinge": partial(HingeDepth, scale="none"),
    "svm": partial(SVMDepth, intercept="free", scale="none"),
}
EXACT = {"logistic": peers.exact_logistic, "hinge": peers.exact_hinge, "svm": peers.exact_svm}


@dataclass(frozen=True)
class Effort:
    """How much time to spend: enough for figures to show, unless told otherwise."""

    threads: int
    repeats: int = 5
    seconds: float = 1.0  # that a batch of ours should take
    most: int = 20_000  # queries in a batch
    share: float = 1.0  # of the peer's queries
    sizes: tuple[int, ...] = (250, 1000, 4000, 16000)  # of the sample
    widths: tuple[int, ...] = (5, 20, 80, 320)

    def quick(self) -> Effort:
        """Only enough to see that everything works."""
        small = replace(self, sizes=(250, 1000), widths=(5, 20, 80))
        return replace(small, repeats=3, seconds=0.05, most=2_000, share=0.2)


@dataclass(frozen=True)
class Work:
    """Depths to compute, and who else computes them."""

    name: str
    X: Floats
    Z: Floats
    reg: float
    peers: list[peers.Peer]
    queries: int  # for the peers
    tol: float = 1e-6  # ours


def works(folder: Path | None) -> list[Work]:
    """List the rows of the first table."""
    lbfgs, cholesky = partial(peers.logistic, "lbfgs"), partial(peers.logistic, "newton-cholesky")
    images, X, Z = data.mnist(folder, 1000, 2000)
    images = f"logistic, {images}"
    reg = 0.5 * len(X) / ((len(X) + 1) * peers.LN2)  # scikit-learn's C = (n + 1) / n
    result = [
        Work(images, X, Z, reg, [lbfgs(), lbfgs(5e-6)], 20),
        Work(images, X, Z, reg, [lbfgs()], 20, tol=1e-4),
        Work(images, X, Z, reg, [lbfgs(1e-6)], 20, tol=1e-7),
    ]
    speech, X, Z = data.vowels(folder)
    result += [
        Work(
            f"logistic, {speech}",
            X,
            Z,
            1.0,
            [lbfgs(), lbfgs(1e-7), cholesky(), cholesky(1e-6)],
            30,
        ),
        Work(f"hinge, {speech}", X, Z, 0.05, [peers.hinge(1e-6)], 20),
        Work(f"svm, {speech}", X, Z, 1.0, [peers.svm(X)], 10),
        Work(f"svm, {speech}", X, Z, 0.05, [peers.svm(X), peers.svm(X, 1e-6)], 10),
        Work(f"svm, {speech}", X, Z, 0.5 / (len(X) + 1), [peers.svm(X), peers.svm(X, 1e-6)], 20),
    ]
    rng = np.random.default_rng(2)
    X, Z = data.factors(rng, 200, 2000), data.factors(rng, 500, 2000)
    return [*result, Work("logistic, synthetic, d > n", X, Z, 0.1, [lbfgs(), lbfgs(1e-7)], 20)]


def against(work: Work, effort: Effort, peak: float) -> Table:
    """Time ours and the peers of one work in turns."""
    note(work.name)
    kind = work.peers[0].loss
    ours = OURS[kind](reg=work.reg, tol=work.tol, n_jobs=effort.threads).fit(work.X)
    batch = enough(ours, work.Z, effort)
    few = work.Z[: max(4, round(effort.share * work.queries)) * effort.threads]
    exact = EXACT[kind](work.X, few, work.reg)
    checked = ours.score_details(few)
    times: list[list[float]] = [[] for _ in range(len(work.peers) + 1)]
    details: list[float] = []
    answers: list[Any] = [None] * len(times)
    pool = Parallel(n_jobs=effort.threads)
    work.peers[0].depths(work.X, few[: effort.threads], work.reg, pool)  # starts the processes
    for _ in range(effort.repeats):
        timed(times[0], ours.score_samples, batch)
        answers[0] = timed(details, ours.score_details, batch)
        for k, peer in enumerate(work.peers, start=1):
            answers[k] = timed(times[k], peer.depths, work.X, few, work.reg, pool)
    fast = float(np.median(times[0])) / len(batch)
    rank = int(np.linalg.matrix_rank(work.X - work.X.mean(axis=0)))
    flops = 4.0 * len(work.X) * rank * answers[0].iterations.mean() / fast
    common = {
        "work": work.name,
        "reg": work.reg,
        "ours_tol": work.tol,
        "n": len(work.X),
        "d": work.X.shape[1],
        "rank": rank,
        "queries_ours": len(batch),
        "queries_peer": len(few),
        "ours_seconds": fast,
        "ours_runs": times[0],
        "details_seconds": float(np.median(details)) / len(batch),
        "details_runs": details,
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


def forests(folder: Path | None, effort: Effort) -> Table:
    """Time all trees against forests of a thousand, in turns, on one thread."""
    rows = []
    for name, X, Z in (data.vowels(folder), data.pendigits(folder)):
        note(f"forest, {name}")
        ours = ForestDepth(n_jobs=1)
        all_rows: list[float] = []
        timed(all_rows, ours.fit, X)  # scores every row against the sample
        batch = enough(ours, Z, effort)
        queries = max(1, round(3 * effort.share))
        times: tuple[list[float], list[float]] = ([], [])
        off = []
        for k in range(effort.repeats):
            few = Z[k * queries : (k + 1) * queries]
            timed(times[0], ours.score_samples, batch)
            theirs = timed(times[1], peers.forest_depths, X, few, k * queries)
            off.append(np.abs(theirs - ours.score_samples(few)).max())
        fast, slow = (float(np.median(runs)) for runs in times)
        fast, slow = fast / len(batch), slow / queries
        rows.append(
            {
                "work": f"forest, {name}",
                "n": len(X),
                "d": X.shape[1],
                "peer": "RandomForestClassifier, 1000 trees",
                "queries_ours": len(batch),
                "queries_peer": queries,
                "ours_seconds": fast,
                "peer_seconds": slow,
                "runs": times,
                "ratio": slow / fast,
                "peer_off": float(max(off)),
                "certified": float(ours.score_details(batch).error.max()),
                "all_rows_seconds": all_rows[0],
            }
        )
    return rows


def growth(effort: Effort) -> Table:
    """Time ours as the sample, its width and the number of queries grow."""

    @cache
    def fitted(n: int, d: int, reg: float) -> LogisticDepth:
        X = data.factors(np.random.default_rng(3), n, d)
        return LogisticDepth(reg=reg, scale="none", n_jobs=effort.threads).fit(X)

    @cache
    def row(n: int, d: int, queries: int | None) -> dict[str, Any]:
        found: dict[str, Any] = {"n": n, "d": d, "queries": queries, "by_reg": {}}
        pool = data.factors(np.random.default_rng(4), 10_000, d)
        for reg in (1.0, 0.01):
            note(f"growth, n = {n}, d = {d}, reg = {reg}, queries: {queries or 'enough'}")
            ours, times = fitted(n, d, reg), list[float]()
            batch = pool[:queries] if queries else enough(ours, pool, effort)
            for _ in range(effort.repeats):
                timed(times, ours.score_samples, batch)
            scores = ours.score_details(batch[:1000])
            found["by_reg"][str(reg)] = {
                "seconds": float(np.median(times)) / len(batch),
                "iterations": float(scores.iterations.mean()),
                "queries": len(batch),
                "runs": times,
            }
        return found

    rows = [row(n, 20, None) for n in effort.sizes]
    rows += [row(1000, d, None) for d in effort.widths]
    counts = [count for count in (1, 10, 100, 1000, 10_000) if count <= effort.most]
    return rows + [row(1000, 20, count) for count in counts]


def gemm(threads: int) -> float:
    """Measure the flops a second of a large matrix product, the best of ten."""
    size, times = 1024, list[float]()
    a, b = np.random.default_rng(5).normal(size=(2, size, size))
    with threadpool_limits(threads):
        for _ in range(10):
            timed(times, np.matmul, a, b)
    return 2.0 * size**3 / min(times)


def enough(ours: LogisticDepth | HingeDepth | ForestDepth, pool: Floats, effort: Effort) -> Floats:
    """Repeat the queries until there are enough of them to time."""
    first: list[float] = []
    few = pool[:100]
    timed(first, ours.score_samples, few)
    count = int(np.clip(effort.seconds * len(few) / first[0], len(few), effort.most))
    return pool[np.arange(count) % len(pool)]


def timed(times: list[float], run: Callable[..., Any], *args: Any) -> Any:
    """Run, and note the time it took."""
    start = time.perf_counter()
    result = run(*args)
    times.append(time.perf_counter() - start)
    return result


def note(what: str) -> None:
    """Say on the side what is going on."""
    print(what, file=sys.stderr, flush=True)
