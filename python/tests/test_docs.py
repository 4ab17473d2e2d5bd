"""The examples in the documentation run, on whatever version of the package is installed."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
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


def commands_of_pages():
    """Commands in shell blocks, page by page; not those that take hours or open a browser."""
    pages = {"README.md": DOCS.parent / "README.md"}
    pages |= {path.relative_to(DOCS).as_posix(): path for path in sorted(DOCS.rglob("*.md"))}
    for name, path in pages.items():
        blocks = re.findall(r"```sh\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
        lines = [line.split(" #")[0].strip() for block in blocks for line in block.splitlines()]
        lines = [line for line in lines if line.startswith("lossdepth ")]
        lines = [line for line in lines if "reproduce" not in line and "--open" not in line]
        if lines:
            yield pytest.param(lines, id=name)


@pytest.fixture
def folder(tmp_path):
    """Make the files that the pages speak of."""
    (tmp_path / "examples").mkdir()
    orders = (DOCS.parent / "examples" / "orders.csv").read_bytes()
    # The format is told by the content, not by the name.
    for name in ("examples/orders.csv", "orders.csv", "orders.xlsx", "reference.parquet"):
        (tmp_path / name).write_bytes(orders)
    rng = np.random.default_rng(0)
    (tmp_path / "parts").mkdir()
    days = ("orders-2026-03-31", "orders-2026-04-01")
    for name in ("data", "old", "new", "clean", *days):
        rows = np.column_stack([rng.standard_t(5, size=(300, 3)), np.arange(300) % 40 == 0])
        np.savetxt(tmp_path / f"{name}.csv", rows, delimiter=",", header="a,b,c,y", comments="")
    fit = [str(PROGRAM), "fit", "old.csv", "--out", "model.safetensors"]
    subprocess.run(fit, cwd=tmp_path, capture_output=True, check=True)
    return tmp_path


@pytest.mark.skipif(not DOCS.exists(), reason="needs the folder docs")
@pytest.mark.parametrize("lines", list(commands_of_pages()) if DOCS.exists() else [])
def test_commands(lines, folder):
    """Every command of the page runs, in order, in a folder with the tables that it names."""
    path = os.pathsep.join([str(PROGRAM.parent), os.environ["PATH"]])
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
