"""Depths of Ray datasets, by a pool of actors that prepare the model once each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossdepth._arrow import ArrowScorer
from lossdepth.engines._extra import engine

if TYPE_CHECKING:
    from collections.abc import Sequence


class DepthActor:
    """Scores batches of a Ray dataset; for ``map_batches``.

    Parameters
    ----------
    scorer : ArrowScorer
        Scores the batches.
    prefix : str, default=""
        What the names of the new columns begin with.
    """

    def __init__(self, scorer: ArrowScorer, prefix: str = "") -> None:
        self._scorer = scorer
        self._prefix = prefix

    def __call__(self, batch: Any) -> Any:
        """Add scores to a table.

        Parameters
        ----------
        batch : pyarrow.Table
            The rows.

        Returns
        -------
        pyarrow.Table
            The same rows, with new columns.
        """
        return self._scorer.append(batch, self._prefix)


def score(
    dataset: Any,
    model: Any,
    columns: Sequence[str] = ("depth", "error"),
    *,
    prefix: str = "",
    concurrency: int | tuple[int, int] = 1,
    batch_size: int | None = 16_384,
    ray_options: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Add scores to the rows of a dataset, lazily.

    Parameters
    ----------
    dataset : ray.data.Dataset
        The rows.
    model : path-like, bytes or fitted depth
        The model, see :class:`lossdepth.ArrowScorer`. It is put into Ray's object store once.
    columns : sequence of str, default=("depth", "error")
        What to compute.
    prefix : str, default=""
        What the names of the new columns begin with.
    concurrency : int or tuple of int, default=1
        How many actors, or from how many to how many; one core each.
    batch_size : int or None, default=16384
        Rows of a batch; None means a whole block.
    ray_options : dict or None, default=None
        Further arguments of ``map_batches``, such as ``num_cpus`` or ``max_restarts``.
    **options
        Others of :class:`lossdepth.ArrowScorer`.

    Returns
    -------
    ray.data.Dataset
        The same rows, with new columns.
    """
    pool = engine("ray.data", "ray").ActorPoolStrategy
    scorer = ArrowScorer(model, columns, **options)
    fewest, most = concurrency if isinstance(concurrency, tuple) else (concurrency, concurrency)
    return dataset.map_batches(
        DepthActor,
        fn_constructor_args=(scorer, prefix),
        batch_format="pyarrow",
        batch_size=batch_size,
        compute=pool(min_size=fewest, max_size=most),
        **(ray_options or {}),
    )
