"""Pages about the oddest rows: from frames and arrays, against themselves and others."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lossdepth

ORDERS = Path(__file__).parents[2] / "examples" / "orders.csv"


def embedded(html):
    return json.loads(re.search(r'id="report-data">(.*?)</script>', html, re.DOTALL)[1])


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 200
    table = pd.DataFrame(
        {
            "quantity": rng.poisson(12, n).astype(float),
            "region": pd.Categorical(rng.choice(["north", "south", "east"], n)),
            "day": pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D"),
            "paid": rng.random(n) < 0.9,
        },
        index=[f"order {i}" for i in range(n)],
    )
    table.loc["order 7", "quantity"] = np.nan
    table.loc["order 9", "quantity"] = 900.0
    return table


def test_the_page_shows_what_outliers_finds(frame, tmp_path):
    page = lossdepth.report(frame, tmp_path / "odd.html", top=8, title="A <title>")
    found = lossdepth.outliers(frame, top=8)
    data = embedded(page.html)
    assert (tmp_path / "odd.html").read_text() == page.html
    assert [row["depth"] for row in data["rows"]] == found["depth"].tolist()
    assert [row["p_value"] for row in data["rows"]] == found["p"].tolist()
    # Rows are called by the index of the frame.
    assert [row["name"] for row in data["rows"]] == found.index.tolist()
    assert "A &lt;title&gt;" in page.html
    assert repr(page) == "Report(200 rows)"


def test_the_program_writes_the_same_page(tmp_path):
    program = os.environ.get("LOSSDEPTH_BIN")
    if program is None:
        pytest.skip("LOSSDEPTH_BIN does not name the program")
    out = tmp_path / "odd.html"
    subprocess.run([program, "report", ORDERS, "--out", out, "--quiet"], check=True)
    table = pd.read_csv(ORDERS, dtype=str, keep_default_na=False)
    ours, theirs = lossdepth.report(table, name="orders.csv").html, out.read_text()
    # The program knows the checksum of the file besides.
    fact = r"<div><dt><bdi>SHA-256 of orders\.csv</bdi></dt><dd><bdi>[0-9a-f]{64}</bdi></dd></div>"
    assert ours == re.sub(fact, "", theirs)


def test_a_detector_compares_with_its_own_rows_or_others(frame):
    detector = lossdepth.AutoDepth().fit(frame)
    own = detector.report(frame)
    assert "ranks in the table itself" in own.html
    assert "What changed" not in own.html
    depths = detector.score_samples(frame)
    names = [row["name"] for row in embedded(own.html)["rows"]]
    assert names == frame.index[np.argsort(depths, kind="stable")[:50]].tolist()
    later = frame.assign(quantity=frame["quantity"] + 20)
    other = detector.report(later, name="this week", reference_name="last week")
    assert "Odd rows in this week against last week" in other.html
    assert "by more than chance explains: <bdi" in other.html


def test_masked_values_are_not_written(frame):
    page = lossdepth.report(frame, mask=["region"])
    assert not any(
        f">{level}" in page.html or f'"{level}"' in page.html for level in ("north", "south")
    )
    with pytest.raises(ValueError, match="`mask` names a column that is not there: 'regoin'"):
        lossdepth.report(frame, mask="regoin")
    with pytest.raises(ValueError, match="regoin"):
        lossdepth.AutoDepth().fit(frame).report(frame, mask="regoin")


def test_arrays_and_other_methods():
    X = np.random.default_rng(1).normal(size=(120, 3))
    X[4, 1] = np.nan
    page = lossdepth.report(X, method="logistic", reg=0.1, top=3)
    data = embedded(page.html)
    assert [column["name"] for column in data["columns"]] == ["column 0", "column 1", "column 2"]
    assert len(data["rows"]) == 3
    fitted = lossdepth.LogisticDepth(reg=0.1).fit(X[10:]).report(X[:10], top=3)
    assert len(embedded(fitted.html)["rows"]) == 3


def test_wrong_arguments(frame, tmp_path):
    with pytest.raises(ValueError, match="`top` must be a whole number"):
        lossdepth.report(frame, top=-1)
    assert len(embedded(lossdepth.report(frame, top=10**30).html)["rows"]) == len(frame)
    for wrong in ("title", "name", "reference_name"):
        with pytest.raises(TypeError, match=f"`{wrong}` must be a string, got 5"):
            lossdepth.report(frame, **{wrong: 5})
    with pytest.raises(ValueError, match="`mask` names a column that is not there: ''"):
        lossdepth.report(frame, mask="")
    with pytest.raises(OSError, match="nowhere"):
        lossdepth.report(frame, tmp_path / "nowhere" / "odd.html")
    assert list(tmp_path.iterdir()) == []


def test_notebooks_show_pages_and_tables():
    rows = np.array([[i % 5, i % 7] for i in range(70)] + [[40, 3]], dtype=float)
    shown = lossdepth.report(rows)._repr_html_()
    assert shown.startswith("<iframe")
    assert 'sandbox="allow-scripts allow-downloads"' in shown
    assert "<script" not in shown
    table = lossdepth.outliers(rows, top=2)._repr_html_()
    assert "The 2 oddest of 71 rows" in table
    assert "highest of all" in table
    named = pd.DataFrame({"id": ["<b>x</b>"] * 71, "a": rows[:, 0], "b": rows[:, 1]}).to_numpy()
    assert "<b>" not in lossdepth.outliers(named, top=2)._repr_html_()
