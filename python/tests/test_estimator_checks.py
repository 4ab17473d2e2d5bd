"""The contract of scikit-learn, without exceptions."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from lossdepth import ExponentialDepth, HingeDepth, LogisticDepth, SquaredHingeDepth


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([LogisticDepth(), HingeDepth(), SquaredHingeDepth(), ExponentialDepth()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
