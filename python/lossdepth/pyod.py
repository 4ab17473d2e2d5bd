"""Depths with the face of PyOD: high scores are outliers, labels are 0 and 1.

Importing this module imports PyOD; importing :mod:`lossdepth` does not.

>>> import numpy as np
>>> from lossdepth import SVMDepth
>>> from lossdepth.pyod import DepthDetector
>>> X = np.vstack([np.random.default_rng(0).normal(size=(100, 2)), [[9.0, 9.0]]])
>>> clf = DepthDetector(SVMDepth(reg=0.01), contamination=0.05).fit(X)
>>> int(clf.decision_scores_.argmax()), int(clf.labels_[-1]), int(clf.labels_.sum())
(100, 1, 5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from lossdepth._function import default_detector

try:
    from pyod.models.base import BaseDetector
except ImportError as error:  # pragma: no cover
    raise ImportError("lossdepth.pyod needs PyOD: pip install pyod") from error

if TYPE_CHECKING:
    from typing_extensions import Self

    from lossdepth._base import Floats

__all__ = ["DepthDetector"]


class DepthDetector(BaseDetector):
    """A depth as a detector of PyOD.

    The outlier score is minus the depth: between -1 and 0, high for outliers.

    Parameters
    ----------
    detector : object or None, default=None
        A depth of this package, such as ``SVMDepth(reg=0.01)``; it is cloned, and its
        `contamination` does not matter. By default that of :func:`lossdepth.depth`:
        :class:`lossdepth.AutoDepth`.
    contamination : float or object, default=0.1
        The share of outliers in the training data, in (0, 0.5], or a thresholder of PyThresh.

    Attributes
    ----------
    decision_scores_ : ndarray of shape (n_samples,)
        The outlier scores of the training data.
    threshold_ : float
        Rows with a higher score are outliers.
    labels_ : ndarray of shape (n_samples,)
        1 for the outliers of the training data, 0 for others.
    detector_ : object
        The fitted depth, with its explanations and details.

    See Also
    --------
    lossdepth.LogisticDepth : The same with scikit-learn's sign and labels.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import ForestDepth
    >>> from lossdepth.pyod import DepthDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> clf = DepthDetector(ForestDepth()).fit(X)
    >>> clf.predict([[0.0, 0.0, 0.0, 0.0], [5.0, 5.0, 5.0, 5.0]])
    array([0, 1])
    """

    def __init__(self, detector: Any = None, contamination: Any = 0.1) -> None:
        super().__init__(contamination=contamination)
        self.detector = detector

    def fit(self, X: Any, y: Any = None) -> Self:
        """Take X for the reference sample, and score its rows.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The reference sample, at least two rows.
        y : None
            Ignored.

        Returns
        -------
        object
            The detector itself.
        """
        del y
        detector = default_detector() if self.detector is None else self.detector
        detector = clone(detector).set_params(contamination=0.0)
        depths: Floats = detector.fit(X)._own_depths()[0]  # noqa: SLF001
        self._set_n_classes(None)
        self.detector_ = detector
        self.decision_scores_ = -depths
        self._process_decision_scores()
        return self

    def decision_function(self, X: Any) -> Floats:
        """Compute the outlier score of each row: minus its depth.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores: high is outlying.
        """
        check_is_fitted(self, ["decision_scores_", "threshold_", "labels_"])
        depths: Floats = self.detector_.score_samples(X)
        return -depths
