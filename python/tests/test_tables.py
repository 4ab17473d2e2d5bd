"""Tables as they are: categories, gaps, dates, of every library."""

import copy
import datetime as dt
import json
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
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
