"""Any classifier as a depth."""

from __future__ import annotations

import sys
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from lossdepth import _checks, _native
from lossdepth._base import Depth
from lossdepth._docs import documented
from lossdepth._fitting import Found
from lossdepth._input import as_table, check_finite, check_numeric, is_frame
from lossdepth._scores import Scores
from lossdepth._training import Training, final, risks
from lossdepth._twins import NoTwin, Question, find_twin, resolved
from lossdepth._wrapped import check_settings, check_weights, classifier, mass, seeded
from lossdepth._wrapped import training as training_of

if TYPE_CHECKING:
    import os

    from sklearn.utils import Tags

    from lossdepth._base import Floats
    from lossdepth._conformal import Calibration
    from lossdepth._explanation import Explanation


def _has_twin(depth: LossDepth) -> bool:
    if getattr(depth, "twin_", None) is None:
        raise AttributeError("that takes a classifier with a native twin, in `twin_` after `fit`")
    return True


@documented
class LossDepth(Depth):
    r"""Any classifier as a depth: the loss with which it tells z from the sample.

    For each query z the classifier is trained on the sample, of weight 1/2 in all, and z, of
    weight 1/2. The depth of z is its loss on the same points,
    :math:`\frac12 \sum_i \omega_i \ell(x_i) + \frac12 \ell(z)`, normalised so that a classifier
    that cannot tell has a depth of 1.

    Some classifiers need not be trained at all, since a depth of this package is known to be the
    same; see `fast` and the notes.

    {parameters}

    See Also
    --------
    LogisticDepth : The depth of LogisticRegression.
    SVMDepth : The depth of SVC.
    ForestDepth : The depth of RandomForestClassifier.
    GPDepth : The depth of GaussianProcessClassifier.

    Notes
    -----
    The classifiers with a native twin, in `twin_` after `fit`:

    ========================= ====== ========================================================
    classifier                loss   conditions
    ========================= ====== ========================================================
    LogisticRegression        log    L2 penalty; the exact optimum, whatever `tol` and solver
    SVC                       hinge  kernel rbf, linear or poly; the exact optimum
    RandomForestClassifier    log,   ``bootstrap=False``, a `max_depth`, at least 100 trees and
                              brier, defaults for all that stops trees early; the average of
                              0-1    all trees: the same up to the noise of `n_estimators`
    GaussianProcessClassifier log    ``weighting="repeat"``, a fixed RBF kernel
    ========================= ====== ========================================================

    all with ``class_weight=None``. ``SVC(gamma="scale")`` takes its kernel from the reference, not
    from the query, so that all queries are measured alike; `estimator_` shows the number.

    Without a twin `score_samples` trains a classifier for each query, and what first asks for
    `offset_`, such as `predict`, one for each row of the reference.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from lossdepth import LossDepth
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> detector = LossDepth(GaussianNB(var_smoothing=0.1)).fit(X)
    >>> detector.predict([[0.0, 0.0], [5.0, 0.0]])
    array([ 1, -1])

    A classifier with a twin is not trained for each query:

    >>> detector = LossDepth(LogisticRegression(C=100.0)).fit(X)
    >>> detector.twin_
    LogisticDepth(missing='error', reg=0.0072...)
    >>> classifier = LogisticRegression(C=100.0, tol=1e-8)
    >>> slow = LossDepth(classifier, fast=False, contamination=None).fit(X)
    >>> bool(np.allclose(slow.score_samples(X[:5]), detector.score_samples(X[:5]), atol=1e-5))
    True
    """

    _parameters: ClassVar[dict[str, str]] = {
        "estimator": """estimator : object or None, default=None
    A classifier of scikit-learn, or a pipeline that ends in one; it is cloned.
    :class:`~sklearn.linear_model.LogisticRegression` by default.""",
        "loss": """loss : {"log", "brier", "zero-one", "hinge"}, default="log"
    The loss at a point whose true class has the probability p: -log2 p, 4 (1 - p)^2, or whether p
    is below one half; or max(0, 1 - m) with the margin m, the `decision_function` towards the true
    class. ``"log"`` and ``"brier"`` need a `predict_proba`, ``"hinge"`` a `decision_function`.""",
        "weighting": """weighting : {"sample_weight", "repeat"}, default="sample_weight"
    How z gets half of the weight: by the weights that the classifier takes in `fit`, or, for one
    that takes none, by as many copies of z as there are rows. Sample weights are then numbers of
    copies.""",
        "total_weight": """total_weight : float, default=1.0
    The sum of the weights that the classifier is trained with, for ``weighting="sample_weight"``.
    It matters for settings that are compared with sums of weights, such as `C`, or the least weight
    of a leaf in gradient boosting.""",
        "fast": """fast : {"auto"} or bool, default="auto"
    Whether to compute the depth natively, without training the classifier for each query: if that
    is known to be the same, always (an error says why if that is impossible), or never.""",
        "random_state": """random_state : int or None, default=0
    What every `random_state` of the estimator that is None is set to, so that all queries see the
    same random numbers and a score depends on its row alone. None leaves them as they are.""",
        "contamination": """contamination : float or None, default=0.1
    The share of the training weight to call outlying, between 0 and 0.5; it sets `offset_`, for
    which a classifier is trained for each row of the reference when it is first asked for. None
    makes sure that this never happens; then `predict` and `decision_function` cannot be used.""",
        "n_jobs": """n_jobs : int or None, default=None
    How many queries are worked at in parallel, by joblib; or the number of threads of the twin.
    None means 1 unless in a :obj:`joblib.parallel_config` context, -1 all processors.""",
        "verbose": """verbose : bool or int, default=0
    Whether to say if there is a twin, and to show progress, on standard error.""",
    }
    _on_demand: ClassVar[tuple[str, ...]] = ("offset_",)
    _attributes: ClassVar[str] = """Attributes
----------
twin_ : object or None
    The native estimator that computes the depths, fitted; None if the classifier is trained.
estimator_ : object
    The classifier as it is trained for each query, not fitted.
offset_ : float
    Rows with a lower depth are called outliers, as for the other depths.
n_features_in_ : int
    The number of columns seen by `fit`.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Their names, where all are strings."""

    def __init__(
        self,
        estimator: Any = None,
        *,
        loss: str = "log",
        weighting: str = "sample_weight",
        total_weight: float = 1.0,
        fast: str | bool = "auto",
        random_state: int | None = 0,
        contamination: float | None = 0.1,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.weighting = weighting
        self.total_weight = total_weight
        self.fast = fast
        self.random_state = random_state
        self.contamination = contamination  # type: ignore[assignment]
        self.n_jobs = n_jobs
        self.verbose = verbose

    def score_details(self, X: Any) -> Scores:
        """Compute the depth of each row, with what is known about it.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows to score.

        Returns
        -------
        Scores
            Those of the twin; without one `stderr` is the standard error of the loss of the
            classifier as it was trained, and `error` says no more than that a better one of its
            kind may have any loss down to 0.
        """
        return super().score_details(X)

    @available_if(_has_twin)  # type: ignore[untyped-decorator]
    def explain(self, X: Any) -> Explanation:
        """Say why each row has the depth it has; for a classifier with a native twin.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows to explain.

        Returns
        -------
        Explanation
            That of the twin.
        """
        check_is_fitted(self, "estimator_")
        twin: Any = self.twin_
        explanation: Explanation = twin.explain(X)
        return explanation

    def calibrate(
        self, method: str = "split", *, share: float = 0.5, folds: int = 10, random_state: int = 0
    ) -> Calibration:
        """Prepare p-values of new rows; for a classifier with a native twin.

        Parameters
        ----------
        method : {"split", "cross", "leave-one-out"}, default="split"
            How, as for the other depths.
        share : float, default=0.5
            The share that ``"split"`` sets aside.
        folds : int, default=10
            The number of folds of ``"cross"``.
        random_state : int, default=0
            Where the random choice comes from.

        Returns
        -------
        Calibration
            With a method `p_values`.
        """
        check_is_fitted(self, "estimator_")
        if self.twin_ is None:
            name = type(final(self.estimator_)).__name__
            raise TypeError(f"p-values take a native twin, which this {name} does not have")
        return self.twin_.calibrate(method, share=share, folds=folds, random_state=random_state)

    @available_if(_has_twin)  # type: ignore[untyped-decorator]
    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the native twin to a file; for a classifier that has one, which others do not.

        Parameters
        ----------
        path : str or path-like
            The file. :func:`lossdepth.load` returns the twin: the same scores, natively. Others can
            be pickled.
        """
        _native.write_file(path, self._to_bytes())

    def _to_bytes(self) -> bytes:
        """Return the content of the model file of the native twin."""
        check_is_fitted(self, "estimator_")
        twin: Any = self.twin_
        data: bytes = twin._to_bytes()  # noqa: SLF001
        return data

    def _fit(self, X: Any, sample_weight: Any) -> None:
        if self.contamination is not None:
            _checks.share(self.contamination)
        check_settings(self)
        table = self._table(X, reset=True)
        weights = _checks.weights(sample_weight, table.shape[0])
        if weights is not None:
            check_weights(weights, table.shape[0])
        estimator = seeded(resolved(classifier(self.estimator), table, weights), self.random_state)
        copies, total = mass(self, table.shape[0], weights)
        twin = self._twin(estimator, total)
        training: Any = None
        if twin is not None:
            # A classifier of scikit-learn would not take anything else.
            check_numeric(as_table(X))
            if self.contamination is not None:
                twin.set_params(contamination=self.contamination)
            twin.fit(X, sample_weight=weights)
        else:
            training = training_of(self, estimator, table, weights, copies)
        # All at once, so that an interrupt leaves no half of a fit.
        self.estimator_, self.twin_, self._training = estimator, twin, training
        self._found = Found()
        self._fitted_params = {"contamination": self.contamination}
        self.__dict__.pop("offset_", None)

    def _scores(self, X: Any, *, stderr: bool = False) -> Scores:
        check_is_fitted(self, "estimator_")
        if self.twin_ is not None:
            self.twin_.set_params(n_jobs=self.n_jobs, verbose=self.verbose)
            return self.twin_._scores(X, stderr=stderr)  # noqa: SLF001
        return self._risks(self._table(X, reset=False), X, "score")

    def _rows(self, X: Any) -> Floats:
        return self._numbers(as_table(X), reset=False)

    def _own_depths(self) -> tuple[Floats, Floats | None]:
        """Return depths and weights of the training rows."""
        if self.twin_ is not None:
            return self.twin_._own_depths()  # noqa: SLF001
        training: Training = self._training
        found = self._found
        if found.depths is None:
            found.depths = self._risks(training.X, None, "threshold").depth
        return found.depths, training.weights

    def _found_offset(self) -> float:
        if self._fitted_params["contamination"] is None:
            raise AttributeError("without `contamination` there is no `offset_`")
        return super()._found_offset()

    def _need_offset(self) -> None:
        check_is_fitted(self, "estimator_")
        if not hasattr(self, "offset_"):
            raise ValueError("without `contamination` there is no `offset_` to tell outliers by")

    def _twin(self, estimator: Any, total: float) -> Depth | None:
        if self.fast is False:
            return None
        name = type(estimator).__name__
        try:
            twin = find_twin(estimator, Question(self.loss, self.weighting, total))
        except NoTwin as reason:
            if self.fast is True:
                raise ValueError(f"`fast=True` is impossible for this {name}: {reason}") from None
            self._say(f"{reason}: it is trained for each query")
            return None
        self._say(f"{name} is computed natively, by {twin}; `fast=False` trains it instead")
        twin.set_params(missing="error", n_jobs=self.n_jobs, verbose=self.verbose)
        # The classifier sees the columns as they are, and there is no `scale` to set here.
        twin._warns_of_spreads = False  # noqa: SLF001
        return twin

    def _risks(self, Z: Any, given: Any, what: str) -> Scores:
        """Train a classifier for each query."""
        what = f"{type(self).__name__} {what}" if self.verbose else ""
        depth, stderr, iterations = risks(self._training, Z, self.n_jobs, what)
        return Scores(
            depth,
            depth.copy(),
            stderr,
            iterations.astype(np.int64),
            np.full(len(depth), "converged"),
            _checks.index(given),
            # A copy keeps what was fitted, whatever becomes of the estimator.
            partial(_share_of_own, copy(self)),
        )

    def _table(self, X: Any, *, reset: bool) -> Any:
        """Check a table; a data frame stays one, for classifiers that know their columns."""
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if reset and X.shape[0] < 2:  # noqa: PLR2004
                raise ValueError(f"the reference must have at least 2 rows, got {X.shape[0]}")
            return X
        X = as_table(X)
        check_numeric(X)
        checked = validate_data(
            self,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )
        if not get_tags(self).input_tags.allow_nan:
            check_finite(checked, self._feature_names())
        return checked

    def _say(self, text: str) -> None:
        if self.verbose:
            sys.stderr.write(f"{type(self).__name__}: {text}\n")

    def __sklearn_tags__(self) -> Tags:
        """Pass on what the classifier says about its input."""
        tags = super().__sklearn_tags__()
        if self.estimator is not None and hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags


def _share_of_own(estimator: LossDepth, depths: Floats) -> Floats:
    """Return the share of the training weight that is at most as deep."""
    own, weights = estimator._own_depths()  # noqa: SLF001
    mass = np.ones(len(own)) if weights is None else np.asarray(weights, dtype=np.float64)
    order = np.argsort(own)
    sums = np.append(0.0, np.cumsum(mass[order]))
    return np.asarray(sums[np.searchsorted(own[order], depths, side="right")] / sums[-1])
