"""Depths in DuckDB's SQL.

``lossdepth('m.safetensors', t)`` is the depth of a row of the table ``t``, whose columns are found
by name; ``lossdepth('m.safetensors', {'a': x, 'b': y + 1})`` gives them names, and
``lossdepth('m.safetensors', x, y + 1)`` goes by the order of the model. ``lossdepth_scores`` takes
the same and returns a struct.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossdepth._arrow import ArrowScorer
from lossdepth.engines._extra import engine

if TYPE_CHECKING:
    from collections.abc import Sequence


def register(
    connection: Any, columns: Sequence[str] = ("depth", "error"), *, nulls: str = "error"
) -> None:
    """Add the functions ``lossdepth`` and ``lossdepth_scores`` to a connection.

    They need the Python process in which they were registered. A model file is prepared once for
    all threads of DuckDB; each scores with one thread.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        The connection.
    columns : sequence of str, default=("depth", "error")
        The fields of the struct that ``lossdepth_scores`` returns.
    nulls : {"error", "null", "compare"}, default="error"
        What to do with rows that lack a value, see :class:`lossdepth.ArrowScorer`.

    Examples
    --------
    >>> import duckdb, os, tempfile
    >>> import lossdepth
    >>> from lossdepth.engines.duckdb import register
    >>> connection = duckdb.connect()
    >>> t = connection.sql("SELECT i % 10 AS a, i % 7 AS b FROM range(70) r(i)").to_arrow_table()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "m.safetensors")
    ...     lossdepth.LogisticDepth(reg=0.1).fit(t).save(path)
    ...     register(connection)
    ...     connection.sql(f"SELECT round(min(lossdepth('{path}', t)), 2) FROM t").fetchone()
    (0.75,)
    """
    engine("duckdb", "duckdb")
    pa = engine("pyarrow", "duckdb")

    def scored(arguments: tuple[Any, ...], wanted: Sequence[str]) -> Any:
        # What tells the models of a batch apart is their path: nearly always there is one.
        if not arguments:
            raise ValueError("lossdepth needs the path of a model file, and columns")
        paths, values = arguments[0], arguments[1:]
        known = paths.unique().to_pylist()
        if len(known) != 1 or not isinstance(known[0], str):
            raise ValueError("the first argument of lossdepth must be one path of a model file")
        if not values:
            raise ValueError(f"{known[0]}: lossdepth needs the columns to compare")
        return ArrowScorer(known[0], wanted, nulls=nulls, **_named(pa, known[0], values))(
            _batch(pa, values)
        )

    def depth(*arguments: Any) -> Any:
        return scored(arguments, ("depth",))["depth"]

    def scores(*arguments: Any) -> Any:
        return scored(arguments, columns).to_struct_array()

    fields = ", ".join(f"{name} DOUBLE" for name in columns)
    special: Any = {"type": "arrow", "null_handling": "special"}
    connection.create_function("lossdepth", depth, None, "DOUBLE", **special)
    connection.create_function("lossdepth_scores", scores, None, f"STRUCT({fields})", **special)


def _is_struct(pa: Any, values: tuple[Any, ...]) -> bool:
    return len(values) == 1 and bool(pa.types.is_struct(values[0].type))


def _named(pa: Any, path: str, values: tuple[Any, ...]) -> dict[str, Any]:
    """Return what the columns are called: by the order of the model, unless they have names."""
    if _is_struct(pa, values):
        return {}
    features = ArrowScorer(path).features
    if features is not None and len(features) != len(values):
        raise ValueError(
            f"{path}: the model compares {len(features)} columns ({', '.join(features)}), got "
            f"{len(values)}; give them all in this order, or a struct with names"
        )
    return {"features": _placeholders(values)}


def _placeholders(values: tuple[Any, ...]) -> list[str]:
    return [f"argument {place}" for place in range(2, len(values) + 2)]


def _batch(pa: Any, values: tuple[Any, ...]) -> Any:
    if _is_struct(pa, values):
        return values[0]
    return pa.table(list(values), names=_placeholders(values))
