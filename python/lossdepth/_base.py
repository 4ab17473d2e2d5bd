"""What all depths have in common as scikit-learn estimators."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _num_samples, check_is_fitted

from lossdepth import _checks, _native
from lossdepth._central import CentralRegion, DeepestPoint
from lossdepth._conformal import Calibration
from lossdepth._docs import ATTRIBUTES
from lossdepth._explained import in_columns, notes_by_row
from lossdepth._input import as_table, column_names, is_sparse
from lossdepth._memory import half_of_memory
from lossdepth._preset import PAPER, observations, preset
from lossdepth._progress import in_parts, threads
from lossdepth._reading import TableReader
from lossdepth._results import Explanation, Scores, named_cut
from lossdepth._sketch import ReferenceSketch
from lossdepth._sparse import (
    MOST_COLUMNS,
    SMALL,
    dense_model,
    explained,
    sparse_model,
    sparse_rows,
    stays_sparse,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray
    from sklearn.utils import Tags
    from typing_extensions import Self

    from lossdepth._report import Report
    from lossdepth._sparse import Rows

    Floats = NDArray[np.float64]

T = TypeVar("T")


class ScaleWarning(UserWarning):
    """Columns of very different spread are compared as they are: see the parameter `scale`.

    Examples
    --------
    >>> import warnings
    >>> from lossdepth import LogisticDepth, ScaleWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", ScaleWarning)
    ...     detector = LogisticDepth(scale="none").fit([[1.0, 5e4], [2.0, 1e4], [3.0, 9e4]])
    """


# Beyond it the native core does not go.
_LARGEST = 1e100

# How many numbers of sparse queries are made dense at a time, for a model of dense rows.
_DENSE = SMALL


class Depth(TableReader, OutlierMixin, BaseEstimator):
    """What all depths have in common: everything but their settings."""

    _method: ClassVar[str]
    # Parameters that are no settings of a native method.
    _parameters: ClassVar[dict[str, str]] = {}
    _attributes: ClassVar[str] = ATTRIBUTES
    _remedy: ClassVar[str] = "Scale the data, or raise tol, max_iter or reg."
    # Whether to tell the user of columns of very different spread.
    _warns_of_spreads = True
    # What is found when it is first asked for.
    _on_demand: ClassVar[tuple[str, ...]] = ("offset_", "n_iter_")

    # What a subclass sets in its constructor, beside the settings of its method.
    contamination: float
    n_jobs: int | None
    verbose: int

    # What the scores of the training rows say, found when it is first asked for.
    offset_: float
    n_iter_: int

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
        depths = self._scores(X).depth
        return np.asarray(depths - self.offset_)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Tell outliers from others.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows to judge.

        Returns
        -------
        ndarray of shape (n_samples,)
            -1 for outliers, whose depth is below `offset_`, 1 for others.
        """
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

    def report(
        self,
        X: Any,
        path: str | os.PathLike[str] | None = None,
        *,
        top: int = 50,
        title: str | None = None,
        mask: str | Iterable[str] = (),
        name: str = "the table",
        reference_name: str = "the reference",
    ) -> Report:
        """Make a page about the oddest rows, to read in a browser and to send on.

        The rows are compared with those that the estimator was fitted to, and the page says what
        changed. For the very rows it was fitted to, they are compared with each other.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows.
        path : str, path-like or None, default=None
            The file to write, by convention with the ending ``.html``; it appears when it is
            complete, or not at all. None writes no file.
        top : int, default=50
            How many rows to show.
        title : str or None, default=None
            The heading of the page; None for "Odd rows in" and the name.
        mask : str or list of str, default=()
            Columns whose values are not written; they are compared all the same.
        name : str, default="the table"
            What the page calls the table.
        reference_name : str, default="the reference"
            What the page calls the rows that the estimator was fitted to.

        Returns
        -------
        Report
            The page, which a notebook shows.

        See Also
        --------
        lossdepth.report : The same without an estimator.

        Examples
        --------
        >>> import numpy as np
        >>> from lossdepth import AutoDepth
        >>> X = np.random.default_rng(0).normal(size=(200, 4))
        >>> page = AutoDepth().fit(X).report(X + 1, title="This week")
        >>> page, "What changed" in page.html
        (Report(200 rows), True)
        """
        # It needs what needs the estimators.
        from lossdepth._outliers import whole_number  # noqa: PLC0415
        from lossdepth._report import described, made, masked  # noqa: PLC0415

        check_is_fitted(self, "model_")
        dense_model(vars(self).get("model_"), "reports")
        if not isinstance(vars(self).get("model_"), _native.Model) or self._is_pairwise():
            raise TypeError("reports are for native depths of tables, not for LossDepth or kernels")
        given, _ = self._read(X, reset=False)
        if not isinstance(given, _native.Table):
            given = _native.Table.of_rows(given, self._names())
        columns = column_names(as_table(X)) or self._names()
        about = described(
            X,
            columns,
            title=title,
            mask=masked(mask, [*columns, *self._names()]),
            name=name,
            reference_name=reference_name,
            reference_columns=self.n_features_in_,
        )
        missing = self._fitted_params.get("missing", "error")
        count = threads(self.n_jobs)
        rows = whole_number(top)
        try:
            written = self.model_.report(given, self._names(), missing, rows, count, about)
        except ValueError as error:
            raise ValueError(self._in_words(error)) from None
        return made(written, path)

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

    def _fit(self, X: Any, sample_weight: Any) -> None:
        """Fit; the training rows are scored when that is needed."""
        _checks.share(self.contamination)
        threads(self.n_jobs)
        model = self._prepare(X, sample_weight)
        self._keep(model)
        if self._method != "auto" and getattr(self, "reference_rows", "all") != "all":
            rows = X.n_rows if isinstance(X, ReferenceSketch) else _num_samples(X)
            self._found.is_sample = model.reference_len < rows

    def _keep(self, model: Any) -> None:
        """Take a fitted model for one's own, and remember with which parameters it came."""
        self.__dict__.pop("offset_", None)
        self.__dict__.pop("sketch_", None)
        self.model_ = model
        self._found = Found()
        self._fitted_params = self.get_params(deep=False)

    def _params_of_fit(self) -> dict[str, Any]:
        """Return the parameters that made the model, and as they are now those that did not."""
        params: dict[str, Any] = self.get_params(deep=False)
        fitted = vars(self).get("_fitted_params", {})
        kept = {*_native.METHODS[self._method], "contamination", "preset", "missing", "kinds"}
        return params | {name: value for name, value in fitted.items() if name in kept}

    def _prepare(self, X: Any, sample_weight: Any) -> _native.Model | _native.SparseModel:
        """Fit the native model alone."""
        missing = self._missing()
        sparse = self._prepare_sparse(X, sample_weight)
        if sparse is not None:
            return sparse
        if isinstance(X, ReferenceSketch):
            if sample_weight is not None:
                raise ValueError("a sketch has its own weights: give them to `add`")
            given: Floats | _native.Table
            given, weights, kinds = self._of_sketch(X)
        else:
            given, kinds = self._read(X, reset=True)
            weights = _checks.weights(sample_weight, len(given))
        settings = self._settings(len(given), weights)
        if settings.get("memory", 0) is None:
            settings["memory"] = half_of_memory()
        try:
            if isinstance(given, _native.Table):
                model = _native.Model.of_table(
                    given, weights, self._method, settings, kinds, missing, guess=False
                )
            else:
                model = _native.Model(given, weights, self._method, settings)
        except ValueError as error:
            raise ValueError(self._in_words(error)) from None
        if model.warning is not None:
            _checks.warn(model.warning, UserWarning)
        if self._warns_of_spreads and getattr(self, "preset", None) not in PAPER:
            spreads = model.unequal_spreads(self._shown_names())
            if spreads is not None:
                _checks.warn(spreads, ScaleWarning)
        self._warn_of_unread(model, model.unread)
        return model

    def _prepare_sparse(self, X: Any, sample_weight: Any) -> _native.SparseModel | None:
        """Fit a model of sparse rows, if X has such and they need not be made dense."""
        if not is_sparse(X) or not self._takes_sparse or getattr(self, "kinds", None) is not None:
            return None
        weights = _checks.weights(sample_weight, X.shape[0])
        settings = self._settings(X.shape[0], weights)
        if not stays_sparse(X, settings):
            return None
        rows = sparse_rows(self._sparse(X, reset=True))
        memory = half_of_memory()
        limit = None if memory is None else int(memory)
        try:
            return _native.SparseModel(rows, weights, self._method, settings, limit)
        except ValueError as error:
            raise ValueError(self._in_words(error)) from None

    def _sparse_rows(self, X: Any) -> Rows:
        """Turn queries, sparse or dense, into the rows that a model of sparse rows takes."""
        if not is_sparse(X):
            return sparse_rows(self._numbers(as_table(X), reset=False))
        return sparse_rows(self._sparse(X, reset=False))

    def _of_sketch(
        self, sketch: ReferenceSketch
    ) -> tuple[_native.Table, Floats | None, dict[str, str]]:
        """Return the rows of a sketch with their weights, and the kinds said of the columns."""
        if self._is_pairwise():
            raise ValueError("a precomputed kernel cannot be fitted in pieces")
        names = sketch.columns
        given, weights = sketch._rows().table()  # noqa: SLF001
        self.n_features_in_ = len(names)
        self.__dict__.pop("feature_names_in_", None)
        if names != [str(place) for place in range(len(names))]:
            self.feature_names_in_ = np.array(names, dtype=object)
        kinds = getattr(self, "kinds", None) or {}
        return given, weights, sketch._kinds() | {str(name): kind for name, kind in kinds.items()}  # noqa: SLF001

    def _settings(self, n_rows: int, weights: Floats | None) -> dict[str, Any]:
        """Return the settings of the method: those of the preset where a parameter is default."""
        defaults = _native.METHODS[self._method]
        settings = {name: getattr(self, name) for name in defaults}
        name = getattr(self, "preset", None)
        if name is None:
            return settings
        if not isinstance(name, str):
            raise TypeError(f"`preset` must be a string or None, got {name!r}")
        values = preset(name, self._method, observations(n_rows, weights))
        return settings | {
            setting: value
            for setting, value in values.items()
            if _same(settings[setting], defaults[setting])
        }

    def _scores(self, X: Any, *, stderr: bool = False) -> Scores:
        check_is_fitted(self, "model_")
        model = sparse_model(self.model_)
        if model is not None:
            score = partial(model.score, depths_only=not stderr)
            return self._named(self._ask(score, self._sparse_rows(X)), X)
        if is_sparse(X) and self._takes_sparse and X.shape[0] * X.shape[1] > _DENSE:
            X = self._sparse(X, reset=False)
            step = max(1, _DENSE // X.shape[1])
            parts = [
                self._score(
                    self.model_, self._rows(X[start : start + step]), "score", stderr=stderr
                )
                for start in range(0, X.shape[0], step)
            ]
            depth, error, spread, iterations, stop = map(np.concatenate, zip(*parts, strict=True))
            return self._named((depth, error, spread, iterations, stop), X)
        return self._named(self._score(self.model_, self._rows(X), "score", stderr=stderr), X)

    def _score(
        self, model: _native.Model, rows: Floats, what: str, *, stderr: bool = False
    ) -> _native._Scores:
        """Score all rows, with standard errors or without; with progress, if wanted, in parts."""
        score = partial(model.score, depths_only=not stderr)
        # Errors count rows from the first: what will fail is not taken apart.
        if not self.verbose or not (np.abs(rows) <= _LARGEST).all():
            return self._ask(score, rows)
        what = f"{type(self).__name__} {what}"
        parts = list(in_parts(lambda part: self._ask(score, part), rows, what))
        depth, error, spread, iterations, stop = map(np.concatenate, zip(*parts, strict=True))
        return depth, error, spread, iterations, stop

    def _ask(self, work: Callable[[Any, int], T], rows: Floats | Rows) -> T:
        """Let the native core work; it counts columns, users call them by name."""
        try:
            return work(rows, threads(self.n_jobs))
        except ValueError as error:
            raise ValueError(self._in_words(error)) from None

    def _named(self, scores: _native._Scores, X: Any) -> Scores:
        """Name the native scores, and warn if some are not as exact as they should be."""
        depth, error, stderr, iterations, stop = scores
        names, converged = np.array(_native.STOPS), _native.STOPS.index("converged")
        failed = stop != converged
        result = Scores(
            depth,
            error,
            stderr,
            iterations,
            names[stop] if failed.any() else np.broadcast_to(names[converged], stop.shape),
            _checks.index(X),
            partial(_shares, self.model_, threads(self.n_jobs)),
        )
        if failed.any():
            counts = zip(*np.unique(result.stop[failed], return_counts=True), strict=True)
            why = ", ".join(f"{reason}: {count}" for reason, count in counts)
            _checks.warn(
                f"{failed.sum()} of {len(failed)} depths are less exact than asked "
                f"for ({why}); the largest error is {result.error[failed].max():.2g}. "
                + self._remedy,
                ConvergenceWarning,
            )
        return result

    def _labels(self, depths: Floats) -> NDArray[np.int64]:
        return np.where(depths < self.offset_, np.int64(-1), np.int64(1))


@dataclass(kw_only=True, eq=False, repr=False)
class NativeDepth(Depth):
    """What the depths of the native library have in common: the parameters that all of them take.

    A parameter is stored as given; the native library checks it in `fit`.
    """

    scale: str = "standard"
    support_fraction: float = 0.75
    reference_rows: str | float = "all"
    tol: float = 1e-6
    preset: str | None = None
    missing: str = "compare"
    kinds: Mapping[Any, str] | None = None
    contamination: float = 0.1
    n_jobs: int | None = None
    verbose: int = 0

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add the rows of X to the reference sample.

        What was added before is kept in `sketch_`, a :class:`ReferenceSketch`: exactly up to 20,000
        different rows, beyond as a sample of that size. The order of the rows and how they are
        divided do not matter. For other sizes, merging and removal make a sketch and give it to
        `fit`, which starts again.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            More rows; at least two in the first call.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows, as in `fit`.

        Returns
        -------
        object
            The estimator itself.

        Examples
        --------
        >>> import numpy as np
        >>> from lossdepth import LogisticDepth
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> detector = LogisticDepth()
        >>> for part in np.split(X, 5):
        ...     detector = detector.partial_fit(part)
        >>> detector.sketch_
        <ReferenceSketch: all of 500 rows, 2 columns>
        """
        del y
        if self._is_pairwise():
            raise ValueError("a precomputed kernel cannot be fitted in pieces")
        known = vars(self).get("sketch_")
        given, kinds = self._read(X, reset=known is None)
        if not isinstance(given, _native.Table):
            given = _native.Table.of_rows(given, self._names())
        weights = _checks.weights(sample_weight, len(given))
        # A new object, so that one that was handed out does not change.
        sketch = ReferenceSketch() if known is None else ReferenceSketch().merge(known)
        sketch._add(given, kinds, weights)  # noqa: SLF001
        names = self._feature_names()
        self._fit(sketch, None)
        if names is not None:
            self.feature_names_in_ = names
        self.sketch_ = sketch
        return self

    @property
    def columns_(self) -> list[dict[str, Any]]:
        """What is known about the compared columns."""
        return self._encoding()["columns"]

    @property
    def left_out_(self) -> dict[str, str]:
        """The columns that are not compared, each with the reason."""
        return dict(self._encoding()["left_out"])

    @property
    def n_reference_rows_(self) -> int:
        """How many different rows are compared with at most."""
        model = vars(self).get("model_")
        if model is None:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        return int(model.reference_len)

    def deepest_point(self) -> DeepestPoint:
        """Find a point that is as deep as possible: a multivariate median.

        Returns
        -------
        DeepestPoint
            The point, its depth, and what is known of it. It is proven for the Mahalanobis depth by
            moments, the zonoid depth and the halfspace depth of two columns; otherwise it is the
            result of a local search that starts from the deepest row, the mean and the medians of
            the columns: a heuristic.
        """
        check_is_fitted(self, "model_")
        model = dense_model(self.model_, "deepest points")
        return DeepestPoint(*model.deepest(threads(self.n_jobs)))

    def central_region(self, share: float = 0.5) -> CentralRegion:
        """Find the deepest rows of the training data, and their mean.

        Parameters
        ----------
        share : float, default=0.5
            Their share of the weight, above 0 and at most 1; rows as deep as the last one are
            included.

        Returns
        -------
        CentralRegion
            The least depth, the rows, their share of the weight, and their mean: the depth-trimmed
            mean.
        """
        check_is_fitted(self, "model_")
        model = dense_model(self.model_, "central regions")
        return CentralRegion(*model.central_region(float(share), threads(self.n_jobs)))

    def _encoding(self) -> _native._Encoding:
        model = vars(self).get("model_")
        if model is None:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        if model.encoding is not None:
            found: _native._Encoding = model.encoding
            return found
        names = self._shown_names()
        columns = [{"name": name, "kind": "number", "gaps": 0.0, "levels": []} for name in names]
        return {"columns": columns, "left_out": [], "groups": []}

    def __sklearn_tags__(self) -> Tags:
        """Say that gaps and categories are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing in ("compare", "median")
        tags.input_tags.categorical = not self._truth_is_number
        tags.input_tags.sparse = self._takes_sparse
        return tags


@dataclass
class Found:
    """What the scores of the training rows say, once somebody asked for it.

    The same object before and after: scikit-learn does not want `predict` to change an estimator.
    """

    depths: Floats | None = None
    offset: float | None = None
    n_iter: int | None = None
    # Whether the model has a sample of the training rows only.
    is_sample: bool = False


def _same(value: Any, default: Any) -> bool:
    """Tell whether a parameter has the value of its default."""
    return type(value) is type(default) and bool(value == default)


def _written(params: dict[str, Any]) -> str:
    """Write parameters as JSON; numbers of numpy become numbers of Python."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.generic | np.ndarray):
            return value.tolist()
        raise TypeError(f"a parameter that is no number or text cannot be saved: {value!r}")

    return json.dumps(params, default=plain)


def _shares(model: _native.Model | _native.SparseModel, count: int, depths: Floats) -> Floats:
    """Return the share of the reference that is at most as deep."""
    return model.percentiles(depths, count)
