"""The package is typed, and the stubs say what the native module has."""

import subprocess
import sys
from pathlib import Path

import pytest

import lossdepth

ROOT = Path(__file__).parents[1]
CONFIG = str(ROOT / "pyproject.toml")


def run(folder, *command):
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy():
    pytest.importorskip("mypy")
    run(ROOT, "mypy", "--strict", "lossdepth")


def test_stubs_match_the_native_module(tmp_path):
    # From elsewhere, so that the installed package is looked at.
    pytest.importorskip("mypy")
    run(tmp_path, "mypy.stubtest", "lossdepth._native", "--mypy-config-file", CONFIG)


def test_marked_as_typed():
    assert (Path(lossdepth.__file__).parent / "py.typed").exists()
