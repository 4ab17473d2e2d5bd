"""Labels and p-values: as the command line has them, and as they should be."""

import csv
import os
import pickle
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import NotFittedError

import lossdepth
from lossdepth import LogisticDepth, SVMDepth, false_discovery_control

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("LOSSDEPTH_BIN", ROOT / "target" / "release" / "lossdepth"))
METHODS = ["split", "cross", "leave-one-out"]


def score(folder, sample, queries, *options):
    """Run the program and return its lines."""
    names = [f"c{j}" for j in range(sample.shape[1])]
    for name, rows in [("sample", sample), ("queries", queries)]:
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([names, *rows.tolist()])
    method = () if "--method" in options else ("--method", "logistic")
    command = [PROGRAM, "score", folder / "queries.csv", "--quiet", *method, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(done.stdout.splitlines()))


@pytest.mark.parametrize("method", METHODS)
def test_program_and_package_give_the_same_p_values(tmp_path, sample, queries, method):
    """To the last bit."""
    lines = score(
        tmp_path,
        sample,
        queries,
        *("--reference", tmp_path / "sample.csv", "--reg", "0.1"),
        *(f"--p-values={method}", "--split-seed", "5", "--fdr", "0.2"),
    )
    detector = LogisticDepth(reg=0.1).fit(sample)
    p = detector.p_values(queries, method=method, random_state=5)
    np.testing.assert_array_equal(p, [float(line["p"]) for line in lines])
    q = false_discovery_control(p)
    np.testing.assert_array_equal(q, [float(line["q"]) for line in lines])
    np.testing.assert_array_equal(q <= 0.2, [line["outlier"] == "1" for line in lines])
    np.testing.assert_array_equal(
        detector.score_samples(queries), [float(line["depth"]) for line in lines]
    )


@pytest.mark.parametrize("share", [0.0, 0.1, 0.29, 0.5])
def test_program_and_package_draw_the_same_line(tmp_path, sample, queries, share):
    """Both for the training rows and for new ones."""
    detector = SVMDepth(contamination=share).fit(sample)
    common = ("--method", "svm", "--contamination", str(share))
    lines = score(tmp_path, sample, queries, "--reference", tmp_path / "sample.csv", *common)
    labels = [-1 if line["outlier"] == "1" else 1 for line in lines]
    np.testing.assert_array_equal(detector.predict(queries), labels)
    lines = score(tmp_path, sample, sample, *common, "--p-values")
    labels = np.array([-1 if line["outlier"] == "1" else 1 for line in lines])
    np.testing.assert_array_equal(detector.predict(sample), labels)
    assert (labels == -1).sum() == np.floor(share * len(sample) + 1e-9)
    np.testing.assert_array_equal(detector.p_values(), [float(line["p"]) for line in lines])


def test_another_line_without_another_fit(sample, queries):
    """The same as a fit with that contamination."""
    detector = LogisticDepth(contamination=0.1).fit(sample)
    model = detector.model_
    for share in (0.05, 0.3, 0.1):
        assert detector.set_threshold(contamination=share) is detector
        again = LogisticDepth(contamination=share).fit(sample)
        assert detector.offset_ == again.offset_
        np.testing.assert_array_equal(detector.predict(queries), again.predict(queries))
    assert detector.model_ is model
    assert detector.contamination == 0.1
    detector.set_threshold(threshold=0.5)
    np.testing.assert_array_equal(
        detector.predict(queries) == -1, detector.score_samples(queries) < 0.5
    )
    for copy in (pickle.loads(pickle.dumps(detector)),):
        assert copy.offset_ == 0.5
        assert copy.set_threshold(contamination=0.1).offset_ == again.offset_


def test_a_loaded_model_has_it_all(tmp_path, sample, queries):
    """Weights included."""
    weights = np.arange(len(sample)) % 3
    detector = LogisticDepth(reg=0.1).fit(sample, sample_weight=weights)
    detector.save(tmp_path / "m.safetensors")
    loaded = lossdepth.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.p_values(), detector.p_values())
    np.testing.assert_array_equal(
        loaded.p_values(queries, method="cross"), detector.p_values(queries, method="cross")
    )
    assert (
        loaded.set_threshold(contamination=0.3).offset_
        == detector.set_threshold(contamination=0.3).offset_
    )


def test_p_values_are_uniform_under_the_null():
    """One row against each of many samples."""
    rng = np.random.default_rng(1)
    p = [
        LogisticDepth(reg=0.1).fit(rng.normal(size=(98, 2))).p_values(rng.normal(size=(1, 2)))[0]
        for _ in range(300)
    ]
    # 49 calibration rows: multiples of 1/50, spread evenly within their step.
    smooth = np.array(p) - rng.uniform(size=300) / 50
    assert stats.kstest(smooth, "uniform").pvalue > 0.01


def test_q_values_are_scipys():
    """For both procedures."""
    p = np.random.default_rng(2).uniform(size=50) ** 2
    for method in ("bh", "by"):
        np.testing.assert_allclose(
            false_discovery_control(p, method=method),
            stats.false_discovery_control(p, method=method),
            rtol=1e-12,
        )


def test_a_calibration_serves_many_rows(sample, queries):
    """One by one or together."""
    calibration = LogisticDepth().fit(sample).calibrate("leave-one-out")
    assert calibration.size == len(sample)
    together = calibration.p_values(queries)
    single = [calibration.p_values(queries[i : i + 1])[0] for i in range(len(queries))]
    np.testing.assert_array_equal(together, single)
    assert together.min() >= 1 / (1 + len(sample))


def test_mistakes_are_explained(sample):
    """By name."""
    detector = LogisticDepth().fit(sample)
    with pytest.raises(ValueError, match="one of split, cross, leave-one-out"):
        detector.p_values(sample, method="half")
    with pytest.raises(ValueError, match="`share` must be between 0 and 1"):
        detector.p_values(sample, share=1.0)
    with pytest.raises(ValueError, match="`folds` must be at least 2"):
        detector.p_values(sample, method="cross", folds=1)
    with pytest.raises(ValueError, match="one of `contamination` and `threshold`"):
        detector.set_threshold()
    with pytest.raises(ValueError, match="one of `contamination` and `threshold`"):
        detector.set_threshold(contamination=0.1, threshold=0.1)
    with pytest.raises(ValueError, match=r"between 0 and 0\.5"):
        detector.set_threshold(contamination=0.9)
    with pytest.raises(ValueError, match="finite number"):
        detector.set_threshold(threshold=float("nan"))
    with pytest.raises(NotFittedError):
        LogisticDepth().p_values(sample)
    with pytest.raises(NotFittedError):
        LogisticDepth().set_threshold(threshold=0.5)
    with pytest.raises(ValueError, match="p-value 1 must be between 0 and 1"):
        false_discovery_control([0.5, 1.5])
