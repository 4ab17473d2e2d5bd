"""The depth that needs no settings."""

from __future__ import annotations

from dataclasses import dataclass

from lossdepth._docs import documented
from lossdepth._native_depth import NativeDepth


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class AutoDepth(NativeDepth):
    r"""Combined depth: three complementary depths, and the tails of single columns.

    A narrow kernel and a ball around the row look at its neighbourhood, with every column in robust
    units; a wide kernel looks at its place in the whole sample, with every column as ranks. With
    :math:`p_k` the share of the sample that part k finds at most as deep as z, each row compared
    with the others, their weighted geometric mean is :math:`\prod_k p_k^{w_k}`. The weight of ranks
    rises with the skewness of the columns. A factor, 1 for most rows, makes rows shallower in which
    a single value is beyond the tail of its column, or does not fit the other columns of the row.

    Units of columns do not matter. A row of the sample is compared with the other rows, so scoring
    the training rows needs no special care. Beyond the sample the depth goes on falling: far
    outliers stay ordered.

    {parameters}

    See Also
    --------
    SVMDepth : The kernel depth behind two of the parts.
    ForestDepth : A depth by boxes around the row.

    Notes
    -----
    `error` bounds the rounding of distances, sums and probabilities. Without `resamples` there
    is no standard error (NaN): what a formula knows of it, the sampling error of the shares
    :math:`p_k`, is far too small.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import AutoDepth
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> detector = AutoDepth().fit(X)
    >>> depths = detector.score_samples([[0, 0, 0, 0], [5, 0, 5, 0], [900, 0, 0, 0]])
    >>> bool(depths[0] > depths[1] > depths[2] > 0)
    True
    >>> detector.predict([[0.0, 0.0, 0.0, 0.0], [5.0, 0.0, 5.0, 0.0]])
    array([ 1, -1])
    """

    _method = "auto"

    reference_rows: str | float = 2000
    trim: float = 0.1
