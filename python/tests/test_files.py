"""Model files: saved here, read by the command line, and the other way round, to the last bit."""

import copy
import errno
import hashlib
import json
import os
import pickle
import stat
import struct
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from lossdepth import ForestDepth, LogisticDepth, LossDepth, MLPDepth, SVMDepth, load
from lossdepth._function import METHODS

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("LOSSDEPTH_BIN", ROOT / "target" / "release" / "lossdepth"))
RNG = np.random.default_rng(11)
X = RNG.normal(size=(40, 3)) @ RNG.normal(size=(3, 3))
QUERIES = 2.0 * RNG.normal(size=(9, 3))
WEIGHTS = RNG.integers(0, 4, size=40).astype(float)


def taken_apart(path):
    """Take a file apart by the definition of its format."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    texts = header.pop("__metadata__")
    body = data[8 + length :]
    tensors = {
        name: (entry["shape"], body[slice(*entry["data_offsets"])])
        for name, entry in header.items()
    }
    return texts, tensors


def checksum(texts, tensors):
    """Compute the checksum as docs/model-format.md says."""
    digest = hashlib.sha256()

    def number(n):
        digest.update(struct.pack("<Q", n))

    def part(data):
        number(len(data))
        digest.update(data)

    texts = {name: text for name, text in texts.items() if name != "checksum"}
    number(len(texts))
    for name in sorted(texts, key=str.encode):
        part(name.encode())
        part(texts[name].encode())
    for name in sorted(tensors, key=str.encode):
        shape, data = tensors[name]
        part(name.encode())
        number(len(shape))
        for n in shape:
            number(n)
        part(data)
    return "sha256:" + digest.hexdigest()


# In three dimensions the projection depth is known from above only.
TOL = {"projection": 1.0}


@pytest.mark.parametrize("method", METHODS)
def test_every_estimator_comes_back_as_it_was(method, tmp_path):
    path = tmp_path / "model.safetensors"
    detector = METHODS[method](scale="mcd", tol=TOL.get(method, 1e-5), contamination=0.2, n_jobs=2)
    detector.fit(X, sample_weight=WEIGHTS)
    line = detector.offset_
    detector.save(path)
    other = load(path)
    assert other._found.offset == line
    assert type(other) is type(detector)
    assert other.get_params() == detector.get_params()
    assert (other.offset_, other.n_iter_) == (detector.offset_, detector.n_iter_)
    assert other.n_features_in_ == 3
    assert not hasattr(other, "feature_names_in_")
    assert_array_equal(other.score_samples(QUERIES), detector.score_samples(QUERIES))
    assert_array_equal(other.predict(QUERIES), detector.predict(QUERIES))
    ours, theirs = other.score_details(QUERIES), detector.score_details(QUERIES)
    assert_array_equal(ours.stderr, theirs.stderr)
    assert_array_equal(ours.error, theirs.error)
    # Once more, and the file is the same to the last byte.
    again = tmp_path / "again.safetensors"
    other.save(again)
    assert again.read_bytes() == path.read_bytes()
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_names_of_columns_come_back(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b, c", "größe"])
    detector = LogisticDepth().fit(frame)
    detector.save(str(tmp_path / "m.safetensors"))
    other = load(str(tmp_path / "m.safetensors"))
    assert list(other.feature_names_in_) == ["a", "b, c", "größe"]
    assert_array_equal(other.score_samples(frame), detector.score_samples(frame))
    with pytest.raises(ValueError, match="feature names"):
        other.score_samples(frame.rename(columns={"a": "z"}))
    assert list(other.explain(frame[:1]).feature_names) == ["a", "b, c", "größe"]


def test_parameters_come_back_as_they_were_given(tmp_path):
    path = tmp_path / "m.safetensors"
    for detector in (
        MLPDepth(hidden=(6, 4), reg=np.float64(0.1), seed=np.int64(3)),
        ForestDepth(max_features=1, trees=5),
        ForestDepth(max_features=1.0),
        SVMDepth(gamma=0.5, memory=1e8, reg=1),
    ):
        detector.fit(X).save(path)
        params = load(path).get_params()
        assert params == detector.get_params()
        assert isinstance(
            params.get("max_features"), type(detector.get_params().get("max_features"))
        )
        assert_array_equal(
            load(path).fit(X).score_samples(QUERIES), detector.score_samples(QUERIES)
        )


def test_a_precomputed_kernel_comes_back(tmp_path):
    squares = ((X[:, None] - X[None]) ** 2).sum(-1)
    gram = np.exp(-0.3 * squares)
    detector = SVMDepth(kernel="precomputed", reg=0.05).fit(gram)
    detector.save(tmp_path / "m.safetensors")
    assert_array_equal(
        load(tmp_path / "m.safetensors").score_samples(gram[:4]), detector.score_samples(gram[:4])
    )


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_what_was_loaded_copies_and_clones(again, tmp_path):
    path = tmp_path / "m.safetensors"
    SVMDepth(reg=0.02, scale="mcd").fit(X).save(path)
    detector = load(path)
    other = again(detector)
    assert other.offset_ == detector.offset_
    assert_array_equal(other.score_samples(QUERIES), detector.score_samples(QUERIES))
    fresh = clone(detector)
    assert fresh.get_params() == detector.get_params()
    with pytest.raises(NotFittedError):
        fresh.score_samples(QUERIES)


def test_the_file_is_what_its_documentation_says(tmp_path):
    path = tmp_path / "m.safetensors"
    detector = SVMDepth(reg=0.02, scale="standard").fit(X, sample_weight=WEIGHTS)
    detector.save(path)
    # Nobody asked for it yet.
    assert "extra.offset" not in taken_apart(path)[0]
    assert detector.offset_ > 0.0
    detector.save(path)
    texts, tensors = taken_apart(path)
    assert (texts["format"], texts["format_version"], texts["method"]) == (
        "lossdepth-model",
        "1",
        "svm",
    )
    assert json.loads(texts["settings"])["reg"] == 0.02
    assert "memory" not in json.loads(texts["settings"])
    assert float(texts["extra.offset"]) == detector.offset_
    assert texts["checksum"] == checksum(texts, tensors)
    assert_array_equal(np.frombuffer(tensors["reference"][1]).reshape(tensors["reference"][0]), X)
    assert_array_equal(np.frombuffer(tensors["weights"][1]), WEIGHTS)
    assert tensors.keys() == {"reference", "weights", "scaling.center", "scaling.factors"}
    np.testing.assert_allclose(
        np.frombuffer(tensors["scaling.center"][1]), np.average(X, axis=0, weights=WEIGHTS)
    )


def test_bad_files_are_refused_with_their_name(tmp_path):
    path = tmp_path / "m.safetensors"
    with pytest.raises(FileNotFoundError):
        load(path)
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(
        ValueError, match=r"m.safetensors: not a lossdepth model: not in safetensors"
    ):
        load(path)
    LogisticDepth().fit(X).save(path)
    good = path.read_bytes()
    path.write_bytes(good[:-3])
    with pytest.raises(ValueError, match=r"m.safetensors: the model is damaged: it is cut off"):
        load(path)
    path.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    with pytest.raises(ValueError, match="the checksum is wrong"):
        load(path)
    path.write_bytes(good.replace(b'"format_version":"1"', b'"format_version":"9"'))
    with pytest.raises(
        ValueError, match=r"made by a newer lossdepth .*format 9, this one reads up to 3"
    ):
        load(path)


@pytest.mark.parametrize(
    "notes",
    [
        {"params": "[]"},
        {"params": '{"magic": 1}'},
        {"params": "{"},
        {"offset": '"high"'},
        {"offset": "[1]"},
        {"n_iter": "null"},
    ],
)
def test_notes_that_make_no_sense_are_refused(notes, tmp_path):
    path = tmp_path / "m.safetensors"
    path.write_bytes(LogisticDepth().fit(X).model_.to_bytes(None, notes, None))
    with pytest.raises(ValueError, match=r"m\.safetensors: "):
        load(path)


def test_what_cannot_be_saved_leaves_no_file(tmp_path):
    with pytest.raises(NotFittedError):
        LogisticDepth().save(tmp_path / "m.safetensors")
    detector = LogisticDepth().fit(X)
    detector.n_jobs = object()
    with pytest.raises(TypeError, match="cannot be saved"):
        detector.save(tmp_path / "m.safetensors")
    detector.n_jobs = None
    with pytest.raises(FileNotFoundError):
        detector.save(tmp_path / "nowhere" / "m.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_many_threads_save_to_one_path(tmp_path):
    # Each writes a temporary file of its own, and a reader sees an old file or a new one.
    path = tmp_path / "m.safetensors"
    detectors = [LogisticDepth(reg=reg).fit(np.tile(X, (50, 1))) for reg in (0.1, 0.2, 0.3, 0.4)]
    detectors[0].save(path)
    stop = threading.Event()
    seen = []

    def read():
        while not stop.is_set():
            seen.append(load(path).reg)

    with ThreadPoolExecutor(5) as pool:
        reader = pool.submit(read)
        saves = [pool.submit(detector.save, path) for detector in detectors for _ in range(40)]
        try:
            for save in saves:
                save.result()
        finally:
            stop.set()
        reader.result()
    assert len(seen) > 0
    assert set(seen) <= {0.1, 0.2, 0.3, 0.4}
    assert [file.name for file in tmp_path.iterdir()] == ["m.safetensors"]


@pytest.mark.skipif(os.name != "posix", reason="devices and links of Unix")
def test_devices_and_links_are_not_replaced(tmp_path):
    detector = LogisticDepth().fit(X)
    # What a link points to is created.
    link = tmp_path / "link.safetensors"
    link.symlink_to("target.safetensors")
    detector.save(link)
    assert link.is_symlink()
    target = load(tmp_path / "target.safetensors")
    assert_array_equal(target.score_samples(X), detector.score_samples(X))
    # A FIFO hands the bytes on.
    fifo = tmp_path / "fifo.safetensors"
    os.mkfifo(fifo)
    with ThreadPoolExecutor(1) as pool:
        data = pool.submit(fifo.read_bytes)
        detector.save(fifo)
        assert data.result() == link.read_bytes()
    assert fifo.is_fifo()
    # A device of one's own takes a privilege; the machine's are not for experiments.
    full = tmp_path / "full.safetensors"
    try:
        os.mknod(full, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        full.open("wb").close()
    except (AttributeError, OSError):
        return
    with pytest.raises(OSError, match="No space left") as caught:
        detector.save(full)
    assert caught.value.errno == errno.ENOSPC
    assert full.is_char_device()


@pytest.mark.parametrize("fast", [True, False])
def test_a_wrapped_classifier_is_saved_as_its_twin_if_it_has_one(fast, tmp_path):
    path = tmp_path / "m.safetensors"
    detector = LossDepth(LogisticRegression(), fast=fast, contamination=None).fit(X)
    # Nobody asked for an offset, so none is looked for.
    assert not hasattr(detector, "offset_")
    assert hasattr(detector, "save") == fast
    if fast:
        detector.save(path)
        assert_array_equal(load(path).score_samples(QUERIES), detector.score_samples(QUERIES))


def test_other_attributes_are_still_missing():
    detector = LogisticDepth()
    for name in ("offset_", "n_iter_", "nonsense"):
        with pytest.raises(AttributeError, match=name):
            getattr(detector, name)


def depths(text):
    """Read the depths, errors and standard errors of the command line."""
    return np.array([[float(x) for x in line.split(",")[1:4]] for line in text.splitlines()[1:]])


def run(folder, *args):
    return subprocess.run(
        [PROGRAM, *args], cwd=folder, check=True, capture_output=True, text=True, encoding="utf-8"
    ).stdout


@pytest.mark.parametrize("method", METHODS)
def test_the_command_line_reads_our_files(method, tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    detector = METHODS[method](scale="whiten").fit(frame, sample_weight=WEIGHTS)
    detector.save(tmp_path / "m.safetensors")
    # Columns in another order, and one too many.
    queries = pd.DataFrame(QUERIES, columns=["a", "b", "c"])
    queries.assign(when="now")[["c", "when", "a", "b"]].to_csv(tmp_path / "q.csv", index=False)
    out = run(tmp_path, "score", "q.csv", "--model", "m.safetensors", "--quiet")
    scores = detector.score_details(queries)
    assert_array_equal(depths(out), np.column_stack([scores.depth, scores.error, scores.stderr]))


@pytest.mark.parametrize("method", METHODS)
def test_we_read_the_files_of_the_command_line(method, tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.assign(w=WEIGHTS).to_csv(tmp_path / "x.csv", index=False)
    tol = TOL.get(method, 1e-5)
    args = ["x.csv", "--weights", "w", "--method", method, "--scale", "mcd", "--tol", str(tol)]
    run(tmp_path, "fit", *args, "--out", "m.safetensors")
    detector = load(tmp_path / "m.safetensors")
    assert type(detector) is METHODS[method]
    assert detector.get_params() == METHODS[method](scale="mcd", tol=tol).get_params()
    assert list(detector.feature_names_in_) == ["a", "b", "c"]
    queries = pd.DataFrame(QUERIES, columns=["a", "b", "c"])
    queries.to_csv(tmp_path / "q.csv", index=False)
    scores = detector.score_details(queries)
    ours = np.column_stack([scores.depth, scores.error, scores.stderr])
    for how in (["--model", "m.safetensors"], ["--reference", *args]):
        assert_array_equal(depths(run(tmp_path, "score", "q.csv", *how, "--quiet")), ours)
    # There is no offset in the file: it is found when it is needed, as `fit` would.
    assert "offset_" not in vars(detector)
    fitted = METHODS[method](scale="mcd", tol=tol).fit(frame, sample_weight=WEIGHTS)
    assert_array_equal(detector.predict(queries), fitted.predict(queries))
    assert (detector.offset_, detector.n_iter_) == (fitted.offset_, fitted.n_iter_)


def test_saved_is_what_was_fitted(tmp_path):
    path = tmp_path / "model.safetensors"
    detector = LogisticDepth(reg=0.1, contamination=0.2, n_jobs=1).fit(X)
    detector.set_params(reg=100.0, contamination=0.5, n_jobs=2).save(path)
    loaded = load(path)
    assert (loaded.reg, loaded.contamination, loaded.n_jobs) == (0.1, 0.2, 2)
    assert_array_equal(loaded.predict(QUERIES), detector.predict(QUERIES))
    assert_array_equal(clone(loaded).fit(X).predict(QUERIES), loaded.predict(QUERIES))
    # The same once more, from what was loaded.
    loaded.set_params(reg=100.0).save(path)
    assert load(path).reg == 0.1


def test_twins_are_saved_and_explained(tmp_path):
    path = tmp_path / "model.safetensors"
    twin = LossDepth(LogisticRegression(C=10.0)).fit(X).twin_
    twin.save(path)
    assert_array_equal(load(path).score_samples(QUERIES), twin.score_samples(QUERIES))
    assert len(twin.explain(QUERIES[:2])) == 2
