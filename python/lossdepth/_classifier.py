"""Classification by depth: the DD-classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from lossdepth._auto import AutoDepth
from lossdepth._input import as_table, is_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.utils import Tags
    from typing_extensions import Self

_RULES = ("logistic", "maximum")
# Two rows are the least that a depth can be fitted to.
_MIN_ROWS = 2


class DDClassifier(ClassifierMixin, BaseEstimator):
    """Classify rows by their depths in each class: the DD-classifier.

    A row becomes the vector of its depths in the samples of the classes (Li, Cuesta-Albertos and
    Liu 2012). A rule in that space chooses the class: the largest depth, or a polynomial
    logistic regression that is trained on the depths of the training rows. Those are computed
    in the other rows of their class, by cross-validation, so that no row is compared with itself.

    Parameters
    ----------
    depth : object or None, default=None
        A depth of this package, not fitted; it is cloned for each class. None for
        :class:`AutoDepth`.
    rule : {"logistic", "maximum"}, default="logistic"
        How depths become a class. ``"maximum"`` is the class in which the row is deepest.
    degree : int, default=2
        The degree of the polynomials of ``"logistic"``.
    cv : int, default=5
        In how many parts the rows of a class are divided to compute the depths that
        ``"logistic"`` is trained on; fewer for a class of less than twice as many rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    depths_ : list
        The fitted depth of each class.
    rule_ : object
        The fitted rule: a scikit-learn pipeline, or None for ``"maximum"``.
    n_features_in_ : int
        How many columns there are.

    See Also
    --------
    lossdepth.plot.dd_plot : The depths of two samples in each other.

    Examples
    --------
    >>> import numpy as np
    >>> from lossdepth import DDClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(size=(60, 2)), rng.normal(3.0, size=(60, 2))]
    >>> y = np.repeat(["near", "far"], 60)
    >>> DDClassifier().fit(X, y).predict([[0.0, 0.0], [3.0, 3.0]]).tolist()
    ['near', 'far']
    """

    def __init__(
        self, depth: Any = None, *, rule: str = "logistic", degree: int = 2, cv: int = 5
    ) -> None:
        self.depth = depth
        self.rule = rule
        self.degree = degree
        self.cv = cv

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a depth to each class, and the rule to the depths.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        DDClassifier
            The fitted classifier.
        """
        if self.rule not in _RULES:
            raise ValueError(f"`rule` must be one of {', '.join(_RULES)}, got {self.rule!r}")
        X, y = self._validated(X, y, fitting=True)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:  # noqa: PLR2004
            raise ValueError("Classifier can't train when only one class is present.")
        counts = np.bincount(codes)
        if counts.min() < _MIN_ROWS:
            rare = self.classes_[counts.argmin()]
            raise ValueError(f"class `{rare}` has 1 row, a depth needs at least {_MIN_ROWS}")
        groups = [np.flatnonzero(codes == code) for code in range(len(counts))]
        self.depths_ = [self._new_depth().fit(_take(X, rows)) for rows in groups]
        self.rule_ = None
        if self.rule == "logistic":
            space = self._training_depths(X, codes, groups)
            self.rule_ = make_pipeline(
                PolynomialFeatures(self.degree, include_bias=False),
                StandardScaler(),
                LogisticRegression(max_iter=1000),
            ).fit(space, codes)
        return self

    def depth_space(self, X: Any) -> NDArray[np.float64]:
        """Return the depths of rows in each class.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The depths.
        """
        check_is_fitted(self)
        X = self._validated(X)
        return np.column_stack([depth.score_samples(X) for depth in self.depths_])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes.

        Those of ``"maximum"`` are the shares of the depths, which are not calibrated.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities.
        """
        space = self.depth_space(X)
        if self.rule_ is not None:
            return np.asarray(self.rule_.predict_proba(space))
        total = space.sum(axis=1, keepdims=True)
        even = np.full_like(space, 1.0 / space.shape[1])
        return np.asarray(np.divide(space, total, out=even, where=total > 0.0))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes.
        """
        space = self.depth_space(X)
        codes = space.argmax(axis=1) if self.rule_ is None else self.rule_.predict(space)
        return np.asarray(self.classes_[codes])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self._new_depth()).input_tags.allow_nan
        return tags

    def _new_depth(self) -> Any:
        return AutoDepth() if self.depth is None else clone(self.depth)

    def _validated(self, X: Any, y: Any = None, *, fitting: bool = False) -> Any:
        """Check rows as scikit-learn does; data frames are left to the depths, which check them."""
        given = as_table(X)
        checked = {"skip_check_array": True} if is_frame(given) else {"ensure_all_finite": False}
        if not fitting:
            return validate_data(self, given, reset=False, **checked)
        if is_frame(given):
            _, y = validate_data(self, np.zeros((len(given), 1)), y)
            validate_data(self, given, skip_check_array=True)
            return given, y
        return validate_data(self, given, y, **checked)

    def _training_depths(
        self, X: Any, codes: NDArray[np.int64], groups: list[NDArray[np.int64]]
    ) -> NDArray[np.float64]:
        space = np.column_stack([depth.score_samples(X) for depth in self.depths_])
        for code, rows in enumerate(groups):
            folds = min(self.cv, len(rows) // _MIN_ROWS)
            if folds < 2:  # noqa: PLR2004
                continue
            parts = StratifiedKFold(folds, shuffle=True, random_state=0)
            for kept, left_out in parts.split(rows, codes[rows]):
                depth = self._new_depth().fit(_take(X, rows[kept]))
                space[rows[left_out], code] = depth.score_samples(_take(X, rows[left_out]))
        return space


def _take(X: Any, rows: NDArray[np.int64]) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if isinstance(X, np.ndarray) else X[rows.tolist()]
