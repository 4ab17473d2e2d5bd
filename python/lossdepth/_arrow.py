"""Scores of Arrow record batches, for engines and services: one prepared model a process."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lossdepth import _native
from lossdepth._base import Depth
from lossdepth._memory import half_of_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# What can be said of a row.
COLUMNS = ("depth", "error", "stderr", "percentile", "p_value")
# What is done with rows that lack a value.
NULLS = ("error", "null", "compare")
_P_VALUES = ("split", "cross", "leave-one-out")
# How a scorer goes to other processes.
_SEND = ("model", "path")


class CacheInfo(NamedTuple):
    """How the prepared models of this process are used."""

    hits: int
    prepared: int
    models: int
    bytes: int


class _Cache:
    """Prepared models by the checksum of their file: the most recently used ones."""

    most = 8

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        self._models: OrderedDict[tuple[str, int], _native.Prepared] = OrderedDict()
        self._checksums: dict[tuple[str, int, int, int], str] = {}
        self._hits = self._prepared = 0

    def get(self, checksum: str, threads: int, read: Callable[[], bytes]) -> _native.Prepared:
        """Return a model that is prepared already, or prepare it; others wait for it meanwhile."""
        key = checksum, threads
        with self._lock:
            found = self._models.get(key)
            if found is None:
                found = self._models[key] = _native.Prepared(read(), half_of_memory(), threads)
                self._prepared += 1
                if len(self._models) > self.most:
                    self._models.popitem(last=False)
            else:
                self._hits += 1
                self._models.move_to_end(key)
            return found

    def of_file(self, path: str, threads: int) -> tuple[str, _native.Prepared]:
        """Return the checksum of a file and its model; a file that did not change is not read."""
        state = os.stat(path)  # noqa: PTH116
        key = path, state.st_ino, state.st_mtime_ns, state.st_size
        checksum = self._checksums.get(key)
        if checksum is not None and (checksum, threads) in self._models:
            return checksum, self.get(checksum, threads, Path(path).read_bytes)
        data = Path(path).read_bytes()
        checksum = _checksum(data)
        found = self.get(checksum, threads, lambda: data)
        if len(self._checksums) > 8 * self.most:
            self._checksums.clear()
        self._checksums[key] = checksum
        return checksum, found

    def info(self) -> CacheInfo:
        with self._lock:
            models = list(self._models.values())
            size = sum(model.bytes for model in models)
            return CacheInfo(self._hits, self._prepared, len(models), size)


_CACHE = _Cache()


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class ArrowScorer:
    """Scores record batches of Arrow, from any library that speaks its C data interface.

    The model is prepared once per process, whatever the number of scorers and threads: prepared
    models are kept by the checksum of their file, the 8 most recently used ones. Columns are found
    by name and read as the model's encoding says. The scores of a row do not depend on the other
    rows of its batch, to the last bit.

    Parameters
    ----------
    model : path-like, bytes or fitted depth
        A model file, its content, or an estimator of this package.
    columns : sequence of str, default=("depth", "error")
        What to compute, in order: ``"depth"``, ``"error"`` (a proven bound on its distance from the
        exact depth), ``"stderr"`` (the sampling standard error), ``"percentile"`` (the share of the
        reference that is at most as deep; all of it is scored once per process) and ``"p_value"``
        (conformal; it takes further fits once per process).
    features : sequence of str or None, default=None
        What batches call the columns of the model, in its order. Needed only for models that were
        fitted without names, in batches with more columns.
    nulls : {"error", "null", "compare"}, default="error"
        What to do with a row that lacks a value where the model compares: refuse the batch, give it
        no scores, or compare it on what it has, as the command line does. NaN, and text that cannot
        be read as what its column holds, count as lacking.
    p_values : {"split", "cross", "leave-one-out"}, default="split"
        How p-values are calibrated, see :meth:`LogisticDepth.calibrate`; from seed 0.
    threads : int, default=1
        Threads of one call. An engine that runs several calls at once wants 1.
    send : {"model", "path"}, default="model"
        What travels when a scorer is pickled: the model itself, or the path of its file, which
        every machine must have then.

    Attributes
    ----------
    features : list of str or None
        The columns of a batch that are compared; None if the model has no names for them.
    name : str
        What messages call the model.

    Examples
    --------
    >>> import lossdepth
    >>> import pyarrow as pa
    >>> X = pa.table({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
    >>> detector = lossdepth.LogisticDepth(reg=0.1).fit(X)
    >>> scorer = lossdepth.ArrowScorer(detector, columns=["depth"])
    >>> batch = pa.record_batch({"b": [1.0, 9.0], "id": [7, 8], "a": [1.0, 9.0]})
    >>> [round(depth, 2) for depth in scorer(batch)["depth"].to_pylist()]
    [0.79, 0.01]
    """

    def __init__(
        self,
        model: Any,
        columns: Sequence[str] = ("depth", "error"),
        *,
        features: Sequence[str] | None = None,
        nulls: str = "error",
        p_values: str = "split",
        threads: int = 1,
        send: str = "model",
    ) -> None:
        self._path: str | None = None
        self._columns = _names("columns", columns)
        for name in self._columns:
            _one_of("columns", name, COLUMNS)
        if not self._columns or len(set(self._columns)) < len(self._columns):
            raise ValueError(f"`columns` must be different names, got {columns!r}")
        _one_of("nulls", nulls, NULLS)
        _one_of("p_values", p_values, _P_VALUES)
        _one_of("send", send, _SEND)
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise ValueError(f"`threads` must be a whole number of at least 1, got {threads!r}")
        self._nulls, self._p_values, self._threads, self._send = nulls, p_values, threads, send
        if isinstance(model, Depth):
            self.name = type(model).__name__
            data = model._to_bytes()  # noqa: SLF001
        elif isinstance(model, bytes | bytearray | memoryview):
            self.name, data = "model", bytes(model)
        elif isinstance(model, str | os.PathLike):
            self._path = os.path.abspath(os.fspath(model))  # noqa: PTH100
            self.name = str(os.fspath(model))
        else:
            raise TypeError(
                "`model` must be the path of a model file, its bytes or a fitted depth, got "
                f"{type(model).__name__}"
            )
        if send == "path" and self._path is None:
            raise ValueError('`send` can be "path" only for a model file')
        if self._path is not None:
            self._checksum, self._prepared = self._named(_CACHE.of_file, self._path, threads)
        else:
            self._checksum = _checksum(data)
            self._prepared = self._named(_CACHE.get, self._checksum, threads, lambda: data)
        self._given = None if features is None else _names("features", features)

    @property
    def features(self) -> list[str] | None:
        """The columns of a batch that are compared; None if the model has no names for them."""
        return list(self._given) if self._given is not None else self._prepared.features

    @property
    def columns(self) -> tuple[str, ...]:
        """What is computed."""
        return self._columns

    def score(self, batch: Any) -> _native.ArrowBatch:
        """Score the rows of a batch, without pyarrow.

        Parameters
        ----------
        batch : object with ``__arrow_c_array__`` or ``__arrow_c_stream__``
            A record batch, a table, an array of structs, a data frame of polars or pandas.

        Returns
        -------
        object with ``__arrow_c_array__``
            A record batch of as many rows, for any library that takes Arrow data.
        """
        scored: _native.ArrowBatch = self._named(
            self._prepared.score,
            batch,
            list(self._columns),
            None if self._given is None else list(self._given),
            self._nulls,
            self._p_values,
            self._threads,
        )
        return scored

    def __call__(self, batch: Any) -> Any:
        """Score the rows of a batch.

        Parameters
        ----------
        batch : object with ``__arrow_c_array__`` or ``__arrow_c_stream__``
            A record batch, a table, an array of structs, a data frame of polars or pandas.

        Returns
        -------
        pyarrow.RecordBatch
            A record batch of as many rows, with a column for each of `columns`.
        """
        import pyarrow as pa  # noqa: PLC0415

        return pa.record_batch(self.score(batch))

    def append(self, batch: Any, prefix: str = "") -> Any:
        """Add the scores to a batch or table of pyarrow.

        Parameters
        ----------
        batch : pyarrow.RecordBatch or pyarrow.Table
            The rows.
        prefix : str, default=""
            What the names of the new columns begin with.

        Returns
        -------
        pyarrow.RecordBatch or pyarrow.Table
            The same columns, and a new one for each of `columns`.
        """
        self.check_new(batch.schema.names, prefix)
        scores = self(batch)
        for name in self._columns:
            batch = batch.append_column(prefix + name, scores[name])
        return batch

    def check_new(self, there: Sequence[str], prefix: str = "") -> None:
        """Refuse new columns that a table has already.

        Parameters
        ----------
        there : sequence of str
            The columns of the table.
        prefix : str, default=""
            What the names of the new columns begin with.
        """
        for name in self._columns:
            if prefix + name in there:
                raise ValueError(
                    f"{self.name}: the table has a column `{prefix + name}` already: give another "
                    "`prefix` for the new columns"
                )

    def _named(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Do something, and name the model if that fails."""
        try:
            return work(*arguments)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None

    @staticmethod
    def cache_info() -> CacheInfo:
        """Say how the prepared models of this process are used.

        Returns
        -------
        CacheInfo
            How often one was there already, how many were prepared, how many are kept, and their
            bytes.
        """
        return _CACHE.info()

    @staticmethod
    def cache_clear() -> None:
        """Forget the prepared models of this process; scorers keep theirs."""
        _CACHE.clear()

    def __sizeof__(self) -> int:
        """Return the bytes it takes with its prepared model, measured when that was made."""
        prepared: int = self._prepared.bytes
        return object.__sizeof__(self) + sys.getsizeof(vars(self)) + prepared

    def __repr__(self) -> str:
        return f"ArrowScorer({self.name!r}, columns={self._columns!r})"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """Pickle as a model file's bytes or path, with its checksum."""
        source = self._path if self._send == "path" else self._prepared.to_bytes()
        options = {
            "_columns": self._columns,
            "_given": self._given,
            "_nulls": self._nulls,
            "_p_values": self._p_values,
            "_threads": self._threads,
            "_send": self._send,
            "_path": self._path,
            "_checksum": self._checksum,
            "name": self.name,
        }
        return _restored, (source, options)


def _restored(source: bytes | str, options: dict[str, Any]) -> ArrowScorer:
    """Make a scorer from what was pickled; a model that this process has is not prepared again."""
    scorer = ArrowScorer.__new__(ArrowScorer)
    vars(scorer).update(options)
    checksum, threads = options["_checksum"], options["_threads"]
    if isinstance(source, bytes):
        scorer._prepared = scorer._named(_CACHE.get, checksum, threads, lambda: source)  # noqa: SLF001
        return scorer
    found, scorer._prepared = scorer._named(_CACHE.of_file, source, threads)  # noqa: SLF001
    if found != checksum:
        raise ValueError(f"{source}: another model than the one that was sent by its path")
    return scorer


def _names(what: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise TypeError(f"`{what}` must be a list of names, got {given!r}")
    return tuple(given)


def _one_of(what: str, given: Any, known: Sequence[str]) -> None:
    if given not in known:
        raise ValueError(f"`{what}` must be one of {', '.join(known)}, got {given!r}")
