"""A page about the oddest rows of a table, to read in a browser and to send on."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning

from lossdepth import _checks, _native
from lossdepth._function import DEFAULT_METHOD
from lossdepth._input import worded
from lossdepth._notebook import frame
from lossdepth._outliers import Question, names_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping


class Report:
    """A page about the oddest rows: what :func:`report` makes.

    A notebook shows the page itself when a cell ends with it.

    Attributes
    ----------
    html : str
        The page: one document that needs no network.
    n_rows : int
        How many rows were scored.

    Examples
    --------
    >>> import lossdepth
    >>> page = lossdepth.report([[i % 5, i % 7] for i in range(70)] + [[40, 3]])
    >>> page
    Report(71 rows)
    >>> page.html.startswith("<!DOCTYPE html>")
    True
    """

    def __init__(self, html: str, n_rows: int) -> None:
        self.html = html
        self.n_rows = n_rows

    def __repr__(self) -> str:
        return f"Report({self.n_rows:,} rows)"

    def _repr_html_(self) -> str:
        return frame(self.html, "Odd rows")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, which appears when it is complete, or not at all.

        Parameters
        ----------
        path : str or path-like
            The file, by convention with the ending ``.html``.
        """
        _native.write_file(path, self.html.encode())

    def open(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file and show it in the browser.

        Parameters
        ----------
        path : str or path-like
            The file, by convention with the ending ``.html``.
        """
        self.save(path)
        webbrowser.open(Path(path).resolve().as_uri())


def report(
    X: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    top: int = 50,
    title: str | None = None,
    mask: str | Iterable[str] = (),
    name: str = "the table",
    reference: Any = None,
    reference_name: str = "the reference",
    method: str = DEFAULT_METHOD,
    preset: str | None = None,
    sample_weight: Any = None,
    kinds: Mapping[Any, str] | None = None,
    missing: str = "compare",
    n_jobs: int | None = None,
    **settings: Any,
) -> Report:
    """Make a page about the oddest rows of a table, to read in a browser and to send on.

    The page is one file that needs no network: the distribution of depths with a threshold to move,
    the oddest rows with their reasons, their values beside those of the other rows, a map, what was
    noticed about the data, and how it was computed. The same data and settings give the same bytes.

    Parameters
    ----------
    X : {array-like, dataframe} of shape (n_samples, n_features)
        The table: numbers, texts, dates, truth values, with or without gaps.
    path : str, path-like or None, default=None
        The file to write, by convention with the ending ``.html``; it appears when it is complete,
        or not at all. None writes no file.
    top : int, default=50
        How many rows to show.
    title : str or None, default=None
        The heading of the page; None for "Odd rows in" and the name.
    mask : str or list of str, default=()
        Columns whose values are not written; they are compared all the same.
    name : str, default="the table"
        What the page calls the table.
    reference : {array-like, dataframe} or None, default=None
        The rows to compare with; None for X itself. The page then says what changed.
    reference_name : str, default="the reference"
        What the page calls the reference.
    method : str, default="auto"
        Which depth, as in :func:`depth`.
    preset : {"paper", "paper-code", "recommended"} or None, default=None
        Start from other settings than the defaults: see :func:`preset`.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights of the rows of the reference.
    kinds : dict or None, default=None
        What columns hold, by name, as in :func:`outliers`.
    missing : {"compare", "error", "drop", "median"}, default="compare"
        What to do about gaps.
    n_jobs : int or None, default=None
        How many threads, as in the estimators.
    **settings
        Settings of the method, such as `reg` and `scale`.

    Returns
    -------
    Report
        The page, which a notebook shows.

    See Also
    --------
    outliers : The oddest rows as a data frame.
    AutoDepth.report : The same against what an estimator was fitted to.

    Examples
    --------
    >>> import lossdepth
    >>> rows = [[i % 5, i % 7] for i in range(70)] + [[40, 3]]
    >>> page = lossdepth.report(rows, title="A week of orders", top=5)
    >>> "A week of orders" in page.html
    True
    """
    question = Question.read(
        X,
        top=top,
        reference=reference,
        method=method,
        preset=preset,
        sample_weight=sample_weight,
        kinds=kinds,
        missing=missing,
        n_jobs=n_jobs,
        settings=settings,
    )
    columns, sample = names_of(question.X), names_of(question.sample)
    about = described(
        question.X,
        columns,
        title=title,
        mask=masked(mask, [*columns, *sample]),
        name=name,
        reference_name=reference_name,
        reference_columns=len(sample),
    )
    try:
        written = _native.report(*question.native(), question.threads, about)
    except ValueError as error:
        raise worded(error) from None
    return made(written, path)


def made(written: tuple[str, int, int], path: str | os.PathLike[str] | None) -> Report:
    """Return a page that the native core wrote; in a file as well, if that is wanted."""
    html, rows, unconverged = written
    page = Report(html, rows)
    if path is not None:
        page.save(path)
    if unconverged:
        _checks.warn(
            f"{unconverged} of {rows} depths are less exact than asked for; the page says so",
            ConvergenceWarning,
        )
    return page


def described(
    X: Any,
    columns: list[str],
    *,
    title: str | None,
    mask: list[str],
    name: str,
    reference_name: str,
    reference_columns: int,
) -> dict[str, Any]:
    """Return what the native core is told about a page."""
    for what, text in (("title", title), ("name", name), ("reference_name", reference_name)):
        if not isinstance(text, str) and (what != "title" or text is not None):
            raise TypeError(f"`{what}` must be a string, got {text!r}")
    index = _checks.index(X)
    plain = index is None or type(index).__name__ == "RangeIndex"
    return {
        "name": name,
        "columns": len(columns),
        "reference_name": reference_name,
        "reference_columns": reference_columns,
        "title": title,
        "masked": mask,
        "row_names": None if plain else [str(label) for label in index],
    }


def masked(mask: str | Iterable[str], known: list[str]) -> list[str]:
    """Check the columns to mask: a typing error would show what should be hidden."""
    names = [mask] if isinstance(mask, str) else [str(name) for name in mask]
    for name in names:
        if name not in known:
            raise ValueError(
                f"`mask` names a column that is not there: {name!r}; there are "
                + ", ".join(dict.fromkeys(known[:20]))
            )
    return names
