"""The depth by neural networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from lossdepth._base import Depth, documented

if TYPE_CHECKING:
    from collections.abc import Sequence


@documented
class MLPDepth(Depth):
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
    _remedy: ClassVar[str] = "Scale the data, or raise tol, max_iter or reg."
    _parameters: ClassVar[dict[str, str]] = {
        "hidden": """hidden : int or sequence of int, default=(100,)
    How many units each hidden layer has, at most 10000.""",
        "reg": """reg : float, default=0.01
    The weight of the penalty: training minimises risk + reg * ||weights||^2. Positive.""",
        "variant": """variant : {"risk", "objective"}, default="risk"
    Which number is the depth: the risk of the trained network or its risk plus penalty.""",
        "restarts": """restarts : int, default=1
    How often a network is trained for each query, with other random numbers; at most 1000. The one
    with the smallest risk plus penalty counts.""",
        "seed": """seed : int, default=0
    Where all random numbers come from. Every query gets the same ones.""",
        "tol": """tol : float, default=1e-5
    Training ends when five steps lower risk plus penalty by a smaller share.""",
        "max_iter": """max_iter : int, default=1000
    How many steps the training of a query takes at most, in each restart.""",
    }

    def __init__(
        self,
        *,
        hidden: int | Sequence[int] = (100,),
        reg: float = 0.01,
        variant: str = "risk",
        scale: str = "none",
        support_fraction: float = 0.75,
        restarts: int = 1,
        seed: int = 0,
        tol: float = 1e-5,
        max_iter: int = 1000,
        contamination: float = 0.1,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        # Stored as given; the native core checks them in fit.
        self.hidden = hidden
        self.reg = reg
        self.variant = variant
        self.scale = scale
        self.support_fraction = support_fraction
        self.restarts = restarts
        self.seed = seed
        self.tol = tol
        self.max_iter = max_iter
        self.contamination = contamination
        self.n_jobs = n_jobs
        self.verbose = verbose
