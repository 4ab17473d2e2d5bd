"""Sparse matrices: the depths of the same rows made dense, large ones without making them so."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils import get_tags

import lossdepth
from lossdepth import (
    LogisticDepth,
    _memory,
    _reading,
    _scoring,
)
from lossdepth._function import METHODS

# Tests that are not about exactness do not mind a loose error.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


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
