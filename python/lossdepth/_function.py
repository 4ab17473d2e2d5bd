"""Depths without an estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _num_samples

from lossdepth import _auto, _classical, _forest, _halfspace, _kernel, _linear, _native, _network
from lossdepth._base import Depth
from lossdepth._preset import observations
from lossdepth._preset import preset as settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossdepth._base import Floats
    from lossdepth._scores import Scores

_MODULES = (_linear, _kernel, _forest, _network, _halfspace, _classical, _auto)

_CLASSES: dict[str, type[Depth]] = {
    cls._method: cls
    for module in _MODULES
    for cls in vars(module).values()
    if isinstance(cls, type) and issubclass(cls, Depth) and "_method" in vars(cls)
}

# The estimator of every method of the native library, in its order.
METHODS = {name: _CLASSES[name] for name in _native.METHODS if name in _CLASSES}

# What `depth` and the face of PyOD take where nothing is said.
DEFAULT_METHOD = "auto"


def default_detector() -> Depth:
    """Return the estimator for those who set nothing."""
    cls: Any = METHODS[DEFAULT_METHOD]
    detector: Depth = cls()
    return detector


def depth(
    Z: Any,
    X: Any,
    method: str = DEFAULT_METHOD,
    *,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    preset: str | None = None,
    missing: str | None = None,
    kinds: Mapping[Any, str] | None = None,
    return_direction: bool = False,
    return_percentile: bool = False,
    **settings: Any,
) -> Floats | tuple[Floats, Floats]:
    """Compute the depth of each row of Z with respect to the sample X.

    Parameters
    ----------
    Z : {array-like, dataframe} of shape (n_queries, n_features)
        The rows to score.
    X : {array-like, dataframe} of shape (n_samples, n_features)
        The reference sample, at least two rows.
    method : {methods}, default="{default}"
        Which depth. Other names are understood in any case: ``"tukey"`` and ``"location"`` for
        ``"halfspace"``, and those of the paper's tables, ``"LR"``, ``"linear-SVM"``, ``"SVM"``,
        ``"RF"``, ``"GP"`` and ``"MLP"``.
    sample_weight : array-like of shape (n_samples,), float or None, default=None
        Weights of the rows of X.
    n_jobs : int or None, default=None
        How many threads, as in the estimators.
    preset : {"paper", "paper-code", "recommended"} or None, default=None
        Start from other settings than the defaults: see :func:`preset`.
    missing : {"compare", "median", "error"} or None, default=None
        What to do about gaps, as in the estimators; None for the default of the method.
    kinds : dict or None, default=None
        The kinds of columns, as in the estimators.
    return_direction : bool, default=False
        Also return the directions that attain the depths; for ``method="halfspace"`` alone.
    return_percentile : bool, default=False
        Also return the share of X that is at most as deep as each row; not with `return_direction`.
    **settings
        The parameters of the estimator that go with the method, such as `reg` and `scale`.

    Returns
    -------
    ndarray of shape (n_queries,)
        The depths, between 0 and 1.
    ndarray of shape (n_queries, n_features)
        The directions, with `return_direction` only; or with `return_percentile` an ndarray of
        shape (n_queries,), the percentiles.

    See Also
    --------
    LogisticDepth : The estimator, which also explains depths.
    halfspace : The halfspace depth under the name that it has elsewhere.

    Examples
    --------
    >>> import lossdepth
    >>> lossdepth.depth([[1.0], [9.0]], [[0.0], [1.0], [2.0]], method="logistic", reg=0.1).round(2)
    array([1.  , 0.03])
    >>> lossdepth.depth([[1.0], [9.0]], [[0.0], [1.0], [2.0]], method="halfspace").round(2)
    array([0.67, 0.  ])
    """
    name = method.lower() if isinstance(method, str) else method
    name = _native.ALIASES.get(name, name)
    if name not in METHODS:
        raise ValueError(f"`method` must be one of {', '.join(METHODS)}, got `{method}`")
    cls = METHODS[name]
    for setting in settings.keys() - _native.METHODS[name].keys() - {"verbose"}:
        known = ", ".join(_native.METHODS[name])
        raise TypeError(f"method `{name}` has no setting `{setting}`; it has {known}")
    if preset is not None:
        settings = (
            settings_of(preset, name, observations(_num_samples(X), sample_weight)) | settings
        )
    if missing is not None:
        settings = settings | {"missing": missing}
    if return_direction and return_percentile:
        raise ValueError("`return_direction` and `return_percentile` do not go together")
    estimator: Any = cls(n_jobs=n_jobs, kinds=kinds, **settings)
    if return_direction and not isinstance(estimator, _halfspace.HalfspaceDepth):
        raise ValueError(f"`return_direction` goes with method `halfspace`, not with `{method}`")
    estimator.fit(X, sample_weight=sample_weight)
    if return_direction:
        both: tuple[Floats, Floats] = estimator.directions(Z)
        return both
    if return_percentile:
        scores: Scores = estimator._scores(Z)  # noqa: SLF001
        return scores.depth, scores.percentile
    depths: Floats = estimator.score_samples(Z)
    return depths


if depth.__doc__ is not None:
    _names = ", ".join(f'"{name}"' for name in METHODS)
    depth.__doc__ = depth.__doc__.replace("{methods}", f"{{{_names}}}")
    depth.__doc__ = depth.__doc__.replace("{default}", DEFAULT_METHOD)


def halfspace(
    x: Any,
    data: Any,
    *,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    return_direction: bool = False,
    **settings: Any,
) -> Floats | tuple[Floats, Floats]:
    """Compute Tukey's halfspace depth of each row of x with respect to the sample data.

    Names and order of the arguments are those of ``depth.halfspace`` in the R package ddalpha and
    of ``halfspace`` in the Python package data-depth; the same as :func:`depth` with
    ``method="halfspace"``. There is no ``exact`` to choose: depths are exact while `budget` lasts,
    and :meth:`HalfspaceDepth.score_details` says of each one what is proven.

    Parameters
    ----------
    x : {array-like, dataframe} of shape (n_queries, n_features) or (n_features,)
        The rows to score; a vector is one of them.
    data : {array-like, dataframe} of shape (n_samples, n_features)
        The sample, at least two rows.
    sample_weight : array-like of shape (n_samples,), float or None, default=None
        Weights of the rows of data.
    n_jobs : int or None, default=None
        How many threads, as in the estimators.
    return_direction : bool, default=False
        Also return the directions that attain the depths.
    **settings
        The parameters of :class:`HalfspaceDepth`, such as `budget`.

    Returns
    -------
    ndarray of shape (n_queries,)
        The depths, between 0 and 1.
    ndarray of shape (n_queries, n_features)
        The directions, with `return_direction` only.

    See Also
    --------
    HalfspaceDepth : The estimator, with contours, median and bagplot.

    Examples
    --------
    >>> from lossdepth import halfspace
    >>> square = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]
    >>> halfspace([[1.0, 1.0], [9.0, 0.0]], square)
    array([0.5, 0. ])
    >>> halfspace([1.0, 1.0], square)
    array([0.5])
    """
    if isinstance(x, np.ndarray | list | tuple) and np.ndim(x) == 1:
        x = np.reshape(x, (1, -1))
    return depth(
        x,
        data,
        "halfspace",
        sample_weight=sample_weight,
        n_jobs=n_jobs,
        return_direction=return_direction,
        **settings,
    )
