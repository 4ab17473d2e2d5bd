"""The line between outliers and others: the offset, and p-values."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lossdepth import _checks, _native
from lossdepth._conformal import Calibration
from lossdepth._progress import threads
from lossdepth._scoring import Scoring
from lossdepth._sparse import dense_model, sparse_model

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    Floats = NDArray[np.float64]


class Threshold(Scoring):
    """What an estimator needs the scores of its training rows for: found at the first use."""

    # What is found when it is first asked for.
    _on_demand: ClassVar[tuple[str, ...]] = ("offset_", "n_iter_")

    offset_: float
    n_iter_: int

    def set_threshold(
        self, *, contamination: float | None = None, threshold: float | None = None
    ) -> Self:
        """Draw another line between outliers and others, without another fit.

        It sets `offset_`, and so what `predict` and `decision_function` say; the parameter
        `contamination` stays what it was.

        Parameters
        ----------
        contamination : float or None, default=None
            The share of the training weight to call outlying, between 0 and 0.5.
        threshold : float or None, default=None
            The depth below which rows are outliers. One of the two must be given.

        Returns
        -------
        object
            The estimator itself.

        Examples
        --------
        >>> from lossdepth import LogisticDepth
        >>> X = [[0.0], [1.0], [2.0], [3.0], [9.0]]
        >>> LogisticDepth().fit(X).set_threshold(contamination=0.2).predict(X)
        array([ 1,  1,  1,  1, -1])
        """
        check_is_fitted(self)
        if (contamination is None) == (threshold is None):
            raise ValueError("give one of `contamination` and `threshold`")
        if threshold is not None:
            if not isinstance(threshold, Real) or not np.isfinite(float(threshold)):
                raise ValueError(f"`threshold` must be a finite number, got {threshold!r}")
            self.offset_ = float(threshold)
            return self
        share = _checks.share(contamination)
        depths, weights = self._own_depths()
        self.offset_ = _checks.offset(depths, weights, share)
        return self

    def calibrate(
        self, method: str = "split", *, share: float = 0.5, folds: int = 10, random_state: int = 0
    ) -> Calibration:
        """Prepare p-values of new rows against the reference.

        Parameters
        ----------
        method : {"split", "cross", "leave-one-out"}, default="split"
            ``"split"`` sets a random share of the reference aside and compares with it in a model
            of the rest: exact whatever the distribution. ``"cross"`` and ``"leave-one-out"`` score
            each row of the reference in a model without its fold, or without itself, and new rows
            in the whole model: all rows count for both, at the cost of as many fits, and
            approximately.
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
        check_is_fitted(self)
        model = vars(self).get("model_")
        dense_model(model, "p-values of new rows")
        if not isinstance(model, _native.Model):
            raise TypeError("p-values are for the native depths, not for LossDepth")
        count = threads(self.n_jobs)
        made = _native.Calibration(model, method, share, folds, random_state, count)
        return Calibration(self._rows, made, count)

    def p_values(
        self,
        X: Any = None,
        *,
        method: str = "split",
        share: float = 0.5,
        folds: int = 10,
        random_state: int = 0,
    ) -> Floats:
        """Compute conformal p-values: how likely a row is to be as shallow if nothing is wrong.

        To be called for all rows at once; for rows that come one after the other, see `calibrate`,
        which does the work that they share.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features) or None, default=None
            New rows. None means the training rows themselves, whose p-values are their ranks: the
            share of the training weight that is at most as deep. That is exact and needs no other
            fit, but ranks are the same whatever the data: to choose outliers among many rows, take
            a reference without them.
        method : {"split", "cross", "leave-one-out"}, default="split"
            See `calibrate`, also for the others.
        share : float, default=0.5
            The share that ``"split"`` sets aside.
        folds : int, default=10
            The number of folds of ``"cross"``.
        random_state : int, default=0
            Where the random choice comes from.

        Returns
        -------
        ndarray of shape (n_samples,)
            The p-values, above 0 and at most 1: low is outlying.

        Examples
        --------
        >>> import numpy as np
        >>> from lossdepth import LogisticDepth, false_discovery_control
        >>> X = np.random.default_rng(0).normal(size=(400, 2))
        >>> detector = LogisticDepth(reg=0.1).fit(X)
        >>> p = detector.p_values([[0.0, 0.0], [9.0, 9.0]], method="leave-one-out")
        >>> false_discovery_control(p) <= 0.1
        array([False,  True])
        """
        if X is None:
            check_is_fitted(self)
            if self._found.is_sample:
                raise ValueError("the reference is a sample of the training rows: give them as `X`")
            depths, weights = self._own_depths()
            return _native.own_p_values(depths, weights)
        made = self.calibrate(method, share=share, folds=folds, random_state=random_state)
        return made.p_values(X)

    def _own_depths(self) -> tuple[Floats, Floats | None]:
        """Return depths and weights of the training rows."""
        rows, weights = self.model_.reference()
        found = self._found
        if found.depths is None:
            model = sparse_model(self.model_)
            if model is not None:
                given = self._ask(partial(model.score, depths_only=True), model.reference()[0])
            else:
                given = self._score(self.model_, rows, "threshold")
            scores = self._named(given, None)
            found.depths, found.n_iter = scores.depth, max(1, int(scores.iterations.max()))
        return found.depths, weights

    if not TYPE_CHECKING:
        # No properties: whatever lists the attributes of an object would have its rows scored.

        def __getattr__(self, name: str) -> Any:
            """Find what the scores of the training rows say when it is asked for."""
            if name in self._on_demand and "_found" in vars(self):
                if name == "offset_":
                    return self._found_offset()
                if self._found.n_iter is None:
                    self._own_depths()
                return self._found.n_iter
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _known_offset(self) -> float | None:
        """Return the offset if it was set or found already."""
        found: float | None = vars(self).get("offset_", self._found.offset)
        return found

    def _found_offset(self) -> float:
        """Return the offset that goes with the contamination that `fit` saw."""
        found = self._found
        if found.offset is None:
            share = _checks.share(self._fitted_params["contamination"])
            found.offset = _checks.offset(*self._own_depths(), share)
        return found.offset

    def _need_offset(self) -> None:
        """Refuse to tell outliers where there is no offset to be found."""

    def _labels(self, depths: Floats) -> NDArray[np.int64]:
        return np.where(depths < self.offset_, np.int64(-1), np.int64(1))
