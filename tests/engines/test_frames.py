"""Polars, DuckDB and Dask: the same bytes as the command line, and errors with names."""

from __future__ import annotations

import os
from pathlib import Path

import dask.dataframe as dd
import duckdb
import lossdepth
import lossdepth.engines.dask
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from distributed import Client, LocalCluster
from lossdepth.engines.duckdb import register
from lossdepth.engines.polars import depth, scores

from conftest import PARTITIONS, page_block, parts, same_bits, shuffled


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client


@pytest.mark.parametrize("count", PARTITIONS)
def test_scorer(table, model, expected, count):
    scorer = lossdepth.ArrowScorer(model)
    rows = shuffled(table, count)
    found = pa.concat_tables([scorer.append(part) for part in parts(rows, count)])
    assert same_bits(found, expected)


@pytest.mark.parametrize("count", PARTITIONS)
def test_polars(table, model, expected, count):
    frames = [pl.DataFrame(part) for part in parts(shuffled(table, count), count)]
    query = pl.concat([frame.lazy() for frame in frames]).with_columns(scores(model))
    assert same_bits(query.unnest("scores").collect().to_arrow(), expected)
    streamed = query.unnest("scores").collect(engine="streaming")
    assert same_bits(streamed.to_arrow(), expected)


def test_polars_depth(table, model, expected):
    found = pl.DataFrame(table).select("id", depth(model), error=pl.lit(0.0))
    assert found["depth"].to_list() == expected["depth"].to_pylist()


@pytest.mark.parametrize("count", PARTITIONS)
def test_duckdb(table, model, expected, count):
    connection = duckdb.connect()
    connection.execute(f"SET threads = {min(count, 2)}")
    connection.register("rows", shuffled(table, count))
    connection.execute("CREATE TABLE t AS FROM rows")
    register(connection)
    by_row = (
        f"SELECT id, s.depth, s.error FROM (SELECT id, lossdepth_scores('{model}', t) s FROM t)"
    )
    assert same_bits(connection.sql(by_row).to_arrow_table(), expected)
    names = ", ".join(lossdepth.ArrowScorer(model).features)
    by_place = f"SELECT id, lossdepth('{model}', {names}) AS depth FROM t ORDER BY id"
    found = connection.sql(by_place).to_arrow_table()
    assert found["depth"].to_pylist() == expected["depth"].to_pylist()


@pytest.mark.parametrize("count", PARTITIONS)
def test_dask(table, model, expected, count, client):
    frame = dd.from_pandas(shuffled(table, count).to_pandas(), npartitions=count, sort=False)
    found = lossdepth.engines.dask.score(frame, model)
    assert same_bits(pa.Table.from_pandas(found.compute(), preserve_index=False), expected)


def test_dask_prepares_once_per_process(table, model, client):
    client.run(lossdepth.ArrowScorer.cache_clear)
    frame = dd.from_pandas(table.to_pandas(), npartitions=16)
    lossdepth.engines.dask.score(frame, model).compute()
    counts = client.run(lambda: lossdepth.ArrowScorer.cache_info().prepared)
    assert sum(counts.values()) >= 1
    assert all(count <= 1 for count in counts.values())


def bad_tables(table):
    """Each with what its error must name."""
    without = table.drop_columns(["delay"])
    texts = table.set_column(2, "delay", pa.array(["x"] * table.num_rows))
    null = table.set_column(2, "delay", pa.array([None] + [1.0] * (table.num_rows - 1)))
    return {"missing": without, "texts": texts, "null": null}


@pytest.mark.parametrize("what", ["missing", "texts", "null"])
def test_bad_tables(table, model, what, client):
    bad = bad_tables(table)[what]
    frame = pl.DataFrame(bad)
    with pytest.raises(Exception, match="delay"):
        frame.with_columns(scores(model))
    connection = duckdb.connect()
    connection.register("t", bad)
    register(connection)
    with pytest.raises(duckdb.Error, match=r"m\.safetensors.*delay"):
        connection.sql(f"SELECT lossdepth('{model}', t) FROM t").fetchall()
    lazy = dd.from_pandas(bad.to_pandas(), npartitions=3)
    with pytest.raises(ValueError, match=r"m\.safetensors.*delay"):
        lossdepth.engines.dask.score(lazy, model).compute()


def test_corrupt_model(table, corrupt):
    frame = dd.from_pandas(pd.DataFrame({"amount": [1.0]}), npartitions=1)
    with pytest.raises(ValueError, match=r"corrupt\.safetensors"):
        scores(corrupt)
    with pytest.raises(ValueError, match=r"corrupt\.safetensors"):
        lossdepth.engines.dask.score(frame, corrupt)
    connection = duckdb.connect()
    connection.register("t", table)
    register(connection)
    with pytest.raises(duckdb.Error, match=r"corrupt\.safetensors"):
        connection.sql(f"SELECT lossdepth('{corrupt}', t) FROM t").fetchall()


def test_nothing_half_written(table, model, tmp_path):
    connection = duckdb.connect()
    connection.register("t", bad_tables(table)["null"])
    register(connection)
    target = tmp_path / "out.parquet"
    with pytest.raises(duckdb.Error):
        connection.execute(f"COPY (SELECT lossdepth('{model}', t) FROM t) TO '{target}'")
    assert not os.path.exists(target) or target.stat().st_size == 0  # noqa: PTH110


def depths(orders):
    """Score with the file of the page, by the scorer."""
    scores = lossdepth.ArrowScorer("m.safetensors").score(orders.combine_chunks().to_batches()[0])
    return pa.record_batch(scores).column("depth").to_pylist()


def test_the_page_on_polars(page_folder):
    scope = {}
    exec(page_block("Polars"), scope)  # noqa: S102
    assert sorted(scope["frame"]["depth"].to_list()) == sorted(depths(page_folder))
    assert {"error", "percentile"} <= set(scope["frame"].columns)


def test_the_page_on_duckdb(page_folder, capsys):
    block = page_block("DuckDB")
    # The relation `u` of the page.
    select = "SELECT amount a, delay d, region r FROM 'orders.parquet'"
    table = f'connection.sql("CREATE TABLE u AS {select}")\n'
    assert block.count("register(connection)\n") == 1
    block = block.replace("register(connection)\n", "register(connection)\n" + table)
    scope = {}
    exec(block, scope)  # noqa: S102
    assert "depth" in capsys.readouterr().out
    found = scope["connection"].sql("SELECT lossdepth('m.safetensors', a, d, r) FROM u").fetchall()
    assert [depth for (depth,) in found] == depths(page_folder)


def test_the_page_on_dask(page_folder, client):
    exec(page_block("Dask"), {})  # noqa: S102
    found = pd.concat(pd.read_parquet(path) for path in sorted(Path("scores").glob("*.parquet")))
    assert sorted(found["depth"]) == sorted(depths(page_folder))
