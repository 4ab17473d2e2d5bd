"""Whether two samples come from one distribution, and which columns moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lossdepth import _native
from lossdepth._columns import native_table
from lossdepth._function import DEFAULT_METHOD
from lossdepth._outliers import as_weights, known_method, names_of, tabular
from lossdepth._progress import threads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TESTS = ("rank", "kernel", "classifier")


@dataclass(frozen=True)
class TwoSampleTest:
    """The result of one test.

    Attributes
    ----------
    test : str
        Its name.
    statistic : float
        ``rank``: the chance that a row of the first sample is less deep than one of the second, 0.5
        without a difference. ``kernel``: the squared maximum mean discrepancy. ``classifier``: the
        risk on held-out rows, 1 for guessing.
    p : float
        The p-value, by permutation.
    adjusted : float
        The p-value adjusted for the number of tests (Holm).

    Examples
    --------
    >>> import lossdepth
    >>> rows = [[i % 5, i % 7] for i in range(70)]
    >>> found = lossdepth.compare(rows, rows, tests=["kernel"])
    >>> found.tests[0].test, found.tests[0].p
    ('kernel', 1.0)
    """

    test: str
    statistic: float
    p: float
    adjusted: float


@dataclass(frozen=True)
class ColumnShift:
    """How a column moved between two samples.

    Attributes
    ----------
    column : str
        The column.
    what : str
        What changed: ``"median"``; where it is the spread or the tails, ``"nine in ten are"``; the
        share of a level; ``"gaps"``.
    first, second : str
        Its value in either sample.
    distance : float
        The distance of the two distributions, from 0 to 1: Kolmogorov and Smirnov's for numbers,
        total variation for categories, the difference of the shares of gaps.
    p, adjusted : float
        The p-value by permutation, and adjusted for the number of columns (Holm).

    Examples
    --------
    >>> import lossdepth
    >>> rows = [[i % 5, i % 7] for i in range(70)]
    >>> moved = [[i % 5, 9 + i % 7] for i in range(70)]
    >>> shift = lossdepth.compare(rows, moved).shifts[0]
    >>> shift.column, shift.what, shift.first, shift.second
    ('1', 'median', '3', '12')
    """

    column: str
    what: str
    first: str
    second: str
    distance: float
    p: float
    adjusted: float


class Comparison:
    """What :func:`compare` finds; prints as a text.

    Attributes
    ----------
    tests : list of TwoSampleTest
        The tests.
    shifts : list of ColumnShift
        How each column moved, the least likely to be chance first.
    n_rows, n_used : tuple of two int
        How many rows the samples have, and how many of them the tests used.
    unmatched : list of str
        Columns that only one of the samples has.

    Examples
    --------
    >>> import numpy as np
    >>> import lossdepth
    >>> rng = np.random.default_rng(0)
    >>> found = lossdepth.compare(rng.normal(size=(80, 2)), rng.normal([0, 2], size=(60, 2)))
    >>> found.differ(), found.shifts[0].column
    (True, '1')
    """

    def __init__(self, answer: dict[str, Any]) -> None:
        self.tests = [TwoSampleTest(*test) for test in answer["tests"]]
        self.shifts = [ColumnShift(**shift) for shift in answer["shifts"]]
        self.n_rows: tuple[int, int] = tuple(answer["rows"])
        self.n_used: tuple[int, int] = tuple(answer["used"])
        self.unmatched: list[str] = answer["unmatched"]

    def differ(self, level: float = 0.05) -> bool:
        """Whether a test rejects that the samples come from one distribution.

        Parameters
        ----------
        level : float, default=0.05
            The chance of saying so where it is wrong.

        Returns
        -------
        bool
            Whether the smallest adjusted p-value of the tests is at most the level.
        """
        return any(test.adjusted <= level for test in self.tests)

    def to_pandas(self) -> Any:
        """Return the shifts of the columns as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            Column, what, first, second, distance, p, adjusted.
        """
        import pandas as pd  # noqa: PLC0415

        return pd.DataFrame([vars(shift) for shift in self.shifts])

    def __str__(self) -> str:
        first, second = self.n_rows
        lines = [f"Samples of {first:,} and {second:,} rows"]
        lines += [
            f"  {test.test:<10}  statistic {test.statistic:<9.4g} p {test.p:<7.4g}"
            f" adjusted {test.adjusted:.4g}"
            for test in self.tests
        ]
        lines += [
            f"  {shift.column}: {shift.what} {shift.first} -> {shift.second}"
            f" (adjusted p {shift.adjusted:.4g})"
            for shift in self.shifts
            if shift.adjusted <= 0.05  # noqa: PLR2004
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def compare(
    X: Any,
    Y: Any,
    *,
    tests: Sequence[str] = TESTS,
    method: str = DEFAULT_METHOD,
    sample_weight: tuple[Any, Any] = (None, None),
    kinds: Mapping[Any, str] | None = None,
    missing: str = "compare",
    permutations: int = 999,
    max_rows: int = 5000,
    random_state: int = 0,
    n_jobs: int | None = None,
    **settings: Any,
) -> Comparison:
    """Test whether two samples come from one distribution, and find the columns that moved.

    Three permutation tests, valid for every sample size: by depth ranks (Liu and Singh), by the
    maximum mean discrepancy, and by a classifier on rows that it was not trained on.

    Parameters
    ----------
    X, Y : {array-like, dataframe} of shape (n_samples, n_features)
        The samples. Columns of data frames are matched by name.
    tests : sequence of {"rank", "kernel", "classifier"}, default=("rank", "kernel", "classifier")
        Which tests to do.
    method : str, default="auto"
        The depth of the rank test, as in :func:`depth`.
    sample_weight : tuple of two array-like or None, default=(None, None)
        Weights of the rows of X and of Y.
    kinds : dict or None, default=None
        What columns hold, by name, as in :func:`outliers`.
    missing : {"compare", "error", "drop", "median"}, default="compare"
        What to do about gaps.
    permutations : int, default=999
        How many random permutations to draw.
    max_rows : int, default=5000
        How many rows of both samples together to use at most, chosen at random.
    random_state : int, default=0
        Where the random choices start.
    n_jobs : int or None, default=None
        How many threads, as in the estimators.
    **settings
        Settings of the method, such as `reg` and `scale`.

    Returns
    -------
    Comparison
        The tests and the shifts of the columns.

    See Also
    --------
    lossdepth.plot.dd_plot : The depths of two samples in each other.

    Examples
    --------
    >>> import numpy as np
    >>> import lossdepth
    >>> rng = np.random.default_rng(0)
    >>> same = lossdepth.compare(rng.normal(size=(80, 2)), rng.normal(size=(60, 2)))
    >>> same.differ()
    False
    """
    name = known_method(method)
    X, Y = tabular(X), tabular(Y)
    said = {str(column): kind for column, kind in dict(kinds or {}).items()}
    first, found = native_table(X, names_of(X), said, truth_is_number=False, leave_out_nested=True)
    second, _ = native_table(Y, names_of(Y), said, truth_is_number=False, leave_out_nested=True)
    weights = tuple(
        None if given is None else as_weights(given, len(sample))
        for given, sample in zip(sample_weight, (X, Y), strict=True)
    )
    answer = _native.compare(
        first,
        second,
        (weights[0], weights[1]),
        [tests] if isinstance(tests, str) else list(tests),
        name,
        settings,
        found,
        missing,
        int(permutations),
        int(random_state),
        int(max_rows),
        threads(n_jobs),
    )
    return Comparison(answer)
