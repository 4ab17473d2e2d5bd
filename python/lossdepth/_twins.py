"""Classifiers of scikit-learn whose depth the native core computes, much faster.

A twin is an estimator of this package that gives the depth of a classifier without training it for
each query. Recognised is what is known to be the same, by the exact type and every parameter that
matters; anything else gets a reason.
"""

from __future__ import annotations

from math import inf, log
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Product
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from lossdepth._forest import ForestDepth
from lossdepth._kernel import GPDepth, SVMDepth
from lossdepth._linear import LogisticDepth

if TYPE_CHECKING:
    from collections.abc import Callable

    from lossdepth._base import Depth

# Fewer trees than scikit-learn grows by default are not near the average of all.
_MANY_TREES = 100


class Question(NamedTuple):
    """What decides whether a classifier has a twin, beside the classifier."""

    loss: str
    weighting: str
    # The sum of the weights with which the classifier is trained.
    total: float


class NoTwin(Exception):  # noqa: N818
    """Why a classifier has no twin."""


def find_twin(estimator: Any, question: Question) -> Depth:
    """Return the estimator of this package that computes the depth of a classifier.

    Raises
    ------
    NoTwin
        With the reason, if there is none.
    """
    if type(estimator) not in _TWINS:
        raise NoTwin(f"{type(estimator).__name__} has no native twin")
    return _TWINS[type(estimator)](estimator, question)


def resolved(estimator: Any, X: Any, weights: Any) -> Any:
    """Make a kernel width that depends on the data depend on the reference alone.

    ``SVC(gamma="scale")`` would see the query as well: every query would get a kernel of its own.
    """
    if type(estimator) is SVC and estimator.gamma == "scale" and estimator.kernel != "linear":
        rows = np.asarray(X, dtype=np.float64)
        mean = np.average(rows.mean(axis=1), weights=weights)
        variance = float(np.average(((rows - mean) ** 2).mean(axis=1), weights=weights))
        estimator.set_params(gamma=1.0 / (rows.shape[1] * variance) if variance > 0.0 else 1.0)
    return estimator


def _logistic(estimator: Any, question: Question) -> Depth:
    _need_loss(estimator, question, "log")
    _need(estimator, class_weight=(None,))
    penalty = getattr(estimator, "penalty", "deprecated")
    if penalty not in ("l2", "deprecated") or estimator.l1_ratio not in (0.0, None):
        raise NoTwin("only an L2 penalty has a native twin")
    strength = _positive(estimator, "C") * question.total
    intercept = "free" if estimator.fit_intercept else "none"
    if estimator.fit_intercept and estimator.solver == "liblinear":
        _need(estimator, intercept_scaling=(1, 1.0))
        intercept = "penalised"
    return LogisticDepth(reg=1.0 / (2.0 * log(2.0) * strength), intercept=intercept, scale="none")


def _svc(estimator: Any, question: Question) -> Depth:
    _need_loss(estimator, question, "hinge")
    _need(estimator, class_weight=(None,), kernel=("rbf", "linear", "poly"))
    settings: dict[str, Any] = {"kernel": _KERNELS[estimator.kernel]}
    if estimator.kernel != "linear":
        if not isinstance(estimator.gamma, Real):
            raise NoTwin(f"`gamma` must be a number for a native twin, got {estimator.gamma!r}")
        settings["gamma"] = float(estimator.gamma)
    if estimator.kernel == "poly":
        settings |= {"degree": estimator.degree, "coef0": estimator.coef0}
    strength = _positive(estimator, "C") * question.total
    return SVMDepth(reg=1.0 / (2.0 * strength), intercept="free", scale="none", **settings)


def _forest(estimator: Any, question: Question) -> Depth:
    _need_loss(estimator, question, "log", "brier", "zero-one")
    _need(
        estimator,
        bootstrap=(False,),
        min_samples_split=(2,),
        min_samples_leaf=(1,),
        min_weight_fraction_leaf=(0.0,),
        max_leaf_nodes=(None,),
        min_impurity_decrease=(0.0,),
        class_weight=(None,),
        ccp_alpha=(0.0,),
        monotonic_cst=(None,),
    )
    if not isinstance(estimator.max_depth, Integral):
        raise NoTwin("trees without a `max_depth` have no native twin")
    if estimator.n_estimators < _MANY_TREES:
        raise NoTwin(f"fewer than {_MANY_TREES} trees are not near the average of all")
    columns = "all" if estimator.max_features is None else estimator.max_features
    return ForestDepth(max_depth=int(estimator.max_depth), max_features=columns, loss=question.loss)


def _process(estimator: Any, question: Question) -> Depth:
    _need_loss(estimator, question, "log")
    if question.weighting != "repeat":
        raise NoTwin("a Gaussian process takes no weights")
    kernel = estimator.kernel
    free = kernel is not None and estimator.optimizer is not None
    if free and any(not h.fixed for h in kernel.hyperparameters):
        raise NoTwin("the kernel must be fixed: `optimizer=None`")
    if isinstance(kernel, Product) and _is_one(kernel.k1):
        kernel = kernel.k2
    if kernel is not None and (type(kernel) is not RBF or np.ndim(kernel.length_scale) != 0):
        raise NoTwin("only the kernel RBF with one length scale has a native twin")
    length_scale = 1.0 if kernel is None else float(kernel.length_scale)
    return GPDepth(gamma=0.5 / length_scale**2, scale="none")


_KERNELS = {"rbf": "gaussian", "linear": "linear", "poly": "polynomial"}

_TWINS: dict[type, Callable[[Any, Question], Depth]] = {
    LogisticRegression: _logistic,
    SVC: _svc,
    RandomForestClassifier: _forest,
    GaussianProcessClassifier: _process,
}


def _is_one(kernel: Any) -> bool:
    return isinstance(kernel, ConstantKernel) and kernel.constant_value == 1.0


def _need_loss(estimator: Any, question: Question, *losses: str) -> None:
    if question.loss not in losses:
        name = type(estimator).__name__
        raise NoTwin(f"{name} has a native twin for loss {' or '.join(losses)} only")


def _need(estimator: Any, **values: tuple[Any, ...]) -> None:
    for name, allowed in values.items():
        value = getattr(estimator, name, allowed[0])
        if not any(value is one or (one is not None and value == one) for one in allowed):
            raise NoTwin(f"`{name}={value!r}` has no native twin")


def _positive(estimator: Any, name: str) -> float:
    value = getattr(estimator, name)
    number = float(value) if isinstance(value, Real) else 0.0
    if not 0.0 < number < inf:
        raise NoTwin(f"`{name}={value!r}` has no native twin")
    return number
