"""Docstrings of the estimators, composed of the native library's table of settings."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TYPE_CHECKING, Any, TypeVar

from lossdepth import _native

if TYPE_CHECKING:
    from lossdepth._base import Depth

_TYPES = {
    "number": "float",
    "optional-number": "float or None",
    "number-or": "{choices}, int or float",
    "gamma": "{choices}, str or float",
    "count": "int",
    "counts": "int or sequence of int",
    "choice": "{choices}",
}

# The parameters that all estimators have beside the settings of their method.
_COMMON = {
    "preset": """preset : {"paper", "paper-code", "recommended"} or None, default=None
    Start from other settings than the defaults: see :func:`preset`. A parameter that is not at its
    default counts before the preset.""",
    "missing": """missing : {"compare", "median", "error"}, default="compare"
    What to do about gaps (NaN, None, null): compare a row on what it has, a gap taking the value of
    the most similar row of the reference that has one, while gaps that are rare in the reference
    count as outlying by themselves; fill in the median or the most frequent level; or refuse
    them.""",
    "kinds": """kinds : dict or None, default=None
    Kinds of columns by name, or by number where there are no names: ``"number"``, ``"category"``,
    ``"boolean"``, ``"date"``; ``"id"`` and ``"text"`` leave a column out. Others have the kind of
    their type: numbers stay numbers. Columns of texts are read as numbers or dates where their
    texts are, are categories if texts repeat, and are left out if they do not.""",
    "contamination": """contamination : float, default=0.1
    The share of the training weight to call outlying, between 0 and 0.5; it sets `offset_`.""",
    "n_jobs": """n_jobs : int or None, default=None
    How many threads score: None means 1 unless in a :obj:`joblib.parallel_config` context, -1 means
    one for each core, or as many as joblib or Dask leave to a worker process. No result depends on
    it.""",
    "verbose": """verbose : bool or int, default=0
    Whether to show progress on standard error; with tqdm if that is installed.""",
}

ATTRIBUTES = """Attributes
----------
offset_ : float
    Rows with a lower depth are called outliers: the largest training depth below which lies no more
    than a share `contamination` of the training weight. Without ties and weights exactly
    ``floor(contamination * n)`` training rows are outliers; none are if `contamination` is 0. The
    training rows are scored when it is first asked for, also by `predict`.
n_iter_ : int
    The most iterations that a training row took; found as `offset_` is.
n_reference_rows_ : int
    How many different rows are compared with at most.
columns_ : list of dict
    The compared columns: `name`, `kind`, the share of `gaps`, and for a category `levels` with
    their shares, the most frequent first.
left_out_ : dict
    The columns that are not compared, each with the reason.
model_ : object
    The fitted model of the native library.
n_features_in_ : int
    The number of columns seen by `fit`.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Their names, where all are strings."""

_Class = TypeVar("_Class", bound="type[Depth]")


def documented(cls: _Class) -> _Class:
    """Put parameters and attributes where the class leaves a place for them."""
    settings = _native.SETTINGS.get(getattr(cls, "_method", ""), {})
    defaults = _native.METHODS.get(getattr(cls, "_method", ""), {})
    texts = _COMMON | {name: described(name, settings, defaults[name]) for name in settings}
    texts |= cls._parameters
    texts = {name: _with_default(cls, name, text) for name, text in texts.items()}
    names = _in_order(cls, [*settings, *_COMMON]) if settings else _names(cls)
    parameters = "\n".join(texts[name] for name in names)
    text = f"Parameters\n----------\n{parameters}\n\n{cls._attributes}"
    cls.__doc__ = inspect.cleandoc(cls.__doc__ or "").replace("{parameters}", text)
    return cls


def _with_default(cls: type[Depth], name: str, text: str) -> str:
    """Show the default that the class has for a parameter that all classes have."""
    if name != "missing" or not hasattr(cls, name):
        return text
    return text.replace('default="compare"', f'default="{getattr(cls, name)}"')


def _names(cls: type[Depth]) -> list[str]:
    return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]


def _in_order(cls: type[Depth], order: list[str]) -> list[str]:
    """Show the parameters of the constructor in this order, whichever base class has them."""
    init: Any = cls.__init__
    signature = inspect.signature(init)
    parameters = sorted(signature.parameters.values(), key=lambda p: ["self", *order].index(p.name))
    init.__signature__ = signature.replace(parameters=parameters)
    return _names(cls)


def described(name: str, settings: dict[str, dict[str, Any]], default: Any) -> str:
    """Describe a setting in numpydoc form."""
    setting = settings[name]
    default = f'"{default}"' if isinstance(default, str) else repr(default)
    choices = "{" + ", ".join(f'"{choice}"' for choice in setting["choices"]) + "}"
    kind = _TYPES[setting["kind"]].format(choices=choices)
    sentences = [f"{setting['help']}."]
    if setting["range"] != "any":
        sentences.append(f"{setting['range'].capitalize()}.")
    sentences.append(setting["details"])
    text = re.sub("`([^`]+)`", lambda found: _quoted(found[1], settings), " ".join(sentences))
    lines = textwrap.indent(textwrap.fill(text.strip(), 96, break_on_hyphens=False), "    ")
    return f"{name} : {kind}, default={default}\n{lines}"


def _quoted(word: str, settings: dict[str, Any]) -> str:
    """Write the name of a setting as a parameter, and a value as a string."""
    return f"`{word}`" if word in settings else f'``"{word}"``'
