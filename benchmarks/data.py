"""Samples and queries to time: real ones from a folder, or made up ones in their place."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import numpy as np
from scipy.io import loadmat

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SIDE = 28
DIGIT = 3


def mnist(folder: Path | None, n: int, queries: int) -> tuple[str, Floats, Floats]:
    """Return a name, n images of one digit, and other images of any digit; pixels from 0 to 255."""
    rng = np.random.default_rng(0)
    if folder is None or not (folder / "mnist" / "train-images-idx3-ubyte.gz").exists():
        drawn = strokes(rng, n + queries)
        return "synthetic strokes", drawn[:n], drawn[n:]
    images = _idx(folder / "mnist" / "train-images-idx3-ubyte.gz", 16).reshape(-1, SIDE * SIDE)
    labels = _idx(folder / "mnist" / "train-labels-idx1-ubyte.gz", 8)
    sample = np.flatnonzero(labels == DIGIT)[:n]
    others = np.setdiff1d(np.arange(len(labels)), sample)
    chosen = rng.choice(others, queries, replace=False)
    return f"MNIST, digit {DIGIT}", images[sample].astype(float), images[chosen].astype(float)


def vowels(folder: Path | None) -> tuple[str, Floats, Floats]:
    """Return a name and rows as published, which are both the sample and, shuffled, the queries."""
    rng = np.random.default_rng(1)
    if folder is None or not (folder / "odds" / "vowels.mat").exists():
        name, rows = "synthetic AR(1)", autoregressive(rng, 1456, 12)
    else:
        rows = loadmat(folder / "odds" / "vowels.mat")["X"].astype(float)
        name = "vowels"
    return name, rows, rng.permutation(rows)


def pendigits(folder: Path | None) -> tuple[str, Floats, Floats]:
    """Return a name and rows as published, which are both the sample and, shuffled, the queries."""
    rng = np.random.default_rng(6)
    if folder is None or not (folder / "odds" / "pendigits.mat").exists():
        name, rows = "synthetic AR(1)", np.round(20 * autoregressive(rng, 6870, 16))
    else:
        rows = loadmat(folder / "odds" / "pendigits.mat")["X"].astype(float)
        name = "pendigits"
    return name, rows, rng.permutation(rows)


def strokes(rng: np.random.Generator, n: int) -> Floats:
    """Draw n images, each one smooth pen stroke in the middle of an empty frame."""
    ticks = np.linspace(0, 1, 24)[:, None]
    bends = np.hstack([(1 - ticks) ** 3, 3 * ticks * (1 - ticks) ** 2])
    bends = np.hstack([bends, 3 * ticks**2 * (1 - ticks), ticks**3])
    # Control points: the same for all images, and what each hand makes of them.
    shape = np.array([[8.0, 8.0], [6.0, 26.0], [22.0, 2.0], [20.0, 20.0]])
    points = bends @ (shape + rng.normal(scale=3.0, size=(n, 4, 2)))
    width = rng.uniform(1.0, 2.0, size=(n, 1, 1))
    grid = np.arange(SIDE)
    # A dot at each tick is a product of a profile over the lines and one over the columns.
    lines, columns = (
        np.exp(-0.5 * ((grid - points[:, :, axis, None]) / width) ** 2) for axis in (0, 1)
    )
    ink = np.einsum("nti,ntj->nij", lines, columns)
    ink = np.round(255 * np.clip(ink * (1 + 0.1 * rng.normal(size=ink.shape)), 0, 1))
    ink[ink < 30] = 0
    frame = 3
    ink[:, :frame] = ink[:, -frame:] = ink[:, :, :frame] = ink[:, :, -frame:] = 0
    return np.asarray(ink.reshape(n, -1), dtype=float)


def autoregressive(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Draw normal rows of unit variance whose neighbouring columns have correlation 0.7."""
    rows = rng.normal(size=(n, d))
    for j in range(1, d):
        rows[:, j] = 0.7 * rows[:, j - 1] + np.sqrt(1 - 0.7**2) * rows[:, j]
    return rows


def factors(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Draw standard normal rows plus three directions of larger variance."""
    loadings = np.random.default_rng(d).normal(size=(3, d))
    return np.asarray(rng.normal(size=(n, d)) + rng.normal(size=(n, 3)) @ loadings)


def _idx(path: Path, header: int) -> NDArray[np.uint8]:
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=header)
