"""What a person gets who sets nothing, and what is said where units matter."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

import lossdepth
from lossdepth import ForestDepth, LogisticDepth, LossDepth, ScaleWarning, SVMDepth, _native
from lossdepth._function import METHODS

STANDARD = {
    *("logistic", "hinge", "squared-hinge", "exponential", "svm", "klr", "gp", "mlp"),
    "auto",
}


@pytest.fixture
def wide():
    """Return rows whose second column varies a thousand times as much as the first."""
    return np.random.default_rng(3).normal(size=(60, 2)) * [1.0, 1000.0]


def test_columns_are_standardised_where_units_matter():
    scales = {method: cls().scale for method, cls in METHODS.items()}
    assert scales == {method: "standard" if method in STANDARD else "none" for method in METHODS}


@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("mlp", "projection")])
def test_units_do_not_matter(method, wide):
    # A power of two rounds nothing.
    units = np.array([64.0, 2.0**-7])
    plain = METHODS[method]().fit(wide).score_samples(wide[:9])
    other = METHODS[method]().fit(wide * units).score_samples(wide[:9] * units)
    assert_allclose(plain, other, atol=2e-6)


@pytest.mark.parametrize("method", METHODS)
def test_the_paper_takes_columns_as_they_are(method):
    for name in ("paper", "paper-code"):
        try:
            values = lossdepth.preset(name, method, 10)
        except ValueError:
            continue
        assert values["scale"] == "none"


def test_columns_of_very_different_spread_are_a_warning(wide):
    with pytest.warns(ScaleWarning, match="column `x1` varies .* times as much as `x0`") as caught:
        LogisticDepth(scale="none").fit(wide)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    frame = pd.DataFrame(wide, columns=["age", "pay"])
    with pytest.warns(ScaleWarning, match="`pay` varies .* times as much as `age`"):
        lossdepth.depth(frame, frame, "svm", scale="none")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticDepth().fit(wide)
        LogisticDepth(preset="paper").fit(wide)
        SVMDepth(preset="paper-code").fit(wide)
        ForestDepth().fit(wide)
        SVMDepth(kernel="precomputed").fit(np.diag([1.0, 1.0, 1.0]))
        # The classifier is the user's own, and there is no `scale`.
        assert LossDepth(LogisticRegression()).fit(wide).twin_.scale == "none"


@pytest.mark.parametrize("method", _native.METHODS)
def test_recommended_settings_are_a_parameter_of_every_class(method, sample, queries):
    ours = METHODS[method](preset="recommended").fit(sample)
    settings = lossdepth.preset("recommended", method, len(sample))
    assert settings.items() <= ours.model_.settings.items()
    assert_array_equal(
        ours.score_samples(queries[:3]),
        METHODS[method](**settings).fit(sample).score_samples(queries[:3]),
    )


@pytest.mark.parametrize("method", _native.METHODS)
def test_fit_does_not_score_the_training_rows(method, sample, monkeypatch):
    scored = []
    depths = METHODS[method]._score

    def score(self, model, rows, what, **options):
        scored.append(len(rows))
        return depths(self, model, rows, what, **options)

    monkeypatch.setattr(METHODS[method], "_score", score)
    detector = METHODS[method]().fit(sample[:30])
    detector.score_samples(sample[:2])
    assert scored == [2]
    # A threshold needs them, once.
    detector.predict(sample[:2])
    detector.predict(sample[:3])
    assert scored == [2, 2, 30, 3]


def test_auto_has_no_standard_error(sample, queries):
    scores = lossdepth.AutoDepth().fit(sample).score_details(queries)
    assert np.isnan(scores.stderr).all()
    assert np.isfinite(scores.error).all()
