"""Depths of Dask data frames, partition by partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossdepth._arrow import ArrowScorer
from lossdepth.engines._extra import engine

if TYPE_CHECKING:
    from collections.abc import Sequence


def score(
    frame: Any,
    model: Any,
    columns: Sequence[str] = ("depth", "error"),
    *,
    prefix: str = "",
    **options: Any,
) -> Any:
    """Add scores to the rows of a frame, lazily.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The rows.
    model : path-like, bytes or fitted depth
        The model, see :class:`lossdepth.ArrowScorer`. It is part of the graph once, not once for
        each partition.
    columns : sequence of str, default=("depth", "error")
        What to compute.
    prefix : str, default=""
        What the names of the new columns begin with.
    **options
        Others of :class:`lossdepth.ArrowScorer`.

    Returns
    -------
    dask.dataframe.DataFrame
        The same rows, with new columns.
    """
    np, delayed = engine("numpy", "dask"), engine("dask", "dask").delayed
    engine("dask.dataframe", "dask")
    engine("pyarrow", "dask")
    scorer = ArrowScorer(model, columns, **options)
    scorer.check_new(list(frame.columns), prefix)
    new = {prefix + name: np.float64() for name in scorer.columns}
    return frame.map_partitions(_scored, delayed(scorer), prefix, meta=frame._meta.assign(**new))  # noqa: SLF001


def _scored(part: Any, scorer: ArrowScorer, prefix: str) -> Any:
    """Add scores to a data frame of pandas."""
    import pyarrow as pa  # noqa: PLC0415

    wanted = scorer.features
    if wanted is not None:
        there = [name for name in part.columns if name in set(wanted)]
        rows = pa.Table.from_pandas(part[there], preserve_index=False)
    else:
        rows = pa.Table.from_pandas(part, preserve_index=False)
    found = scorer(rows)
    values = {prefix + name: found[name].to_numpy(zero_copy_only=False) for name in scorer.columns}
    return part.assign(**values)
