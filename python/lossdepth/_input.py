"""From tables of any kind to what the native core takes, and words for what is wrong with them.

The core takes float64 numbers in C order, row after row. An array that is so, read-only or not, is
read where it is, and so is a data frame on top of one. Everything else is copied once: other types
because they are widened, Fortran order and tables of columns (pandas, polars, Arrow) because the
numbers of a row have to come together. scikit-learn first stacks the columns of a table and then
turns the stack around, which are two copies at a time, so a large table goes through it part by
part. Besides, a fitted model keeps a reference of its own; scoring keeps nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Names = NDArray[np.object_]

_NUMBERS = re.compile(r"u?int|float|double|half|bool|sparse|decimal|complex", re.IGNORECASE)
# How many numbers of a large table are turned into rows at a time.
_PART = 1 << 20
_COLUMN = re.compile(r"\bcolumn (\d+)\b")


def is_frame(X: Any) -> bool:
    """Tell data frames, of pandas or polars, from other tables."""
    return type(X).__module__.split(".")[0] in ("pandas", "polars") and hasattr(X, "columns")


def as_table(X: Any) -> Any:
    """Turn what speaks Arrow's C interface, and nothing that scikit-learn knows, into a table."""
    if type(X).__name__ == "LazyFrame":
        raise TypeError("a lazy frame has no rows yet; give its `.collect()`")
    if len(getattr(X, "shape", (0, 0))) == 1:
        return X  # one column or row: scikit-learn says what to do about it
    streams = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    if not streams or is_frame(X) or (hasattr(X, "column_names") and hasattr(X, "to_batches")):
        return X
    import pyarrow as pa  # noqa: PLC0415

    try:
        return pa.table(X)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):
        raise ValueError(
            f"Expected a table of rows and columns, got {type(X).__name__} instead"
        ) from None


def is_apart(X: Any) -> bool:
    """Tell whether a table is large, and its numbers are not in one array already."""
    if not (is_frame(X) or _is_arrow(X)) or not hasattr(X, "shape"):
        return False
    rows, columns = X.shape
    if rows * columns <= _PART or rows == 1:
        return False
    if not hasattr(X, "iloc"):
        return True
    first = X.iloc[:1]
    return not np.shares_memory(np.asarray(first), np.asarray(first))


def put_together(X: Any, convert: Callable[[Any], Floats]) -> Floats:
    """Turn a table of columns into rows, some at a time."""
    rows, columns = X.shape
    table = np.empty((rows, columns))
    step = max(1, _PART // columns)
    for start in range(0, rows, step):
        stop = start + step
        part = X.iloc[start:stop] if hasattr(X, "iloc") else X.slice(start, step)
        table[start:stop] = convert(part)
    return table


def check_numeric(X: Any) -> None:
    """Refuse a table with a column that does not hold numbers, and say which."""
    # numpy turns dates into whole numbers, and a missing one into the smallest of them.
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise ValueError(f"the table must hold numbers, got {X.dtype}")
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        place = ", ".join(str(at) for at in np.argwhere(np.ma.getmaskarray(X))[0])
        raise ValueError(f"the table must have no missing numbers, [{place}] is masked")
    for name, kind, column in _columns(X):
        if not _numeric(kind, column):
            raise ValueError(f"column `{name}` must hold numbers, got {kind}")


def named(message: str, names: Names | None) -> str:
    """Put the name of a column in the place of its number."""
    if names is None:
        return message

    def name(found: re.Match[str]) -> str:
        place = int(found[1])
        return f"column `{names[place]}`" if place < len(names) else found[0]

    return _COLUMN.sub(name, message)


def check_finite(rows: Any, names: Names | None) -> None:
    """Refuse the first number that is not finite, by row and column."""
    finite = np.isfinite(rows)
    if not finite.all():
        row, column = (int(place) for place in np.argwhere(~finite)[0])
        value = rows[row, column]
        text = "NaN" if np.isnan(value) else str(value)
        raise ValueError(named(f"row {row}, column {column} is not finite ({text})", names))


def _is_arrow(X: Any) -> bool:
    return type(X).__module__.split(".")[0] == "pyarrow" and hasattr(X, "schema")


def _columns(X: Any) -> Iterator[tuple[Any, str, Any]]:
    """Return name, type and values of the columns of a data frame or an Arrow table."""
    if is_frame(X) and hasattr(X, "dtypes"):
        for place, (name, kind) in enumerate(zip(X.columns, X.dtypes, strict=True)):
            yield name, str(kind), X.iloc[:, place] if hasattr(X, "iloc") else X[name]
    elif _is_arrow(X):
        for field in X.schema:
            yield field.name, str(field.type), None


def _numeric(kind: str, column: Any) -> bool:
    """Tell whether a column holds numbers, of whatever width; objects may turn out to."""
    if kind in ("object", "Object") and column is not None:
        return not any(isinstance(value, str) for value in column)
    if kind == "category" and column is not None:
        return _numeric(str(column.cat.categories.dtype), None)
    # scikit-learn has words of its own for complex numbers.
    return _NUMBERS.match(kind) is not None
