"""From tables of any kind to what the native core takes, and words for what is wrong with them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Names = NDArray[np.object_]

_NUMBERS = re.compile(r"u?int|float|double|half|bool|sparse|decimal|complex", re.IGNORECASE)
_COLUMN = re.compile(r"\bcolumn (\d+)\b")


def is_frame(X: Any) -> bool:
    """Tell data frames, of pandas or polars, from other tables."""
    return type(X).__module__.split(".")[0] in ("pandas", "polars") and hasattr(X, "columns")


def as_table(X: Any) -> Any:
    """Turn what speaks Arrow's C interface, and nothing that scikit-learn knows, into a table."""
    streams = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    if not streams or is_frame(X) or (hasattr(X, "column_names") and hasattr(X, "to_batches")):
        return X
    import pyarrow as pa  # noqa: PLC0415

    return pa.table(X)


def check_numeric(X: Any) -> None:
    """Refuse a table with a column that does not hold numbers, and say which."""
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


def _columns(X: Any) -> Iterator[tuple[Any, str, Any]]:
    """Return name, type and values of the columns of a data frame or an Arrow table."""
    if is_frame(X) and hasattr(X, "dtypes"):
        for place, (name, kind) in enumerate(zip(X.columns, X.dtypes, strict=True)):
            yield name, str(kind), X.iloc[:, place] if hasattr(X, "iloc") else X[name]
    elif type(X).__module__.split(".")[0] == "pyarrow" and hasattr(X, "schema"):
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
