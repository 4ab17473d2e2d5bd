"""What all depths have in common as scikit-learn estimators."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import _num_samples, check_is_fitted

from lossdepth import _native
from lossdepth._docs import ATTRIBUTES
from lossdepth._explained import in_columns, notes_by_row
from lossdepth._explanation import Explanation, named_cut
from lossdepth._oddest import Oddest
from lossdepth._sparse import MOST_COLUMNS, explained, sparse_model

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray
    from typing_extensions import Self

    from lossdepth._scores import Scores

    Floats = NDArray[np.float64]


class Depth(Oddest, OutlierMixin, BaseEstimator):
    """What all depths have in common: everything but their settings."""

    # Parameters that are no settings of a native method.
    _parameters: ClassVar[dict[str, str]] = {}
    _attributes: ClassVar[str] = ATTRIBUTES

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take X for the reference sample.

        The rows of X are not scored: that happens once, when `predict`, `decision_function` or
        `offset_` is first asked for.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features) or ReferenceSketch
            The reference sample, at least two rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows, not negative; a row of weight k counts as k rows. If they are not
            all whole numbers they give importance, not copies: standard errors and the Gaussian
            process then go by Kish's effective number of rows.

        Returns
        -------
        object
            The estimator itself.
        """
        del y
        self._fit(X, sample_weight)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int64]:
        """Fit and predict the same rows; as ``fit(X).predict(X)``, which scores them twice.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The reference sample, at least two rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            -1 for outliers, 1 for others.
        """
        del y
        self._fit(X, sample_weight)
        self._need_offset()
        depths, _ = self._own_depths()
        # Rows without weight may not be among them.
        return self._labels(depths) if len(depths) == _num_samples(X) else self.predict(X)

    def score_samples(self, X: Any) -> Floats:
        """Compute the depth of each row.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            The depths, between 0 and 1: high is central, low is outlying.
        """
        return self._scores(X).depth

    def decision_function(self, X: Any) -> Floats:
        """Compute the depth of each row less `offset_`: negative for outliers.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``score_samples(X) - offset_``.
        """
        self._need_offset()
        depths = self._scores(X).depth
        return np.asarray(depths - self.offset_)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Tell outliers from others.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            -1 for outliers, whose depth is below `offset_`, 1 for others.
        """
        self._need_offset()
        return self._labels(self._scores(X).depth)

    def score_details(self, X: Any) -> Scores:
        """Compute the depth of each row, with what is known about it.

        The standard errors take time, up to as much as the depths: where only these count,
        `score_samples` is faster.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows to score.

        Returns
        -------
        Scores
            Arrays `depth`, `error`, `stderr`, `percentile` (the share of the reference that is at
            most as deep, found at its first use), `iterations`, `converged` and `stop`.

        Examples
        --------
        >>> from lossdepth import LogisticDepth
        >>> scores = LogisticDepth(reg=0.1).fit([[0.0], [1.0], [2.0]]).score_details([[1.0], [9.0]])
        >>> bool((scores.error <= 1e-6).all())
        True
        """
        return self._scores(X, stderr=True)

    def explain(self, X: Any) -> Explanation:
        """Say why each row has the depth it has.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows to explain. The result holds a number for each of them and each row of the
            reference, so explain a few.

        Returns
        -------
        Explanation
            The classifier that tells each row from the reference, taken apart.
        """
        check_is_fitted(self, "model_")
        model = sparse_model(self.model_)
        if model is not None:
            scores, parts = self._ask(
                lambda given, count: model.explain(given, MOST_COLUMNS, count), self._sparse_rows(X)
            )
            names = np.array(self._shown_names(), dtype=object)
            parts = explained(parts, model.width)
            return Explanation(scores=self._named(scores, X), feature_names=names, **parts)
        rows, notes = self._encoded(X)
        scores, parts = self._ask(self.model_.explain, rows)
        encoding = self.model_.encoding
        if encoding is None:
            names = np.array(self._shown_names(), dtype=object)
            cuts = parts.pop("cuts")
            if cuts is not None:
                parts["cuts"] = [[named_cut(names, cut) for cut in row] for row in cuts]
        else:
            names, parts = in_columns(parts, encoding, rows, self.model_.reference())
        if notes:
            parts["notes"] = notes_by_row(notes, names, len(rows))
        return Explanation(scores=self._named(scores, X), feature_names=names, **parts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted estimator to a file, for :func:`lossdepth.load` and the command line.

        The file is in the safetensors format: numbers and text, nothing that could be executed.
        It holds the reference sample, so it is as confidential as that. It appears when it is
        complete, or not at all; links are followed, and a device or FIFO is written to directly.
        Saved is what was fitted: parameters that were set afterwards wait for the next `fit`.

        Parameters
        ----------
        path : str or path-like
            The file, by convention with the ending ``.safetensors``.

        See Also
        --------
        lossdepth.load : Read it back.

        Examples
        --------
        >>> import lossdepth, os, tempfile
        >>> detector = lossdepth.HingeDepth(reg=0.1).fit([[0.0], [1.0], [2.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "model.safetensors")
        ...     detector.save(path)
        ...     lossdepth.load(path)
        HingeDepth(reg=0.1)
        """
        _native.write_file(path, self._to_bytes())

    def _to_bytes(self) -> bytes:
        """Return the content of a model file."""
        check_is_fitted(self, "model_")
        notes = {"params": _written(self._params_of_fit())}
        # They are found when someone asks for them: here, or after the file is loaded.
        found = self._found
        for name, value in (("offset", self._known_offset()), ("n_iter", found.n_iter)):
            if value is not None:
                notes[name] = json.dumps(value)
        names = self._feature_names()
        columns = None if names is None else self._names()
        if self.model_.compared is not None:
            # The encoding has names for those that are compared, and left-out ones count too.
            notes["columns"] = json.dumps(columns)
            notes["n_columns"] = json.dumps(self.n_features_in_)
            columns = None
        memory = getattr(self, "memory", None)
        return self.model_.to_bytes(columns, notes, memory)

    def _params_of_fit(self) -> dict[str, Any]:
        """Return the parameters that made the model, and as they are now those that did not."""
        params: dict[str, Any] = self.get_params(deep=False)
        fitted = vars(self).get("_fitted_params", {})
        kept = {*_native.METHODS[self._method], "contamination", "preset", "missing", "kinds"}
        return params | {name: value for name, value in fitted.items() if name in kept}


def _written(params: dict[str, Any]) -> str:
    """Write parameters as JSON; numbers of numpy become numbers of Python."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.generic | np.ndarray):
            return value.tolist()
        raise TypeError(f"a parameter that is no number or text cannot be saved: {value!r}")

    return json.dumps(params, default=plain)
