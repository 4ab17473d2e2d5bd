"""Bad input gets a clear exception and nothing else."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

import lossdepth
from lossdepth import LogisticDepth, _native
from lossdepth._function import METHODS

X = np.random.default_rng(0).normal(size=(20, 3))


def spoiled(value, row=4, column=2):
    table = X.copy()
    table[row, column] = value
    return table


def short(case):
    return str(case)[:30]


def says(message):
    return "^" + re.escape(message) + "$"


SETTINGS = [
    ({"reg": 0.0}, ValueError, "`reg` must be a positive, finite number, got 0"),
    ({"reg": -1}, ValueError, "`reg` must be a positive, finite number, got -1"),
    ({"reg": np.nan}, ValueError, "`reg` must be a positive, finite number, got NaN"),
    ({"reg": np.inf}, ValueError, "`reg` must be a positive, finite number, got inf"),
    ({"reg": "a"}, TypeError, "`reg` must be a number, got 'a'"),
    ({"reg": None}, TypeError, "`reg` must be a number, got None"),
    ({"reg": [1.0]}, TypeError, "`reg` must be a number, got [1.0]"),
    ({"tol": 0}, ValueError, "`tol` must be a positive, finite number, got 0"),
    ({"max_iter": 0}, ValueError, "`max_iter` must be at least 1, got 0"),
    ({"max_iter": -3}, ValueError, "`max_iter` must not be negative or huge, got -3"),
    ({"max_iter": 2.5}, TypeError, "`max_iter` must be a whole number, got 2.5"),
    (
        {"scale": "zscore"},
        ValueError,
        "`scale` must be one of none, standard, robust, whiten, mcd, got `zscore`",
    ),
    ({"scale": None}, TypeError, "`scale` must be a string, got None"),
    (
        {"intercept": True},
        TypeError,
        "`intercept` must be a string, got True",
    ),
    (
        {"intercept": "yes"},
        ValueError,
        "`intercept` must be one of free, penalised, none, got `yes`",
    ),
    (
        {"variant": "loss"},
        ValueError,
        "`variant` must be one of risk, objective, constrained, got `loss`",
    ),
    ({"variant": "constrained"}, ValueError, "variant `constrained` needs a `radius`"),
    (
        {"variant": "constrained", "radius": -1.0},
        ValueError,
        "`radius` must be a positive, finite number, got -1",
    ),
    ({"radius": 1.0}, ValueError, "`radius` goes with variant `constrained`, not with `risk`"),
    (
        {"support_fraction": 0.3},
        ValueError,
        "`support_fraction` must be between 0.5 and 1, got 0.3",
    ),
    ({"contamination": 0.6}, ValueError, "`contamination` must be between 0 and 0.5, got 0.6"),
    ({"contamination": -0.1}, ValueError, "`contamination` must be between 0 and 0.5, got -0.1"),
    ({"contamination": np.nan}, ValueError, "`contamination` must be between 0 and 0.5, got nan"),
    ({"contamination": "auto"}, TypeError, "`contamination` must be a number, got 'auto'"),
]


@pytest.mark.parametrize(("settings", "error", "message"), SETTINGS, ids=short)
def test_settings(settings, error, message):
    detector = LogisticDepth(**settings)
    with pytest.raises(error, match=says(message)):
        detector.fit(X)


TABLES = [
    (spoiled(np.nan), ValueError, "row 4, column 2 is not finite (NaN)"),
    (spoiled(np.inf), ValueError, "row 4, column 2 is not finite (inf)"),
    (spoiled(-np.inf), ValueError, "row 4, column 2 is not finite (-inf)"),
    (spoiled(1e200), ValueError, "row 4, column 2 is too large to work with: |1e200| > 1e100"),
    (pd.DataFrame(spoiled(np.nan)), ValueError, "row 4, column 2 is not finite (NaN)"),
    (pd.DataFrame(spoiled(np.nan)).convert_dtypes(), ValueError, "row 4, column 2 is not finite"),
    (
        pd.DataFrame({"a": [1.0, 2.0], "b": [b"x", b"y"]}),
        TypeError,
        "row 0, column `b`: the argument must be a string, a number, a truth value, a date",
    ),
    (
        pl.DataFrame({"a": [1.0, 2.0], "b": [[1], [2, 3]]}),
        TypeError,
        "categories, truth values, dates or durations, got List",
    ),
    (
        pa.table({"a": [1.0, 2.0], "b": [{"x": 1}, {"x": 2}]}),
        TypeError,
        "categories, truth values, dates or durations, got struct",
    ),
    (
        pd.DataFrame({"a": [1.0, 2.0], "b": [10**400, 2]}),
        ValueError,
        "column `b`: int too large to convert to float",
    ),
    (pd.Series([1.0, 2.0]), ValueError, "Expected"),
    (pl.Series([1.0, 2.0]), ValueError, "Expected 2D array, got 1D array instead"),
    (pa.array([1.0, 2.0]), ValueError, "Expected a table of rows and columns, got DoubleArray"),
    (pl.LazyFrame({"a": [1.0, 2.0]}), TypeError, "give its `.collect()`"),
    (
        np.ma.masked_array(X, X[4, 2] == X),
        ValueError,
        "the table must have no missing numbers, [4, 2] is masked",
    ),
    (X * 1j, ValueError, "Complex data not supported"),
    (X[0], ValueError, "Expected 2D array, got 1D array instead"),
    (X[None], ValueError, "Found array with dim 3"),
    (np.float64(1.0), ValueError, "Expected 2D array, got scalar array instead"),
    ([], ValueError, "Expected 2D array, got 1D array instead"),
    (X[:0], ValueError, "Found array with 0 sample(s)"),
    (X[:, :0], ValueError, "Found array with 0 feature(s)"),
    (None, ValueError, "Expected 2D array, got scalar array instead"),
]


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize(("table", "error", "message"), TABLES, ids=short)
def test_tables(table, error, message):
    with pytest.raises(error, match=re.escape(message)):
        LogisticDepth(missing="error").fit(table)
    width = np.shape(table)[1] if np.ndim(table) == 2 else 3
    detector = LogisticDepth(missing="error").fit(X[:, :width] if width else X)
    for method in ("score_samples", "predict", "score_details", "explain"):
        with pytest.raises(error, match=re.escape(message)):
            getattr(detector, method)(table)


def test_sparse_matrices_are_for_methods_that_take_them():
    for name in ("forest", "mlp", "halfspace"):
        with pytest.raises(TypeError, match="Sparse data was passed"):
            METHODS[name]().fit(scipy.sparse.csr_array(X))


def test_one_row():
    with pytest.raises(ValueError, match=r"1 sample\(s\) .*while a minimum of 2 is required"):
        LogisticDepth().fit(X[:1])
    assert LogisticDepth().fit(X).score_samples(X[:1]).shape == (1,)


def test_wrong_width():
    detector = LogisticDepth().fit(X)
    with pytest.raises(ValueError, match="X has 2 features, but LogisticDepth is expecting 3"):
        detector.predict(X[:, :2])


WEIGHTS = [
    ([1.0] * 19 + [-1.0], ValueError, "weight 19 must be finite and not negative, got -1"),
    ([np.nan] + [1.0] * 19, ValueError, "weight 0 must be finite and not negative, got NaN"),
    ([np.inf] + [1.0] * 19, ValueError, "weight 0 must be finite and not negative, got inf"),
    ([0.0] * 20, ValueError, "`sample_weight` must not be zero for every row"),
    (0, ValueError, "`sample_weight` must not be zero for every row"),
    (
        [1.0] + [0.0] * 19,
        ValueError,
        "the reference needs at least 2 rows with a positive weight, got 1",
    ),
    ([1.0] * 19, ValueError, "19 weights for 20 rows"),
    (np.ones((20, 1)), ValueError, "`sample_weight` must have one dimension, got shape (20, 1)"),
    (["a"] * 20, ValueError, "could not convert string to float: 'a'"),
]


@pytest.mark.parametrize(("weights", "error", "message"), WEIGHTS, ids=short)
def test_weights(weights, error, message):
    with pytest.raises(error, match=says(message)):
        LogisticDepth().fit(X, sample_weight=weights)


@pytest.mark.parametrize("method", ["score_samples", "predict", "decision_function", "explain"])
def test_not_fitted(method):
    with pytest.raises(NotFittedError, match="This LogisticDepth instance is not fitted yet"):
        getattr(LogisticDepth(), method)(X)


def test_unknown_method():
    known = ", ".join(METHODS)
    with pytest.raises(ValueError, match=says(f"`method` must be one of {known}, got `probit`")):
        lossdepth.depth(X, X, "probit")


def test_no_threads():
    with pytest.raises(ValueError, match="n_jobs == 0"):
        LogisticDepth(n_jobs=0).fit(X)


@pytest.mark.parametrize(
    ("n_jobs", "error", "message"),
    [
        ("all", TypeError, "`n_jobs` must be a whole number or None, got 'all'"),
        (1.5, TypeError, "`n_jobs` must be a whole number or None, got 1.5"),
        (np.nan, TypeError, "`n_jobs` must be a whole number or None, got nan"),
        (10**30, ValueError, f"`n_jobs` must be at most 65536, got {10**30}"),
    ],
    ids=short,
)
def test_threads_that_cannot_be(n_jobs, error, message):
    with pytest.raises(error, match=says(message)):
        LogisticDepth(n_jobs=n_jobs).fit(X)


def test_counts_below_zero():
    why = LogisticDepth().fit(X).explain(X[:1])
    assert why.top_features(0) == [[]]
    for ask in (why.top_features, why.most_influential, why.to_pandas):
        with pytest.raises(ValueError, match="must not be negative, got -1"):
            ask(-1)


def test_a_failed_fit_leaves_no_model():
    detector = LogisticDepth(reg=-1.0)
    with pytest.raises(ValueError, match="reg"):
        detector.fit(X)
    with pytest.raises(NotFittedError):
        detector.predict(X)


def test_the_native_core_takes_no_other_arrays():
    model = LogisticDepth().fit(X).model_
    with pytest.raises(ValueError, match="must be C-contiguous"):
        model.score(np.asfortranarray(X), 1)
    with pytest.raises(TypeError):
        model.score(X.astype(np.float32), 1)
    with pytest.raises(TypeError):
        _native.Model(X.tolist(), None, model.method, model.settings)
    with pytest.raises(ValueError, match="`threads` must be at least 1"):
        model.score(X, 0)
    with pytest.raises(ValueError, match="row 0 has 2 features, expected 3"):
        model.score(np.ascontiguousarray(X[:, :2]), 1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "rows",
    [
        np.ones((5, 2)),
        np.array([[0.0], [1.0]]),
        np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]),
        np.arange(12.0).reshape(3, 4),
        X * 1e-12,
        X * 1e12,
    ],
    ids=["constant", "two", "flat", "wide", "tiny", "huge"],
)
@pytest.mark.parametrize("scale", ["none", "standard", "robust", "whiten"])
def test_degenerate_data_works(rows, scale):
    for cls in (lossdepth.LogisticDepth, lossdepth.HingeDepth):
        scores = cls(scale=scale).fit(rows).score_details(np.vstack([rows, rows + 1.0]))
        assert np.all((scores.depth >= 0.0) & (scores.depth <= 1.0 + 1e-9))
        assert np.isfinite(scores.error).all()
        assert np.isfinite(scores.stderr).all()
