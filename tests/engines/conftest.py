"""A table, a model file, and what the command line says of them."""

from __future__ import annotations

import os
import re
import subprocess
from itertools import pairwise
from pathlib import Path

import lossdepth
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

FEATURES = ["amount", "delay", "count", "region"]
PARTITIONS = (1, 7, 64)


@pytest.fixture(scope="session")
def table() -> pa.Table:
    rng = np.random.default_rng(5)
    n = 6_000
    return pa.table(
        {
            "id": np.arange(n),
            "amount": rng.lognormal(size=n),
            "delay": rng.standard_t(3, size=n),
            "count": rng.integers(0, 40, size=n),
            "region": rng.choice(["north", "south", "east", "west"], size=n),
        }
    )


@pytest.fixture(scope="session")
def model(table, tmp_path_factory) -> str:
    """Write a model file of the default method, with a column of categories."""
    path = tmp_path_factory.mktemp("model") / "m.safetensors"
    lossdepth.AutoDepth().fit(table.select(FEATURES).slice(0, 1_500)).save(path)
    return str(path)


@pytest.fixture(scope="session")
def expected(table, model, tmp_path_factory) -> pa.Table:
    """Score with the command line."""
    folder = tmp_path_factory.mktemp("cli")
    rows, out = folder / "rows.parquet", folder / "scores.parquet"
    pq.write_table(table, rows)
    program = os.environ["LOSSDEPTH_BIN"]
    command = [program, "score", rows, "--model", model, "--id", "id", "--out", out, "--quiet"]
    subprocess.run(command, check=True)
    scores = pq.read_table(out)
    return pa.table({"depth": scores["depth"], "error": scores["error"]})


def page_block(section: str) -> str:
    """The Python that a section of docs/engines.md shows."""
    page = Path(__file__).parents[2] / "docs" / "engines.md"
    text = page.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return block


@pytest.fixture
def page_folder(tmp_path, monkeypatch):
    """Change to a folder with the files of docs/engines.md; return the table in them."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    n = 400
    orders = pa.table(
        {
            "amount": rng.lognormal(size=n),
            "delay": rng.standard_t(3, size=n),
            "region": rng.choice(["north", "south"], size=n),
        }
    )
    (tmp_path / "orders").mkdir()
    pq.write_table(orders, tmp_path / "orders.parquet")
    pq.write_table(orders.slice(0, 300), tmp_path / "orders" / "1.parquet")
    pq.write_table(orders.slice(300), tmp_path / "orders" / "2.parquet")
    lossdepth.AutoDepth().fit(orders).save("m.safetensors")
    return orders


def same_bits(found: pa.Table, expected: pa.Table) -> bool:
    """Compare depths and errors bit by bit; `found` has the ids."""
    found = found.sort_by("id")
    names = ("depth", "error")
    bits = [np.asarray(found[name]).view(np.uint64) for name in names]
    others = [np.asarray(expected[name]).view(np.uint64) for name in names]
    return all(np.array_equal(a, b) for a, b in zip(bits, others, strict=True))


def collected(frame) -> pa.Table:
    """Collect a data frame of Spark; before Spark 4 it takes the way through pandas."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    return pa.Table.from_pandas(frame.toPandas(), preserve_index=False)


def shuffled(table: pa.Table, seed: int) -> pa.Table:
    return table.take(np.random.default_rng(seed).permutation(table.num_rows))


def parts(table: pa.Table, count: int) -> list[pa.Table]:
    ends = np.linspace(0, table.num_rows, count + 1).astype(int)
    return [table.slice(a, b - a) for a, b in pairwise(ends)]


@pytest.fixture(scope="session")
def corrupt(model, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("corrupt") / "corrupt.safetensors"
    data = bytearray(Path(model).read_bytes())
    data[-20] ^= 255
    path.write_bytes(data)
    return str(path)
