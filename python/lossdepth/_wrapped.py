"""What a classifier must be and have so that it can be trained for each query."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from lossdepth._training import Training, final, take, takes_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lossdepth._base import Floats
    from lossdepth._wrapper import LossDepth

_LOSSES = ("log", "brier", "zero-one", "hinge")
_WEIGHTINGS = ("sample_weight", "repeat")


def check_settings(depth: LossDepth) -> None:
    """Check the parameters that are not those of the classifier."""
    _one_of("loss", depth.loss, _LOSSES)
    _one_of("weighting", depth.weighting, _WEIGHTINGS)
    if depth.fast is not True and depth.fast is not False and depth.fast != "auto":
        raise ValueError(f'`fast` must be "auto", True or False, got {depth.fast!r}')
    if depth.random_state is not None and not isinstance(depth.random_state, Integral):
        raise TypeError(f"`random_state` must be None or an int, got {depth.random_state!r}")
    if not np.isfinite(depth.total_weight) or depth.total_weight <= 0.0:
        raise ValueError(f"`total_weight` must be positive, got {depth.total_weight!r}")


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"`{name}` must be one of {', '.join(allowed)}, got `{value}`")


def check_weights(weights: Floats, rows: int) -> None:
    """Refuse weights that are not: the native core does it for the other depths."""
    if len(weights) != rows:
        raise ValueError(f"`sample_weight` has {len(weights)} weights for {rows} rows")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if wrong.size:
        row = int(wrong[0])
        raise ValueError(
            f"`sample_weight` must be finite and not negative, row {row} has {weights[row]}"
        )


def classifier(given: Any) -> Any:
    """Return a classifier of one's own; the default one if none is given."""
    if given is None:
        return LogisticRegression()
    estimator = clone(given)
    while isinstance(estimator, Pipeline) and len(estimator.steps) == 1:
        estimator = estimator.steps[0][1]
    tags = get_tags(estimator)
    if tags.estimator_type != "classifier":
        raise TypeError(f"`estimator` must be a classifier, got {given!r}")
    if tags.input_tags.pairwise:
        raise ValueError("`estimator` must take rows, not the kernel values of pairs of rows")
    return estimator


def seeded(estimator: Any, random_state: int | None) -> Any:
    """Set every `random_state` that is None."""
    if random_state is not None:
        seeds = {
            name: random_state
            for name, value in estimator.get_params().items()
            if value is None and (name == "random_state" or name.endswith("__random_state"))
        }
        estimator.set_params(**seeds)
    return estimator


def mass(
    depth: LossDepth, rows: int, weights: Floats | None
) -> tuple[NDArray[np.int64] | None, float]:
    """Return how many copies of each row to train with, if any, and the sum of all weights."""
    if depth.weighting == "sample_weight":
        return None, float(depth.total_weight)
    copies = np.ones(rows) if weights is None else weights
    broken = np.flatnonzero(copies != np.round(copies))
    if broken.size:
        row = int(broken[0])
        raise ValueError(
            '`sample_weight` must be whole numbers for `weighting="repeat"`, '
            f"row {row} has {copies[row]}"
        )
    return copies.astype(np.int64), 2.0 * float(copies.sum())


def training(
    depth: LossDepth, estimator: Any, table: Any, weights: Floats | None, copies: Any
) -> Training:
    """Return what all queries share, if the classifier has what the loss needs."""
    name = type(final(estimator)).__name__
    if depth.loss in ("log", "brier") and not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"loss `{depth.loss}` needs a `predict_proba`, which {name} "
            'does not have; use `loss="hinge"`, which needs a `decision_function`'
        )
    if depth.loss == "hinge" and not hasattr(estimator, "decision_function"):
        raise ValueError(
            f"loss `hinge` needs a `decision_function`, which {name} "
            'does not have; use `loss="log"`, which needs a `predict_proba`'
        )
    if copies is None and not takes_weights(estimator):
        raise ValueError(
            f'{final(estimator)!r} takes no `sample_weight` in `fit`: use `weighting="repeat"`'
        )
    given = np.ones(table.shape[0]) if weights is None else weights
    used = np.flatnonzero(given > 0.0)
    if used.size < len(given):
        table, given = take(table, used), given[used]
        copies = None if copies is None else copies[used]
    return Training(estimator, table, given, copies, float(depth.total_weight), depth.loss)
