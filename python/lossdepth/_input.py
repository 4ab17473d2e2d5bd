"""From tables of any kind to what the native core takes, and words for what is wrong with them.

A table of numbers goes as rows: float64 in C order, row after row. Others go as columns, which
`_columns` hands over and the core encodes; so do rows with gaps. An array of such rows, read-only
or not, is read where it is, and so is a data frame on top of one. Everything else is copied once:
other types because they are widened, Fortran order and tables of columns (pandas, polars, Arrow)
because the numbers of a row have to come together. scikit-learn first stacks the columns of a table
and then turns the stack around, which are two copies at a time, so a large table goes through it
part by part. Besides, a fitted model keeps a reference of its own; scoring keeps nothing. Large
sparse matrices stay sparse (`_sparse`); others are made dense: all at once for a reference, in
parts for queries.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Names = NDArray[np.object_]

_NUMBERS = re.compile(r"u?int|float|double|half|bool|sparse|decimal|complex", re.IGNORECASE)
# How many numbers of a large table are turned into rows at a time.
_PART = 1 << 20
_COLUMN = re.compile(r"\bcolumns? \d+(?:, \d+)*(?: and \d+)?\b")


def is_frame(X: Any) -> bool:
    """Tell data frames, of pandas or polars, from other tables."""
    return type(X).__module__.split(".")[0] in ("pandas", "polars") and hasattr(X, "columns")


def as_table(X: Any) -> Any:
    """Turn what is no table yet into one: what speaks Arrow's C interface, and lists of texts.

    What scikit-learn knows stays as it is.
    """
    if type(X).__name__ == "LazyFrame":
        raise TypeError("a lazy frame has no rows yet; give its `.collect()`")
    if isinstance(X, list | tuple):
        return _listed(X)
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


def _listed(X: Any) -> Any:
    """Turn rows in a list into an array; texts and gaps among them stay what they are."""
    try:
        array = np.asarray(X)
    except ValueError:
        return X  # rows of different length: scikit-learn says so
    if array.ndim != 2 or array.dtype.kind not in "OUmM":  # noqa: PLR2004
        return X
    return np.array(X, dtype=object)


def holds_numbers(X: Any) -> bool:
    """Tell whether a table holds numbers only, or is none: then scikit-learn says what is wrong."""
    if is_frame(X):
        return all(_is_number_type(kind) for kind in X.dtypes)
    if is_arrow(X):
        import pyarrow as pa  # noqa: PLC0415

        tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
        return all(any(test(field.type) for test in tests) for field in X.schema)
    if not isinstance(X, np.ndarray) or X.ndim != 2 or not X.size:  # noqa: PLR2004
        return True
    if X.dtype.kind in "UT":
        return _reads_as_numbers(X)
    return X.dtype.kind not in "OmM"


def _is_number_type(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric())
    # Of pandas: those of numpy, nullable, sparse and Arrow's; categories are of kind "O".
    return getattr(dtype, "kind", "O") in "iufc" and type(dtype).__name__ != "CategoricalDtype"


def _reads_as_numbers(texts: NDArray[Any]) -> bool:
    """Tell whether numpy reads all texts as numbers, as it does for scikit-learn."""
    try:
        texts.astype(np.float64)
    except ValueError:
        return False
    return True


def column_names(X: Any) -> list[str] | None:
    """Return the names of the columns, if all are texts: what scikit-learn calls feature names."""
    if is_frame(X):
        names = list(X.columns)
    elif is_arrow(X):
        names = list(X.schema.names)
    else:
        return None
    return names if all(isinstance(name, str) for name in names) else None


def named_kinds(kinds: Any, X: Any, names: list[str]) -> dict[str, str]:
    """Return the kinds of columns by the names that the native core knows them by.

    Columns without a name of text are called by their label in a frame, or else by their number.
    """
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        raise TypeError(f"`kinds` must be a dict of columns and their kinds, got {kinds!r}")
    places: dict[Any, int] = {name: place for place, name in enumerate(names)}
    if column_names(X) is None:
        labels = list(X.columns) if is_frame(X) else range(len(names))
        places |= {label: place for place, label in enumerate(labels)}
    found: dict[str, str] = {}
    for column, kind in kinds.items():
        if column not in places:
            raise ValueError(
                f"`kinds` names a column that is not there: {column!r}; there are "
                + ", ".join(str(place) for place in list(places)[:20])
            )
        if not isinstance(kind, str):
            raise TypeError(f"`kinds` must hold names of kinds, got {kind!r} for {column!r}")
        found[names[places[column]]] = kind
    return found


def has_gaps(rows: Floats) -> bool:
    """Tell whether a number is missing, in most cases by one sum."""
    with np.errstate(all="ignore"):
        return bool(np.isnan(rows.sum())) and bool(np.isnan(rows).any())


def is_sparse(X: Any) -> bool:
    """Tell sparse matrices and arrays of scipy."""
    return bool(issparse(X))


def unmasked(X: Any) -> Any:
    """Turn the masked numbers of an array into NaN."""
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "iufb":
        return np.ma.filled(X.astype(np.float64), np.nan)
    return X


def is_apart(X: Any) -> bool:
    """Tell whether a table is large, and its numbers are not in one array already."""
    if not (is_frame(X) or is_arrow(X)) or not hasattr(X, "shape"):
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
    """Put the names of columns in the place of their numbers."""
    if names is None:
        return message

    def name(found: re.Match[str]) -> str:
        place = int(found[0])
        return f"`{names[place]}`" if place < len(names) else found[0]

    return _COLUMN.sub(lambda found: re.sub(r"\d+", name, found[0]), message)


def worded(error: ValueError) -> ValueError:
    """Return an error of the native core with the names of columns that it brings along."""
    if len(error.args) < 2:  # noqa: PLR2004
        return error
    return ValueError(named(str(error.args[0]), np.array(error.args[1], dtype=object)))


def check_finite(rows: Any, names: Names | None) -> None:
    """Refuse the first number that is not finite, by row and column."""
    finite = np.isfinite(rows)
    if not finite.all():
        row, column = (int(place) for place in np.argwhere(~finite)[0])
        value = rows[row, column]
        text = "NaN" if np.isnan(value) else str(value)
        raise ValueError(named(f"row {row}, column {column} is not finite ({text})", names))


def is_arrow(X: Any) -> bool:
    """Tell tables and record batches of Arrow."""
    return type(X).__module__.split(".")[0] == "pyarrow" and hasattr(X, "schema")


def _columns(X: Any) -> Iterator[tuple[Any, str, Any]]:
    """Return name, type and values of the columns of a data frame or an Arrow table."""
    if is_frame(X) and hasattr(X, "dtypes"):
        for place, (name, kind) in enumerate(zip(X.columns, X.dtypes, strict=True)):
            yield name, str(kind), X.iloc[:, place] if hasattr(X, "iloc") else X[name]
    elif is_arrow(X):
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
