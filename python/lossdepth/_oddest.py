"""The oddest rows of a table against what an estimator was fitted to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from lossdepth import _native
from lossdepth._input import as_table, column_names
from lossdepth._progress import threads
from lossdepth._sparse import dense_model
from lossdepth._threshold import Threshold

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from lossdepth._report import Report


class Oddest(Threshold):
    """What an estimator says about the oddest rows of a table."""

    def outliers(self, X: Any, top: int = 10, *, reasons: int = 3) -> Any:
        """Find the oddest rows of a table, each with its reasons in words.

        The rows are compared with those that the estimator was fitted to. The very rows it was
        fitted to are compared with each other.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The rows.
        top : int, default=10
            How many rows.
        reasons : int, default=3
            How many reasons to give for a row at most.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or Outliers
            As from :func:`lossdepth.outliers`.

        See Also
        --------
        lossdepth.outliers : The same without an estimator.
        report : The same as a page.

        Examples
        --------
        >>> import numpy as np
        >>> from lossdepth import AutoDepth
        >>> X = np.random.default_rng(0).normal(size=(200, 4))
        >>> odd = AutoDepth().fit(X).outliers([[0.0, 0.0, 9.0, 0.0], [0.0, 0.0, 0.0, 0.0]], top=1)
        >>> odd[0].row, odd[0].reasons[0].column
        (0, '2')
        """
        # It needs what needs the estimators.
        from lossdepth._outliers import asked_reasons, shown, whole_number  # noqa: PLC0415

        most, rows = asked_reasons(reasons), whole_number(top)
        model, given, missing = self._asked(X, "reasons in words")
        try:
            answer = model.outliers(given, self._names(), missing, rows, most, threads(self.n_jobs))
        except ValueError as error:
            raise ValueError(self._in_words(error)) from None
        return shown(answer, X)

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
        outliers : The rows as a data frame.

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

        rows = whole_number(top)
        model, given, missing = self._asked(X, "reports")
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
        try:
            written = model.report(given, self._names(), missing, rows, threads(self.n_jobs), about)
        except ValueError as error:
            raise ValueError(self._in_words(error)) from None
        return made(written, path)

    def _asked(self, X: Any, what: str) -> tuple[_native.Model, _native.Table, str]:
        """Return the model, the table as it takes it, and what it does about gaps."""
        check_is_fitted(self)
        model = dense_model(vars(self).get("model_"), what)
        if not isinstance(model, _native.Model) or self._is_pairwise():
            raise TypeError(f"{what} are for native depths of tables, not for LossDepth or kernels")
        given, _ = self._read(X, reset=False)
        if not isinstance(given, _native.Table):
            given = _native.Table.of_rows(given, self._names())
        return model, given, self._fitted_params.get("missing", "error")
