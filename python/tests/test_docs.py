"""The examples in the documentation run, on whatever version of the package is installed."""

import doctest
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lossdepth
from lossdepth import _native
from lossdepth._function import METHODS

MODULES = [
    "lossdepth",
    *(f"lossdepth.{m.name}" for m in pkgutil.iter_modules(lossdepth.__path__)),
    *(f"lossdepth.plot.{m.name}" for m in pkgutil.iter_modules(lossdepth.plot.__path__)),
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    if name == "lossdepth.spark":
        # scripts/test-engines runs it where Spark is installed.
        pytest.importorskip("pyspark")
    result = doctest.testmod(
        importlib.import_module(name),
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    pictures = [getattr(lossdepth.plot, name) for name in lossdepth.plot.__all__]
    for thing in (lossdepth, *pictures, *(getattr(lossdepth, name) for name in lossdepth.__all__)):
        if thing not in (lossdepth.__version__, lossdepth.Scores, lossdepth.plot):
            assert any(found.examples for found in finder.find(thing)), thing


def test_every_parameter_is_documented():
    for cls in (*METHODS.values(), lossdepth.LossDepth):
        for parameter in cls().get_params():
            assert re.search(rf"^{parameter} : ", cls.__doc__, re.MULTILINE), parameter


def test_readme():
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    scope = {}
    for block in re.findall(r"```python\n(.*?)```", readme, re.DOTALL):
        exec(block, scope)  # noqa: S102
    assert scope["detector"].predict(scope["Z"]).tolist() == [1, -1]
    assert scope["why"].top_features(1)[1] == ["x1"]


DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.skipif(not DOCS.exists(), reason="needs the folder docs")
@pytest.mark.parametrize(
    "page",
    ["tutorial.md", "start.md", "gallery.md", "coming-from.md"]
    + [
        f"how-to/{name}.md"
        for name in (
            "tables",
            "thresholds",
            "explanations",
            "compare",
            "large",
            "moving-reference",
            "own",
        )
    ],
)
def test_tutorial(page):
    """Every block of the page runs, and prints what the page says."""
    pytest.importorskip("pyod")
    command = [sys.executable, str(DOCS / "make_tutorial.py"), "--check", page]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


PROGRAM = Path(os.environ.get("LOSSDEPTH_BIN", DOCS.parent / "target" / "release" / "lossdepth"))


def blocks(path, language):
    """Return the blocks of a page in a language."""
    fenced = re.compile(r"^```(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    found = fenced.findall(path.read_text(encoding="utf-8"))
    return [block for name, block in found if name == language]


def shell_lines(path):
    """Return the lines of the shell blocks of a page, without comments."""
    lines = "".join(blocks(path, "sh")).splitlines()
    return [line for line in (line.split(" #")[0].strip() for line in lines) if line]


def commands_of_pages():
    """Commands in shell blocks, page by page; not those that take hours."""
    pages = {"README.md": DOCS.parent / "README.md"}
    pages |= {path.relative_to(DOCS).as_posix(): path for path in sorted(DOCS.rglob("*.md"))}
    for name, path in pages.items():
        lines = shell_lines(path)
        lines = [
            line for line in lines if line.startswith("lossdepth ") and "reproduce" not in line
        ]
        if lines:
            yield pytest.param(lines, id=name)


@pytest.fixture
def folder(tmp_path):
    """Make the files that the pages speak of."""
    (tmp_path / "examples").mkdir()
    orders = (DOCS.parent / "examples" / "orders.csv").read_bytes()
    for name in ("examples/orders.csv", "orders.csv"):
        (tmp_path / name).write_bytes(orders)
    pd.read_csv(tmp_path / "orders.csv").to_parquet(tmp_path / "reference.parquet")
    rng = np.random.default_rng(0)
    (tmp_path / "parts").mkdir()
    days = ("orders-2026-03-31", "orders-2026-04-01")
    for name in ("data", "old", "new", "clean", *days):
        rows = np.column_stack([rng.standard_t(5, size=(300, 3)), np.arange(300) % 40 == 0])
        np.savetxt(tmp_path / f"{name}.csv", rows, delimiter=",", header="a,b,c,y", comments="")
    fit = [str(PROGRAM), "fit", "old.csv", "--out", "model.safetensors"]
    subprocess.run(fit, cwd=tmp_path, capture_output=True, check=True)
    # What `--open` starts.
    (tmp_path / "bin").mkdir()
    for name in ("xdg-open", "open"):
        browser = tmp_path / "bin" / name
        browser.write_text('#!/bin/sh\ntest -f "$1"\n', encoding="utf-8")
        browser.chmod(0o755)
    return tmp_path


@pytest.mark.skipif(not DOCS.exists(), reason="needs the folder docs")
@pytest.mark.parametrize("lines", list(commands_of_pages()) if DOCS.exists() else [])
def test_commands(lines, folder):
    """Every command of the page runs, in order, in a folder with the tables that it names."""
    path = os.pathsep.join([str(PROGRAM.parent), str(folder / "bin"), os.environ["PATH"]])
    for line in lines:
        done = subprocess.run(
            ["/bin/bash", "-c", line],
            cwd=folder,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        # `score` may leave rows short of its tolerance: exit code 1.
        assert done.returncode in {0, 1}, (line, done.stderr)


@pytest.mark.skipif(not DOCS.exists(), reason="needs the folder docs")
@pytest.mark.parametrize("page", ["../README.md", "report.md", "model-format.md"])
def test_blocks_with_names(page, folder, monkeypatch):
    """Blocks that speak of tables without making them run on tables of these names."""
    monkeypatch.chdir(folder)
    orders = pd.read_csv("orders.csv")
    numbers = pd.read_csv("old.csv")
    scope = {
        "df": orders,
        "old": orders[:800],
        "new": orders[800:],
        "X": numbers[["a", "b", "c"]],
        "Z": numbers[["a", "b", "c"]][:5],
    }
    for block in blocks(DOCS / page, "python"):
        exec(block, scope)  # noqa: S102
    if "checksum" in scope:
        data = Path("model.safetensors").read_bytes()
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        assert scope["checksum"]("model.safetensors") == header["__metadata__"]["checksum"]
    else:
        assert "</html>" in Path("odd.html").read_text(encoding="utf-8")


# Who else runs a line of a shell block, or why nobody does.
ELSEWHERE = {
    "scripts/example": ".ci/run",
    "scripts/test": ".ci/run",
    "scripts/bench": ".ci/run runs it with --quick, others take minutes on an idle machine",
    "scripts/r-package": "scripts/test-r",
    "R CMD INSTALL target/r-package/lossdepth_": "scripts/test-r",
    "cargo run --release -p lossdepth --example own_loss": ".ci/run",
    "cargo install --path crates/lossdepth-cli": "scripts/example builds the same",
    "pip install": "these tests run in what it made",
    "python -m venv .venv": "scripts/test",
    "pytest": "scripts/test",
    "mypy --strict lossdepth && ruff check": ".ci/run",
    "lossdepth reproduce": "takes hours; crates/lossdepth-cli/tests/suite/reproduce.rs runs parts",
    "rm -f parts/": "test_commands runs the lines around it",
}
PYTHON_ELSEWHERE = {
    "docs/engines.md": "scripts/test-engines",
    "python/README.md": "test_readme",
}


@pytest.mark.skipif(not DOCS.exists(), reason="needs the folder docs")
def test_every_block_runs_somewhere():
    """Every block of code that a page shows is run by a test, or is named above with a reason."""
    root = DOCS.parent
    pages = [
        root / name for name in ("README.md", "CONTRIBUTING.md", "python/README.md", "r/README.md")
    ]
    pages += [root / "benchmarks" / "README.md", *sorted(DOCS.rglob("*.md"))]
    (run,) = [mark for mark in test_tutorial.pytestmark if mark.name == "parametrize"]
    (named,) = [mark for mark in test_blocks_with_names.pytestmark if mark.name == "parametrize"]
    here = {(DOCS / page).resolve() for page in (*run.args[1], *named.args[1])}
    (r_pages,) = re.findall(
        r"pages\.R (.*) >&2", (root / "scripts/test-r").read_text(encoding="utf-8")
    )
    for page in pages:
        name = page.relative_to(root).as_posix()
        languages = re.findall(r"^```(\S*)", page.read_text(encoding="utf-8"), re.MULTILINE)[::2]
        # crates/lossdepth/tests/suite/pages.rs compares Rust; texts are what blocks print.
        assert set(languages) <= {"sh", "python", "r", "rust", "text", ""}, name
        if "python" in languages:
            assert page in here or name in PYTHON_ELSEWHERE, f"nothing runs the Python of {name}"
        if "r" in languages:
            assert name in r_pages.split(), f"nothing runs the R of {name}"
        for line in shell_lines(page):
            tested = line.startswith("lossdepth ") and page.parent in (root, DOCS, *DOCS.rglob("*"))
            assert tested or any(line.startswith(start) for start in ELSEWHERE), f"{name}: {line}"


@pytest.mark.skipif(not DOCS.exists(), reason="needs the folder docs")
def test_screens_are_what_the_program_prints():
    """docs/outliers.md and the screen in README are what the program prints today."""
    program = os.environ | {"LOSSDEPTH_BIN": str(PROGRAM)}
    command = [sys.executable, str(DOCS / "make_outliers.py"), "--check"]
    done = subprocess.run(command, env=program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    command = [str(PROGRAM), "outliers", "examples/orders.csv", "--top", "8"]
    screen = subprocess.run(
        command, cwd=DOCS.parent, capture_output=True, text=True, check=True
    ).stdout
    (shown,) = [block for block in blocks(DOCS.parent / "README.md", "") if "oddest" in block]
    lines = [line for line in shown.splitlines() if line.strip() not in {"", "…"}]
    assert len(lines) > 10
    assert [line for line in lines if line not in screen.splitlines()] == []


@pytest.mark.skipif(not DOCS.exists(), reason="needs the folder docs")
def test_pictures_are_there_and_small():
    pages = [DOCS / "tutorial.md", Path(__file__).parents[1] / "README.md"]
    found = [
        page.parent / path
        for page in pages
        for path in re.findall(r"!\[[^\]]*\]\(([^)]+\.png)\)", page.read_text(encoding="utf-8"))
    ]
    assert len(found) >= 8
    for picture in found:
        assert picture.stat().st_size < 200_000, picture


def test_the_native_module_is_small_and_for_every_python():
    library = Path(_native.__file__)
    assert ".abi3." in library.name or sys.platform == "win32"
    assert library.stat().st_size < 20_000_000  # twice the bound of the wheel, which is compressed
