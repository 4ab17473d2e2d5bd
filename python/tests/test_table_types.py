"""Tables of pandas, polars and Arrow, arrays and lists: the same values, whatever holds them."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from test_tables import frame

from lossdepth import LogisticDepth
from lossdepth._function import METHODS

# Tests that are not about exactness do not mind a loose error.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("method", ["logistic", "svm", "forest"])
def test_libraries_agree(method):
    table = frame()
    scale = "none" if method == "forest" else "standard"
    expected = METHODS[method](scale=scale).fit(table)
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    assert pa.types.is_dictionary(arrow.schema.field("category").type)
    dates = (
        pl.col("date").cast(pl.Datetime("us")),
        pl.col("zoned").dt.convert_time_zone("Asia/Tokyo"),
    )
    forms = {
        "arrow": arrow,
        "arrow, in chunks": pa.concat_tables([arrow[:30], arrow[30:]]),
        "polars": pl.from_pandas(table),
        "polars, other units": pl.from_pandas(table).with_columns(*dates),
        "pandas on arrow": table.convert_dtypes(dtype_backend="pyarrow"),
        "objects": table.astype(object),
    }
    for name, form in forms.items():
        scored = expected.score_samples(form)
        assert_array_equal(scored, expected.score_samples(table), err_msg=name)
        # These have no categories of numbers.
        said = name.startswith("polars") or name == "objects"
        kinds = {"digits": "category"} if said else None
        again = METHODS[method](scale=scale, kinds=kinds).fit(form)
        assert_array_equal(again.score_samples(table), scored, err_msg=name)


def test_types_of_polars():
    words = ["a", "b", "a", None, "b", "a"]
    days = [dt.date(2020, 1, day) if day else None for day in (1, 5, 9, 0, 3, 8)]
    numbers = pl.Series("n", np.arange(6.0))

    def depths(series):
        detector = LogisticDepth().fit(pl.DataFrame([numbers, series.rename("c")]))
        return detector.score_samples(
            pl.DataFrame([numbers, series.rename("c")])
        ), detector.columns_[1]["kind"]

    expected, kind = depths(pl.Series(words))
    assert kind == "category"
    for dtype in (pl.Categorical, pl.Enum(["b", "unused", "a"])):
        assert_array_equal(depths(pl.Series(words).cast(dtype))[0], expected)
    expected, kind = depths(pl.Series(days))
    assert kind == "date"
    for unit in ("ms", "us", "ns"):
        assert_array_equal(depths(pl.Series(days).cast(pl.Datetime(unit)))[0], expected)
    truth = pl.Series([True, False, None, True, True, False])
    assert depths(truth)[1] == "boolean"
    lengths = pl.Series([dt.timedelta(days=d) for d in range(6)])
    assert_array_equal(depths(lengths)[0], depths(pl.Series(np.arange(6.0)))[0])
    assert depths(pl.Series([dt.time(h) for h in range(6)]))[1] == "number"
    assert depths(pl.Series([Decimal("1.5")] * 5 + [None]))[1] == "number"


def test_types_of_arrow():
    numbers = pa.array(np.arange(6.0))

    def depths(array):
        table = pa.table({"n": numbers, "c": array})
        detector = LogisticDepth().fit(table)
        return detector.score_samples(table), detector.columns_[1]["kind"]

    words = pa.array(["a", "b", "a", None, "b", "a"])
    expected, kind = depths(words)
    assert kind == "category"
    for other in (
        words.dictionary_encode(),
        words.cast(pa.large_string()),
        words.cast(pa.string_view()),
    ):
        assert_array_equal(depths(other)[0], expected)
    # Categories that look like numbers are categories.
    assert depths(pa.array([1, 2, 1, None, 2, 1]).dictionary_encode())[1] == "category"
    days = pa.array([0, 5, 9, None, 3, 8], pa.int32()).cast(pa.date32())
    expected, kind = depths(days)
    assert kind == "date"
    for other in (
        days.cast(pa.date64()),
        days.cast(pa.timestamp("ms")),
        days.cast(pa.timestamp("ns")),
    ):
        assert_array_equal(depths(other)[0], expected)
    zoned = days.cast(pa.timestamp("s")).cast(pa.timestamp("s", "America/New_York"))
    assert_array_equal(depths(zoned)[0], expected)
    assert depths(pa.array([True, False, None, True, True, False]))[1] == "boolean"
    assert depths(pa.array([1, 2, 3, 4, 5, None], pa.duration("s")))[1] == "number"
    assert depths(pa.array([1, 2, 3, 4, 5, None], pa.time32("s")))[1] == "number"


def test_arrays_and_lists_with_gaps(sample, queries):
    X, Z = sample.copy(), queries.copy()
    X[::17, 1] = np.nan
    Z[2, 0] = np.nan
    detector = LogisticDepth().fit(X)
    depths = detector.score_samples(Z)
    assert np.isfinite(depths).all()
    lists = [[None if np.isnan(v) else v for v in row] for row in X.tolist()]
    assert_array_equal(LogisticDepth().fit(lists).score_samples(Z.tolist()), depths)
    masked = np.ma.masked_invalid(X)
    assert_array_equal(LogisticDepth().fit(masked).score_samples(np.ma.masked_invalid(Z)), depths)
    assert_array_equal(
        LogisticDepth().fit(X.astype(object)).score_samples(Z.astype(object)), depths
    )
    named = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(Z, columns=list("abc"))
    assert_array_equal(LogisticDepth().fit(named[0]).score_samples(named[1]), depths)


def test_lists_of_texts():
    rows = [["north", 1.0, None], ["south", 2.0, True], ["north", 3.0, False], ["south", 2.5, True]]
    detector = LogisticDepth().fit(rows)
    assert [column["kind"] for column in detector.columns_] == ["category", "number", "boolean"]
    assert detector.score_samples(rows).shape == (4,)
    # Texts that numpy reads as numbers are what they were.
    assert_array_equal(
        LogisticDepth().fit(np.array([["1", "2"], ["3", "5"]])).score_samples([[1, 2]]),
        LogisticDepth().fit([[1.0, 2.0], [3.0, 5.0]]).score_samples([[1, 2]]),
    )
    dates = np.array([["2020-01-01"], ["NaT"], ["2020-03-01"]], dtype="M8[D]")
    assert LogisticDepth().fit(dates).columns_[0]["kind"] == "date"
    lengths = np.array([[1], [2], [4]], dtype="m8[D]")
    assert_array_equal(
        LogisticDepth().fit(lengths).score_samples(lengths),
        LogisticDepth().fit([[1.0], [2.0], [4.0]]).score_samples([[1.0], [2.0], [4.0]]),
    )
