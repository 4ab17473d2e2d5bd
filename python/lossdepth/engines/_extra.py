"""Engines are optional: how they are imported."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def engine(module: str, extra: str) -> Any:
    """Import a module of an engine, or say how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise missing(error, extra) from error


def missing(error: ImportError, extra: str) -> ImportError:
    """Return the exception that says how to install an engine."""
    package = (error.name or extra).split(".")[0]
    return ImportError(
        f"lossdepth.engines.{extra} needs the package `{package}`: "
        f"pip install 'lossdepth[{extra}]'",
        name=error.name,
    )
