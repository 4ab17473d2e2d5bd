"""The examples in the documentation run, on whatever version of the package is installed."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import lossdepth

MODULES = ["lossdepth", *(f"lossdepth.{m.name}" for m in pkgutil.iter_modules(lossdepth.__path__))]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    result = doctest.testmod(
        importlib.import_module(name),
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    for thing in (lossdepth, *(getattr(lossdepth, name) for name in lossdepth.__all__)):
        if thing not in (lossdepth.__version__, lossdepth.Scores):
            assert any(found.examples for found in finder.find(thing)), thing


def test_every_parameter_is_documented():
    for cls in (lossdepth.LogisticDepth, lossdepth.HingeDepth):
        for parameter in cls().get_params():
            assert re.search(rf"^{parameter} : ", cls.__doc__, re.MULTILINE), parameter


def test_readme():
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    scope = {}
    for block in re.findall(r"```python\n(.*?)```", readme, re.DOTALL):
        exec(block, scope)  # noqa: S102
    assert scope["detector"].predict(scope["Z"]).tolist() == [1, -1]
    assert scope["why"].top_features(1)[1] == ["x1"]
