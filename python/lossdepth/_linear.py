"""The linear depths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lossdepth._docs import documented
from lossdepth._native_depth import NativeDepth


@dataclass(kw_only=True, eq=False, repr=False)
class _LinearDepth(NativeDepth):
    """What the linear depths have in common: everything but the loss."""

    _takes_sparse: ClassVar[bool] = True

    reg: float = 1.0
    variant: str = "risk"
    radius: float | None = None
    intercept: str = "free"
    max_iter: int = 1000


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class LogisticDepth(_LinearDepth):
    r"""Logistic regression depth: linear classifiers, logistic loss in bits.

    A classifier :math:`f(x) = \langle w, x \rangle + b` that should tell z from the sample has the
    risk :math:`R_z(f) = \frac12 \sum_i \omega_i \ell(f(x_i)) + \frac12 \ell(-f(z))` with the loss
    :math:`\ell(m) = \log_2(1 + e^{-m})`. The depth of z is the risk of the best one: 1 for a point
    that cannot be told from the sample at all, 0 for one that is far away.

    {parameters}

    See Also
    --------
    HingeDepth : The same with the hinge loss.
    depth : Depths without an estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import LogisticDepth
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> detector = LogisticDepth(reg=0.01).fit(X)
    >>> detector.score_samples([[0.0, 0.0], [5.0, 0.0]]).round(2)
    array([1.  , 0.02])
    >>> detector.predict([[0.0, 0.0], [5.0, 0.0]])
    array([ 1, -1])
    """

    _method = "logistic"

    value: str = "risk"


@documented
class HingeDepth(_LinearDepth):
    r"""Linear support vector machine depth: linear classifiers, hinge loss.

    As :class:`LogisticDepth`, with the loss :math:`\ell(m) = \max(0, 1 - m)`.

    {parameters}

    See Also
    --------
    LogisticDepth : The same with the logistic loss, where the definition is.
    SquaredHingeDepth : The same with the squared hinge loss.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import HingeDepth
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> HingeDepth(reg=0.01).fit(X).predict([[0.0, 0.0], [5.0, 0.0]])
    array([ 1, -1])
    """

    _method = "hinge"


@documented
class SquaredHingeDepth(_LinearDepth):
    r"""Linear classifiers, squared hinge loss.

    As :class:`LogisticDepth`, with the loss :math:`\ell(m) = \max(0, 1 - m)^2`.

    {parameters}

    See Also
    --------
    LogisticDepth : The same with the logistic loss, where the definition is.
    HingeDepth : The same with the hinge loss.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import SquaredHingeDepth
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> SquaredHingeDepth(reg=0.1).fit(X).predict([[0.0, 0.0], [5.0, 0.0]])
    array([ 1, -1])
    """

    _method = "squared-hinge"


@documented
class ExponentialDepth(_LinearDepth):
    r"""Linear classifiers, exponential loss.

    As :class:`LogisticDepth`, with the loss :math:`\ell(m) = e^{-m}`.

    {parameters}

    See Also
    --------
    LogisticDepth : The same with the logistic loss, where the definition is.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import ExponentialDepth
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> ExponentialDepth(reg=0.1).fit(X).predict([[0.0, 0.0], [5.0, 0.0]])
    array([ 1, -1])
    """

    _method = "exponential"
