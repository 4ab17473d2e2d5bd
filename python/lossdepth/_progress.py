"""Threads and progress: how much of the machine to use, and how far the work has come."""

from __future__ import annotations

import os
import sys
import time
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeVar

from joblib import effective_n_jobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Self

T = TypeVar("T")

# More than any machine has.
_MOST_THREADS = 65_536

# The first part of the rows, and how long a part should take, in seconds.
_FIRST_PART, _PART_SECONDS = 64, 0.5


def threads(n_jobs: int | None) -> int:
    """Return how many threads to use, as joblib would, within what an outer pool leaves.

    Joblib and Dask tell their worker processes how many threads each of them may use by
    ``OMP_NUM_THREADS``; a negative `n_jobs`, which asks for all cores, does not go beyond it.
    """
    if n_jobs is not None and not isinstance(n_jobs, Integral):
        raise TypeError(f"`n_jobs` must be a whole number or None, got {n_jobs!r}")
    count = int(effective_n_jobs(n_jobs))
    if count > _MOST_THREADS:
        raise ValueError(f"`n_jobs` must be at most {_MOST_THREADS}, got {n_jobs}")
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if n_jobs is not None and n_jobs < 0 and limit.isdecimal() and int(limit) > 0:
        count = min(count, int(limit))
    return count


class Progress:
    """A bar on standard error: that of tqdm if it is installed, else a line of our own."""

    def __init__(self, total: int, what: str, *, shown: bool) -> None:
        self._total, self._what, self._done = total, what, 0
        self._bar: Any = None
        self._start = self._told = time.monotonic()
        self._shown = shown
        if shown:
            try:
                from tqdm.auto import tqdm  # noqa: PLC0415
            except ImportError:
                return
            self._bar = tqdm(total=total, desc=what, unit="row")

    def advance(self, rows: int) -> None:
        """Say that so many more rows are done."""
        self._done += rows
        if self._bar is not None:
            self._bar.update(rows)
        elif self._shown:
            now = time.monotonic()
            if now - self._told >= 1.0 or self._done == self._total:
                self._told = now
                share = self._done / max(1, self._total)
                left = (now - self._start) * (1.0 - share) / max(share, 1e-9)
                line = f"{self._what}: {self._done}/{self._total} rows, {left:.0f} s left\n"
                sys.stderr.write(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def in_parts(work: Callable[[Any], T], rows: Any, what: str) -> Iterator[T]:
    """Do the work in parts of growing size, with a bar; a score does not depend on its batch."""
    size, start = _FIRST_PART, 0
    with Progress(len(rows), what, shown=True) as progress:
        while start < len(rows) or start == 0:
            part = rows[start : start + size]
            began = time.monotonic()
            yield work(part)
            progress.advance(len(part))
            start += size
            if time.monotonic() - began < _PART_SECONDS:
                size *= 2
