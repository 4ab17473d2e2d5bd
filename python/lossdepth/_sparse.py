"""Sparse matrices and models of sparse rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from lossdepth import _native

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float64], int]

# Of a matrix with more numbers, zeros included, the rows stay as they are if they are sparse.
SMALL = 1 << 22
# A larger share of numbers other than 0 is handled faster as dense rows (heuristic).
_SHARE = 0.1
# How many columns an explanation names for each row.
MOST_COLUMNS = 100


def stays_sparse(X: Any, settings: dict[str, Any]) -> bool:
    """Tell whether the rows of a sparse matrix are better not made dense, and need not be."""
    if len(X.shape) != 2:  # noqa: PLR2004
        return False
    places = X.shape[0] * X.shape[1]
    return (
        places > SMALL
        and X.nnz <= _SHARE * places
        and settings["scale"] in ("none", "standard")
        and settings["reference_rows"] == "all"
        and settings.get("value", "risk") == "risk"
        and settings.get("kernel") != "precomputed"
    )


def sparse_rows(X: Any) -> Rows:
    """Return what the native core takes: starts, columns, numbers and the width."""
    X = csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.shape[1] > np.iinfo(np.uint32).max:
        raise ValueError(f"a sparse matrix of {X.shape[1]} columns has too many")
    return (
        np.asarray(X.indptr, dtype=np.int64),
        np.asarray(X.indices, dtype=np.uint32),
        np.asarray(X.data, dtype=np.float64),
        int(X.shape[1]),
    )


def sparse_model(model: Any) -> _native.SparseModel | None:
    """Return the model if it is one of sparse rows."""
    return model if isinstance(model, _native.SparseModel) else None


def dense_model(model: Any, what: str) -> _native.Model:
    """Return a model of dense rows, or say what it would be needed for."""
    if isinstance(model, _native.SparseModel):
        raise TypeError(f"{what} need dense rows: the reference was a large sparse matrix")
    dense: _native.Model = model
    return dense


def explained(parts: dict[str, Any], width: int) -> dict[str, Any]:
    """Turn the columns of an explanation into sparse arrays."""
    starts, columns = parts.pop("starts"), parts.pop("columns")
    shape = (len(starts) - 1, width)
    for name in ("weights", "contributions"):
        numbers = parts[name]
        parts[name] = csr_array((numbers, columns, starts), shape=shape) if len(columns) else None
    if not len(columns):
        parts["rest"] = None
    return parts
