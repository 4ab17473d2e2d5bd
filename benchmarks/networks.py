"""The network depth against MLPClassifier in a loop: time, and the objective that both reach."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from lossdepth import MLPDepth
from scipy.io import loadmat
from sklearn.neural_network import MLPClassifier

import data
import tables

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LN2 = np.log(2.0)
REG = 0.01
HIDDEN = (100,)
ROWS = {"glass": (214, 9), "pima": (768, 8)}


def table(folder: Path | None, effort: tables.Effort) -> list[dict[str, Any]]:
    """Time ours and the peer in turns on each sample, one thread each."""
    return [row for name in ROWS for row in _sample(name, folder, effort)]


def lines(rows: list[dict[str, Any]]) -> list[list[Any]]:
    """Return names and cells of the table."""
    names = [
        "work",
        "n",
        "d",
        "peer",
        "ours, a query",
        "peer, a query",
        "ratio",
        "mean objective, ours / peer",
    ]
    cells = [
        [
            f"mlp {HIDDEN}, {row['work']}, reg {REG}",
            row["n"],
            row["d"],
            row["peer"],
            f"{1e3 * row['ours_seconds']:.3g} ms",
            f"{1e3 * row['peer_seconds']:.3g} ms",
            f"{row['ratio']:.3g}×",
            f"{row['ours_objective']:.4f} / {row['peer_objective']:.4f}",
        ]
        for row in rows
    ]
    return [names, *cells]


def _sample(name: str, folder: Path | None, effort: tables.Effort) -> list[dict[str, Any]]:
    tables.note(f"mlp, {name}")
    X = _rows(name, folder)
    rng = np.random.default_rng(6)
    few = rng.permutation(X)[: max(2, round(10 * effort.share))]
    many = rng.permutation(X)[: max(20, round(200 * effort.share))]
    # Fitting does not score the rows.
    risk, total = (
        MLPDepth(hidden=HIDDEN, reg=REG, variant=v, scale="none", n_jobs=1)
        for v in ("risk", "objective")
    )
    for ours in (risk, total):
        ours.fit(X)
    fast: list[float] = []
    slow: dict[str, list[float]] = {"adam": [], "lbfgs": []}
    objectives: dict[str, Floats] = {}
    for _ in range(max(1, effort.repeats - 2)):
        tables.timed(fast, risk.score_samples, many)
        for solver, times in slow.items():
            objectives[solver] = tables.timed(times, _loop, X, few, solver)
    own = float(total.score_samples(few).mean())
    seconds = float(np.median(fast)) / len(many)
    common = {"work": name if folder else f"synthetic, as {name}", "n": len(X), "d": X.shape[1]}
    common |= {"ours_seconds": seconds, "ours_runs": fast, "ours_objective": own}
    return [
        common
        | {
            "peer": f"MLPClassifier, {solver}",
            "peer_seconds": float(np.median(times)) / len(few),
            "peer_runs": times,
            "ratio": float(np.median(times)) / len(few) / seconds,
            "peer_objective": float(objectives[solver].mean()),
        }
        for solver, times in slow.items()
    ]


def _rows(name: str, folder: Path | None) -> Floats:
    file = folder / "odds" / f"{name}.mat" if folder else None
    if file is None or not file.exists():
        return data.factors(np.random.default_rng(7), *ROWS[name])
    return np.asarray(loadmat(file)["X"], dtype=float)


def _loop(X: Floats, Z: Floats, solver: str) -> Floats:
    """Train a network for each query, as a user would, and return what it minimises, in bits.

    The query is repeated as often as the sample has rows, so that batches hold both sides; the
    penalty is divided by the size of a batch.
    """
    n = len(X)
    batch = 2 * n if solver == "lbfgs" else min(200, 2 * n)
    sides = np.repeat([1, 0], n)
    found = np.empty(len(Z))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, z in enumerate(Z):
            model = MLPClassifier(
                HIDDEN, solver=solver, alpha=2.0 * REG * LN2 * batch, random_state=0
            )
            model.fit(np.vstack([X, np.repeat(z[None], n, axis=0)]), sides)
            (into, out), (biases, bias) = model.coefs_, model.intercepts_
            f = np.maximum(np.vstack([X, z]) @ into + biases, 0.0) @ out[:, 0] + bias[0]
            risk = np.logaddexp(0.0, -f[:-1]).mean() + np.logaddexp(0.0, f[-1])
            found[k] = 0.5 * risk / LN2 + REG * ((into**2).sum() + (out**2).sum())
    return found
