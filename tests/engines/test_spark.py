"""Spark with two executors: the same bytes as the command line, also when a worker dies."""

from __future__ import annotations

import os
import signal
import sys

import lossdepth
import numpy as np
import pyarrow as pa
import pytest
from lossdepth.spark import DepthDetector, DepthDetectorModel

from conftest import FEATURES, PARTITIONS, collected, page_block, same_bits, shuffled


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession  # noqa: PLC0415

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "4",
        "spark.task.maxFailures": "4",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def frame(spark, table, count):
    rows = shuffled(table, count).to_pandas()
    return spark.createDataFrame(rows).repartition(count)


@pytest.mark.parametrize("count", PARTITIONS)
def test_bits(spark, table, model, expected, count):
    found = DepthDetectorModel.fromFile(model).transform(frame(spark, table, count))
    assert same_bits(collected(found), expected)


def test_fit_is_that_of_one_machine(spark, table):
    detector = DepthDetector(inputCols=FEATURES, method="logistic", settings={"reg": 0.1})
    sketch = lossdepth.ReferenceSketch().add(table.select(FEATURES))
    here = lossdepth.LogisticDepth(reg=0.1).fit(sketch)
    with_all = lossdepth.LogisticDepth(reg=0.1).fit(table.select(FEATURES))
    wanted, whole = here.score_samples(table), with_all.score_details(table)
    for count in (1, 7):
        found = detector.fit(frame(spark, table, count)).transform(frame(spark, table, 3))
        scores = collected(found).sort_by("id")
        assert np.array_equal(np.asarray(scores["depth"]), wanted)
        apart = np.abs(np.asarray(scores["depth"]) - whole.depth)
        assert (apart <= np.asarray(scores["error"]) + whole.error).all()


def test_a_sample_is_announced(spark, table):
    detector = DepthDetector(inputCols=FEATURES, referenceRows=500)
    with pytest.warns(UserWarning, match="of 6,000 rows"):
        detector.fit(frame(spark, table, 7))


def test_round_trip(spark, table, model, expected, tmp_path):
    folder = str(tmp_path / "saved")
    made = DepthDetectorModel.fromFile(model, prefix="x_", columns=["depth", "error"])
    made.write().overwrite().save(folder)
    again = DepthDetectorModel.load(folder)
    assert again.uid == made.uid
    assert again.getOrDefault("prefix") == "x_"
    found = collected(again.transform(frame(spark, table, 7)))
    found = found.rename_columns([name.removeprefix("x_") for name in found.column_names])
    assert same_bits(found, expected)
    # The file in the folder is a model file like others.
    lossdepth.load(os.path.join(folder, "model.safetensors"))  # noqa: PTH118
    estimator = DepthDetector(method="svm", settings={"reg": 0.1}, inputCols=["delay"])
    estimator.write().overwrite().save(folder)
    assert DepthDetector.load(folder).getOrDefault("settings") == {"reg": 0.1}


def test_prepares_once_per_process(spark, table, model):
    scorer = lossdepth.ArrowScorer(model)

    def count(batches):
        for batch in batches:
            scorer(batch)
        info = scorer.cache_info()
        yield pa.record_batch({"pid": [os.getpid()], "prepared": [info.prepared]})

    rows = frame(spark, table, 24).mapInArrow(count, "pid long, prepared long").collect()
    assert len(rows) == 24
    # Earlier tests may have prepared other models in the same workers; never one twice.
    assert {row.prepared for row in rows} <= {1, 2, 3, 4}
    by_process = {}
    for row in rows:
        by_process.setdefault(row.pid, set()).add(row.prepared)
    assert all(len(counts) == 1 for counts in by_process.values())


def test_a_worker_dies(spark, table, model, expected, tmp_path):
    scorer = lossdepth.ArrowScorer(model)
    mark = str(tmp_path / "died")

    def score(batches):
        for batch in batches:
            yield scorer.append(batch)
            if not os.path.exists(mark):  # noqa: PTH110
                with open(mark, "w"):  # noqa: PTH123
                    os.kill(os.getpid(), signal.SIGKILL)

    rows = frame(spark, table, 7)
    schema = DepthDetectorModel.fromFile(model).transform(rows).schema
    found = collected(rows.mapInArrow(score, schema))
    assert os.path.exists(mark)  # noqa: PTH110
    assert same_bits(found, expected)


def test_bad_input(spark, table, model, corrupt, tmp_path):
    from pyspark.sql import functions as f  # noqa: PLC0415

    rows, scores = frame(spark, table, 3), DepthDetectorModel.fromFile(model)
    with pytest.raises(ValueError, match=r"m\.safetensors.*delay"):
        scores.transform(rows.drop("delay"))
    # A text, and a null.
    for place, bad in enumerate((f.lit("x"), f.when(f.col("id") > 0, f.col("delay")))):
        target = tmp_path / f"out{place}"
        with pytest.raises(Exception, match=r"m\.safetensors.*delay"):
            scores.transform(rows.withColumn("delay", bad)).write.parquet(str(target))
        assert not (target / "_SUCCESS").exists()
        assert not list(target.glob("*.parquet"))
    with pytest.raises(ValueError, match=r"corrupt\.safetensors"):
        DepthDetectorModel.fromFile(corrupt).transform(rows)
    with pytest.raises(ValueError, match="already"):
        scores.transform(rows.withColumn("depth", f.lit(1)))


def test_the_page_on_spark(spark, page_folder, tmp_path, capsys):
    orders = spark.createDataFrame(page_folder.to_pandas())
    block = page_block("Spark")
    # There is no HDFS here.
    assert block.count("hdfs:///models/orders") == 2
    scope = {"reference": orders, "orders": orders}
    exec(block.replace("hdfs:///models/orders", str(tmp_path / "model")), scope)  # noqa: S102
    assert "depth" in capsys.readouterr().out
    here = lossdepth.load("m.safetensors").score_samples(page_folder)
    there = np.asarray(collected(scope["model"].transform(orders))["depth"])
    assert np.array_equal(np.sort(there), np.sort(here))
