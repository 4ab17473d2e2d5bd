"""Any classifier as a depth, and the native twins of some."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import lossdepth
from lossdepth import ForestDepth, GPDepth, LogisticDepth, LossDepth, SVMDepth

DATA = {"wine": load_wine, "breast_cancer": load_breast_cancer, "digits": load_digits}
each = pytest.mark.parametrize("name", DATA)


def load(name, rows=150):
    """Return a reference, and queries in and around it."""
    X = StandardScaler().fit_transform(DATA[name]().data[: rows + 3])
    return X[3:], np.vstack([X[:3], 2.0 * X[:1], X[3:].mean(axis=0)])


def both(estimator, X, Z, weights=None, **settings):
    """Return the depths that the twin computes and those of training, for the same classifier."""
    fast = LossDepth(estimator, fast=True, contamination=None, **settings)
    slow = LossDepth(estimator, fast=False, contamination=None, **settings)
    fast.fit(X, sample_weight=weights)
    slow.fit(X, sample_weight=weights)
    assert slow.twin_ is None
    return fast, fast.score_details(Z), slow.score_samples(Z)


@each
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [0.1, 100.0])
@pytest.mark.parametrize(
    "settings",
    [{}, {"fit_intercept": False}, {"solver": "liblinear", "max_iter": 10_000}],
    ids=["free", "none", "penalised"],
)
def test_logistic_regression(name, weighted, C, settings):
    X, Z = load(name)
    weights = np.random.default_rng(0).uniform(size=len(X)) if weighted else None
    settings = {"solver": "newton-cholesky", "tol": 1e-10} | settings
    fast, found, expected = both(LogisticRegression(C=C, **settings), X, Z, weights)
    assert isinstance(fast.twin_, LogisticDepth)
    assert fast.twin_.reg == pytest.approx(1 / (2 * np.log(2) * C))
    # liblinear adds up its dual gap, newton-cholesky is exact.
    assert_allclose(found.depth, expected, atol=2e-5, rtol=0)


@each
def test_copies_are_weights_of_a_larger_total(name):
    X, Z = load(name, rows=60)
    counts = np.random.default_rng(0).integers(0, 3, size=len(X))
    classifier = LogisticRegression(C=0.1, solver="newton-cholesky", tol=1e-10)
    _, repeated, expected = both(classifier, X, Z, counts, weighting="repeat")
    assert_allclose(repeated.depth, expected, atol=2e-6, rtol=0)
    _, weighted, _ = both(classifier, X, Z, counts, total_weight=2.0 * counts.sum())
    assert_allclose(repeated.depth, weighted.depth, atol=2e-6, rtol=0)


@each
@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "rbf", "gamma": 0.05},
        {"kernel": "rbf", "gamma": "scale"},
        {"kernel": "linear"},
        {"kernel": "poly", "degree": 2, "gamma": 0.1, "coef0": 1.0},
    ],
    ids=["rbf", "scale", "linear", "poly"],
)
@pytest.mark.parametrize("C", [1.0, 50.0])
# With a polynomial kernel of large values the proven error may be a few times the tolerance.
@pytest.mark.filterwarnings(
    "ignore:.*less exact than asked for:sklearn.exceptions.ConvergenceWarning"
)
def test_svc(name, kernel, C):
    X, Z = load(name)
    fast, found, expected = both(SVC(C=C, tol=1e-9, **kernel), X, Z, loss="hinge")
    assert isinstance(fast.twin_, SVMDepth)
    assert_allclose(found.depth, expected, atol=5e-6, rtol=0)
    if kernel.get("gamma") == "scale":
        assert fast.estimator_.gamma == pytest.approx(1 / (X.shape[1] * X.var()))


@each
@pytest.mark.parametrize(
    ("loss", "settings"),
    [("log", {"max_depth": 2}), ("brier", {"max_depth": 2, "max_features": 1})],
    ids=["log", "brier"],
)
def test_random_forest(name, loss, settings):
    # Without ties, on which scikit-learn and the twin differ, and with little noise.
    X, Z = load(name)
    X = X + 1e-3 * np.random.default_rng(0).normal(size=X.shape)
    forest = RandomForestClassifier(n_estimators=500, bootstrap=False, **settings)
    fast, found, expected = both(forest, X, Z[:2], loss=loss)
    assert isinstance(fast.twin_, ForestDepth)
    assert_allclose(found.depth, expected, atol=0.03, rtol=0)


@each
@pytest.mark.parametrize(
    "kernel",
    [None, RBF(3.0), RBF(8.0), ConstantKernel(1.0, "fixed") * RBF(2.0, "fixed")],
    ids=str,
)
def test_gaussian_process(name, kernel):
    X, Z = load(name, rows=80)
    optimizer = None if isinstance(kernel, RBF) else "fmin_l_bfgs_b"
    process = GaussianProcessClassifier(kernel, optimizer=optimizer, max_iter_predict=1000)
    fast, found, expected = both(process, X, Z, weighting="repeat")
    assert isinstance(fast.twin_, GPDepth)
    assert_allclose(found.depth, expected, atol=2e-6, rtol=0)


WITHOUT = [
    (LogisticRegression(class_weight="balanced"), {}, "class_weight='balanced'"),
    (LogisticRegression(C=np.inf), {}, "`C=inf`"),
    (LogisticRegression(l1_ratio=0.5, solver="saga"), {}, "only an L2 penalty"),
    (LogisticRegression(), {"loss": "brier"}, "for loss log only"),
    (
        LogisticRegression(solver="liblinear", intercept_scaling=5.0),
        {},
        "intercept_scaling=5.0",
    ),
    (SVC(kernel="sigmoid"), {"loss": "hinge"}, "kernel='sigmoid'"),
    (SVC(gamma="auto"), {"loss": "hinge"}, "must be a number"),
    (SVC(class_weight="balanced"), {"loss": "hinge"}, "class_weight"),
    (RandomForestClassifier(), {}, "bootstrap=True"),
    (RandomForestClassifier(bootstrap=False), {}, "max_depth"),
    (
        RandomForestClassifier(bootstrap=False, max_depth=2, n_estimators=10),
        {},
        "fewer than 100 trees",
    ),
    (
        RandomForestClassifier(bootstrap=False, max_depth=2, min_samples_leaf=3),
        {},
        "min_samples_leaf=3",
    ),
    (GaussianProcessClassifier(), {}, "takes no weights"),
    (GaussianProcessClassifier(RBF()), {"weighting": "repeat"}, "must be fixed"),
    (
        GaussianProcessClassifier(Matern(), optimizer=None),
        {"weighting": "repeat"},
        "only the kernel RBF",
    ),
    (
        GaussianProcessClassifier(2.0 * RBF(), optimizer=None),
        {"weighting": "repeat"},
        "only the kernel RBF",
    ),
    (
        GaussianProcessClassifier(RBF([1.0, 2.0, 3.0]), optimizer=None),
        {"weighting": "repeat"},
        "one length scale",
    ),
    (make_pipeline(StandardScaler(), LogisticRegression()), {}, "Pipeline has no native twin"),
    (GaussianNB(), {}, "GaussianNB has no native twin"),
]


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(("estimator", "settings", "reason"), WITHOUT, ids=str)
def test_what_has_no_twin_says_why(estimator, settings, reason, sample):
    with pytest.raises(ValueError, match="`fast=True` is impossible for this") as got:
        LossDepth(estimator, fast=True, **settings).fit(sample)
    assert reason in str(got.value)


def test_a_subclass_has_no_twin(sample):
    class Mine(LogisticRegression):
        pass

    with pytest.raises(ValueError, match="Mine has no native twin"):
        LossDepth(Mine(), fast=True).fit(sample)


def test_it_says_what_it_does(sample, capsys):
    detector = LossDepth(LogisticRegression(C=5.0), verbose=1).fit(sample)
    said = capsys.readouterr().err
    assert "LogisticRegression is computed natively, by LogisticDepth(reg=0.144" in said
    assert isinstance(detector.twin_, LogisticDepth)
    LossDepth(GaussianNB(), verbose=1, contamination=None).fit(sample)
    assert "GaussianNB has no native twin: it is trained for each query" in capsys.readouterr().err
    LossDepth(LogisticRegression()).fit(sample)
    assert capsys.readouterr().err == ""


def literal(estimator, X, z, loss, weights=None):
    """The definition, in a few lines."""
    share = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
    model = clone(estimator).fit(
        np.vstack([X, z]), [1] * len(X) + [0], sample_weight=np.append(share / 2, 0.5)
    )
    if loss == "hinge":
        rows = np.maximum(0, 1 - model.decision_function(X))
        query = np.maximum(0, 1 + model.decision_function(z[None])[0])
        return share @ rows / 2 + query / 2
    p, q = model.predict_proba(X)[:, 1], model.predict_proba(z[None])[0, 0]
    value = {
        "log": lambda p: -np.log2(np.clip(p, np.finfo(float).eps, 1)),
        "brier": lambda p: 4 * (1 - p) ** 2,
        "zero-one": lambda p: (p < 0.5).astype(float),
    }[loss]
    return share @ value(p) / 2 + value(np.array(q)) / 2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("estimator", "loss"),
    [
        (DecisionTreeClassifier(max_depth=2, random_state=0), "log"),
        (GaussianNB(var_smoothing=0.1), "log"),
        (GaussianNB(var_smoothing=0.1), "brier"),
        (GaussianNB(var_smoothing=0.1), "zero-one"),
        (HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=1), "log"),
        (LinearSVC(), "hinge"),
        (RidgeClassifier(), "hinge"),
    ],
    ids=str,
)
def test_the_definition(estimator, loss, weighted, sample, queries):
    weights = np.random.default_rng(0).uniform(size=len(sample)) if weighted else None
    detector = LossDepth(estimator, loss=loss, contamination=None)
    depths = detector.fit(sample, sample_weight=weights).score_samples(queries[:4])
    expected = [literal(detector.estimator_, sample, z, loss, weights) for z in queries[:4]]
    assert_allclose(depths, expected, rtol=1e-10, atol=1e-12)


def test_repeat_is_for_those_without_weights(sample, queries):
    neighbours = KNeighborsClassifier(5)
    with pytest.raises(
        ValueError, match='takes no `sample_weight` in `fit`: use `weighting="repeat"`'
    ):
        LossDepth(neighbours).fit(sample)
    counts = np.random.default_rng(0).integers(0, 3, size=len(sample))
    detector = LossDepth(neighbours, weighting="repeat", contamination=None)
    found = detector.fit(sample, sample_weight=counts).score_samples(queries[:3])
    X = np.repeat(sample, counts, axis=0)
    for z, depth in zip(queries, found, strict=False):
        model = KNeighborsClassifier(5).fit(
            np.vstack([X, np.repeat(z[None], len(X), axis=0)]), np.repeat([1, 0], len(X))
        )
        p = np.clip(model.predict_proba(X)[:, 1], np.finfo(float).eps, 1)
        q = model.predict_proba(z[None])[0, 0]
        assert depth == pytest.approx(-0.5 * np.log2(p).mean() - 0.5 * np.log2(q), rel=1e-12)
    with pytest.raises(ValueError, match=r"row 3 has 0\.5"):
        detector.fit(sample, sample_weight=np.where(np.arange(200) == 3, 0.5, 1.0))


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("nested", [False, True])
def test_weights_reach_the_last_step(routing, nested, sample, queries):
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    last = make_pipeline(StandardScaler(), tree) if nested else tree
    pipeline = Pipeline([("scale", StandardScaler()), ("last", last)])
    with sklearn.config_context(enable_metadata_routing=routing):
        detector = LossDepth(pipeline, contamination=None).fit(sample)
        found = detector.score_samples(queries[:3])
    plain = LossDepth(tree, contamination=None).fit(sample).score_samples(queries[:3])
    assert_allclose(found, plain, atol=1e-12)


def test_a_pipeline_of_one_step_is_that_step(sample):
    detector = LossDepth(make_pipeline(LogisticRegression()), contamination=None).fit(sample)
    assert isinstance(detector.twin_, LogisticDepth)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_data_frames_reach_the_classifier_with_names_and_types(library):
    rng = np.random.default_rng(0)
    frame = library.DataFrame(
        {
            "size": rng.normal(size=60),
            "colour": ["red", "blue", "blue"] * 20,
            "pay": [1, 2, 3, 4] * 15,
        }
    )
    columns = make_column_transformer(
        (StandardScaler(), ["size", "pay"]), (OneHotEncoder(handle_unknown="ignore"), ["colour"])
    )
    model = make_pipeline(columns, LogisticRegression(C=1e3))
    detector = LossDepth(model).fit(frame)
    odd = library.DataFrame({"size": [0.0, 0.0], "colour": ["blue", "green"], "pay": [2, 2]})
    usual, unknown = detector.score_samples(odd)
    assert unknown < 0.2
    assert usual > 0.7
    assert detector.feature_names_in_.tolist() == ["size", "colour", "pay"]
    with pytest.raises(ValueError, match="feature names"):
        detector.score_samples(odd[["colour", "size", "pay"]])
    with pytest.raises(ValueError, match="at least 2 rows, got 1"):
        detector.fit(frame[:1])


def test_missing_values_are_for_classifiers_that_take_them(sample):
    holes = sample.copy()
    holes[5, 1] = np.nan
    trees = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=1)
    detector = LossDepth(trees, contamination=None).fit(holes)
    assert np.isfinite(detector.score_samples(holes[:6])).all()
    for fast in (True, False):
        with pytest.raises(ValueError, match=r"row 5, column 1 is not finite \(NaN\)"):
            LossDepth(LogisticRegression(), fast=fast).fit(holes)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_parallel_queries_score_the_same(backend, sample, queries):
    detector = LossDepth(DecisionTreeClassifier(max_depth=2, max_features=1), contamination=None)
    expected = detector.fit(sample).score_samples(queries)
    order = np.random.default_rng(0).permutation(len(queries))
    assert_array_equal(detector.score_samples(queries[order]), expected[order])
    with parallel_config(backend=backend, n_jobs=2):
        assert_array_equal(detector.score_samples(queries), expected)
    again = pickle.loads(pickle.dumps(detector.set_params(n_jobs=2, verbose=1)))
    assert_array_equal(again.score_samples(queries), expected)


def test_the_twin_goes_to_a_file(sample, queries, tmp_path):
    detector = LossDepth(LogisticRegression(C=3.0), contamination=0.2).fit(sample)
    detector.save(tmp_path / "m.safetensors")
    loaded = lossdepth.load(tmp_path / "m.safetensors")
    assert isinstance(loaded, LogisticDepth)
    assert_array_equal(loaded.decision_function(queries), detector.decision_function(queries))
    trained = LossDepth(GaussianNB(), contamination=None).fit(sample)
    with pytest.raises(AttributeError, match="save"):
        trained.save(tmp_path / "m.safetensors")


def test_random_states_that_are_none_are_fixed(sample, queries):
    forest = RandomForestClassifier(n_estimators=5, max_depth=2)
    a = LossDepth(forest, contamination=None).fit(sample)
    assert a.estimator_.random_state == 0
    assert forest.random_state is None
    assert_array_equal(a.score_samples(queries[:3]), a.score_samples(queries[:3]))
    other = LossDepth(forest, contamination=None, random_state=1).fit(sample)
    assert (other.score_samples(queries[:3]) != a.score_samples(queries[:3])).any()
    free = LossDepth(forest, contamination=None, random_state=None).fit(sample)
    assert free.estimator_.random_state is None


@pytest.mark.parametrize("estimator", [LogisticRegression(), DecisionTreeClassifier(max_depth=1)])
def test_it_is_a_detector(estimator, sample):
    X = sample[:60]
    detector = LossDepth(estimator, contamination=0.1).fit(X)
    depths = detector.score_samples(X)
    assert (depths < detector.offset_).sum() <= 6
    assert_array_equal(detector.decision_function(X), depths - detector.offset_)
    assert_array_equal(detector.fit_predict(X), detector.predict(X))
    details = detector.score_details(pd.DataFrame(X, index=np.arange(60) + 5))
    assert_array_equal(details.depth, depths)
    assert np.isfinite(details.to_pandas()["stderr"]).all()
    assert details.to_pandas().index[0] == 5
    assert hasattr(detector, "explain") == (detector.twin_ is not None)


@pytest.mark.parametrize("estimator", [LogisticRegression(), GaussianNB()])
@pytest.mark.parametrize("contamination", [0.1, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_another_threshold(estimator, contamination, weighted, sample):
    X = sample[:40]
    weights = np.arange(40) % 4 if weighted else None
    detector = LossDepth(estimator, contamination=contamination).fit(X, sample_weight=weights)
    expected = LossDepth(estimator, contamination=0.3).fit(X, sample_weight=weights)
    detector.set_threshold(contamination=0.3)
    assert detector.offset_ == expected.offset_
    assert_array_equal(detector.predict(X), expected.predict(X))
    assert detector.set_threshold(threshold=0.5).offset_ == 0.5


def test_p_values_of_the_twin(sample, queries):
    detector = LossDepth(LogisticRegression(C=5.0)).fit(sample)
    p = detector.p_values(queries)
    assert_array_equal(p, detector.twin_.p_values(queries))
    assert detector.p_values().shape == (200,)
    with pytest.raises(TypeError, match="p-values take a native twin, which this GaussianNB does"):
        LossDepth(GaussianNB(), contamination=None).fit(sample).p_values(queries)


def test_without_contamination_nothing_is_trained_in_fit(sample):
    class Counting(ClassifierMixin, BaseEstimator):
        fits = 0

        def fit(self, X, y, sample_weight=None):  # noqa: ARG002
            Counting.fits += 1
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.ones(len(X), dtype=int)

    detector = LossDepth(Counting(), loss="zero-one", contamination=None).fit(sample)
    assert Counting.fits == 0
    # Always for the sample: right about all of it, wrong about the query.
    assert_array_equal(detector.score_samples(sample[:3]), [0.5] * 3)
    assert Counting.fits == 3
    for method in ("predict", "decision_function"):
        with pytest.raises(ValueError, match="without `contamination` there is no `offset_`"):
            getattr(detector, method)(sample)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (
            {"loss": "log2"},
            ValueError,
            "`loss` must be one of log, brier, zero-one, hinge, got `log2`",
        ),
        ({"weighting": "copies"}, ValueError, "`weighting` must be one of sample_weight, repeat"),
        ({"fast": "yes"}, ValueError, '`fast` must be "auto", True or False'),
        ({"random_state": "a"}, TypeError, "`random_state` must be None or an int"),
        ({"total_weight": 0.0}, ValueError, "`total_weight` must be positive"),
        ({"contamination": 0.7}, ValueError, "`contamination` must be between 0 and 0.5"),
        ({"estimator": LinearRegression()}, TypeError, "`estimator` must be a classifier"),
        ({"estimator": LinearSVC()}, ValueError, "loss `log` needs a `predict_proba`"),
        (
            {"estimator": GaussianNB(), "loss": "hinge"},
            ValueError,
            "loss `hinge` needs a `decision_function`",
        ),
        ({"estimator": SVC(kernel="precomputed")}, ValueError, "must take rows"),
    ],
    ids=str,
)
def test_bad_settings(settings, error, message, sample):
    with pytest.raises(error, match=message):
        LossDepth(**settings).fit(sample)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 5, "has 5 weights for 200 rows"),
        ([1.0] * 7 + [-1.0] + [1.0] * 192, "row 7 has -1.0"),
        ([np.nan] + [1.0] * 199, "row 0 has nan"),
        (np.zeros(200), "must not be zero for every row"),
    ],
)
def test_bad_weights(weights, message, sample):
    with pytest.raises(ValueError, match=message):
        LossDepth(GaussianNB()).fit(sample, sample_weight=weights)


def test_not_fitted(sample):
    with pytest.raises(NotFittedError):
        LossDepth().score_samples(sample)


def test_sgd_is_a_classifier_like_any_other(sample, queries):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detector = LossDepth(SGDClassifier(loss="hinge", max_iter=5), loss="hinge")
        depths = detector.set_params(contamination=None).fit(sample).score_samples(queries[:2])
    assert np.isfinite(depths).all()
