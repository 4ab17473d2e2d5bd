"""Tables of every kind, and errors in the words of their owner."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lossdepth
from lossdepth import LogisticDepth, LossDepth, _input
from lossdepth._function import METHODS

NAMES = ["age", "height", "pay"]


def arrow(X):
    return pa.table({name: X[:, j] for j, name in enumerate(NAMES)})


class Stream:
    """A table of a library that speaks Arrow and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


FORMS = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "nullable": lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(),
    "pandas on arrow": lambda X: pd.DataFrame(X, columns=NAMES).astype("float64[pyarrow]"),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "arrow": arrow,
    "arrow, in chunks": lambda X: pa.concat_tables([arrow(X[:7]), arrow(X[7:])]),
    "record batch": lambda X: arrow(X).combine_chunks().to_batches()[0],
    "a stream": lambda X: Stream(arrow(X)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize("estimator", [LogisticDepth(), LossDepth(LogisticRegression(C=3.0))])
def test_named_tables(form, estimator, sample, queries):
    expected = estimator.fit(sample).score_samples(queries)
    detector = estimator.fit(form(sample))
    assert_array_equal(detector.score_samples(form(queries)), expected)
    assert detector.feature_names_in_.tolist() == NAMES
    assert_array_equal(lossdepth.depth(form(queries), form(sample)).shape, (40,))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_what_is_wrong_is_called_by_name(form, sample, queries):
    spoiled = queries.copy()
    spoiled[4, 2] = np.inf
    detector = LogisticDepth().fit(form(sample))
    says = re.escape("row 4, column `pay` is not finite (inf)")
    for method in ("score_samples", "predict", "score_details", "explain"):
        with pytest.raises(ValueError, match=says):
            getattr(detector, method)(form(spoiled))
    with pytest.raises(ValueError, match=says):
        LogisticDepth().fit(form(spoiled))
    with pytest.raises(ValueError, match=says):
        LogisticDepth(verbose=1).fit(form(spoiled))
    spoiled[4, 2] = 1e200
    with pytest.raises(ValueError, match="row 4, column `pay` is too large"):
        detector.set_params(verbose=1).score_samples(form(spoiled))


def test_missing_values_of_every_library_are_not_finite():
    says = re.escape("row 1, column `b` is not finite (NaN)")
    for table in (
        pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, None]}),
        pd.DataFrame({"a": [1, 2], "b": [1, None]}).convert_dtypes(),
        pl.DataFrame({"a": [1, 2], "b": [1, None]}),
        pa.table({"a": [1, 2], "b": [1, None]}),
    ):
        with pytest.raises(ValueError, match=says):
            LogisticDepth(missing="error").fit(table)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.0, 2.0], "c": [True, False, True]}),
        pl.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.0, 2.0], "c": [True, False, True]}),
        pa.table({"a": [1, 2, 3], "b": [0.5, 1.0, 2.0], "c": [1, 0, 1]}),
        pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.0, 2.0], "c": [1, 0, 1]}, dtype=object),
    ],
    ids=["pandas", "polars", "arrow", "objects"],
)
def test_columns_of_several_kinds(table):
    expected = LogisticDepth().fit([[1.0, 0.5, 1.0], [2.0, 1.0, 0.0], [3.0, 2.0, 1.0]])
    # Truth values would be a category.
    assert LogisticDepth(kinds={"c": "number"}).fit(table).offset_ == expected.offset_


def test_a_large_array_is_taken_as_it_is():
    """What needs no change reaches the native core without a copy."""
    X = np.random.default_rng(0).normal(size=(50, 3))
    detector = LogisticDepth().fit(X)
    assert np.shares_memory(detector._rows(X), X)
    X.flags.writeable = False
    assert np.shares_memory(detector._rows(X), X)
    frame = pd.DataFrame(X)
    assert not np.shares_memory(detector._rows(X.astype(np.float32)), X)
    assert_array_equal(detector._rows(frame), X)


def renamed(table):
    """Return the same table with another name for the last column."""
    if isinstance(table, pa.Table):
        return table.rename_columns(["age", "height", "rent"])
    names = {"pay": "rent"}
    return table.rename(columns=names) if isinstance(table, pd.DataFrame) else table.rename(names)


IN_PARTS = FORMS | {
    "column by column": lambda X: pd.DataFrame(X[:, :2], columns=NAMES[:2]).assign(pay=X[:, 2]),
    "of several kinds": lambda X: pd.DataFrame(X, columns=NAMES).astype({"age": np.float32}),
}


@pytest.mark.parametrize("form", IN_PARTS.values(), ids=IN_PARTS.keys())
def test_a_large_table_is_put_together_from_parts(form, sample, queries, monkeypatch):
    sample = sample.astype(np.float32).astype(float)
    detector = LogisticDepth().fit(form(sample))
    expected = detector.score_samples(form(queries))
    # 33 rows at a time.
    monkeypatch.setattr(_input, "_PART", 100)
    again = LogisticDepth().fit(form(sample))
    assert again.feature_names_in_.tolist() == NAMES
    assert_array_equal(again.score_samples(form(queries)), expected)
    rows = again._rows(form(sample))
    assert rows.flags.c_contiguous
    assert_array_equal(rows, sample)
    table = form(sample)
    if not isinstance(table, (Stream, pa.RecordBatch)):
        with pytest.raises(ValueError, match="feature names should match"):
            again.score_samples(renamed(table))
    monkeypatch.setattr(_input, "_PART", 2)
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        LogisticDepth().fit(form(sample[:1]))


def test_what_is_in_one_array_stays_there(monkeypatch):
    monkeypatch.setattr(_input, "_PART", 100)
    X = np.random.default_rng(0).normal(size=(50, 3))
    frame = pd.DataFrame(X, columns=NAMES, copy=False)
    detector = LogisticDepth().fit(frame)
    assert np.shares_memory(detector._rows(frame), X)


PEAK = """
import gc, sys
import numpy as np, pandas as pd, polars as pl, pyarrow as pa
from lossdepth import LogisticDepth
def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))
rng = np.random.default_rng(0)
rows, width = 400_000, 20
columns = {f"c{i}": rng.normal(size=rows) for i in range(width)}
table = {
    "pandas": lambda: pd.DataFrame(columns),
    "mixed": lambda: pd.DataFrame(columns).assign(c0=np.arange(rows)),
    "nullable": lambda: pd.DataFrame(columns).convert_dtypes(),
    "polars": lambda: pl.DataFrame(columns),
    "arrow": lambda: pa.table(columns),
    "chunks": lambda: pa.Table.from_batches(pa.table(columns).to_batches(max_chunksize=70_000)),
}[sys.argv[1]]()
detector = LogisticDepth()
first = table.iloc[:50] if hasattr(table, "iloc") else table.slice(0, 50)
detector.fit(first)
gc.collect()
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = status("VmRSS")
taken = detector._rows(table)
print((status("VmHWM") - before) / taken.nbytes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
@pytest.mark.parametrize("form", ["pandas", "mixed", "nullable", "polars", "arrow", "chunks"])
def test_a_large_table_is_copied_once(form, tmp_path):
    command = [sys.executable, "-c", PEAK, form]
    # Elsewhere: next to the sources Python would find those instead of the package.
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    if "clear_refs" in done.stderr:
        pytest.skip("the peak of the memory cannot be set back here")
    assert done.returncode == 0, done.stderr
    # One copy, and the part on its way: two copies would be 2.
    assert float(done.stdout) < 1.6, done.stdout


@pytest.mark.parametrize("cls", METHODS.values())
def test_single_precision_integers_and_order(cls, sample):
    X = np.round(sample[:40] * 4)
    depths = cls().fit(X).score_samples(X[:5])
    for other in (X.astype(np.float32), X.astype(np.int32), np.asfortranarray(X)):
        other.flags.writeable = False
        assert_array_equal(cls().fit(other).score_samples(other[:5]), depths)


def test_weights_by_metadata_routing(sample):
    weights = np.random.default_rng(0).uniform(size=len(sample))
    expected = LogisticDepth(reg=0.1, scale="none").fit(sample, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        for detector in (
            LogisticDepth(reg=0.1, scale="none").set_fit_request(sample_weight=True),
            LossDepth(LogisticRegression(C=5 / np.log(2))).set_fit_request(sample_weight=True),
        ):
            scaler = StandardScaler(with_mean=False, with_std=False)
            pipeline = make_pipeline(scaler.set_fit_request(sample_weight=False), detector)
            pipeline.fit(sample, sample_weight=weights)
            assert pipeline[-1].offset_ == pytest.approx(expected.offset_, abs=1e-9)
        ignoring = LogisticDepth(reg=0.1).set_fit_request(sample_weight=False)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), ignoring)
        pipeline.fit(sample, sample_weight=weights)
        search = GridSearchCV(
            LogisticDepth().set_fit_request(sample_weight=True),
            {"reg": [0.1, 1.0]},
            scoring=lambda fitted, X, _=None: fitted.score_samples(X).mean(),
            cv=2,
        )
        search.fit(sample, sample_weight=weights)
        assert search.best_estimator_.score_samples(sample[:2]).shape == (2,)
