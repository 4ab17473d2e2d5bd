"""What users rely on beyond scikit-learn's contract."""

import copy
import importlib.metadata
import pickle
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lossdepth
from lossdepth import ExponentialDepth, HingeDepth, LogisticDepth, SquaredHingeDepth

ALL = [LogisticDepth, HingeDepth, SquaredHingeDepth, ExponentialDepth]
each = pytest.mark.parametrize("cls", ALL)
# Tests that are not about exactness do not mind a loose error.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_version_is_that_of_the_distribution():
    assert lossdepth.__version__ == importlib.metadata.version("lossdepth")


@each
def test_depth_is_high_in_the_middle_and_low_outside(cls, sample):
    depths = cls(reg=0.1).fit(sample).score_samples([sample.mean(axis=0), [30.0, -30.0, 30.0]])
    assert depths.dtype == np.float64
    assert 0.0 <= depths[1] < 0.2
    assert 0.9 < depths[0] <= 1.0


def unaligned(X):
    table = np.zeros(len(X), dtype=[("pad", "u1"), ("row", "f8", X.shape[1])])
    table["row"] = X
    return table["row"]


@pytest.mark.parametrize(
    "form",
    [
        np.asfortranarray,
        lambda X: X.tolist(),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X[::-1].copy()[::-1],
        lambda X: X.astype(">f8"),
        lambda X: X.astype(object),
        unaligned,
        lambda X: pd.DataFrame(X, columns=list("abc")),
        lambda X: pl.DataFrame(X, schema=list("abc")),
    ],
    ids=[
        "fortran",
        "list",
        "strided",
        "backward",
        "swapped",
        "object",
        "unaligned",
        "pandas",
        "polars",
    ],
)
def test_the_form_of_the_input_does_not_matter(form, sample, queries):
    expected = LogisticDepth().fit(sample)
    got = LogisticDepth().fit(form(sample))
    assert got.offset_ == expected.offset_
    assert_array_equal(got.score_samples(form(queries)), expected.score_samples(queries))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int8, np.uint16, bool])
def test_other_numbers_become_doubles(dtype, sample):
    X = np.abs(sample * 4).astype(dtype)
    expected = LogisticDepth().fit(X.astype(np.float64)).score_samples(X.astype(np.float64))
    assert_array_equal(LogisticDepth().fit(X).score_samples(X), expected)


def test_read_only_input_is_neither_refused_nor_changed(sample, queries):
    expected = LogisticDepth().fit(sample).score_samples(queries)
    before = sample.copy(), queries.copy()
    sample.flags.writeable = queries.flags.writeable = False
    assert_array_equal(LogisticDepth(scale="mcd").fit(sample).predict(queries).shape, (40,))
    assert_array_equal(LogisticDepth().fit(sample).score_samples(queries), expected)
    assert_array_equal(sample, before[0])
    assert_array_equal(queries, before[1])


def test_feature_names(sample, queries):
    frame = pd.DataFrame(sample, columns=["age", "height", "pay"])
    detector = LogisticDepth().fit(frame)
    assert detector.feature_names_in_.tolist() == ["age", "height", "pay"]
    assert detector.n_features_in_ == 3
    wrong = pd.DataFrame(queries, columns=["age", "pay", "height"])
    with pytest.raises(ValueError, match="feature names should match"):
        detector.predict(wrong)


@each
@pytest.mark.parametrize("scale", ["none", "standard", "robust", "whiten", "mcd"])
def test_weight_k_is_k_copies(cls, scale, sample, queries):
    weights = np.random.default_rng(0).integers(0, 4, size=len(sample))
    weighted = cls(reg=0.1, scale=scale).fit(sample, sample_weight=weights)
    repeated = cls(reg=0.1, scale=scale).fit(np.repeat(sample, weights, axis=0))
    a, b = weighted.score_details(queries), repeated.score_details(queries)
    assert np.all(np.abs(a.depth - b.depth) <= a.error + b.error + 1e-9)
    assert abs(weighted.offset_ - repeated.offset_) < 1e-6


@pytest.mark.parametrize("cls", ALL)
def test_weight_k_has_the_standard_error_of_k_copies(cls, sample, queries):
    weights = np.random.default_rng(0).integers(0, 4, size=len(sample))
    weighted = cls(reg=0.1).fit(sample, sample_weight=weights).score_details(queries)
    repeated = cls(reg=0.1).fit(np.repeat(sample, weights, axis=0)).score_details(queries)
    np.testing.assert_allclose(weighted.stderr, repeated.stderr, rtol=1e-4)


def test_weights_of_one_are_no_weights(sample, queries):
    plain = LogisticDepth().fit(sample)
    for ones in (np.ones(200), [1] * 200, 1, 1.0, np.ones(200, dtype=np.float32)):
        other = LogisticDepth().fit(sample, sample_weight=ones)
        assert_array_equal(other.score_samples(queries), plain.score_samples(queries))
        assert other.offset_ == plain.offset_


@each
def test_a_score_depends_on_model_and_row_alone(cls, sample):
    queries = np.random.default_rng(3).normal(scale=3.0, size=(500, 3))
    detector = cls(reg=0.01).fit(sample)
    expected = detector.score_details(queries)
    order = np.random.default_rng(4).permutation(500)
    assert_array_equal(detector.score_samples(queries[order]), expected.depth[order])
    assert_array_equal(detector.score_samples(queries[100:137]), expected.depth[100:137])
    alone = [detector.score_samples(queries[i : i + 1])[0] for i in range(20)]
    assert_array_equal(alone, expected.depth[:20])
    for n_jobs in (1, 2, 3, -1):
        got = detector.set_params(n_jobs=n_jobs).score_details(queries)
        for name in ("depth", "error", "stderr", "iterations", "stop"):
            assert_array_equal(getattr(got, name), getattr(expected, name))


def test_n_jobs_follows_joblib(sample, queries, monkeypatch):
    detector = LogisticDepth().fit(sample)
    asked = []

    class Spy:
        compared = None

        def score(self, rows, threads, *, depths_only):
            asked.append(threads)
            assert depths_only
            return detector_model.score(rows, threads, depths_only=depths_only)

    detector_model = detector.model_
    monkeypatch.setattr(detector, "model_", Spy())
    detector.score_samples(queries)
    with parallel_config(n_jobs=3, backend="threading"):
        detector.score_samples(queries)
    detector.set_params(n_jobs=2).score_samples(queries)
    assert asked == [1, 3, 2]


def pickled(thing):
    return pickle.loads(pickle.dumps(thing))


@each
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickled])
def test_copies_score_the_same_bits(cls, again, sample, queries):
    weights = np.random.default_rng(0).uniform(size=len(sample))
    detector = cls(reg=0.1, scale="mcd", tol=1e-8).fit(sample, sample_weight=weights)
    other = again(detector)
    assert other.get_params() == detector.get_params()
    assert_array_equal(other.decision_function(queries), detector.decision_function(queries))
    assert_array_equal(other.score_details(queries).error, detector.score_details(queries).error)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_the_native_model_pickles(protocol, sample, queries):
    detector = LogisticDepth(variant="constrained", radius=2.0, intercept="penalised")
    model = detector.fit(sample).model_
    other = pickle.loads(pickle.dumps(model, protocol))
    for a, b in zip(model.score(queries, 1), other.score(queries, 1), strict=True):
        assert_array_equal(a, b)
    assert repr(model) == "<lossdepth model: logistic, 200 reference rows, 3 columns>"
    assert repr(other) == repr(model)


def test_clone_keeps_parameters_and_drops_the_fit(sample):
    reg = np.float64(0.5)
    detector = LogisticDepth(reg=reg, scale="robust").fit(sample)
    fresh = clone(detector)
    assert fresh.get_params() == detector.get_params()
    assert detector.reg is reg
    assert not hasattr(fresh, "model_")


def test_pipelines_and_searches(sample, queries):
    direct = LogisticDepth(scale="standard").fit(sample).score_samples(queries)
    pipeline = make_pipeline(StandardScaler(), LogisticDepth()).fit(sample)
    np.testing.assert_allclose(pipeline.score_samples(queries), direct, atol=1e-6)
    mean = lambda detector, X, _=None: detector.score_samples(X).mean()  # noqa: E731
    search = GridSearchCV(LogisticDepth(), {"reg": [0.1, 1.0]}, cv=2, scoring=mean)
    assert search.fit(sample).best_params_["reg"] in (0.1, 1.0)


@pytest.mark.parametrize("contamination", [0.0, 0.01, 0.05, 0.1, 0.29, 0.499, 0.5])
def test_offset_calls_the_given_share_outlying(contamination, sample):
    detector = LogisticDepth(contamination=contamination).fit(sample)
    depths = detector.score_samples(sample)
    outliers = int(round(contamination * 200, 9))
    assert detector.offset_ == np.sort(depths)[outliers]
    assert (detector.predict(sample) == -1).sum() == outliers
    assert_array_equal(detector.decision_function(sample), depths - detector.offset_)
    assert_array_equal(detector.fit_predict(sample), detector.predict(sample))


def test_offset_with_ties_and_weights():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [2.0], [3.0], [4.0], [4.0], [9.0]])
    weights = [1, 1, 0, 1, 1, 2, 1, 1, 2]
    detector = LogisticDepth(contamination=0.25).fit(X, sample_weight=weights)
    depths = detector.score_samples(X)
    mass = np.array(weights) / 10

    def below(depth):
        return mass[depths < depth].sum()

    allowed = [t for t, w in zip(depths, mass, strict=True) if w > 0 and below(t) <= 0.25 + 1e-12]
    assert detector.offset_ == max(allowed)
    repeated = LogisticDepth(contamination=0.25).fit(np.repeat(X, weights, axis=0))
    assert_array_equal(repeated.predict(X), detector.predict(X))


def test_score_details(sample, queries):
    frame = pd.DataFrame(queries, columns=list("abc"), index=[f"q{i}" for i in range(40)])
    detector = LogisticDepth().fit(pd.DataFrame(sample, columns=list("abc")))
    scores = detector.score_details(frame)
    assert len(scores) == 40
    assert scores.depth.dtype == scores.error.dtype == scores.stderr.dtype == np.float64
    assert scores.iterations.dtype == np.int64
    assert scores.converged.dtype == bool
    assert scores.converged.all()
    assert set(scores.stop) == {"converged"}
    assert np.all((scores.error >= 0) & (scores.error <= 1e-6) & (scores.stderr > 0))
    table = scores.to_pandas()
    assert table.index.tolist() == frame.index.tolist()
    assert_array_equal(table["depth"], scores.depth)
    assert_array_equal(scores.to_polars()["stderr"].to_numpy(), scores.stderr)
    assert scores.to_polars().columns == table.columns.tolist()
    text = repr(scores)
    assert text.startswith("Scores: 40 rows, all converged\n   row     depth     error    stderr")
    assert text.endswith("...")
    assert len(text.splitlines()) == 13
    with pytest.raises(AttributeError):
        scores.depth = scores.error


def test_percentiles_count_the_reference(sample, queries):
    weights = np.arange(len(sample)) % 3
    detector = LogisticDepth(reg=0.1).fit(sample, sample_weight=weights)
    scores = detector.score_details(queries)
    own = detector.score_samples(sample)
    expected = [weights[own <= depth].sum() / weights.sum() for depth in scores.depth]
    assert_allclose(scores.percentile, expected, atol=1e-12)
    assert_array_equal(scores.to_pandas()["percentile"], scores.percentile)
    assert_array_equal(pickle.loads(pickle.dumps(scores)).percentile, scores.percentile)
    settings = {"method": "logistic", "reg": 0.1, "sample_weight": weights}
    depths, shares = lossdepth.depth(queries, sample, return_percentile=True, **settings)
    assert_array_equal(depths, scores.depth)
    assert_array_equal(shares, scores.percentile)
    with pytest.raises(ValueError, match="do not go together"):
        lossdepth.depth(queries, sample, "halfspace", return_percentile=True, return_direction=True)
    # What was found is saved with the model, which scores the same.
    loaded = pickle.loads(pickle.dumps(detector))
    assert_array_equal(loaded.score_details(queries).percentile, scores.percentile)


def test_rows_that_do_not_converge_warn_once(sample, queries):
    hard = LogisticDepth(reg=1e-9, max_iter=1)
    with pytest.warns(ConvergenceWarning, match=r"^\d+ of 200 depths are less exact than") as got:
        assert hard.fit(sample).offset_ >= 0.0
    assert len(got) == 1
    assert got[0].filename == __file__
    with pytest.warns(ConvergenceWarning, match="the largest error is") as got:
        scores = hard.score_details(queries)
    assert len(got) == 1
    assert not scores.converged.all()
    assert f"{scores.error[~scores.converged].max():.2g}" in str(got[0].message)
    assert "not converged" in repr(scores)
    assert "iteration-limit" in repr(scores)


def test_a_scaling_that_falls_back_warns():
    X = np.random.default_rng(0).normal(size=(5, 4))
    with pytest.warns(UserWarning, match=r"scale `mcd` needs at least 9 different rows") as got:
        LogisticDepth(scale="mcd").fit(X)
    assert got[0].filename == __file__


@each
@pytest.mark.parametrize("intercept", ["free", "penalised", "none"])
@pytest.mark.parametrize("scale", ["none", "standard", "mcd"])
def test_contributions_add_up_exactly(cls, intercept, scale, sample, queries):
    detector = cls(reg=0.01, intercept=intercept, scale=scale).fit(sample)
    why = detector.explain(queries)
    total = why.baseline.copy()
    for j in range(3):
        total = total + why.contributions[:, j]
    assert_array_equal(total, why.value)
    assert_array_equal(why.depth, detector.score_samples(queries))
    linear = (why.weights * queries).sum(axis=1) + why.intercept
    np.testing.assert_allclose(linear, why.value, rtol=1e-9, atol=1e-9)
    at_mean = why.weights @ sample.mean(axis=0) + why.intercept
    np.testing.assert_allclose(at_mean, why.baseline, rtol=1e-9, atol=1e-9)
    assert why.influence.shape == (40, 200)
    assert np.isfinite(why.influence).all()
    assert np.abs(why.influence.mean(axis=1)).max() < 1e-6


def test_influence_predicts_what_removing_a_row_does(sample):
    query = [[3.0, 0.0, 3.0]]
    # Influences take the scaling for given.
    detector = LogisticDepth(tol=1e-9, scale="none").fit(sample)
    why = detector.explain(query)
    row = int(why.most_influential(1)[0, 0])
    without = LogisticDepth(tol=1e-9, scale="none").fit(np.delete(sample, row, axis=0))
    change = without.score_samples(query) - detector.score_samples(query)
    np.testing.assert_allclose(change, -why.influence[0, row] / 199, rtol=0.05)


def test_explanation_as_text_and_tables(sample):
    names = ["age", "height", "pay"]
    detector = LogisticDepth(reg=0.01).fit(pd.DataFrame(sample, columns=names))
    odd = pd.DataFrame([[0.0, 9.0, 0.0], [9.0, 0.0, 0.0]], columns=names, index=["a", "b"])
    why = detector.explain(odd)
    assert why.top_features(1) == [["height"], ["age"]]
    assert repr(why).startswith("Explanation: 2 rows, 3 features\n     0  depth 0.")
    table = why.to_pandas()
    assert table.columns.tolist() == ["row", "feature", "weight", "contribution"]
    assert table["row"].tolist() == ["a"] * 3 + ["b"] * 3
    assert table["contribution"].groupby(table["row"]).is_monotonic_increasing.all()
    assert why.to_pandas(top=1)["feature"].tolist() == ["height", "age"]
    assert_array_equal(why.to_polars(top=2)["weight"], why.to_pandas(top=2)["weight"])
    unnamed = LogisticDepth(reg=0.01).fit(sample).explain(odd.to_numpy())
    assert unnamed.feature_names.tolist() == ["x0", "x1", "x2"]
    assert unnamed.to_polars()["row"].to_list() == [0, 0, 0, 1, 1, 1]


def test_explanation_as_a_picture(sample):
    plt = pytest.importorskip("matplotlib.pyplot")
    X = np.hstack([sample, np.random.default_rng(0).normal(size=(200, 9))])
    why = LogisticDepth(reg=0.01).fit(X).explain(np.eye(12)[:2] * 9)
    ax = why.plot(1, top=4)
    assert [label.get_text() for label in ax.get_yticklabels()][-1] == "8 others"
    assert len(ax.patches) == 5
    lengths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(sum(lengths) + why.baseline[1], why.value[1])
    assert lengths[:4] == sorted(lengths[:4])
    assert ax.get_title().startswith("row 1: depth 0.")
    ax.figure.canvas.draw()
    assert why.plot(ax=ax) is ax
    plt.close("all")


def test_import_is_light(tmp_path):
    # scikit-learn may well import some of these by itself.
    code = (
        "import sys, sklearn.base, sklearn.utils.validation; before = set(sys.modules);"
        "import lossdepth; new = set(sys.modules) - before;"
        "print({'matplotlib', 'pandas', 'polars', 'pyarrow'} & new)"
    )
    # From elsewhere, so that the installed package is imported.
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_function_face(sample, queries):
    weights = np.arange(200.0)
    for cls in ALL:
        detector = cls(reg=0.1, scale="standard").fit(sample, sample_weight=weights)
        got = lossdepth.depth(
            queries, sample, cls._method, sample_weight=weights, n_jobs=2, reg=0.1, scale="standard"
        )
        assert_array_equal(got, detector.score_samples(queries))
    with pytest.raises(TypeError, match="method `auto` has no setting `gamma`; it has scale, "):
        lossdepth.depth(queries, sample, gamma=1.0)


def test_the_gil_is_released(sample):
    detector = LogisticDepth(reg=1e-4).fit(sample)
    queries = np.random.default_rng(0).normal(size=(20_000, 3))
    thread = threading.Thread(target=detector.score_samples, args=(queries,))
    thread.start()
    turns = 0
    while thread.is_alive():
        thread.join(0.001)
        turns += 1
    assert turns > 3


def test_intervals_hold_the_depth_and_widen_with_the_level():
    X = np.random.default_rng(0).normal(size=(60, 3))
    scores = LogisticDepth(reg=0.1).fit(X).score_details(X)
    (low, high), (lower, higher) = scores.interval(0.8), scores.interval()
    assert (lower >= 0).all()
    assert (higher <= 1).all()
    assert (lower < low).all()
    assert (low < scores.depth).all()
    assert (scores.depth < high).all()
    assert (high < higher).all()
    # Narrow enough for the first order to be all there is.
    first = scores.depth - 1e-3 * scores.stderr
    close = type(scores)(scores.depth, 0 * first, 1e-3 * scores.stderr, *[scores.iterations] * 2)
    assert np.allclose(close.interval(0.6826894921370859)[0], first, rtol=0, atol=1e-6)
    with pytest.raises(ValueError, match="`level` must be between 0 and 1, got 1"):
        scores.interval(1)
    with pytest.raises(TypeError, match="`level` must be a number, got 'high'"):
        scores.interval("high")
