"""Ray Data: the same bytes as the command line, also when an actor dies."""

from __future__ import annotations

import os
import signal

import lossdepth
import lossdepth.engines.ray as engine
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import ray

from conftest import PARTITIONS, page_block, parts, same_bits, shuffled


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


def collected(dataset) -> pa.Table:
    return pa.concat_tables(ray.get(dataset.to_arrow_refs()))


def dataset(table, count):
    return ray.data.from_arrow(parts(shuffled(table, count), count))


@pytest.mark.parametrize("count", PARTITIONS)
def test_bits(table, model, expected, count):
    found = engine.score(dataset(table, count), model, concurrency=1, batch_size=1_000)
    assert same_bits(collected(found), expected)


class DyingActor(engine.DepthActor):
    """An actor that is killed once, after its first batch."""

    def __init__(self, scorer, mark) -> None:
        super().__init__(scorer)
        self._mark = mark

    def __call__(self, batch):
        found = super().__call__(batch)
        if not os.path.exists(self._mark):  # noqa: PTH110
            with open(self._mark, "w"):  # noqa: PTH123
                os.kill(os.getpid(), signal.SIGKILL)
        return found


def test_a_worker_dies(table, model, expected, tmp_path):
    mark = str(tmp_path / "died")
    found = dataset(table, 7).map_batches(
        DyingActor,
        fn_constructor_args=(lossdepth.ArrowScorer(model), mark),
        batch_format="pyarrow",
        concurrency=1,
    )
    found = collected(found)
    assert os.path.exists(mark)  # noqa: PTH110
    assert same_bits(found, expected)


@pytest.mark.parametrize("what", ["missing", "null", "texts"])
def test_bad_input(table, model, what):
    bad = table.drop_columns(["delay"])
    if what == "null":
        bad = table.set_column(2, "delay", pa.array([None] + [1.0] * (table.num_rows - 1)))
    if what == "texts":
        bad = table.set_column(2, "delay", pa.array(["x"] * table.num_rows))
    with pytest.raises(Exception, match=r"m\.safetensors.*delay"):
        collected(engine.score(dataset(bad, 2), model))


def test_corrupt_model(table, corrupt):
    with pytest.raises(ValueError, match=r"corrupt\.safetensors"):
        engine.score(dataset(table, 1), corrupt)


def test_the_page_on_ray(page_folder):
    folder = os.getcwd()  # noqa: PTH109
    # Workers have a current folder of their own, and the cluster of these tests two cores.
    block = page_block("Ray Data").replace("concurrency=8", "concurrency=1")
    for name in ("orders/", "scores/"):
        assert block.count(f'"{name}"') == 1
        block = block.replace(f'"{name}"', f'"{folder}/{name}"')
    exec(block, {})  # noqa: S102
    found = pq.read_table(f"{folder}/scores")
    assert found.num_rows == page_folder.num_rows
    assert "depth" in found.column_names
