"""The oddest rows of a table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lossdepth


@pytest.fixture
def orders():
    rng = np.random.default_rng(0)
    n = 300
    table = pd.DataFrame(
        {
            "order": [f"ORD-{1000 + i}" for i in range(n)],
            "quantity": rng.integers(5, 28, n).astype(float),
            "region": rng.choice(["north", "south", "east"], n),
            "returned": rng.random(n) < 0.2,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D"),
        },
        index=[f"r{i}" for i in range(n)],
    )
    table.loc["r33", "quantity"] = 900.0
    table.loc["r50", "region"] = "atlantis"
    table.loc["r60":"r120", "quantity"] = np.nan
    return table


def test_planted_rows_are_found_with_reasons(orders):
    found = lossdepth.outliers(orders, top=5)
    assert list(found.columns) == [
        "row",
        "name",
        "depth",
        "p",
        "percentile",
        "why",
        "ordinary_with",
    ]
    assert {"r33", "r50"} <= set(found.index)
    assert found.loc["r33", "row"] == 33
    assert found.loc["r33", "name"] == "ORD-1033"
    assert found.loc["r33", "why"].startswith("quantity 900")
    assert "region atlantis" in found.loc["r50", "why"]
    assert found["depth"].is_monotonic_increasing
    assert found["p"].between(0.0, 1.0).all()


def test_libraries_and_a_reference(orders):
    expected = lossdepth.outliers(orders, top=4)
    in_polars = lossdepth.outliers(pl.from_pandas(orders), top=4)
    assert isinstance(in_polars, pl.DataFrame)
    assert in_polars["row"].to_list() == expected["row"].tolist()
    arrow = lossdepth.outliers(pa.Table.from_pandas(orders, preserve_index=False), top=4)
    assert arrow.to_pandas()["why"].tolist() == expected["why"].tolist()
    kinds = {column["name"]: column["kind"] for column in arrow.columns}
    assert kinds["region"] == "category"
    assert arrow.left_out.keys() == {"order"}
    odd = orders.iloc[:3].assign(quantity=[9.0, 500.0, 11.0])
    against = lossdepth.outliers(odd, top=1, reference=orders.drop(index="r33"))
    assert against.index.tolist() == ["r1"]
    rows = np.r_[np.random.default_rng(0).normal(size=(80, 2)), [[9.0, np.nan]]]
    assert lossdepth.outliers(rows, top=1)[0].row == 80
    weights = np.where(np.arange(300) == 33, 1.0, 2.0)
    assert lossdepth.outliers(orders, top=1, sample_weight=weights).index.tolist() == ["r33"]


def test_what_can_be_said(orders):
    forest = lossdepth.outliers(orders, 2, method="RF", kinds={"day": "text"}, missing="median")
    assert forest.index[0] == "r33"
    assert len(lossdepth.outliers(orders, 0)) == 0
    for wrong in (-1, 1.5, "all"):
        with pytest.raises(ValueError, match="`top` must be a whole number"):
            lossdepth.outliers(orders, wrong)
    with pytest.raises(ValueError, match="`method` must be one of"):
        lossdepth.outliers(orders, method="probit")
    with pytest.raises(ValueError, match="`missing` must be one of"):
        lossdepth.outliers(orders, missing="guess")
    with pytest.raises(ValueError, match="column `region` is missing"):
        lossdepth.outliers(orders.drop(columns="region"), reference=orders)


def test_what_is_no_table_is_refused_in_words(orders):
    expected = "pass a data frame or a two-dimensional array"
    with pytest.raises(TypeError, match=f"{expected}, not the name of a file"):
        lossdepth.outliers("orders.csv")
    with pytest.raises(ValueError, match=f"{expected}, got Series with 1 dimensions"):
        lossdepth.outliers(orders["quantity"])
    with pytest.raises(ValueError, match="needs at least 2 rows") as refused:
        lossdepth.outliers(orders.head(1))
    assert len(refused.value.args) == 1


def test_a_list_of_dicts_is_a_table(orders):
    rows = orders.to_dict("records")
    found = lossdepth.outliers(rows, top=3)
    pd.testing.assert_frame_equal(found, lossdepth.outliers(pd.DataFrame(rows), top=3))


def test_a_column_of_lists_is_left_out_with_a_warning(orders):
    nested = orders.assign(tags=[[1, 2]] * len(orders))
    with pytest.warns(UserWarning, match="column `tags`.*left out"):
        found = lossdepth.outliers(nested, top=3)
    pd.testing.assert_frame_equal(found, lossdepth.outliers(orders, top=3))
    with pytest.raises(TypeError, match="column `tags`"):
        lossdepth.AutoDepth().fit(nested)


def test_lengths_of_time_are_shown_as_such():
    minutes = [30 + i * 7 % 20 for i in range(60)] + [900]
    found = lossdepth.outliers(pd.DataFrame({"d": pd.to_timedelta(minutes, unit="m")}), top=1)
    assert found["why"].iloc[0].startswith("d 15 h: highest of all"), found["why"].iloc[0]


def test_estimators_find_what_the_function_finds():
    rows = np.random.default_rng(3).normal(size=(150, 3))
    rows[7] = (9.0, 0.0, 0.0)
    table = pd.DataFrame(rows, columns=["a", "b", "c"], index=[f"r{i}" for i in range(150)])
    detector = lossdepth.AutoDepth().fit(table)
    found = detector.outliers(table, top=4)
    pd.testing.assert_frame_equal(found, lossdepth.outliers(table, 4))
    assert found.index[0] == "r7"
    old, new = table.iloc[:100], table.iloc[100:]
    against = lossdepth.AutoDepth().fit(old).outliers(new, top=3, reasons=1)
    told = lossdepth.outliers(new, 3, reference=old, reasons=1)
    pd.testing.assert_frame_equal(against, told)
    assert isinstance(lossdepth.AutoDepth().fit(rows).outliers(rows, 2), lossdepth.Outliers)
    with pytest.raises(ValueError, match="`reasons` must be a whole number from 1 on, got 0"):
        detector.outliers(table, reasons=0)
    with pytest.raises(TypeError, match="reasons in words are for native depths of tables"):
        lossdepth.LossDepth().fit([[0.0], [1.0], [5.0]]).outliers([[1.0]])


def test_arrays_without_names_have_the_columns_of_the_reference():
    rows = np.arange(40.0).reshape(20, 2)
    with pytest.raises(ValueError, match="`X` has 2 columns, `reference` has 1"):
        lossdepth.outliers(rows, reference=rows[:, :1])
