"""The Arrow scorer: the same bits for any batch, nulls by policy, one preparation, errors."""

import csv
import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather

import lossdepth
from lossdepth import ArrowScorer

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("LOSSDEPTH_BIN", ROOT / "target" / "release" / "lossdepth"))
COLUMNS = ("depth", "error", "stderr", "percentile", "p_value")


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(1)
    n = 400
    return pa.table(
        {
            "id": np.arange(n),
            "a": rng.normal(size=n),
            "b": rng.integers(0, 9, size=n),
            "c": rng.choice(["x", "y", "z"], size=n),
            "d": rng.choice([True, False], size=n),
            "e": pa.array(rng.integers(0, 10**9, size=n), pa.timestamp("s")),
        }
    )


@pytest.fixture(scope="module")
def detector(mixed):
    return lossdepth.ForestDepth().fit(mixed.drop_columns(["id"]))


@pytest.mark.parametrize("size", [1, 7, 64, 400])
def test_batches_do_not_matter(mixed, detector, size):
    scorer = ArrowScorer(detector, COLUMNS)
    whole = scorer(mixed)
    shuffled = mixed.take(np.random.default_rng(size).permutation(len(mixed)))
    found = pa.Table.from_batches([scorer(part) for part in shuffled.to_batches(size)])
    found = found.append_column("id", shuffled["id"]).sort_by("id").drop_columns(["id"])
    # A forest has no standard error: not a number, which pandas takes for equal.
    assert found.to_pandas().equals(whole.to_pandas())


def test_same_as_the_estimator(mixed, detector):
    scores = ArrowScorer(detector, COLUMNS)(mixed)
    details = detector.score_details(mixed.drop_columns(["id"]))
    assert np.array_equal(scores["depth"], details.depth)
    assert np.array_equal(scores["error"], details.error)
    assert np.array_equal(scores["stderr"], details.stderr, equal_nan=True)
    assert np.array_equal(scores["p_value"], detector.p_values(mixed.drop_columns(["id"])))
    share = [(details.depth <= depth).mean() for depth in details.depth]
    assert np.allclose(scores["percentile"], share, rtol=0, atol=1e-15)


def test_percentiles_of_a_large_reference_are_those_of_the_estimator():
    # The engines scored the whole reference; the other faces score 5,000 rows of it, once.
    rng = np.random.default_rng(0)
    detector = lossdepth.MahalanobisDepth().fit(rng.normal(size=(6_000, 2)))
    Z = rng.normal(size=(50, 2))
    batch = pa.table({"0": Z[:, 0], "1": Z[:, 1]})
    found = ArrowScorer(detector, ["percentile"])(batch)["percentile"]
    assert np.array_equal(found, detector.score_details(Z).percentile)
    assert np.array_equal(found, ArrowScorer(detector, ["percentile"])(batch)["percentile"])


def test_other_types_of_the_same_numbers(mixed):
    detector = lossdepth.LogisticDepth(reg=0.1).fit(mixed.select(["a", "b"]))
    scorer = ArrowScorer(detector)
    wanted = scorer(mixed)
    for kind in (pa.int8(), pa.uint32(), pa.float32(), pa.decimal128(19, 0), pa.float64()):
        other = pa.table({"b": mixed["b"].cast(kind), "a": mixed["a"]})
        assert scorer(other).equals(wanted)
    assert scorer(mixed.slice(3, 5)).equals(wanted.slice(3, 5))


def test_nulls(mixed, detector):
    values = mixed["a"].to_pylist()
    values[3] = None
    values[5] = float("nan")
    gaps = mixed.set_column(1, "a", pa.array(values))
    with pytest.raises(ValueError, match="row 3, column `a` has no value"):
        ArrowScorer(detector)(gaps)
    found, whole = ArrowScorer(detector, nulls="null")(gaps), ArrowScorer(detector)(mixed)
    assert found["depth"].null_count == found["error"].null_count == 2
    rows = np.setdiff1d(np.arange(400), [3, 5])
    assert found.take(pa.array(rows)).equals(whole.take(pa.array(rows)))
    compared = ArrowScorer(detector, nulls="compare")(gaps)
    assert np.array_equal(compared["depth"], detector.score_samples(gaps.drop_columns(["id"])))


def test_null_structs():
    detector = lossdepth.LogisticDepth(reg=0.1).fit(pa.table({"a": [0.0, 1.0, 2.0]}))
    rows = pa.array([{"a": 1.0}, None, {"a": 2.0}])
    with pytest.raises(ValueError, match="row 1 has no value"):
        ArrowScorer(detector)(rows)
    for nulls in ("null", "compare"):
        assert ArrowScorer(detector, nulls=nulls)(rows)["depth"].is_null().to_pylist() == [0, 1, 0]


def test_no_rows(detector, mixed):
    assert ArrowScorer(detector)(mixed.slice(0, 0)).num_rows == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.drop_columns(["b"]), "column `b` is missing"),
        (lambda t: t.set_column(1, "a", pa.array(["?!"] * len(t))), "column `a`"),
        (lambda t: t.set_column(1, "a", pa.array([float("inf")] * len(t))), "column `a`, row 0"),
        (lambda t: t.set_column(1, "a", pa.array([[1.0]] * len(t))), "column `a` holds lists"),
        (lambda t: t.append_column("a", t["a"]), "two columns called `a`"),
    ],
)
def test_refusals(mixed, detector, change, said, tmp_path):
    path = tmp_path / "m.safetensors"
    detector.save(path)
    with pytest.raises(ValueError, match=said) as error:
        ArrowScorer(path)(change(mixed))
    assert "m.safetensors" in str(error.value)


def test_wrong_arguments(detector, tmp_path):
    for wrong in ({"columns": ["rank"]}, {"columns": []}, {"nulls": "x"}, {"threads": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            ArrowScorer(detector, **wrong)
    with pytest.raises(TypeError, match="columns"):
        ArrowScorer(detector, "depth")
    with pytest.raises(TypeError, match="Arrow"):
        ArrowScorer(detector)([[1.0]])
    with pytest.raises(TypeError, match="model"):
        ArrowScorer(3)
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(b"no model at all")
    with pytest.raises(ValueError, match=r"damaged\.safetensors"):
        ArrowScorer(damaged)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ArrowScorer(tmp_path / "nowhere")


def test_without_names():
    X = np.random.default_rng(0).normal(size=(50, 2))
    detector = lossdepth.LogisticDepth(reg=0.1).fit(X)
    rows = pa.table({"id": np.arange(50), "v": X[:, 1], "u": X[:, 0]})
    with pytest.raises(ValueError, match="without names"):
        ArrowScorer(detector)(rows)
    found = ArrowScorer(detector, features=["u", "v"])(rows)
    assert np.array_equal(found["depth"], detector.score_samples(X))
    with pytest.raises(ValueError, match="`features` has 1 names"):
        ArrowScorer(detector, features=["u"])(rows)


def test_one_preparation(mixed, detector, tmp_path):
    path = tmp_path / "m.safetensors"
    detector.save(path)
    ArrowScorer.cache_clear()
    scorers = [ArrowScorer(path), ArrowScorer(path), ArrowScorer(path.read_bytes())]
    scorers += [pickle.loads(pickle.dumps(scorer)) for scorer in scorers]
    assert ArrowScorer.cache_info().prepared == 1
    wanted = scorers[0](mixed)
    assert all(scorer(mixed).equals(wanted) for scorer in scorers)
    # Another file in the same place is another model.
    lossdepth.ForestDepth(max_depth=1).fit(mixed.drop_columns(["id"])).save(path)
    assert not ArrowScorer(path)(mixed).equals(wanted)


def test_pickles_as_a_path(mixed, detector, tmp_path):
    path = tmp_path / "m.safetensors"
    detector.save(path)
    sent = pickle.dumps(ArrowScorer(path, send="path"))
    assert len(sent) < 2_000
    assert pickle.loads(sent)(mixed).equals(ArrowScorer(path)(mixed))
    lossdepth.ForestDepth(max_depth=1).fit(mixed.drop_columns(["id"])).save(path)
    with pytest.raises(ValueError, match="another model"):
        pickle.loads(sent)


def test_size_is_that_of_the_model():
    rng = np.random.default_rng(0)
    small, large = (
        sys.getsizeof(ArrowScorer(lossdepth.SVMDepth().fit(rng.normal(size=(n, 10)))))
        for n in (100, 2_000)
    )
    # At least the rows, and not a multiple of what kernel values could take.
    assert 100 * 10 * 8 < small < large
    assert 2_000 * 10 * 8 < large < 2_000 * 2_000 * 8 * 3


def test_lengths_of_time_are_days_in_every_face(tmp_path):
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "took": pa.array(rng.integers(0, 10**11, size=200), pa.duration("us")),
            "opens": pa.array(rng.integers(0, 86_400, size=200, dtype=np.int32), pa.time32("s")),
            "kind": rng.choice(["x", "y"], size=200),
        }
    )
    detector = lossdepth.SVMDepth().fit(table)
    depths = detector.score_samples(table)
    assert np.array_equal(ArrowScorer(detector, ("depth",))(table)["depth"], depths)
    detector.save(tmp_path / "m.safetensors")
    # Parquet has no type for lengths of time: there they are whole numbers.
    feather.write_feather(table, tmp_path / "t.arrow")
    words = [PROGRAM, "score", "t.arrow", "--model", "m.safetensors", "--quiet"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = csv.DictReader(io.StringIO(done.stdout))
    assert np.array_equal([float(line["depth"]) for line in lines], depths)
