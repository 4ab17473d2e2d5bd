"""The contract of scikit-learn, without exceptions."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from lossdepth._function import METHODS


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([cls() for cls in METHODS.values()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
