"""The random forest depth."""

from __future__ import annotations

from dataclasses import dataclass

from lossdepth._docs import documented
from lossdepth._native_depth import NativeDepth


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ForestDepth(NativeDepth):
    r"""Random forest depth: the average of all random trees, exactly.

    A forest is trained to tell z, of mass 1/2, from the rows :math:`x_i`, of mass
    :math:`\omega_i / 2`. With p(x) the probability of z's class at x, averaged over the trees, the
    depth is :math:`\frac12 \sum_i \omega_i \ell(1 - p(x_i)) + \frac12 \ell(p(z))`.

    The trees are those of :class:`~sklearn.ensemble.RandomForestClassifier` with
    ``bootstrap=False``, by Gini index or entropy alike. With a single point in one class the best
    split of a column is right next to it, below or above, so a tree is a box around z with at most
    `max_depth` sides, and how often each box occurs follows from ranks: by default the depth is
    that of infinitely many trees, without noise, at a tiny part of the cost of a thousand. With
    `trees` it is that of so many trees, drawn with the seed.

    Only the order of the values in each column matters, so the scale of a column does not, unless
    there are `rotations`. Two things are unlike scikit-learn: if both sides of a column are equally
    good, each is taken half the time, and values are compared as doubles.

    {parameters}

    See Also
    --------
    LogisticDepth : The depth of linear classifiers.
    depth : Depths without an estimator.

    Notes
    -----
    While a level of the trees has at most 512 different boxes nothing is left out, and `error` is
    rounding. With many columns or deep trees the least probable boxes are not cut further as long
    as that is within `tol`; `error` is a proven bound with this remainder in it. Beyond `max_boxes`
    it may exceed `tol`, with a warning; then use `trees`.

    Without `resamples` there is no standard error (NaN): the delta method takes the order of the
    columns by how well they split as given, and is several times too small.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import ForestDepth
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> detector = ForestDepth().fit(X)
    >>> detector.score_samples([[0.0, 0.1, 0.1, 0.0], [5.0, 0.0, 5.0, 0.0]]).round(2)
    array([0.13, 0.  ])
    >>> detector.explain([[5.0, 0.0, 0.0, 0.0]]).cuts[0][0].feature
    'x0'
    """

    _method = "forest"
    _remedy = "Raise tol or max_boxes, or grow a number of trees."

    scale: str = "none"
    max_depth: int = 2
    max_features: str | float = "sqrt"
    loss: str = "log"
    value: str = "risk"
    trees: int = 0
    rotations: int = 0
    seed: int = 0
    max_boxes: int = 20_000
