"""Depths as expressions of Polars.

The columns that the model compares go to it as one struct, in eager, lazy and streaming queries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossdepth._arrow import ArrowScorer
from lossdepth.engines._extra import engine

if TYPE_CHECKING:
    from collections.abc import Sequence


def scores(model: Any, columns: Sequence[str] = ("depth", "error"), **options: Any) -> Any:
    """Make an expression for the scores of each row, a struct.

    Parameters
    ----------
    model : path-like, bytes, fitted depth or ArrowScorer
        The model, see :class:`lossdepth.ArrowScorer`.
    columns : sequence of str, default=("depth", "error")
        The fields of the struct.
    **options
        Others of :class:`lossdepth.ArrowScorer`. `features` is needed for a model that was fitted
        without names.

    Returns
    -------
    polars.Expr
        An expression called ``scores``.

    Examples
    --------
    >>> import lossdepth
    >>> import polars as pl
    >>> from lossdepth.engines.polars import scores
    >>> frame = pl.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
    >>> detector = lossdepth.LogisticDepth(reg=0.1).fit(frame)
    >>> frame.lazy().with_columns(scores(detector)).unnest("scores").collect().columns
    ['a', 'b', 'depth', 'error']
    """
    pl = engine("polars", "polars")
    scorer = model if isinstance(model, ArrowScorer) else ArrowScorer(model, columns, **options)
    features = scorer.features
    if features is None:
        raise ValueError(
            f"{scorer.name}: the model was fitted to columns without names: say with `features` "
            "which columns they are, in order"
        )

    def score(rows: Any) -> Any:
        found = pl.DataFrame(scorer.score(rows.struct.unnest()))
        return found.to_struct(rows.name)

    kind = pl.Struct(dict.fromkeys(scorer.columns, pl.Float64))
    made = pl.struct(features).map_batches(score, return_dtype=kind, is_elementwise=True)
    return made.alias("scores")


def depth(model: Any, **options: Any) -> Any:
    """Make an expression for the depth of each row.

    Parameters
    ----------
    model : path-like, bytes or fitted depth
        The model, see :class:`lossdepth.ArrowScorer`.
    **options
        Others of :class:`lossdepth.ArrowScorer`.

    Returns
    -------
    polars.Expr
        An expression called ``depth``.
    """
    return scores(model, ("depth",), **options).struct.field("depth")
