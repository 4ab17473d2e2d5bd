"""How an estimator makes its native model of a reference sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import _num_samples

from lossdepth import _checks, _native
from lossdepth._input import is_sparse
from lossdepth._memory import half_of_memory
from lossdepth._preset import PAPER, observations, preset
from lossdepth._progress import threads
from lossdepth._reading import TableReader
from lossdepth._sketch import ReferenceSketch
from lossdepth._sparse import sparse_rows, stays_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


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


class Fitting(TableReader):
    """What an estimator does in `fit`."""

    _method: ClassVar[str]
    # Whether to tell the user of columns of very different spread.
    _warns_of_spreads = True

    # What a subclass sets in its constructor, beside the settings of its method.
    contamination: float
    n_jobs: int | None
    verbose: int

    _found: Found

    if TYPE_CHECKING:

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...  # noqa: FBT001, FBT002

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


def _same(value: Any, default: Any) -> bool:
    """Tell whether a parameter has the value of its default."""
    return type(value) is type(default) and bool(value == default)
