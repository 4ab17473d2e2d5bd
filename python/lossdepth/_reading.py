"""How an estimator reads tables: checked as scikit-learn does, as rows of numbers or as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from lossdepth import _checks, _native
from lossdepth._columns import native_table
from lossdepth._input import (
    as_table,
    check_numeric,
    column_names,
    has_gaps,
    holds_numbers,
    is_apart,
    is_sparse,
    named,
    named_kinds,
    put_together,
    unmasked,
)
from lossdepth._memory import dense

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# What estimators do about gaps; to leave rows out is up to the caller.
_MISSING = ("compare", "median", "error")


class TableReader:
    """What an estimator does with a table before the native core sees it."""

    # Whether sparse matrices are taken.
    _takes_sparse: ClassVar[bool] = False
    # Whether truth values are the numbers 0 and 1, for a method that has no categories.
    _truth_is_number: ClassVar[bool] = False

    # What `fit` finds.
    model_: _native.Model
    n_features_in_: int
    _fitted_params: dict[str, Any]

    def _missing(self) -> str:
        """Return what is done about gaps."""
        missing = getattr(self, "missing", "error")
        if missing not in _MISSING:
            raise ValueError(f"`missing` must be one of {', '.join(_MISSING)}, got {missing!r}")
        # What is between rows cannot be filled in from other rows.
        return "error" if self._is_pairwise() else str(missing)

    def _read(self, X: Any, *, reset: bool) -> tuple[Floats | _native.Table, dict[str, str]]:
        """Turn any table into rows of numbers, or into columns; also return the kinds said of them.

        Columns are found by name where the model has an encoding and both tables have names.
        """
        X = as_table(X)
        compared = None if reset else self.model_.compared
        names, known = column_names(X), None if reset else self._feature_names()
        if compared is not None and names is not None and known is not None:
            self._check_rows(X, 1)
            return native_table(X, names, dict(compared), truth_is_number=self._truth_is_number)
        missing = self._missing() if reset else self._fitted_params.get("missing", "error")
        if missing != "error":
            X = unmasked(X)
        if is_sparse(X) or holds_numbers(X):
            rows = self._numbers(X, reset=reset)
            kinds = named_kinds(getattr(self, "kinds", None), X, self._names()) if reset else {}
            if compared is None and not kinds and (missing == "error" or not has_gaps(rows)):
                return rows, {}
            return _native.Table.of_rows(rows, self._names()), kinds
        if self._is_pairwise():
            check_numeric(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        self._check_rows(X, 2 if reset else 1)
        kinds = {} if compared is None else dict(compared)
        if reset:
            kinds = named_kinds(getattr(self, "kinds", None), X, self._names())
        return native_table(X, self._names(), kinds, truth_is_number=self._truth_is_number)

    def _is_pairwise(self) -> bool:
        return getattr(self, "kernel", None) == "precomputed"

    def _check_rows(self, X: Any, least: int) -> None:
        """Refuse a table of too few rows, in the words of scikit-learn."""
        if X.shape[0] < least:
            raise ValueError(
                f"Found array with {X.shape[0]} sample(s) (shape={tuple(X.shape)}) while a minimum "
                f"of {least} is required by {type(self).__name__}."
            )

    def _numbers(self, X: Any, *, reset: bool) -> Floats:
        """Turn a table of numbers into rows; the native core checks that they are finite."""
        wanted: dict[str, Any] = {"dtype": np.float64, "order": "C", "ensure_all_finite": False}
        least = 2 if reset else 1
        if is_sparse(X) and self._takes_sparse:
            return dense(self._sparse(X, reset=reset))
        check_numeric(X)
        if is_apart(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return put_together(X, lambda part: check_array(part, estimator=self, **wanted))
        checked = validate_data(self, X, reset=reset, ensure_min_samples=least, **wanted)
        return np.require(checked, np.float64, ["C", "A"])

    def _sparse(self, X: Any, *, reset: bool) -> Any:
        """Check a sparse matrix."""
        least = 2 if reset else 1
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=least,
        )

    def _rows(self, X: Any) -> Floats:
        """Turn queries into the rows that the model takes."""
        return self._encoded(X)[0]

    def _encoded(self, X: Any) -> tuple[Floats, list[_native._Note]]:
        """Turn queries into the rows that the model takes, with notes about cells."""
        given, _ = self._read(X, reset=False)
        if not isinstance(given, _native.Table):
            return given, []
        missing = self._fitted_params.get("missing", "error")
        try:
            rows, notes = self.model_.encode(given, self._names(), missing)
        except ValueError as error:
            raise ValueError(self._in_words(error)) from None
        self._warn_of_unread(self.model_, [note for note in notes if note[2] == "unread"])
        return rows, notes

    def _warn_of_unread(self, model: _native.Model, notes: list[_native._Note]) -> None:
        """Warn about cells that are not what their columns hold."""
        if not notes:
            return
        row, column, _, text = notes[0]
        compared = model.compared or [(name, "number") for name in self._names()]
        name, kind = compared[column]
        others = f", and {len(notes) - 1} more cells like it" if len(notes) > 1 else ""
        _checks.warn(
            f"row {row}, column `{name}`: {text!r} cannot be read as a {kind}{others}: "
            + ("treated as gaps" if others else "treated as a gap"),
            UserWarning,
        )

    def _in_words(self, error: ValueError) -> str:
        """Say what is wrong with the names of columns in place of their numbers."""
        names = self._feature_names()
        if len(error.args) > 1:
            # Of a table: the message counts the compared columns, which come with it.
            names = np.array(error.args[1], dtype=object)
        return named(str(error.args[0]), names)

    def _feature_names(self) -> NDArray[np.object_] | None:
        return getattr(self, "feature_names_in_", None)

    def _names(self) -> list[str]:
        """Return what the native core calls the columns: numbers, if they have no names."""
        names = self._feature_names()
        if names is None:
            return [str(place) for place in range(self.n_features_in_)]
        return [str(name) for name in names]

    def _shown_names(self) -> list[str]:
        """Return the names under which explanations show the columns."""
        names = self._feature_names()
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else list(names)
