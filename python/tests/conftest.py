"""What the tests share."""

import os

# Before SciPy is imported: without it scikit-learn skips its check of array API inputs.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")


@pytest.fixture
def sample():
    """Return two hundred rows of three correlated columns."""
    rng = np.random.default_rng(7)
    return rng.normal(size=(200, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.2], [0.0, 0.0, 2.0]])


@pytest.fixture
def queries():
    """Return forty rows, some of them far out."""
    return np.random.default_rng(8).normal(scale=3.0, size=(40, 3))
