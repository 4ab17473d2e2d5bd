"""Spark Connect: the same bytes as the command line."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import lossdepth
import numpy as np
import pytest
from lossdepth.spark import DepthDetector, DepthDetectorModel

from conftest import FEATURES, collected, same_bits, shuffled

# A classic session with the plugin that is the server. It saves a model, and stops when its input
# ends.
SERVER = """
import sys
from lossdepth.spark import DepthDetectorModel
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[2]")
model, folder, *settings = sys.argv[1:]
for setting in settings:
    builder = builder.config(*setting.split("=", 1))
session = builder.getOrCreate()
DepthDetectorModel.fromFile(model).write().save(folder)
print("started", flush=True)
sys.stdin.read()
session.stop()
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    """Say where the server saves a model."""
    return str(tmp_path_factory.mktemp("classic") / "saved")


@pytest.fixture(scope="module")
def spark(model, folder, tmp_path_factory):
    from pyspark.sql import SparkSession  # noqa: PLC0415

    port = free_port()
    settings = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
    }
    given = [f"{name}={value}" for name, value in settings.items()]
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, model, folder, *given],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        cwd=tmp_path_factory.mktemp("server"),
        text=True,
    )
    try:
        assert server.stdout.readline() == "started\n", "the server did not start"
        session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
        yield session
        session.stop()
    finally:
        server.communicate()


def frame(spark, table, count):
    return spark.createDataFrame(shuffled(table, count).to_pandas()).repartition(count)


def test_the_session_is_remote(spark):
    assert "connect" in type(spark).__module__


@pytest.mark.parametrize("count", [1, 7])
def test_bits(spark, table, model, expected, count):
    found = DepthDetectorModel.fromFile(model).transform(frame(spark, table, count))
    assert same_bits(collected(found), expected)


def test_fit_is_that_of_one_machine(spark, table):
    detector = DepthDetector(inputCols=FEATURES, method="logistic", settings={"reg": 0.1})
    sketch = lossdepth.ReferenceSketch().add(table.select(FEATURES))
    wanted = lossdepth.LogisticDepth(reg=0.1).fit(sketch).score_samples(table)
    found = detector.fit(frame(spark, table, 7)).transform(frame(spark, table, 3))
    scores = collected(found).sort_by("id")
    assert np.array_equal(np.asarray(scores["depth"]), wanted)


def test_a_folder_is_read(spark, table, expected, folder):
    found = DepthDetectorModel.load(folder).transform(frame(spark, table, 2))
    assert same_bits(collected(found), expected)


def test_a_folder_is_not_written_but_a_file_is(spark, table, model, expected, tmp_path):
    made = DepthDetectorModel.fromFile(model)
    target, file = tmp_path / "folder", tmp_path / "again.safetensors"
    with pytest.raises(RuntimeError, match="Spark Connect: `saveModel`"):
        made.write().overwrite().save(str(target))
    assert not target.exists()
    made.saveModel(file)
    found = DepthDetectorModel.fromFile(file).transform(frame(spark, table, 2))
    assert same_bits(collected(found), expected)


def test_an_estimator_is_saved(spark, tmp_path):
    target = str(tmp_path / "estimator")
    made = DepthDetector(method="svm", settings={"reg": 0.1}, inputCols=["delay"])
    # Not `overwrite`, which Spark does in Java.
    made.write().save(target)
    assert DepthDetector.load(target).getOrDefault("settings") == {"reg": 0.1}


def test_bad_input(spark, table, model):
    from pyspark.sql import functions as f  # noqa: PLC0415

    rows, scores = frame(spark, table, 3), DepthDetectorModel.fromFile(model)
    with pytest.raises(ValueError, match=r"m\.safetensors.*delay"):
        scores.transform(rows.drop("delay"))
    null = rows.withColumn("delay", f.when(f.col("id") > 0, f.col("delay")))
    with pytest.raises(Exception, match=r"m\.safetensors.*delay"):
        collected(scores.transform(null))
