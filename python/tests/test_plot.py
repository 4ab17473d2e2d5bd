"""Pictures: what is on them, not how they look."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.naive_bayes import GaussianNB

from lossdepth import ForestDepth, HalfspaceDepth, LogisticDepth, LossDepth, SVMDepth, plot

NAMES = ["age", "height", "pay"]


@pytest.fixture(autouse=True)
def _close():
    yield
    for number in plt.get_fignums():
        # Drawing is when matplotlib finds out what it cannot draw.
        plt.figure(number).canvas.draw()
    plt.close("all")


@pytest.fixture
def frame(sample):
    return pd.DataFrame(sample, columns=NAMES)


def test_depth_map(sample):
    X = sample[:, :2]
    detector = LogisticDepth(reg=0.01, contamination=0.1).fit(X)
    ax = plot.depth_map(detector, X, resolution=31)
    assert ax.get_title() == "LogisticDepth"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x1")
    inliers, outliers = (c.get_offsets() for c in ax.collections[-2:])
    assert (len(inliers), len(outliers)) == (180, 20)
    assert_array_equal(outliers, X[detector.predict(X) == -1])
    low, high = ax.get_xlim()
    assert_allclose(
        [low, high],
        [X[:, 0].min() - 0.15 * np.ptp(X[:, 0]), X[:, 0].max() + 0.15 * np.ptp(X[:, 0])],
    )
    other = plt.subplots()[1]
    assert (
        plot.depth_map(detector, X, ax=other, points=False, colorbar=False, levels=[0.5]) is other
    )
    assert len(other.figure.axes) == 1


def test_a_map_of_more_columns_is_a_slice_through_the_medians(frame):
    detector = SVMDepth(reg=0.05).fit(frame)
    ax = plot.depth_map(detector, frame, columns=("pay", "age"), resolution=9, points=False)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("pay", "age")
    middle = frame.median().to_frame().T
    low, high = ax.get_xlim()
    up = np.linspace(*ax.get_ylim(), 9)
    shown = middle.assign(pay=high, age=up[4])
    # The deepest shade is that of the deepest point of the grid.
    grid = pd.concat([middle.assign(pay=p, age=a) for p in np.linspace(low, high, 9) for a in up])
    deepest = detector.score_samples(grid).max()
    assert detector.score_samples(shown)[0] <= deepest
    shades = ax.collections[0].levels
    assert shades[-1] == pytest.approx(deepest if deepest <= 0.5 else 1.0)
    for columns, message in (
        (("pay", "weight"), "must be among age, height, pay, got `weight`"),
        ((0, 3), "must be below 3, got 3"),
        ((1, "height"), "two different ones"),
    ):
        with pytest.raises(ValueError, match=message):
            plot.depth_map(detector, frame, columns=columns)


def test_a_map_of_a_trained_classifier(frame):
    detector = LossDepth(GaussianNB(), contamination=0.1).fit(frame[:40])
    assert plot.depth_map(detector, frame[:40], resolution=5).get_xlabel() == "age"


def test_dd_plot(sample):
    X, Y = sample[:120], sample[120:] + 2.0
    detector = LogisticDepth(reg=0.05)
    ax = plot.dd_plot(X, Y, detector, names=("old", "new"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("depth in old", "depth in new")
    both = [detector.fit(reference).score_samples(X) for reference in (X, Y)]
    assert_array_equal(ax.collections[0].get_offsets(), np.column_stack(both))
    assert len(ax.collections[1].get_offsets()) == 80
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["old", "new"]
    assert plot.dd_plot(X, Y).get_xlim() == plot.dd_plot(X, Y).get_ylim()


def test_distribution(frame):
    detector = LogisticDepth().fit(frame)
    labels = np.repeat(["a", "b"], [150, 50])
    ax = plot.distribution(detector, frame, labels, names={"a": "usual"}, bins=20)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["usual (150)", "b (50)"]
    areas = sum(p.get_width() * p.get_height() for p in ax.containers[0])
    assert areas == pytest.approx(1.0)
    assert ax.lines[0].get_xdata()[0] == detector.offset_
    assert plot.distribution(detector, frame).get_legend() is None
    with pytest.raises(ValueError, match="3 entries for 200 rows"):
        plot.distribution(detector, frame, [1, 2, 3])


@pytest.mark.parametrize("rows", [1, 40, 200])
def test_scores(frame, rows):
    scores = LogisticDepth().fit(frame).score_details(frame[:rows].set_axis(range(7, 7 + rows)))
    ax = scores.plot(top=3, level=0.9)
    worst = [int(row) + 7 for row in np.argsort(scores.depth, kind="stable")[:3]]
    assert ax.texts[0].get_text() == f"most outlying: {', '.join(map(str, worst))}"
    assert_array_equal(ax.lines[0].get_ydata(), np.sort(scores.depth))
    assert ax.get_title() == f"{rows} depths, 90 % intervals"
    assert plot.scores(scores, ax=ax) is ax


def test_image():
    X = np.random.default_rng(0).uniform(size=(60, 12))
    why = LogisticDepth(reg=0.01).fit(X).explain(X[:2])
    ax = why.plot(1, image=(3, 4))
    assert_array_equal(ax.images[0].get_array(), why.contributions[1].reshape(3, 4))
    low, high = ax.images[0].get_clim()
    assert low == -high
    with pytest.raises(ValueError, match="`image` must have 12 pixels, got 4 x 4"):
        why.plot(image=(4, 4))
    # Cuts give a row away: red, like negative contributions.
    cuts = ForestDepth().fit(X).explain(X[:1])
    assert cuts.plot(image=(3, 4)).images[0].get_array().max() <= 0.0


def test_influential_rows(frame):
    why = LogisticDepth(reg=0.05).fit(frame).explain(frame[:2])
    ax = why.plot(1, kind="rows", top=4)
    shown = {int(label.get_text().removeprefix("row ")) for label in ax.get_yticklabels()}
    assert shown == set(why.most_influential(4)[1].tolist())
    assert sorted((bar.get_width() for bar in ax.patches), reverse=True) == [
        bar.get_width() for bar in ax.patches
    ]


def test_wrong_rows_and_kinds(frame):
    why = LogisticDepth().fit(frame).explain(frame[:2])
    for kind in ("features", "rows"):
        with pytest.raises(IndexError, match="one of the 2 explained rows, got 2"):
            why.plot(2, kind=kind)
    with pytest.raises(ValueError, match="`kind` must be one of features, rows, got `bars`"):
        why.plot(kind="bars")


def test_bagplot(frame):
    X = frame[["age", "pay"]]
    ax = HalfspaceDepth().fit(X).bagplot(factor=1.5).plot(X)
    assert len(ax.patches) == 3
    assert ax.get_xlabel() == "age"
    assert sum(len(dots.get_offsets()) for dots in ax.collections) == 200
    assert HalfspaceDepth().fit(X).bagplot().plot(ax=ax) is ax
    with pytest.raises(TypeError, match=r"`bag` must be what .* returns, got DataFrame"):
        plot.bagplot(X)


def test_without_matplotlib_there_are_words(frame, monkeypatch):
    scores = LogisticDepth().fit(frame).score_details(frame)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        scores.plot()
