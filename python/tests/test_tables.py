"""Tables as they are: categories, gaps, dates, of every library."""

import copy
import datetime as dt
import json
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from complete_numbers import PATH, features, scores
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags

import lossdepth
from lossdepth import (
    ForestDepth,
    HalfspaceDepth,
    LogisticDepth,
    SVMDepth,
    _memory,
    _reading,
    _scoring,
)
from lossdepth._function import METHODS

# Tests that are not about exactness do not mind a loose error.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

NUMBERS_ONLY = {
    "halfspace",
    "mahalanobis",
    "spatial",
    "projection",
    "zonoid",
    "simplicial",
    "l2",
    "potential",
}
MIXED = [name for name in METHODS if name not in NUMBERS_ONLY]
STORED = json.loads(PATH.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "case", STORED["scores"], ids=lambda case: f"{case['method']}-{case['settings']}"
)
def test_complete_numbers_keep_their_bits(case):
    settings = {k: tuple(v) if isinstance(v, list) else v for k, v in case["settings"].items()}
    found = scores(case["method"], settings)
    for name in ("depth", "error", "weighted"):
        if features() == STORED["features"]:
            assert found[name] == case[name], name
        else:
            # Another processor may differ in the last bits of both.
            assert_allclose(found[name], case[name], atol=2 * max(case["error"]) + 1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_complete_numbers_are_the_same_in_every_form(method, sample, queries):
    expected = METHODS[method]().fit(sample).score_samples(queries)
    names = ["a", "b", "c"]
    for form in (
        lambda X: pd.DataFrame(X, columns=names),
        lambda X: pd.DataFrame(X, columns=names, dtype=object),
        lambda X: pa.table(dict(zip(names, X.T, strict=True))),
        lambda X: X.astype(object),
        lambda X: X.tolist(),
    ):
        detector = METHODS[method]().fit(form(sample))
        assert detector.model_.encoding is None
        assert_array_equal(detector.score_samples(form(queries)), expected)


def frame(rows=80, seed=0, *, gaps=True):
    """Return a table with a column of every type of pandas."""
    rng = np.random.default_rng(seed)
    start = pd.Timestamp("2020-02-28 12:30:15.25")
    hours = pd.to_timedelta(rng.integers(0, 5000, rows), unit="h")
    table = pd.DataFrame(
        {
            "number": rng.normal(size=rows),
            "whole": rng.integers(0, 9, rows),
            "single": rng.normal(size=rows).astype(np.float32),
            "object": rng.choice(["red", "green", "blue"], rows).astype(object),
            "category": pd.Categorical(rng.choice(["x", "y"], rows), ["y", "unused", "x"]),
            "digits": pd.Categorical(rng.integers(1, 4, rows)),
            "string": pd.array(rng.choice(["u", "v"], rows), dtype="string"),
            "Int": pd.array(rng.integers(0, 9, rows), dtype="Int64"),
            "Float": pd.array(rng.normal(size=rows), dtype="Float64"),
            "boolean": pd.array(rng.random(rows) < 0.5, dtype="boolean"),
            "bool": rng.random(rows) < 0.3,
            "date": start + hours,
            "zoned": (start + hours[::-1]).tz_localize("UTC").tz_convert("Europe/Berlin"),
            "length": pd.to_timedelta(rng.integers(0, 5000, rows), unit="s"),
        }
    )
    if gaps:
        for place, name in enumerate(table.columns):
            if name not in ("whole", "bool"):
                table.loc[3 * place + 1, name] = None
    return table


KINDS = {
    "object": "category",
    "category": "category",
    "digits": "category",
    "string": "category",
    "boolean": "boolean",
    "bool": "boolean",
    "date": "date",
    "zoned": "date",
}


@pytest.mark.parametrize("method", MIXED)
@pytest.mark.parametrize("gaps", [False, True])
def test_every_method_takes_every_type(method, gaps):
    table = frame(gaps=gaps)
    scale = "none" if method == "forest" else "standard"
    detector = METHODS[method](scale=scale).fit(table)
    depths = detector.score_samples(table)
    assert np.isfinite(depths).all()
    assert ((depths >= 0.0) & (depths <= 1.0 + 1e-9)).all()
    # The reference is encoded as queries are.
    assert_array_equal(depths, detector._own_depths()[0])
    kinds = {column["name"]: column["kind"] for column in detector.columns_}
    assert kinds == {name: KINDS.get(name, "number") for name in table.columns}
    assert detector.left_out_ == {}
    assert detector.n_features_in_ == 14
    # An absurd row is shallow: everything is unheard of.
    odd = table[:1].assign(number=50.0, object="mauve", category="z", digits=9, string="w")
    assert detector.score_samples(odd)[0] < np.median(depths)
    assert set(detector.predict(table)) <= {-1, 1}


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


def test_queries_with_gaps_in_a_model_of_complete_numbers(sample, queries, tmp_path):
    """They are filled in from the reference, whatever else is in the batch."""
    detector = LogisticDepth().fit(sample)
    assert detector.model_.encoding is None
    Z = queries.copy()
    Z[::3, 1] = np.nan
    depths = detector.score_samples(Z)
    full = ~np.isnan(Z).any(axis=1)
    assert_array_equal(depths[full], detector.score_samples(queries[full]))
    single = [detector.score_samples(Z[i : i + 1])[0] for i in range(len(Z))]
    assert_array_equal(depths, single)
    detector.save(tmp_path / "m.safetensors")
    for other in (pickle.loads(pickle.dumps(detector)), lossdepth.load(tmp_path / "m.safetensors")):
        assert_array_equal(other.score_samples(Z), depths)
    assert detector.explain(Z[:2]).notes == [["x1 is a gap"], []]
    assert detector.explain(queries[:2]).notes is None
    strict = LogisticDepth(missing="error").fit(sample)
    with pytest.raises(ValueError, match=r"row 0, column 1 is not finite \(NaN\)"):
        strict.score_samples(Z)


def test_what_is_done_about_gaps():
    table = frame()
    depths = {
        missing: LogisticDepth(missing=missing, scale="standard").fit(table).score_samples(table)
        for missing in ("compare", "median")
    }
    assert (depths["compare"] != depths["median"]).any()
    with pytest.raises(ValueError, match="column `number` has a gap in row 1") as caught:
        LogisticDepth(missing="error").fit(table)
    # All of them at once.
    assert "column `length` has a gap in row 40" in str(caught.value)
    strict = LogisticDepth(missing="error").fit(frame(gaps=False))
    with pytest.raises(ValueError, match="column `number` has a gap in row 1"):
        strict.score_samples(table)
    for wrong in ("drop", None, 1):
        with pytest.raises(
            ValueError, match="`missing` must be one of compare, median, error, got"
        ):
            LogisticDepth(missing=wrong).fit(table)


@pytest.mark.parametrize("method", ["logistic", "svm", "forest", "gp"])
def test_weights_are_copies(method):
    table = frame(60)
    weights = np.random.default_rng(1).integers(1, 4, len(table))
    scale = "none" if method == "forest" else "standard"
    weighted = METHODS[method](scale=scale).fit(table, sample_weight=weights)
    copies = table.loc[table.index.repeat(weights)].reset_index(drop=True)
    repeated = METHODS[method](scale=scale).fit(copies)
    ours, theirs = weighted.score_details(table), repeated.score_details(table)
    assert (abs(ours.depth - theirs.depth) <= ours.error + theirs.error + 1e-9).all()


@pytest.mark.parametrize("method", ["logistic", "svm", "forest"])
def test_order_does_not_matter(method):
    table = frame()
    scale = "none" if method == "forest" else "standard"
    detector = METHODS[method](scale=scale).fit(table)
    depths = detector.score_samples(table)
    # Columns of queries in another order, and one too many.
    assert_array_equal(detector.score_samples(table[table.columns[::-1]].assign(more=1)), depths)
    shuffled = table.sample(frac=1.0, random_state=0)[table.columns[::-1]]
    ours, theirs = (
        d.score_details(table) for d in (detector, METHODS[method](scale=scale).fit(shuffled))
    )
    assert (abs(ours.depth - theirs.depth) <= ours.error + theirs.error + 1e-9).all()


def test_numbers_follow_scikit_learn_about_the_order_of_columns(sample):
    """Which wants an error; only a model with an encoding finds its columns by name."""
    numbers = pd.DataFrame(sample, columns=list("abc"))
    with pytest.raises(ValueError, match="must be in the same order"):
        LogisticDepth().fit(numbers).score_samples(numbers[["c", "b", "a"]])
    with_gap = numbers.mask(numbers > 3.0)
    detector = LogisticDepth().fit(with_gap)
    assert_array_equal(
        detector.score_samples(numbers[["c", "b", "a"]]), detector.score_samples(numbers)
    )


def test_new_levels_and_missing_columns():
    table = frame(gaps=False)
    detector = LogisticDepth(scale="standard").fit(table)
    query = table[:2].assign(object=["mauve", "red"])
    why = detector.explain(query)
    assert why.notes == [["object 'mauve' is not in the reference"], []]
    usual = detector.score_samples(table[:2].assign(object=table["object"].mode()[0]))
    assert detector.score_samples(query)[0] < usual[0]
    with pytest.raises(ValueError, match="column `digits` is missing") as caught:
        detector.score_samples(table.drop(columns=["digits", "date"]))
    assert "column `date` is missing" in str(caught.value)
    with pytest.raises(ValueError, match="column `date` holds numbers"):
        detector.score_samples(table.assign(date=1.0))
    with pytest.warns(
        UserWarning, match="row 0, column `number`: 'much' cannot be read as a number"
    ):
        detector.score_samples(table[:1].assign(number="much"))
    with (
        pytest.warns(UserWarning, match="X does not have valid feature names"),
        pytest.raises(ValueError, match="X has 3 features"),
    ):
        detector.score_samples(np.ones((2, 3)))


def test_a_column_without_values():
    table = frame().assign(nothing=np.nan, none=None)
    detector = LogisticDepth().fit(table)
    assert detector.left_out_.keys() == {"nothing", "none"}
    assert all("no values" in why for why in detector.left_out_.values())
    assert_array_equal(
        detector.score_samples(table), LogisticDepth().fit(frame()).score_samples(frame())
    )
    # Nor are they asked of queries, whatever they hold.
    assert_array_equal(detector.score_samples(frame()), detector.score_samples(table))
    with pytest.raises(ValueError, match="no column to compare"):
        LogisticDepth().fit(np.full((5, 2), np.nan))


def test_columns_of_several_types():
    values = [1.5, "low", None, 2.5, "high", 3.5] * 4
    table = pd.DataFrame({"a": np.arange(24.0), "b": pd.Series(values, dtype=object)})
    says = "column `b` holds different things: number '1.5' in row 0, text 'low' in row 1"
    with pytest.raises(ValueError, match=says) as caught:
        LogisticDepth().fit(table)
    assert 'kinds={"b": "category"}' in str(caught.value)
    detector = LogisticDepth(kinds={"b": "category"}).fit(table)
    assert dict(detector.columns_[1]["levels"]).keys() == {"1.5", "low", "2.5", "high", "3.5"}
    assert detector.score_samples(table).shape == (24,)
    assert LogisticDepth(kinds={"b": "text"}).fit(table).left_out_.keys() == {"b"}
    with pytest.warns(
        UserWarning, match="row 1, column `b`: 'low' cannot be read as a number, and 7"
    ):
        number = LogisticDepth(kinds={"b": "number"}).fit(table)
    assert number.columns_[1]["gaps"] == 0.5
    objects = [True, False, None, np.bool_(1), True, False]
    small = pd.DataFrame({"a": np.arange(6.0), "b": pd.Series(objects, dtype=object)})
    assert LogisticDepth().fit(small).columns_[1]["kind"] == "boolean"
    times = [
        dt.date(2020, 1, 1),
        pd.Timestamp("2020-01-02"),
        np.datetime64("2020-01-03"),
        None,
    ]
    times += [dt.datetime(2020, 1, 4, tzinfo=dt.timezone.utc), pd.NaT]
    small["b"] = pd.Series(times, dtype=object)
    assert LogisticDepth().fit(small).columns_[1]["kind"] == "date"
    small["b"] = pd.Series([Decimal("1.5"), 2, 3.5, np.float32(1), None, pd.NA], dtype=object)
    assert LogisticDepth().fit(small).columns_[1]["kind"] == "number"


def test_kinds_are_what_is_said():
    table = pd.DataFrame({"zip": [1, 2, 3, 1, 2, 9] * 5, "n": np.arange(30.0), "k": range(30)})
    detector = LogisticDepth(kinds={"zip": "category", "k": "id"}).fit(table)
    assert [(c["name"], c["kind"]) for c in detector.columns_] == [
        ("zip", "category"),
        ("n", "number"),
    ]
    assert detector.left_out_ == {"k": "it names the rows"}
    # Nothing is guessed of numbers.
    assert LogisticDepth().fit(table).left_out_ == {}
    by_place = LogisticDepth(kinds={0: "category", 2: "id"}).fit(table.to_numpy())
    assert_array_equal(by_place.score_samples(table.to_numpy()), detector.score_samples(table))
    by_label = LogisticDepth(kinds={10: "category", 30: "id"})
    by_label.fit(table.set_axis([10, 20, 30], axis=1))
    assert_array_equal(by_label.score_samples(table.to_numpy()), detector.score_samples(table))
    with pytest.raises(ValueError, match="`kinds` names a column that is not there: 'zap'"):
        LogisticDepth(kinds={"zap": "category"}).fit(table)
    with pytest.raises(ValueError, match="`kinds` has `colour` for column `zip`; it must be"):
        LogisticDepth(kinds={"zip": "colour"}).fit(table)
    with pytest.raises(TypeError, match="`kinds` must be a dict of columns"):
        LogisticDepth(kinds=["zip"]).fit(table)
    with pytest.raises(TypeError, match="`kinds` must hold names of kinds, got 1"):
        LogisticDepth(kinds={"zip": 1}).fit(table)


@pytest.mark.parametrize("method", MIXED)
def test_round_trips(method, tmp_path):
    table = frame()
    scale = "none" if method == "forest" else "standard"
    detector = METHODS[method](scale=scale, kinds={"whole": "category"}, missing="median").fit(
        table
    )
    depths = detector.score_samples(table)
    path = tmp_path / "model.safetensors"
    detector.save(path)
    loaded = lossdepth.load(path)
    for other in (pickle.loads(pickle.dumps(detector)), copy.deepcopy(detector), loaded):
        assert_array_equal(other.score_samples(table[table.columns[::-1]]), depths)
        assert_array_equal(other.predict(table), detector.predict(table))
        assert other.columns_ == detector.columns_
        assert other.feature_names_in_.tolist() == table.columns.tolist()
        assert other.get_params() == detector.get_params()
    assert_array_equal(clone(detector).fit(table).score_samples(table), depths)


def test_round_trips_without_names(tmp_path):
    table = frame()
    rows = table.to_numpy(dtype=object)
    detector = LogisticDepth(kinds={1: "category", 5: "category"}).fit(rows)
    detector.save(tmp_path / "m.safetensors")
    loaded = lossdepth.load(tmp_path / "m.safetensors")
    assert not hasattr(loaded, "feature_names_in_")
    assert_array_equal(loaded.score_samples(rows), detector.score_samples(rows))
    assert_array_equal(clone(loaded).fit(rows).score_samples(rows), detector.score_samples(rows))


def test_explanations_speak_of_columns():
    table = frame(gaps=False)
    query = table[:1].assign(object="mauve")
    why = LogisticDepth(reg=0.01, scale="standard").fit(table).explain(query)
    assert why.feature_names.tolist() == table.columns.tolist()
    assert why.contributions.shape == why.weights.shape == (1, 14)
    assert why.top_features(1) == [["object"]]
    total = why.baseline[0]
    for part in why.contributions[0]:
        total = total + part
    assert total == why.value[0]
    lines = why.to_pandas()
    assert lines["feature"].tolist()[0] == "object"
    assert len(why.to_polars(top=3)) == 3
    assert why.plot() is not None
    for method in ("svm", "klr", "gp", "mlp"):
        other = METHODS[method](scale="standard").fit(table).explain(query)
        assert other.weights.shape == (1, 14)
        assert "object" in other.top_features(3)[0]
    forest = ForestDepth().fit(table).explain(query)
    sides = {cut.feature: cut.side for cut in forest.cuts[0]}
    assert sides["object"] == "level"
    assert sides["number"] in ("above", "below")
    assert np.isnan(next(cut.threshold for cut in forest.cuts[0] if cut.feature == "object"))
    assert "object" in forest.top_features(3)[0]
    rare = frame()
    gap = ForestDepth(max_features="all").fit(rare).explain(rare[1:2])
    assert {cut.side for cut in gap.cuts[0] if cut.feature == "number"} >= {"gap"}
    assert gap.notes == [["number is a gap"]]
    scored = SVMDepth(scale="standard").fit(table).score_details(table[5:8])
    assert scored.to_pandas().index.tolist() == [5, 6, 7]


def test_maps_of_mixed_tables():
    table = frame()
    detector = LogisticDepth(scale="standard").fit(table)
    ax = lossdepth.plot.depth_map(detector, table, columns=("single", "date"), resolution=5)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("single", "date")
    with pytest.raises(ValueError, match="`columns` must be among number, whole"):
        lossdepth.plot.depth_map(detector, table, columns=("object", "date"))


def test_halfspaces_are_for_numbers():
    table = frame(gaps=False)
    with pytest.raises(ValueError, match="`halfspace` compares numbers only") as caught:
        HalfspaceDepth().fit(table)
    for name in ("object", "category", "digits", "string"):
        assert f"`{name}`" in str(caught.value)
    numbers = table[["number", "bool", "date"]]
    depths = HalfspaceDepth().fit(numbers).score_samples(numbers)
    rows = np.column_stack([table["number"], table["bool"], table["date"].astype("int64")])
    assert_allclose(depths, HalfspaceDepth().fit(rows).score_samples(rows), atol=1e-9)
    assert not get_tags(HalfspaceDepth()).input_tags.allow_nan


def test_tags():
    for cls in (METHODS[name] for name in MIXED):
        assert get_tags(cls()).input_tags.allow_nan
        assert get_tags(cls()).input_tags.categorical
        assert not get_tags(cls(missing="error")).input_tags.allow_nan
    assert not get_tags(SVMDepth(kernel="precomputed")).input_tags.allow_nan
    with pytest.raises(ValueError, match="is not finite"):
        SVMDepth(kernel="precomputed").fit([[1.0, np.nan], [np.nan, 1.0]])


def test_pipelines_and_searches_take_raw_frames():
    table = frame()
    pipeline = make_pipeline(FunctionTransformer(), LogisticDepth(scale="standard"))
    pipeline.set_output(transform="pandas")
    assert_array_equal(
        pipeline.fit(table).predict(table),
        LogisticDepth(scale="standard").fit(table).predict(table),
    )
    search = GridSearchCV(
        LogisticDepth(scale="standard"),
        {"reg": [0.1, 1.0], "missing": ["compare", "median"]},
        scoring=lambda fitted, X, _=None: fitted.score_samples(X).mean(),
        cv=2,
    )
    assert search.fit(table).best_estimator_.score_samples(table).shape == (80,)


def test_function_and_pyod_take_tables():
    table = frame()
    expected = LogisticDepth(kinds={"whole": "category"}).fit(table).score_samples(table)
    assert_array_equal(
        lossdepth.depth(table, table, "logistic", kinds={"whole": "category"}), expected
    )
    median = LogisticDepth(missing="median").fit(table).score_samples(table)
    assert_array_equal(lossdepth.depth(table, table, "logistic", missing="median"), median)
    p = LogisticDepth().fit(table).p_values(table[:5], method="cross")
    assert ((p > 0.0) & (p <= 1.0)).all()


@pytest.mark.parametrize("method", ["logistic", "hinge", "svm", "klr", "gp"])
@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array"])
def test_sparse_matrices(method, form, sample, queries, monkeypatch):
    X, Z = np.where(sample > 0.5, sample, 0.0), np.where(queries > 0.5, queries, 0.0)
    sparse = getattr(scipy.sparse, form)
    assert get_tags(METHODS[method]()).input_tags.sparse
    expected = METHODS[method]().fit(X).score_samples(Z)
    detector = METHODS[method]().fit(sparse(X))
    assert_array_equal(detector.score_samples(sparse(Z)), expected)
    # Queries become dense a few at a time.
    monkeypatch.setattr(_scoring, "_DENSE", 30)
    assert_array_equal(detector.score_samples(sparse(Z)), expected)
    monkeypatch.setattr(_memory, "half_of_memory", lambda: 1000.0)
    assert_array_equal(detector.score_samples(sparse(Z)), expected)
    with pytest.raises(ValueError, match="a depth needs dense rows"):
        METHODS[method]().fit(sparse(X))


def test_presets_as_a_parameter(sample, queries):
    for name in METHODS:
        for preset in ("recommended", "paper"):
            unknown = {"squared-hinge", "exponential", "klr", "auto"} | NUMBERS_ONLY - {"halfspace"}
            if preset == "paper" and name in unknown:
                continue
            values = lossdepth.preset(preset, name, len(sample))
            expected = METHODS[name](**values).fit(sample).score_samples(queries)
            ours = METHODS[name](preset=preset).fit(sample)
            assert_array_equal(ours.score_samples(queries), expected)
    # What is not at its default counts before the preset.
    ours = SVMDepth(preset="recommended", reg=0.3).fit(sample).score_samples(queries)
    values = lossdepth.preset("recommended", "svm", len(sample)) | {"reg": 0.3}
    assert_array_equal(ours, SVMDepth(**values).fit(sample).score_samples(queries))
    # A preset counts weights, as `depth` does.
    weights = np.full(len(sample), 2)
    ours = SVMDepth(preset="paper-code").fit(sample, sample_weight=weights).score_samples(queries)
    theirs = lossdepth.depth(queries, sample, "svm", preset="paper-code", sample_weight=weights)
    assert_array_equal(ours, theirs)
    with pytest.raises(ValueError, match="`preset` must be one of paper, paper-code, recommended"):
        SVMDepth(preset="best").fit(sample)
    with pytest.raises(TypeError, match="`preset` must be a string or None, got 1"):
        SVMDepth(preset=1).fit(sample)
    assert clone(SVMDepth(preset="recommended")).preset == "recommended"


def test_fit_does_not_score(sample, queries, monkeypatch):
    scored = []
    score = LogisticDepth._score

    def spy(self, model, rows, what, **kwargs):
        scored.append(len(rows))
        return score(self, model, rows, what, **kwargs)

    monkeypatch.setattr(LogisticDepth, "_score", spy)
    detector = LogisticDepth().fit(sample)
    assert scored == []
    detector.score_samples(queries)
    assert scored == [40]
    before = vars(detector).copy()
    detector.predict(queries)
    assert scored == [40, 40, 200]
    detector.predict(queries)
    assert detector.offset_ == np.sort(detector._own_depths()[0])[20]
    assert scored == [40, 40, 200, 40]
    assert vars(detector) == before
    # The line is that of the fit, whatever is set later.
    late = LogisticDepth(contamination=0.2).fit(sample).set_params(contamination=0.5)
    assert late.offset_ == LogisticDepth(contamination=0.2).fit(sample).offset_
    # Nothing is scored because somebody looks.
    scored.clear()
    shown = LogisticDepth().fit(sample)
    assert "offset_" not in dir(shown)
    assert shown._repr_html_()
    assert scored == []
    LogisticDepth().fit_predict(sample)
    assert scored == [200]
    again = detector.fit(queries)
    assert again.offset_ == LogisticDepth().fit(queries).offset_


def sparse_table(rows, columns=30_000, seed=0):
    """Return a matrix that is large and sparse enough to stay so."""
    rng = np.random.default_rng(seed)
    share = np.r_[np.full(20, 0.5), np.full(columns - 20, 0.004)]
    numbers = (rng.random((rows, columns)) < share) * rng.integers(1, 9, (rows, columns))
    return scipy.sparse.csr_array(numbers.astype(np.float64))


@pytest.mark.parametrize("method", ["logistic", "svm", "gp"])
def test_large_sparse_matrices_stay_sparse(method, monkeypatch, tmp_path):
    X = sparse_table(150)
    Z = sparse_table(5, seed=1)
    expected = METHODS[method]().fit(X.toarray()).score_details(Z.toarray())

    def no_memory(_):
        raise AssertionError("made dense")

    monkeypatch.setattr(_reading, "dense", no_memory)
    for form in ("csr_array", "csc_matrix", "coo_array"):
        convert = getattr(scipy.sparse, form)
        detector = METHODS[method]().fit(convert(X))
        found = detector.score_details(convert(Z))
        assert (abs(found.depth - expected.depth) <= found.error + expected.error).all()
        assert found.converged.all()
    assert isinstance(detector.model_, lossdepth._native.SparseModel)
    # Dense queries, one at a time, of a copy and of a file: the same bits.
    detector.save(tmp_path / "model.safetensors")
    others = [detector, pickle.loads(pickle.dumps(detector))]
    for same in [*others, lossdepth.load(tmp_path / "model.safetensors")]:
        assert_array_equal(same.score_samples(Z.toarray()), found.depth)
        assert_array_equal(same.score_samples(Z[[3]]), found.depth[3:4])
        assert_array_equal(same.score_details(Z).percentile, found.percentile)
    assert set(detector.predict(X)) <= {-1, 1}
    weights = np.r_[np.full(10, 2), np.ones(140)]
    copies = scipy.sparse.vstack([X, X[:10]])
    ours = METHODS[method]().fit(X, sample_weight=weights).score_details(Z)
    twice = METHODS[method]().fit(copies).score_details(Z)
    assert (abs(ours.depth - twice.depth) <= ours.error + twice.error).all()
    with pytest.raises(TypeError, match="central regions need dense rows"):
        detector.central_region()
    gap = X.copy()
    gap.data[0] = np.nan
    with pytest.raises(ValueError, match="is not finite"):
        METHODS[method]().fit(gap)


def test_linear_depths_of_sparse_matrices_are_explained_by_columns():
    X, Z = sparse_table(150), sparse_table(3, seed=1)
    dense = LogisticDepth().fit(X.toarray()).explain(Z.toarray())
    why = LogisticDepth().fit(X).explain(Z)
    assert why.contributions.shape == why.weights.shape == Z.shape
    total = why.baseline + why.contributions.sum(axis=1) + why.rest
    assert_allclose(total, why.value, rtol=1e-9)
    for row in range(3):
        columns = why.contributions[[row]].indices
        size = abs(dense.contributions[row]).max()
        assert len(columns) == 100
        assert_allclose(
            why.contributions[[row]].data, dense.contributions[row, columns], atol=1e-3 * size
        )
    assert why.to_pandas(top=4).shape == (12, 4)
    assert len(why.top_features(2)[0]) == 2
    assert "most telling" in repr(why)
