"""The columns of tables of every kind as the native core takes them.

A column goes over as one array: numbers and times as doubles, truth values and texts as codes. Only
columns of Python objects are looked at value by value.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lossdepth import _checks, _native
from lossdepth._input import column_names, is_arrow, is_frame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_DAY = 86_400.0
# How many of a unit make a second.
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_GAPS = ("NoneType", "NAType", "NaTType")
# What objects of a column can be together.
_TOGETHER = {
    frozenset({"number"}): "number",
    frozenset({"number", "boolean"}): "number",
    frozenset({"boolean"}): "boolean",
    frozenset({"text"}): "text",
    frozenset({"time"}): "time",
    frozenset({"duration"}): "duration",
    frozenset[str](): "number",
}


class NestedColumnError(TypeError):
    """A column holds lists, dicts or other objects that are no single value."""


class Held(NamedTuple):
    """What a column holds, as the native core takes it."""

    what: str
    values: NDArray[Any]
    levels: list[str] | None = None
    # Whether the type of the column says that it is a category, whatever its levels look like.
    is_category: bool = False


def native_table(
    X: Any,
    names: list[str],
    kinds: dict[str, str],
    *,
    truth_is_number: bool,
    leave_out_nested: bool = False,
) -> tuple[_native.Table, dict[str, str]]:
    """Hand the columns of a frame, an Arrow table or an array over, under these names.

    Also return their kinds: those given, and those that their types say. Columns of lists and other
    objects are refused, or left out with a warning.
    """
    given = []
    kinds = dict(kinds)
    shown = column_names(X) or names
    for name, label, column in zip(names, shown, _columns(X), strict=True):
        try:
            held = _held(column, label, kinds.get(name))
        except NestedColumnError as error:
            if not leave_out_nested or name in kinds:
                raise
            _checks.warn(f"{error}; left out", UserWarning)
            continue
        if held.what == "booleans" and truth_is_number:
            held = _numbers(np.where(held.values < 0, np.nan, held.values))
        given.append((name, held.what, held.values, held.levels))
        if held.is_category:
            kinds.setdefault(name, "category")
    return _native.Table(given), kinds


def _columns(X: Any) -> Iterator[Any]:
    if is_frame(X):
        for place in range(X.shape[1]):
            yield X.iloc[:, place] if hasattr(X, "iloc") else X.to_series(place)
    elif is_arrow(X):
        yield from X.columns
    else:
        yield from X.T


def _held(column: Any, name: str, kind: str | None) -> Held:
    library = type(column).__module__.split(".")[0]
    try:
        if library == "pandas":
            return _of_pandas(column, name, kind)
        if library == "polars":
            return _of_polars(column, name, kind)
        if library == "pyarrow":
            return _of_arrow(column, name)
        return _of_numpy(column, name, kind)
    except OverflowError as error:
        raise ValueError(f"column `{name}`: {error}") from None


def _of_pandas(column: Any, name: str, kind: str | None) -> Held:
    dtype = column.dtype
    sort = getattr(dtype, "kind", "O")
    if type(dtype).__name__ == "CategoricalDtype":
        codes = column.cat.codes.to_numpy()
        return _texts(codes, dtype.categories.tolist(), is_category=True)
    if type(dtype).__name__ == "ArrowDtype":
        return _of_arrow(column.array.__arrow_array__(), name)
    if type(dtype).__name__ == "PeriodDtype":
        column = column.dt.to_timestamp()
    elif type(dtype).__name__ == "DatetimeTZDtype":
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    elif type(dtype).__name__ == "StringDtype":
        codes, levels = column.factorize()
        return _texts(codes, levels.tolist())
    elif sort == "b":
        truth = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return Held("booleans", np.where(np.isnan(truth), -1, truth).astype(np.int8))
    elif sort in "iuf":
        return _numbers(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return _of_numpy(column.to_numpy(), name, kind)


def _of_polars(column: Any, name: str, kind: str | None) -> Held:
    import polars as pl  # noqa: PLC0415

    dtype = column.dtype
    sort = type(dtype).__name__ if not isinstance(dtype, type) else dtype.__name__
    if sort in ("String", "Categorical", "Enum"):
        texts = column.cast(pl.String)
        levels = texts.drop_nulls().unique(maintain_order=True)
        codes = texts.cast(pl.Enum(levels)).to_physical().cast(pl.Int64).fill_null(-1)
        return _texts(codes.to_numpy(), levels.to_list(), is_category=sort != "String")
    if sort == "Boolean":
        codes = column.cast(pl.Int8).fill_null(-1)
        return Held("booleans", np.ascontiguousarray(codes.to_numpy()))
    if sort in ("Date", "Datetime", "Duration", "Time"):
        unit = {"Date": "D", "Time": "ns"}.get(sort) or dtype.time_unit
        gaps = column.is_null().to_numpy()
        whole = column.to_physical().fill_null(0).to_numpy().astype(np.int64)
        return _times(whole, unit, gaps, length=sort in ("Duration", "Time"))
    if dtype.is_numeric():
        return _numbers(column.cast(pl.Float64).to_numpy())
    if sort in ("Null", "Object"):
        return _objects(np.array([*column.to_list(), None], dtype=object)[:-1], name, kind)
    raise _refusal(name, str(dtype))


def _in_one_piece(column: Any) -> Any:
    """Return a column of Arrow as one array."""
    import pyarrow as pa  # noqa: PLC0415

    if not isinstance(column, pa.ChunkedArray):
        return column
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return column.combine_chunks()


def _of_arrow(column: Any, name: str) -> Held:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    column = _in_one_piece(column)
    sort, types = column.type, pa.types
    if types.is_string(sort) or types.is_large_string(sort) or types.is_string_view(sort):
        column = pc.dictionary_encode(column.cast(pa.large_string()))
    if types.is_dictionary(column.type):
        codes = column.indices.cast(pa.int64()).fill_null(-1).to_numpy()
        return _texts(codes, column.dictionary.to_pylist(), is_category=types.is_dictionary(sort))
    if types.is_boolean(sort):
        codes = column.cast(pa.int8()).fill_null(-1).to_numpy()
        return Held("booleans", np.ascontiguousarray(codes))
    if types.is_temporal(sort) and not types.is_interval(sort):
        if types.is_date64(sort):
            column = column.cast(pa.date32())
        unit = "D" if types.is_date(sort) else sort.unit
        gaps = column.is_null().to_numpy(zero_copy_only=False)
        bits = pa.int32() if column.type.bit_width == 32 else pa.int64()  # noqa: PLR2004
        whole = column.view(bits).fill_null(0).to_numpy().astype(np.int64)
        return _times(whole, unit, gaps, length=types.is_duration(sort) or types.is_time(sort))
    if types.is_integer(sort) or types.is_floating(sort) or types.is_decimal(sort):
        return _numbers(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    if types.is_null(sort):
        return _numbers(np.full(len(column), np.nan))
    raise _refusal(name, str(sort))


def _of_numpy(column: NDArray[Any], name: str, kind: str | None) -> Held:
    sort = column.dtype.kind
    if sort in "iuf":
        return _numbers(column)
    if sort == "b":
        return Held("booleans", column.astype(np.int8))
    if sort in "mM":
        unit, step = np.datetime_data(column.dtype)
        if unit not in _PER_SECOND and unit != "D":
            column, (unit, step) = column.astype(f"{sort}8[s]"), ("s", 1)
        gaps = np.isnat(column)
        whole = np.where(gaps, 0, column.astype(np.int64)) * step
        return _times(whole, unit, gaps, length=sort == "m")
    if sort in "OUT":
        return _objects(column.astype(object), name, kind)
    raise _refusal(name, str(column.dtype))


def _objects(column: NDArray[np.object_], name: str, kind: str | None) -> Held:
    """Look at Python objects one by one: what all of them are is what the column holds."""
    values = column.tolist()
    sorts = {sort: _sort_of(sort) for sort in set(map(type, values))}
    if "other" in sorts.values():
        row = next(i for i, value in enumerate(values) if sorts[type(value)] == "other")
        raise NestedColumnError(
            f"row {row}, column `{name}`: the argument must be a string, a number, a truth value, "
            f"a date, a duration or a gap, got {type(values[row]).__name__}"
        )
    gaps = [sorts[type(v)] == "gap" or (sorts[type(v)] == "number" and v != v) for v in values]  # noqa: PLR0124
    there = frozenset(sorts[type(v)] for v, gap in zip(values, gaps, strict=True) if not gap)
    if there not in _TOGETHER and kind is None:
        raise ValueError(_mixed(values, gaps, sorts, name))
    what = _TOGETHER.get(there, "text") if kind != "category" else "text"
    if what == "number":
        return _numbers(
            np.array([np.nan if gap else float(v) for v, gap in zip(values, gaps, strict=True)])
        )
    if what == "boolean":
        return _booleans([None if gap else bool(v) for v, gap in zip(values, gaps, strict=True)])
    if what in ("time", "duration"):
        return _moments(values, gaps, what)
    places: dict[str, int] = {}
    codes = [
        -1 if gap else places.setdefault(_text(v), len(places))
        for v, gap in zip(values, gaps, strict=True)
    ]
    return Held("texts", np.array(codes, dtype=np.int64), list(places))


def _sort_of(kind: type) -> str:
    """Return what values of a Python type are."""
    if kind.__name__ in _GAPS:
        return "gap"
    if issubclass(kind, bool | np.bool_):
        return "boolean"
    # A timedelta64 is a number of numpy too.
    if issubclass(kind, dt.date | np.datetime64):
        return "time"
    if issubclass(kind, dt.timedelta | np.timedelta64):
        return "duration"
    if issubclass(kind, Real | Decimal | Fraction):
        return "number"
    return "text" if issubclass(kind, str) else "other"


def _mixed(values: list[Any], gaps: list[bool], sorts: dict[type, str], name: str) -> str:
    """Say which different things a column holds, with an example of each."""
    examples: dict[str, str] = {}
    for row, (value, gap) in enumerate(zip(values, gaps, strict=True)):
        if not gap and sorts[type(value)] not in examples:
            examples[sorts[type(value)]] = f"{sorts[type(value)]} {str(value)[:40]!r} in row {row}"
    return (
        f"column `{name}` holds different things: {', '.join(examples.values())}; convert it, or "
        f'say what it is with kinds={{"{name}": "category"}} (or "number", or "text": left out)'
    )


def _moments(values: list[Any], gaps: list[bool], what: str) -> Held:
    """Turn Python's dates, or lengths of time, into numbers."""
    seconds = np.full(len(values), np.nan)
    for row, (value, gap) in enumerate(zip(values, gaps, strict=True)):
        if gap or (isinstance(value, np.datetime64 | np.timedelta64) and np.isnat(value)):
            continue
        if isinstance(value, np.datetime64 | np.timedelta64):
            whole = value.astype("M8[us]" if what == "time" else "m8[us]").astype(np.int64)
            seconds[row] = _divided(np.array([whole]), 10**6)[0]
        elif what == "duration":
            seconds[row] = value.total_seconds()
        else:
            seconds[row] = _since_1970(value)
    return Held("times", seconds) if what == "time" else Held("durations", seconds / _DAY)


def _since_1970(value: dt.date) -> float:
    if not isinstance(value, dt.datetime):
        value = dt.datetime(value.year, value.month, value.day)  # noqa: DTZ001
    if value.tzinfo is not None:
        value = value.astimezone(dt.timezone.utc).replace(tzinfo=None)
    passed = value - dt.datetime(1970, 1, 1)  # noqa: DTZ001
    return passed.days * _DAY + passed.seconds + passed.microseconds / 10**6


def _numbers(values: Any) -> Held:
    return Held("numbers", np.ascontiguousarray(values, dtype=np.float64))


def _booleans(values: list[bool | None]) -> Held:
    codes = [-1 if value is None else int(value) for value in values]
    return Held("booleans", np.array(codes, dtype=np.int8))


def _texts(codes: NDArray[Any], levels: list[Any], *, is_category: bool = False) -> Held:
    places = np.ascontiguousarray(codes, dtype=np.int64)
    return Held("texts", places, [_text(value) for value in levels], is_category)


def _times(whole: NDArray[np.int64], unit: str, gaps: NDArray[np.bool_], *, length: bool) -> Held:
    """Turn whole numbers of a unit into seconds since 1970, or lengths of time into days."""
    seconds = whole * _DAY if unit == "D" else _divided(whole, _PER_SECOND[unit])
    seconds = np.where(gaps, np.nan, seconds)
    return Held("durations", seconds / _DAY) if length else Held("times", seconds)


def _divided(whole: NDArray[np.int64], by: int) -> NDArray[np.float64]:
    """Divide so that the result does not depend on the unit: with one rounding."""
    result: NDArray[np.float64] = whole // by + (whole % by) / by
    return result


def _text(value: Any) -> str:
    """Write a level; numbers as the native core writes them."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        return np.format_float_positional(value, trim="-")
    # What is no Unicode, such as a half of a pair, is escaped.
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def _refusal(name: str, what: str) -> NestedColumnError:
    return NestedColumnError(
        f"column `{name}` must hold numbers, texts, categories, truth values, dates or durations, "
        f"got {what}"
    )
