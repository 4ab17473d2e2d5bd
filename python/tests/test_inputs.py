"""Tables of every kind, and errors in the words of their owner."""

import re

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
from lossdepth import LogisticDepth, LossDepth
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
            LogisticDepth().fit(table)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.0, 2.0], "c": [True, False, True]}),
        pl.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.0, 2.0], "c": [True, False, True]}),
        pa.table({"a": [1, 2, 3], "b": [0.5, 1.0, 2.0], "c": [1, 0, 1]}),
        pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.0, 2.0], "c": pd.Categorical([1, 0, 1])}),
        pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.0, 2.0], "c": [1, 0, 1]}, dtype=object),
    ],
    ids=["pandas", "polars", "arrow", "categories", "objects"],
)
def test_columns_of_several_kinds(table):
    expected = LogisticDepth().fit([[1.0, 0.5, 1.0], [2.0, 1.0, 0.0], [3.0, 2.0, 1.0]])
    assert LogisticDepth().fit(table).offset_ == expected.offset_


def test_a_large_array_is_taken_as_it_is():
    """What needs no change reaches the native core without a copy."""
    X = np.random.default_rng(0).normal(size=(50, 3))
    detector = LogisticDepth().fit(X)
    assert np.shares_memory(detector._rows(X, reset=False), X)
    X.flags.writeable = False
    assert np.shares_memory(detector._rows(X, reset=False), X)
    frame = pd.DataFrame(X)
    assert not np.shares_memory(detector._rows(X.astype(np.float32), reset=False), X)
    assert_array_equal(detector._rows(frame, reset=False), X)


@pytest.mark.parametrize("cls", METHODS.values())
def test_single_precision_integers_and_order(cls, sample):
    X = np.round(sample[:40] * 4)
    depths = cls().fit(X).score_samples(X[:5])
    for other in (X.astype(np.float32), X.astype(np.int32), np.asfortranarray(X)):
        other.flags.writeable = False
        assert_array_equal(cls().fit(other).score_samples(other[:5]), depths)


def test_weights_by_metadata_routing(sample):
    weights = np.random.default_rng(0).uniform(size=len(sample))
    expected = LogisticDepth(reg=0.1).fit(sample, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        for detector in (
            LogisticDepth(reg=0.1).set_fit_request(sample_weight=True),
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
