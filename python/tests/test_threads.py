"""Threads, processes, progress, and memory that does not grow."""

import os
import subprocess
import sys

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from numpy.testing import assert_array_equal
from sklearn.datasets import load_wine
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lossdepth
from lossdepth import LogisticDepth, SVMDepth
from lossdepth._function import METHODS
from lossdepth._progress import threads


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_detectors_in_parallel(backend, sample, queries):
    """Fitted ones and new ones, in other processes and threads."""
    kinds = [METHODS[name]() for name in ("logistic", "svm", "forest", "gp")]
    fitted = [kind.fit(sample[:60]) for kind in kinds]
    expected = [detector.score_samples(queries) for detector in fitted]

    def fit_and_score(detector, X, Z):
        return detector.set_params(n_jobs=2).fit(X).score_samples(Z)

    run = Parallel(n_jobs=2, backend=backend)
    scored = run(delayed(detector.score_samples)(queries) for detector in fitted)
    again = run(delayed(fit_and_score)(kind, sample[:60], queries) for kind in kinds)
    for a, b, c in zip(expected, scored, again, strict=True):
        assert_array_equal(a, b)
        assert_array_equal(a, c)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_detectors_in_a_graph_of_dask(scheduler, sample, queries):
    """Fitting and scoring as tasks of their own, whose results go from one to the other."""
    dask = pytest.importorskip("dask")
    kinds = [METHODS[name] for name in ("logistic", "svm", "forest", "gp")]
    expected = [kind().fit(sample[:60]).score_samples(queries) for kind in kinds]

    def fit(kind, X, n_jobs):
        return kind(n_jobs=n_jobs).fit(X)

    def score(detector, Z):
        return detector.score_samples(Z)

    settings = [(kind, n_jobs) for kind in kinds for n_jobs in (1, None)]
    fitted = [dask.delayed(fit)(kind, sample[:60], n_jobs) for kind, n_jobs in settings]
    scored = [dask.delayed(score)(detector, queries) for detector in fitted]
    found = dask.compute(*scored, scheduler=scheduler, num_workers=2)
    for (kind, _), depths in zip(settings, found, strict=True):
        assert_array_equal(depths, expected[kinds.index(kind)])


def test_threads_are_those_of_joblib(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = threads(-1)
    assert threads(None) == 1
    assert threads(3) == 3
    with parallel_config(n_jobs=5, backend="threading"):
        assert threads(None) == 5
    # What an outer pool leaves is for those who ask for all cores, not for a number.
    for limit, most in (("1", 1), ("2,1", 2), ("10000", cores), ("", cores), ("many", cores)):
        monkeypatch.setenv("OMP_NUM_THREADS", limit)
        assert threads(-1) == min(cores, most)
        assert threads(3) == 3


def test_worker_processes_share_the_cores():
    with parallel_config(backend="loky", inner_max_num_threads=1):
        assert Parallel(n_jobs=2)(delayed(threads)(-1) for _ in range(2)) == [1, 1]


def test_grid_search_with_a_scorer_of_ones_own():
    def mean_auc(detector, X, y):
        """Score what a detector is for: the known outliers should be shallow."""
        return roc_auc_score(y == 1, detector.score_samples(X))

    wine = load_wine()
    X, y = wine.data, np.where(wine.target == 0, 1, -1)
    pipeline = make_pipeline(StandardScaler(), SVMDepth())
    grid = {"svmdepth__reg": [0.01, 1.0], "svmdepth__gamma": ["auto", 0.5]}
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(pipeline, grid, scoring=mean_auc, cv=folds, n_jobs=2).fit(X, y)
    assert set(search.best_params_) == set(grid)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert search.predict(X).shape == (178,)


@pytest.mark.parametrize("installed", [True, False], ids=["tqdm", "without"])
def test_progress(installed, sample, queries, capsys, monkeypatch):
    if installed:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    quiet = LogisticDepth().fit(sample)
    assert capsys.readouterr().err == ""
    loud = LogisticDepth(verbose=True).fit(sample)
    assert capsys.readouterr().err == ""
    assert loud.offset_ == quiet.offset_
    assert "LogisticDepth threshold" in (said := capsys.readouterr().err)
    assert "200/200" in said
    many = np.tile(queries, (8, 1))
    a, b = quiet.score_details(many), loud.score_details(many)
    assert "LogisticDepth score" in (said := capsys.readouterr().err)
    assert "320/320" in said
    for name in ("depth", "error", "stderr", "iterations", "stop"):
        assert_array_equal(getattr(a, name), getattr(b, name))
    assert capsys.readouterr().out == ""


GROWTH = """
import gc, resource, sys, warnings
import numpy as np
import lossdepth
from lossdepth._function import METHODS
rng = np.random.default_rng(0)
# The slow ones get few rows, of many columns.
small = {"gp": {}, "mlp": {"hidden": 2, "max_iter": 20}}
names = [sys.argv[1]] if sys.argv[1] in small else [name for name in METHODS if name not in small]
X = rng.normal(size=(6, 80) if sys.argv[1] in small else (200, 2))
def size():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
def cycles(count):
    for i in range(count):
        name = names[i % len(names)]
        detector = METHODS[name](n_jobs=1 + i % 2, **small.get(name, {})).fit(X)
        detector.score_details(X[:5]).to_pandas()
        detector.explain(X[:2])
warnings.simplefilter("ignore")
cycles(200)
sizes = [size()]
for _ in range(4):
    cycles(250)
    sizes.append(size())
print(min(after - before for before, after in zip(sizes, sizes[1:])))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")  # noqa: PTH110
@pytest.mark.parametrize("method", ["others", "gp", "mlp"])
def test_memory_does_not_grow(method, tmp_path):
    command = [sys.executable, "-c", GROWTH, method]
    # One arena, or the allocator keeps what it likes for threads that are gone.
    settings = {"cwd": tmp_path, "env": os.environ | {"MALLOC_ARENA_MAX": "1"}}
    done = subprocess.run(command, capture_output=True, text=True, check=True, **settings)
    # What is kept by each cycle is there in each quarter; pages that the system takes and brings
    # back are not. If a cycle kept no more than its table, a quarter would add .8 MB, or .95 MB.
    assert int(done.stdout) < 400_000, done.stdout


def test_function_aliases(sample, queries):
    halfspace = lossdepth.depth(queries, sample, "halfspace")
    assert_array_equal(lossdepth.halfspace(queries, sample), halfspace)
    for name, method in (("Tukey", "halfspace"), ("LR", "logistic"), ("RF", "forest")):
        got = lossdepth.depth(queries[:5], sample, name)
        assert_array_equal(got, lossdepth.depth(queries[:5], sample, method))
    depths, directions = lossdepth.halfspace(queries, sample, return_direction=True)
    assert_array_equal(depths, halfspace)
    assert directions.shape == (40, 3)
    with pytest.raises(TypeError, match="method `halfspace` has no setting `reg`; it has scale"):
        lossdepth.halfspace(queries, sample, reg=1.0)
