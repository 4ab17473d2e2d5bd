"""The oddest rows of a table, each with its reasons in words."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from lossdepth import _native
from lossdepth._columns import native_table
from lossdepth._function import DEFAULT_METHOD, METHODS
from lossdepth._input import as_table, column_names, is_frame, worded
from lossdepth._notebook import odd_rows
from lossdepth._preset import observations
from lossdepth._preset import preset as settings_of
from lossdepth._progress import threads

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Reason:
    """Why a row is odd, for one column.

    Attributes
    ----------
    column : str
        The column.
    value : str
        The value of the row as it is written; ``"gap"`` where there is none.
    text : str
        What is odd about it, as in ``"highest of all; nine in ten are 5 to 27"``.
    share : float
        The share of the row's outlyingness that the column accounts for, between 0 and 1.
    """

    column: str
    value: str
    text: str
    share: float

    def __str__(self) -> str:
        return f"{self.column} {self.value}: {self.text}"


@dataclass(frozen=True)
class Outlier:
    """One of the oddest rows.

    Attributes
    ----------
    row : int
        Its place in the table, from 0.
    name : str or None
        The text of the column that names the rows, if there is one.
    depth, error, stderr : float
        Its depth, a bound on the numerical error of it, and its standard error (NaN if the method
        has no formula for it, as ``"auto"``, and `resamples` is 0).
    p : float
        The chance that a row from where the reference came from is as shallow.
    percentile : float
        The share of the reference that is at most as deep.
    reasons : tuple of Reason
        The columns that account for it, the most important first.
    ordinary_with : dict
        The smallest change found that makes the row ordinary: the values by column.

    Examples
    --------
    >>> import lossdepth
    >>> odd = lossdepth.outliers([[i % 5, i % 7] for i in range(70)] + [[40, 3]], top=1)[0]
    >>> odd.row, str(odd.reasons[0]).startswith("0 40: highest of all")
    (70, True)
    """

    row: int
    name: str | None
    depth: float
    error: float
    stderr: float
    p: float
    percentile: float
    reasons: tuple[Reason, ...]
    ordinary_with: dict[str, str]


class Outliers:
    """The oddest rows of a table, the oddest first: what :func:`outliers` finds.

    Iterates over :class:`Outlier`; prints as a text.

    Attributes
    ----------
    found : list of Outlier
        The rows.
    n_rows : int
        How many rows were scored.
    columns : list of dict
        The compared columns: name, kind, share of gaps, levels.
    left_out : dict
        The columns that are not compared, each with the reason.

    Examples
    --------
    >>> import lossdepth
    >>> odd = lossdepth.outliers([[i % 5, i % 7] for i in range(70)] + [[40, 3]], top=2)
    >>> len(odd), odd.n_rows, sorted(odd.to_dict())[:3]
    (2, 71, ['depth', 'name', 'ordinary_with'])
    """

    def __init__(self, answer: dict[str, Any], index: Any = None) -> None:
        self.n_rows: int = answer["rows"]
        self.columns: list[dict[str, Any]] = answer["columns"]
        self.left_out: dict[str, str] = dict(answer["left_out"])
        self.found = [_outlier(row) for row in answer["found"]]
        self._index = index

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Outlier]:
        return iter(self.found)

    def __getitem__(self, place: int) -> Outlier:
        return self.found[place]

    def __str__(self) -> str:
        names = [str(row.name if row.name is not None else f"row {row.row}") for row in self.found]
        width = max(map(len, names), default=0)
        lines = [f"The {len(self)} oddest of {self.n_rows:,} rows"]
        for name, row in zip(names, self.found, strict=True):
            lead = f"  {name:<{width}}  p {row.p:.2g}"
            texts = [str(reason) for reason in row.reasons] or ["no single column stands out"]
            lines.append(f"{lead:<{width + 13}}  {texts[0]}")
            lines += [f"{'':<{width + 13}}  {text}" for text in texts[1:]]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        return odd_rows(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return a list a column: what `to_pandas` and `to_polars` show.

        Returns
        -------
        dict
            The lists by name.
        """
        return {
            "row": [row.row for row in self.found],
            "name": [row.name for row in self.found],
            "depth": [row.depth for row in self.found],
            "p": [row.p for row in self.found],
            "percentile": [row.percentile for row in self.found],
            "why": ["; ".join(map(str, row.reasons)) for row in self.found],
            "ordinary_with": [
                ", ".join(f"{column} {value}" for column, value in row.ordinary_with.items())
                for row in self.found
            ],
        }

    def to_pandas(self) -> Any:
        """Return a pandas data frame, a row each; with the index of the table if that was one.

        Returns
        -------
        pandas.DataFrame
            Row, name, depth, p, percentile, why, ordinary_with.
        """
        import pandas as pd  # noqa: PLC0415

        index = None if self._index is None else self._index[[row.row for row in self.found]]
        return pd.DataFrame(self.to_dict(), index=index)

    def to_polars(self) -> Any:
        """Return a polars data frame, a row each.

        Returns
        -------
        polars.DataFrame
            Row, name, depth, p, percentile, why, ordinary_with.
        """
        import polars as pl  # noqa: PLC0415

        return pl.DataFrame(self.to_dict())


def outliers(
    X: Any,
    top: int = 10,
    *,
    reference: Any = None,
    method: str = DEFAULT_METHOD,
    preset: str | None = None,
    sample_weight: Any = None,
    kinds: Mapping[Any, str] | None = None,
    missing: str = "compare",
    reasons: int = 3,
    n_jobs: int | None = None,
    **settings: Any,
) -> Any:
    """Find the oddest rows of a table, each with its reasons in words.

    Parameters
    ----------
    X : {array-like, dataframe} of shape (n_samples, n_features)
        The table: numbers, texts, dates, truth values, with or without gaps.
    top : int, default=10
        How many rows.
    reference : {array-like, dataframe} or None, default=None
        The rows to compare with; None for X itself.
    method : str, default="auto"
        Which depth, as in :func:`depth`.
    preset : {"paper", "paper-code", "recommended"} or None, default=None
        Start from other settings than the defaults: see :func:`preset`.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights of the rows of the reference.
    kinds : dict or None, default=None
        What columns hold, by name: ``"number"``, ``"category"``, ``"boolean"``, ``"date"``,
        ``"id"`` or ``"text"``; the others are guessed from their types and their content.
    missing : {"compare", "error", "drop", "median"}, default="compare"
        What to do about gaps.
    reasons : int, default=3
        How many reasons to give for a row at most.
    n_jobs : int or None, default=None
        How many threads, as in the estimators.
    **settings
        Settings of the method, such as `reg` and `scale`.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or Outliers
        A data frame of the kind that X is: `row` (from 0), `name` (of the column that names the
        rows), `depth`, `p`, `percentile`, `why` and `ordinary_with` (the smallest change found that
        makes the row ordinary). For arrays, an object that prints as a text and has `to_pandas`.

    See Also
    --------
    AutoDepth.outliers : The same against what an estimator was fitted to.

    Examples
    --------
    >>> import lossdepth
    >>> rows = [[i % 5, i % 7] for i in range(70)] + [[40, 3]]
    >>> odd = lossdepth.outliers(rows, top=1)
    >>> odd[0].row, odd[0].reasons[0].column, odd[0].reasons[0].value
    (70, '0', '40')
    """
    most = asked_reasons(reasons)
    question = Question.read(
        X,
        top=top,
        reference=reference,
        method=method,
        preset=preset,
        sample_weight=sample_weight,
        kinds=kinds,
        missing=missing,
        n_jobs=n_jobs,
        settings=settings,
    )
    try:
        answer = _native.outliers(*question.native(), most, question.threads)
    except ValueError as error:
        raise worded(error) from None
    return shown(answer, question.X)


def shown(answer: dict[str, Any], X: Any) -> Any:
    """Return what was found as a data frame of the kind that X is, or as an object."""
    result = Outliers(answer, getattr(X, "index", None) if hasattr(X, "iloc") else None)
    if hasattr(X, "iloc"):
        return result.to_pandas()
    return result.to_polars() if is_frame(X) else result


_Native: TypeAlias = tuple[
    _native.Table,
    "_native.Table | None",
    Any,
    str,
    dict[str, Any],
    dict[str, str],
    str,
    int,
]


@dataclass(frozen=True)
class Question:
    """What is asked about a table, checked, as the native core takes it."""

    X: Any
    sample: Any
    table: _native.Table
    reference: _native.Table | None
    weights: Any
    method: str
    settings: dict[str, Any]
    kinds: dict[str, str]
    missing: str
    top: int
    threads: int

    @classmethod
    def read(
        cls,
        X: Any,
        *,
        top: Any,
        reference: Any,
        method: Any,
        preset: str | None,
        sample_weight: Any,
        kinds: Mapping[Any, str] | None,
        missing: str,
        n_jobs: int | None,
        settings: dict[str, Any],
    ) -> Question:
        """Check what the caller gave."""
        name = known_method(method)
        X = tabular(X)
        sample = X if reference is None else tabular(reference)
        if column_names(X) is column_names(sample) is None and X.shape[1] != sample.shape[1]:
            raise ValueError(
                f"`X` has {X.shape[1]} columns, `reference` has {sample.shape[1]}; "
                "without names they are compared by their position"
            )
        if preset is not None:
            settings = (
                settings_of(preset, name, observations(len(sample), sample_weight)) | settings
            )
        weights = None if sample_weight is None else as_weights(sample_weight, len(sample))
        said = {str(column): kind for column, kind in dict(kinds or {}).items()}
        table, found = native_table(
            X, names_of(X), said, truth_is_number=False, leave_out_nested=True
        )
        against = None
        if reference is not None:
            against, found = native_table(
                sample, names_of(sample), said, truth_is_number=False, leave_out_nested=True
            )
        return cls(
            X,
            sample,
            table,
            against,
            weights,
            name,
            settings,
            found,
            missing,
            whole_number(top),
            threads(n_jobs),
        )

    def native(self) -> _Native:
        """Return what every native call about it starts with."""
        return (
            self.table,
            self.reference,
            self.weights,
            self.method,
            self.settings,
            self.kinds,
            self.missing,
            self.top,
        )


def whole_number(top: Any) -> int:
    """Check how many rows are asked for."""
    if isinstance(top, bool) or not isinstance(top, (int, np.integer)) or top < 0:
        raise ValueError(f"`top` must be a whole number from 0 on, got {top!r}")
    # More than there can be are all; the native core counts with 64 bits.
    return min(int(top), 2**62)


def asked_reasons(reasons: Any) -> int:
    """Check how many reasons are asked for."""
    if not isinstance(reasons, (int, np.integer)) or reasons < 1:
        raise ValueError(f"`reasons` must be a whole number from 1 on, got {reasons!r}")
    return int(reasons)


def _outlier(row: dict[str, Any]) -> Outlier:
    row = dict(row)
    reasons = tuple(Reason(*reason) for reason in row.pop("reasons"))
    changes = {column: to for column, _, to in row.pop("changes")}
    return Outlier(**row, reasons=reasons, ordinary_with=changes)


def known_method(method: Any) -> str:
    """Return the name of a method, which may be given by another name."""
    name = method.lower() if isinstance(method, str) else method
    name = _native.ALIASES.get(name, name)
    if name not in METHODS:
        raise ValueError(f"`method` must be one of {', '.join(METHODS)}, got `{method}`")
    return str(name)


def tabular(X: Any) -> Any:
    """Return a data frame as it is, anything else as an array of rows and columns."""
    expected = "pass a data frame or a two-dimensional array"
    if isinstance(X, str | os.PathLike):
        raise TypeError(f"{expected}, not the name of a file: read it first, as by pandas.read_csv")
    if isinstance(X, list | tuple) and X and all(isinstance(row, Mapping) for row in X):
        X = _of_records(X, expected)
    X = as_table(X)
    if is_frame(X) or hasattr(X, "column_names"):
        return X
    rows = np.asarray(X)
    if rows.ndim != 2:  # noqa: PLR2004
        raise ValueError(f"{expected}, got {type(X).__name__} with {rows.ndim} dimensions")
    return rows


def _of_records(rows: Any, expected: str) -> Any:
    """Return dicts, one a row, as a data frame."""
    try:
        import pandas as pd  # noqa: PLC0415
    except ImportError:
        raise TypeError(f"{expected}; a list of dicts needs pandas") from None
    return pd.DataFrame(list(rows))


def names_of(X: Any) -> list[str]:
    """Return the names of the columns, or their numbers."""
    return column_names(X) or [str(column) for column in range(X.shape[1])]


def as_weights(given: Any, rows: int) -> Any:
    """Return the weights as an array, one for each row."""
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (rows,):
        raise ValueError(f"`sample_weight` must be {rows} numbers, got shape {weights.shape}")
    return np.ascontiguousarray(weights)
