"""Classical notions of depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lossdepth._docs import documented
from lossdepth._native_depth import NativeDepth


@dataclass(kw_only=True, eq=False, repr=False)
class _Classical(NativeDepth):
    """What classical depths have in common: they compare numbers only."""

    _remedy: ClassVar[str] = "Raise tol to accept the error; the depth and its error hold as is."
    _truth_is_number: ClassVar[bool] = True

    scale: str = "none"
    missing: str = "error"


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MahalanobisDepth(_Classical):
    r"""Mahalanobis depth: :math:`1 / (1 + d^2)`.

    :math:`d^2 = (z - m)^\top S^{-1} (z - m)` with mean and covariance of the sample, or with its
    minimum covariance determinant. Where the sample does not have full rank S is inverted on its
    span, and rows off the span have depth 0.

    The explanation is the linear function whose contributions by column add up to :math:`-d^2`.

    {parameters}

    See Also
    --------
    SpatialDepth : Also affine-invariant, with bounded influence.

    Examples
    --------
    >>> from lossdepth import MahalanobisDepth
    >>> MahalanobisDepth().fit([[0.0], [1.0], [2.0]]).score_samples([[1.0], [2.0]])
    array([1. , 0.5])
    """

    _method = "mahalanobis"

    scatter: str = "moment"


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SpatialDepth(_Classical):
    r"""Spatial depth, also called L1 depth.

    :math:`1 - \| \sum_i \omega_i u_i \|` with the unit vectors :math:`u_i` from the row to those of
    the sample; 0 for those that are equal to it. Distances are measured by `scatter`.

    {parameters}

    See Also
    --------
    L2Depth : By distances in place of directions.

    Examples
    --------
    >>> from lossdepth import SpatialDepth
    >>> cross = [[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    >>> SpatialDepth().fit(cross).score_samples([[0.0, 0.0], [9.0, 0.0]]).round(3)
    array([1.   , 0.003])
    """

    _method = "spatial"

    scatter: str = "moment"


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ProjectionDepth(_Classical):
    r"""Projection depth: :math:`1 / (1 + O)` with the outlyingness of Stahel and Donoho.

    :math:`O(z) = \sup_u |u^\top z - \mathrm{med}(u^\top X)| / \mathrm{MAD}(u^\top X)`, without a
    constant in MAD. Exact up to rounding where the sample spans one or two dimensions. Beyond that
    random directions and a local search give the upper end of an interval. In three dimensions
    cells that cover all directions, five for each of `num_directions`, prove the lower end; beyond,
    nothing is proven of it, and `error` is the depth itself.

    {parameters}

    See Also
    --------
    MahalanobisDepth : The same with mean and standard deviation in place of median and MAD.

    Examples
    --------
    >>> from lossdepth import ProjectionDepth
    >>> sample = [[0.0], [1.0], [2.0], [3.0], [9.0]]
    >>> ProjectionDepth().fit(sample).score_samples([[2.0], [5.0]])
    array([1.  , 0.25])
    """

    _method = "projection"

    num_directions: int = 1000
    seed: int = 0
    tol: float = 1.0


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ZonoidDepth(_Classical):
    r"""Zonoid depth: how evenly the sample can be weighted to average to the row.

    The largest :math:`\alpha` for which the row is a mean of the sample with weights of at most
    :math:`\omega_i / \alpha`: 1 at the mean, 0 outside of the convex hull. It is a loss depth as
    well: the least hinge loss :math:`\sum_i \omega_i (1 - w^\top (x_i - z))_+`, and the explanation
    is that function.

    {parameters}

    See Also
    --------
    HingeDepth : The same loss with a penalty and an intercept.

    Examples
    --------
    >>> from lossdepth import ZonoidDepth
    >>> square = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]]
    >>> ZonoidDepth().fit(square).score_samples([[1.0, 1.0], [1.0, 0.5], [3.0, 1.0]]).round(3)
    array([1.   , 0.667, 0.   ])
    """

    _method = "zonoid"


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SimplicialDepth(_Classical):
    r"""Simplicial depth: the share of the simplices of the sample that contain the row.

    Simplices are closed, with one corner more than there are columns. Up to three dimensions they
    are counted, with exact signs; beyond that `samples` of them are drawn for an unbiased estimate,
    and `error` holds with a probability of :math:`1 - 10^{-9}`.

    {parameters}

    See Also
    --------
    HalfspaceDepth : Also by counting, exact in more dimensions.

    Examples
    --------
    >>> from lossdepth import SimplicialDepth
    >>> square = [[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]]
    >>> SimplicialDepth().fit(square).score_samples([[1.0, 0.5], [0.0, 0.0], [4.0, 0.0]])
    array([0.5 , 0.75, 0.  ])
    """

    _method = "simplicial"

    samples: int = 20000
    seed: int = 0
    tol: float = 0.05


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class L2Depth(_Classical):
    r"""L2 depth: :math:`1 / (1 + \sum_i \omega_i \|x_i - z\|)`.

    Distances are measured by `scatter`.

    {parameters}

    See Also
    --------
    SpatialDepth : By directions in place of distances.

    Examples
    --------
    >>> from lossdepth import L2Depth
    >>> L2Depth(scatter="none").fit([[0.0], [2.0]]).score_samples([[1.0], [4.0]])
    array([0.5 , 0.25])
    """

    _method = "l2"

    scatter: str = "moment"


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class PotentialDepth(_Classical):
    r"""Potential: :math:`\sum_i \omega_i \exp(-\|x_i - z\|^2 / 2h)`.

    A kernel density estimate without its constant; h is `bandwidth`, a variance. Distances are
    measured by `scatter`.

    {parameters}

    See Also
    --------
    SVMDepth : With a strong penalty an increasing function of this.

    Examples
    --------
    >>> from lossdepth import PotentialDepth
    >>> potential = PotentialDepth(scatter="none", bandwidth=0.5).fit([[0.0], [2.0]])
    >>> potential.score_samples([[1.0]]).round(3)
    array([0.368])
    """

    _method = "potential"

    bandwidth: float | None = None
    scatter: str = "moment"
