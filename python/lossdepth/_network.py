"""The depth by neural networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lossdepth._docs import documented
from lossdepth._native_depth import NativeDepth

if TYPE_CHECKING:
    from collections.abc import Sequence


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MLPDepth(NativeDepth):
    r"""Multilayer perceptron depth: neural networks with ReLU units, logistic loss in bits.

    A fully connected network f with one logistic output is trained to tell z from the sample: it
    minimises :math:`R_z(f) + \text{reg} \cdot \|\text{weights}\|^2` with the risk
    :math:`R_z(f) = \frac12 \sum_i \omega_i \ell(f(x_i)) + \frac12 \ell(-f(z))` and the loss
    :math:`\ell(m) = \log_2(1 + e^{-m})`; biases are not penalised. The depth of z is the risk that
    remains. :class:`~sklearn.neural_network.MLPClassifier` minimises the same for a
    ``sample_weight`` of :math:`\frac12 \omega_i` and, for z, :math:`\frac12`, with
    ``solver="lbfgs"`` and ``alpha`` equal to 2 ln 2 times `reg`.

    With one hidden layer the best network is the value at z plus a convex function that grows away
    from z: all kinks pass through z, but for one linear unit. In such functions the problem is
    convex. So the depth hardly depends on `seed`, and `error` is a proven bound on its distance
    from the depth by networks of any width. Units are added where they help most, from directions
    that all queries share, and trained together by full-batch quasi-Newton steps; few are needed.
    With more layers the depth is what the same training finds from a start that all queries share,
    and `error` says no more than that the best risk is between 0 and the objective. The
    documentation of ``lossdepth::hypothesis::Mlp`` in the Rust library defines every step.

    `stderr` is the standard error of the risk of the network as it is. An explanation holds the
    gradient of f at z, the mean of both sides of every kink, and the influence of reference rows
    for ``variant="objective"`` only.

    {parameters}

    See Also
    --------
    LogisticDepth : The same with linear classifiers.
    depth : Depths without an estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import MLPDepth
    >>> angle = np.linspace(0.0, 6.2, 100)
    >>> ring = 5.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    >>> detector = MLPDepth(contamination=0.0).fit(ring)

    The middle of a ring is no place for a point, which no linear classifier can tell.

    >>> detector.predict([[0.0, 0.0], [5.0, 0.0]])
    array([-1,  1])
    """

    _method = "mlp"

    hidden: int | Sequence[int] = (100,)
    reg: float = 0.01
    variant: str = "risk"
    restarts: int = 1
    seed: int = 0
    tol: float = 1e-5
    max_iter: int = 1000
