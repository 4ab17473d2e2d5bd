"""The contract of scikit-learn, without exceptions."""

import pytest
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from lossdepth import LossDepth
from lossdepth._function import METHODS

ALL = [
    *(cls() for cls in METHODS.values()),
    LossDepth(),
    LossDepth(DecisionTreeClassifier(max_depth=1)),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ALL)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
