"""References in pieces: a bounded sample of rows that pieces can be added to and merged into."""

from __future__ import annotations

import json
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from lossdepth import _checks, _native
from lossdepth._columns import native_table
from lossdepth._input import as_table, check_numeric, column_names, holds_numbers, is_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    Floats = NDArray[np.float64]

# How many different rows are kept unless something else is said.
CAPACITY = 20_000


class ReferenceSketch:
    """A sample of the rows of tables, the same however the rows are divided and ordered.

    It keeps the different rows with the smallest hashes, each with its exact number of copies. Up
    to `reference_rows` different rows nothing is lost. Beyond, what is kept is a random sample of
    the different rows, weighted by their copies; a row that is a large share of all is kept in any
    case. Sketches of parts, made on any machine, merge into the sketch of the whole. Give it to
    `fit` of an estimator in place of a table.

    Parameters
    ----------
    reference_rows : int, default=20000
        How many different rows are kept at most.
    random_state : int, default=0
        What decides which rows are kept. Only sketches with the same can be merged.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import LogisticDepth, ReferenceSketch
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> parts = [ReferenceSketch().add(part) for part in np.split(X, 4)]
    >>> merged = parts[0].merge(*parts[1:])
    >>> merged.n_rows, len(merged), merged.complete
    (1000, 1000, True)
    >>> detector = LogisticDepth().fit(merged)
    >>> bool(detector.score_samples([[0.0, 0.0]]) > detector.score_samples([[5.0, 5.0]]))
    True
    """

    def __init__(self, *, reference_rows: int = CAPACITY, random_state: int = 0) -> None:
        """Make an empty one."""
        for name, value in (("reference_rows", reference_rows), ("random_state", random_state)):
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
                raise ValueError(f"`{name}` must be a whole number of at least 0, got {value!r}")
        self._reference_rows = int(reference_rows)
        self._seed = int(random_state)
        self._native: _native.Sketch | None = None
        # Checks the number of rows.
        _native.Sketch(["0"], self._reference_rows, self._seed, {})

    def add(self, X: Any, sample_weight: Any = None) -> Self:
        """Add the rows of a table.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows. Columns are found by name where they have names.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows; a row of weight k counts as k rows.

        Returns
        -------
        object
            The sketch itself.
        """
        table, kinds = self._read(X)
        self._add(table, kinds, _checks.weights(sample_weight, len(table)))
        return self

    def remove(self, X: Any, sample_weight: Any = None) -> Self:
        """Take rows out again that were added, as for a window that moves.

        That is possible while the sketch is `complete`. Beyond, keep a sketch for each piece of the
        window, and merge those.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            The weights with which they were added.

        Returns
        -------
        object
            The sketch itself.
        """
        table, _ = self._read(X)
        weights = _checks.weights(sample_weight, len(table))
        self._native = _told(self._rows().remove, table, weights)
        return self

    def merge(self, *others: ReferenceSketch) -> Self:
        """Add the rows of other sketches.

        Parameters
        ----------
        *others : ReferenceSketch
            Sketches with the same columns, `reference_rows` and `random_state`.

        Returns
        -------
        object
            The sketch itself.
        """
        there = [other for other in others if other._native is not None]  # noqa: SLF001
        if self._native is None:
            for other in there:
                if (other._reference_rows, other._seed) != (self._reference_rows, self._seed):  # noqa: SLF001
                    raise ValueError(
                        "parts with different `reference_rows` or `random_state` cannot be merged"
                    )
            if there:
                self._native, there = there[0]._rows(), there[1:]  # noqa: SLF001
        if there:
            self._native = self._rows().merge([other._rows() for other in there])  # noqa: SLF001
        return self

    @property
    def n_rows(self) -> int:
        """How many rows were added, copies counted."""
        return 0 if self._native is None else self._native.observations

    @property
    def complete(self) -> bool:
        """Whether no row was dropped."""
        return self._native is None or self._native.complete

    @property
    def columns(self) -> list[str]:
        """The names of the columns; their numbers, if they have none."""
        return [] if self._native is None else self._native.names

    def __len__(self) -> int:
        """Return how many different rows are kept."""
        return 0 if self._native is None else len(self._native)

    def __repr__(self) -> str:
        """Say what is in it."""
        what = "all" if self.complete else f"{len(self)} different"
        return f"<ReferenceSketch: {what} of {self.n_rows} rows, {len(self.columns)} columns>"

    def to_bytes(self) -> bytes:
        """Return the sketch as bytes; what ``lossdepth fit --partial`` writes is the same."""
        return self._rows().to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Make a sketch of its bytes."""
        rows = _native.Sketch.from_bytes(data)
        sketch = cls(reference_rows=rows.reference_rows, random_state=rows.seed)
        sketch._native = rows
        return sketch

    def _rows(self) -> _native.Sketch:
        if self._native is None:
            raise ValueError("the sketch has no rows yet")
        return self._native

    def _add(self, table: _native.Table, kinds: dict[str, str], weights: Floats | None) -> None:
        """Add a table that was read."""
        if self._native is None:
            notes = {"kinds": json.dumps(kinds, sort_keys=True)} if kinds else {}
            names = table.names
            self._native = _native.Sketch(names, self._reference_rows, self._seed, notes)
        self._native = _told(self._native.add, table, weights)

    def _kinds(self) -> dict[str, str]:
        """Return the kinds that the types of the columns said."""
        kinds: dict[str, str] = json.loads(self._rows().notes.get("kinds", "{}"))
        return kinds

    def _read(self, X: Any) -> tuple[_native.Table, dict[str, str]]:
        """Turn a table into columns; also return the kinds that their types say."""
        X = as_table(X)
        if is_sparse(X):
            raise TypeError("a sketch takes dense tables: give `X.toarray()`")
        names = column_names(X)
        if names is None:
            X = X if hasattr(X, "shape") else np.asarray(X)
            if len(X.shape) != 2:  # noqa: PLR2004
                raise ValueError(f"a table has two dimensions, got shape {tuple(X.shape)}")
            names = [str(place) for place in range(X.shape[1])]
        if isinstance(X, np.ndarray) and holds_numbers(X):
            check_numeric(X)
            return _native.Table.of_rows(np.require(X, np.float64, ["C", "A"]), names), {}
        return native_table(X, names, {}, truth_is_number=False)


def _told(work: Any, table: _native.Table, weights: Floats | None) -> _native.Sketch:
    """Add or remove rows; an error that names columns brings them along."""
    try:
        changed: _native.Sketch = work(table, weights)
    except ValueError as error:
        raise ValueError(error.args[0]) from None
    return changed
