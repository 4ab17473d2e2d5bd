"""Depths with a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lossdepth._docs import documented
from lossdepth._native_depth import NativeDepth

if TYPE_CHECKING:
    from sklearn.utils import Tags


@dataclass(kw_only=True, eq=False, repr=False)
class _KernelDepth(NativeDepth):
    """What the depths with a kernel have in common."""

    _takes_sparse: ClassVar[bool] = True

    kernel: str = "gaussian"
    gamma: str | float = "auto"
    sigma: str | float = "auto"
    c: float = 1.0
    beta: float = -0.5
    degree: int = 3
    coef0: float = 1.0
    max_iter: int = 1000
    memory: float | None = None

    def __sklearn_tags__(self) -> Tags:
        """Say that rows of kernel values are not features."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        if tags.input_tags.pairwise:
            tags.input_tags.allow_nan = tags.input_tags.categorical = False
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class _PenalisedKernelDepth(_KernelDepth):
    """What the depths with a kernel and a penalty have in common: everything but the loss."""

    reg: float = 1.0
    variant: str = "risk"
    radius: float | None = None
    intercept: str = "none"


@documented
class SVMDepth(_PenalisedKernelDepth):
    r"""Support vector machine depth: classifiers with a kernel, hinge loss.

    A classifier f in the Hilbert space of the kernel that should tell z from the sample has the
    risk :math:`R_z(f) = \frac12 \sum_i \omega_i \max(0, 1 - f(x_i)) + \frac12 \max(0, 1 + f(z))`.
    The depth of z is the risk at the minimum of :math:`R_z(f) + \mathrm{reg} \|f\|^2`.

    {parameters}

    See Also
    --------
    HingeDepth : The same with linear classifiers.

    Notes
    -----
    With a strong penalty (``reg >= max k(x, x) / 4`` is enough for a kernel that is not negative)
    no margin exceeds 1 and the depth is in closed form,
    :math:`1 - \|\mu - \varphi_z\|^2 / (8\,\mathrm{reg})`, where :math:`\|\mu - \varphi_z\|` is the
    maximum mean discrepancy between the sample and z. It then ranks like a kernel density estimate.
    A weaker penalty looks at the shape of the data rather than its density. Which it is, is found
    out for each row; both are exact.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import SVMDepth
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-4, 1, size=(100, 2)), rng.normal(4, 1, size=(100, 2))])
    >>> detector = SVMDepth(reg=0.01).fit(X)
    >>> detector.predict([[-4.0, -4.0], [0.0, 0.0]])
    array([ 1, -1])
    """

    _method = "svm"


@documented
class KernelLogisticDepth(_PenalisedKernelDepth):
    r"""Kernel logistic regression depth: classifiers with a kernel, logistic loss.

    A classifier f in the Hilbert space of the kernel, to tell z from the sample, has the risk
    :math:`R_z(f) = \frac12 \sum_i \omega_i \ell(f(x_i)) + \frac12 \ell(-f(z))` with the loss
    :math:`\ell(m) = \log_2(1 + e^{-m})`. The depth of z is the risk at the minimum of
    :math:`R_z(f) + \mathrm{reg} \|f\|^2`.

    {parameters}

    See Also
    --------
    LogisticDepth : The same with linear classifiers.
    GPDepth : The same at a penalty that follows from a prior, with probabilities averaged.

    Notes
    -----
    A pivoted Cholesky factor of the Gram matrix turns the sample into points of a Euclidean space,
    and the depth into the linear one there; ``kernel="linear"`` is `LogisticDepth`. The factor and
    its copies take up to five times the memory of the Gram matrix; `memory` says how much they may.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import KernelLogisticDepth
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-4, 1, size=(100, 2)), rng.normal(4, 1, size=(100, 2))])
    >>> detector = KernelLogisticDepth(reg=0.001).fit(X)
    >>> detector.predict([[-4.0, -4.0], [0.0, 0.0]])
    array([ 1, -1])
    """

    _method = "klr"


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class GPDepth(_KernelDepth):
    r"""Gaussian process depth: Gaussian process classification by Laplace's approximation.

    The sample is one class and z the other, with the mass of the whole sample. The depth of z is
    the balanced loss, in bits, of the probabilities that the posterior gives to the right class,
    :math:`-\frac12 \sum_i \omega_i \log_2 \bar\pi(x_i) - \frac12 \log_2 (1 - \bar\pi(z))`.

    {parameters}

    See Also
    --------
    KernelLogisticDepth : The mode of the same posterior, at any penalty.

    Notes
    -----
    With the Gaussian kernel this is what scikit-learn's ``GaussianProcessClassifier`` with
    ``RBF(length_scale)`` and no tuning gives for the sample and n copies of z, to within the
    reported error; ``gamma = 0.5 / length_scale**2``, and ``"quartile"`` takes the first quartile
    of the distances for the length scale. The Gram matrix is split once into a few dozen large
    directions and a small rest, whose effect on the variances is bounded; the number of directions
    follows from `tol`.

    The standard error covers the direct effect of the rows, that through the mode and that through
    the variances.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import GPDepth
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-4, 1, size=(100, 2)), rng.normal(4, 1, size=(100, 2))])
    >>> detector = GPDepth().fit(X)
    >>> detector.predict([[-4.0, -4.0], [0.0, 0.0]])
    array([ 1, -1])
    """

    _method = "gp"
    _remedy: ClassVar[str] = "Raise tol or max_iter."

    gamma: str | float = "quartile"
    probabilities: str = "averaged"
