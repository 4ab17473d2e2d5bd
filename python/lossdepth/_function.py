"""Depths without an estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossdepth._forest import ForestDepth
from lossdepth._halfspace import HalfspaceDepth
from lossdepth._kernel import GPDepth, KernelLogisticDepth, SVMDepth
from lossdepth._linear import ExponentialDepth, HingeDepth, LogisticDepth, SquaredHingeDepth
from lossdepth._network import MLPDepth

if TYPE_CHECKING:
    from lossdepth._base import Depth, Floats

_CLASSES: tuple[type[Depth], ...] = (
    LogisticDepth,
    HingeDepth,
    SquaredHingeDepth,
    ExponentialDepth,
    SVMDepth,
    KernelLogisticDepth,
    GPDepth,
    ForestDepth,
    MLPDepth,
    HalfspaceDepth,
)

METHODS = {cls._method: cls for cls in _CLASSES}


def depth(
    Z: Any,
    X: Any,
    method: str = "logistic",
    *,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    return_direction: bool = False,
    **settings: Any,
) -> Floats | tuple[Floats, Floats]:
    """Compute the depth of each row of Z with respect to the sample X.

    Parameters
    ----------
    Z : {array-like, dataframe} of shape (n_queries, n_features)
        The rows to score.
    X : {array-like, dataframe} of shape (n_samples, n_features)
        The reference sample, at least two rows.
    method : {"logistic", "hinge", "squared-hinge", "exponential", "svm", "klr", "gp", "forest", \
"mlp", "halfspace"}, default="logistic"
        Which depth.
    sample_weight : array-like of shape (n_samples,), float or None, default=None
        Weights of the rows of X.
    n_jobs : int or None, default=None
        How many threads, as in the estimators.
    return_direction : bool, default=False
        Also return the directions that attain the depths; for ``method="halfspace"`` alone.
    **settings
        The parameters of the estimator that go with the method, such as `reg` and `scale`.

    Returns
    -------
    ndarray of shape (n_queries,)
        The depths, between 0 and 1.
    ndarray of shape (n_queries, n_features)
        The directions, with `return_direction` only.

    See Also
    --------
    LogisticDepth : The estimator, which also explains depths.

    Examples
    --------
    >>> import lossdepth
    >>> lossdepth.depth([[1.0], [9.0]], [[0.0], [1.0], [2.0]], reg=0.1).round(2)
    array([1.  , 0.05])
    >>> lossdepth.depth([[1.0], [9.0]], [[0.0], [1.0], [2.0]], method="halfspace").round(2)
    array([0.67, 0.  ])
    """
    if method not in METHODS:
        raise ValueError(f"`method` must be one of {', '.join(METHODS)}, got `{method}`")
    estimator: Any = METHODS[method](n_jobs=n_jobs, **settings)
    if return_direction and not isinstance(estimator, HalfspaceDepth):
        raise ValueError(f"`return_direction` goes with method `halfspace`, not with `{method}`")
    estimator.model_ = estimator._prepare(X, sample_weight)[0]  # noqa: SLF001
    if return_direction:
        both: tuple[Floats, Floats] = estimator.directions(Z)
        return both
    depths: Floats = estimator.score_samples(Z)
    return depths
