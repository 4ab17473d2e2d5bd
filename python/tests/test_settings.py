"""The estimators have the settings that the native library declares."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import lossdepth
from lossdepth import _native
from lossdepth._function import METHODS

COMMON = {
    "preset": None,
    "missing": "compare",
    "kinds": None,
    "contamination": 0.1,
    "n_jobs": None,
    "verbose": 0,
}

ANNOTATIONS = {
    "number": "float",
    "optional-number": "float | None",
    "number-or": "str | float",
    "gamma": "str | float",
    "count": "int",
    "counts": "int | Sequence[int]",
    "choice": "str",
}


@pytest.fixture(params=_native.METHODS)
def method(request):
    return request.param


def parameters(cls):
    """Return the parameters in a docstring: a type, a default and a text for each name."""
    section = cls.__doc__.split("Parameters\n----------\n")[1].split("\n\n")[0]
    found = re.findall(r"^(\w+) : (.*), default=(.*)\n((?:    .*\n?)+)", section, re.MULTILINE)
    return {name: (kind, default, " ".join(text.split())) for name, kind, default, text in found}


def test_every_method_has_an_estimator_that_is_exported():
    assert list(METHODS) == list(_native.METHODS)
    for cls in METHODS.values():
        assert getattr(lossdepth, cls.__name__) is cls
        assert cls.__name__ in lossdepth.__all__


def test_constructors_have_the_declared_parameters_defaults_and_types(method):
    signature = inspect.signature(METHODS[method]).parameters
    assert {p.kind for p in signature.values()} == {inspect.Parameter.KEYWORD_ONLY}
    defaults = {name: p.default for name, p in signature.items()}
    # Methods that compare numbers only have no place for a gap.
    own = {"missing": "error"} if METHODS[method]._truth_is_number else {}
    assert defaults == _native.METHODS[method] | COMMON | own
    assert list(defaults) == [*_native.METHODS[method], *COMMON]
    for name, setting in _native.SETTINGS[method].items():
        assert signature[name].annotation == ANNOTATIONS[setting["kind"]], name


def test_parameters_are_stored_as_given(method):
    given = {name: object() for name in _native.METHODS[method]}
    estimator = METHODS[method](**given)
    assert {name: getattr(estimator, name) for name in given} == given
    assert vars(METHODS[method]()).keys() == given.keys() | COMMON.keys()


def test_docstrings_say_what_is_declared(method):
    documented = parameters(METHODS[method])
    assert list(documented) == list(inspect.signature(METHODS[method]).parameters)
    for name, setting in _native.SETTINGS[method].items():
        kind, default, text = documented[name]
        assert all(f'"{choice}"' in kind for choice in setting["choices"]), name
        assert eval(default) == _native.METHODS[method][name]  # noqa: S307
        plain = re.sub(r'``"([^"]+)"``', r"`\1`", text)
        assert f"{plain} ".startswith(f"{setting['help']}. "), name
        assert setting["range"] == "any" or f". {setting['range'].capitalize()}." in plain, name
        assert setting["details"] in plain, name


def test_native_methods_take_every_choice_that_is_declared(method):
    X = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 3.0], [4.0, 1.0], [2.5, 0.0]])
    for name, setting in _native.SETTINGS[method].items():
        for choice in setting["choices"]:
            extra = {"radius": 1.0} if choice == "constrained" else {}
            # Kernel values of a kernel that is constant on the diagonal.
            rows = np.eye(len(X)) if choice == "precomputed" else X
            if choice == "passes" and method not in {
                "logistic",
                "squared-hinge",
                "exponential",
                "svm",
            }:
                with pytest.raises(ValueError, match="goes with the methods"):
                    METHODS[method](**{name: choice}).fit(rows)
                continue
            assert METHODS[method](**{name: choice}, **extra).fit(rows).offset_ >= 0.0


def test_aliases_stand_for_methods():
    Z, X = [[0.5, 0.5]], [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
    assert _native.ALIASES.keys().isdisjoint(_native.METHODS)
    for alias, method in _native.ALIASES.items():
        for name in (alias, alias.upper()):
            assert lossdepth.depth(Z, X, name) == lossdepth.depth(Z, X, method)
