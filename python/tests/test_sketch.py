"""References in pieces: `ReferenceSketch`, `partial_fit`, and files of parts."""

from __future__ import annotations

import copy
import pickle
from collections import deque

import numpy as np
import pandas as pd
import pytest

import lossdepth
from lossdepth import AutoDepth, ForestDepth, LogisticDepth, ReferenceSketch, SVMDepth

RNG = np.random.default_rng(7)
X = RNG.normal(size=(700, 3)).round(1)
QUERIES = RNG.normal(size=(50, 3)) * 2


def frame(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "amount": rng.normal(size=rows).round(2),
            "city": rng.choice(["Ulm", "Rom", "Oslo"], rows),
            "paid": rng.random(rows) < 0.5,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, rows), "D"),
        }
    )
    table.loc[rng.random(rows) < 0.1, "amount"] = np.nan
    table.loc[rng.random(rows) < 0.1, "city"] = None
    return table


@pytest.mark.parametrize("parts", [1, 7, 64])
@pytest.mark.parametrize("reference_rows", [20_000, 100])
@pytest.mark.parametrize("data", [X, frame(700)], ids=["numbers", "table"])
def test_any_division_gives_the_same_bits(parts: int, reference_rows: int, data: object) -> None:
    def take(rows: np.ndarray) -> object:
        return data[rows] if isinstance(data, np.ndarray) else data.iloc[rows]  # type: ignore[attr-defined]

    def empty() -> ReferenceSketch:
        return ReferenceSketch(reference_rows=reference_rows, random_state=5)

    whole = empty().add(data)
    assert whole.complete == (reference_rows > 700)
    order = np.random.default_rng(parts).permutation(700)
    sketches = [empty().add(take(part)) for part in np.array_split(order, parts)]
    sketches = [pickle.loads(pickle.dumps(sketch)) for sketch in sketches]
    merged = empty().merge(*reversed(sketches))
    assert merged.n_rows == 700
    queries = take(np.arange(40))
    for detector in (AutoDepth(), LogisticDepth(), SVMDepth(), ForestDepth()):
        expected = copy.deepcopy(detector).fit(whole).score_samples(queries)
        np.testing.assert_array_equal(detector.fit(merged).score_samples(queries), expected)


def test_partial_fit_is_the_fit_of_all_rows() -> None:
    pieces = LogisticDepth(reg=0.1)
    for part in np.split(X, 7):
        assert pieces.partial_fit(part) is pieces
    whole = LogisticDepth(reg=0.1).fit(X)
    a, b = pieces.score_details(QUERIES), whole.score_details(QUERIES)
    assert (np.abs(a.depth - b.depth) <= a.error + b.error).all()
    np.testing.assert_allclose(a.stderr, b.stderr, rtol=1e-2)
    assert (pieces.predict(QUERIES) == whole.predict(QUERIES)).mean() > 0.9
    assert pieces.sketch_.n_rows == 700
    # `fit` starts again.
    assert not hasattr(pieces.fit(X), "sketch_")
    assert pieces.partial_fit(X[:10]).sketch_.n_rows == 10


def test_partial_fit_of_tables_learns_new_levels() -> None:
    table = frame(200)
    north = table.assign(city="Tromsø")
    detector = LogisticDepth().partial_fit(table).partial_fit(north)
    assert list(detector.feature_names_in_) == list(table.columns)
    levels = {name for name, _ in detector.columns_[1]["levels"]}
    assert "Tromsø" in levels
    assert np.isfinite(detector.score_samples(table)).all()


def test_weights_are_copies() -> None:
    weights = np.arange(700) % 3
    weighted = ReferenceSketch().add(X, sample_weight=weights)
    copied = ReferenceSketch().add(np.repeat(X, weights, axis=0))
    assert weighted.to_bytes() == copied.to_bytes()
    a = LogisticDepth().partial_fit(X, sample_weight=weights).score_samples(QUERIES)
    np.testing.assert_array_equal(a, LogisticDepth().fit(copied).score_samples(QUERIES))


def test_a_window_moves() -> None:
    window = ReferenceSketch().add(X[:500]).remove(X[:200]).add(X[500:])
    assert window.to_bytes() == ReferenceSketch().add(X[200:]).to_bytes()
    with pytest.raises(ValueError, match="row 0 cannot be removed"):
        window.remove(np.full((1, 3), 77.0))
    with pytest.raises(ValueError, match="merge them"):
        ReferenceSketch(reference_rows=10).add(X).remove(X[:1])


@pytest.mark.parametrize("reference_rows", [20_000, 50])
def test_the_last_days_are_merged(reference_rows: int) -> None:
    days = np.array_split(X, 35)
    window: deque[ReferenceSketch] = deque(maxlen=30)
    for day, rows in enumerate(days):
        window.append(ReferenceSketch(reference_rows=reference_rows).add(rows))
        if day not in (0, 29, 30, 34):
            continue
        merged = ReferenceSketch(reference_rows=reference_rows).merge(*window)
        kept = np.vstack(days[max(0, day - 29) : day + 1])
        whole = ReferenceSketch(reference_rows=reference_rows).add(kept)
        assert (merged.n_rows, merged.complete) == (len(kept), whole.complete)
        a, b = LogisticDepth().fit(merged), LogisticDepth().fit(whole)
        np.testing.assert_array_equal(a.score_samples(QUERIES), b.score_samples(QUERIES))


def test_what_does_not_fit_is_refused() -> None:
    sketch = ReferenceSketch().add(X)
    with pytest.raises(ValueError, match="column `2` is missing"):
        sketch.add(X[:, :2])
    with pytest.raises(ValueError, match="not finite"):
        sketch.add(np.full((1, 3), np.inf))
    with pytest.raises(ValueError, match="different `reference_rows`"):
        sketch.merge(ReferenceSketch(reference_rows=5).add(X))
    with pytest.raises(ValueError, match="no rows yet"):
        LogisticDepth().fit(ReferenceSketch())
    with pytest.raises(ValueError, match="checksum"):
        ReferenceSketch.from_bytes(sketch.to_bytes()[:-1] + b"x")
    with pytest.raises(ValueError, match="precomputed"):
        SVMDepth(kernel="precomputed").partial_fit(np.eye(3))
    with pytest.raises(ValueError, match="3 features"):
        LogisticDepth().partial_fit(X).partial_fit(X[:, :2])
    with pytest.raises(ValueError, match="at least 0"):
        ReferenceSketch(reference_rows=-1)


def test_a_model_of_a_sketch_is_saved(tmp_path: object) -> None:
    detector = LogisticDepth().fit(ReferenceSketch().add(frame(100)))
    path = f"{tmp_path}/m.safetensors"
    detector.save(path)
    queries = frame(30)
    np.testing.assert_array_equal(
        lossdepth.load(path).score_samples(queries), detector.score_samples(queries)
    )
