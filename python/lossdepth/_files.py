"""Estimators from model files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lossdepth import _native
from lossdepth._fitting import Found
from lossdepth._function import METHODS
from lossdepth._memory import half_of_memory

if TYPE_CHECKING:
    import os

    from lossdepth._base import Depth


def load(path: str | os.PathLike[str]) -> Depth:
    """Read an estimator that :meth:`save` or ``lossdepth fit`` wrote.

    Everything is checked before it is used, and nothing in the file is executed. The scores are
    those of the model that was saved, to the last bit on the same machine.

    A file may have no `offset_`, as those of the command line: it is found from the scores of the
    reference when it is first asked for.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Depth
        A fitted estimator of the class that goes with the method in the file.

    Raises
    ------
    ValueError
        If the file is no model, is damaged, or was made by a newer version.

    See Also
    --------
    LogisticDepth.save : Write such a file.

    Examples
    --------
    >>> import lossdepth, os, tempfile
    >>> detector = lossdepth.SVMDepth(reg=0.1, contamination=0.2).fit([[0.0], [1.0], [5.0], [2.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     detector.save(path)
    ...     same = lossdepth.load(path)
    >>> same
    SVMDepth(contamination=0.2, reg=0.1)
    >>> bool((same.predict([[9.0], [1.5]]) == detector.predict([[9.0], [1.5]])).all())
    True
    """
    data = Path(path).read_bytes()
    try:
        model, columns, notes = _native.load(data, half_of_memory())
        params = _params(model, notes)
        values = {name: json.loads(notes[name]) for name in ("offset", "n_iter") if name in notes}
        estimator: Any = METHODS[model.method](**params)
        offset = float(values["offset"]) if "offset" in values else None
        iterations = int(values["n_iter"]) if "n_iter" in values else None
        about = _columns(notes)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from None
    estimator._keep(model)  # noqa: SLF001
    estimator._found = Found(offset=offset, n_iter=iterations)  # noqa: SLF001
    _name_columns(estimator, model, columns, about)
    loaded: Depth = estimator
    return loaded


def _columns(notes: dict[str, str]) -> tuple[list[str] | None, int] | None:
    """Return names and number of the columns of a table, where the file has notes on them."""
    if "columns" not in notes or "n_columns" not in notes:
        return None
    names, count = json.loads(notes["columns"]), int(json.loads(notes["n_columns"]))
    if names is not None and (not isinstance(names, list) or len(names) != count):
        raise TypeError("its columns are not named one by one")
    return None if names is None else [str(name) for name in names], count


def _name_columns(
    estimator: Any,
    model: _native.Model | _native.SparseModel,
    columns: list[str] | None,
    about: tuple[list[str] | None, int] | None,
) -> None:
    """Set what `fit` would have said about the columns."""
    count = model.width
    encoding = model.encoding
    if encoding is not None and about is not None:
        columns, count = about
    elif encoding is not None:
        # A file of the command line; where a table has no names, its columns have numbers.
        names = [column["name"] for column in encoding["columns"]]
        names += [name for name, _ in encoding["left_out"]]
        count = len(names)
        columns = names if set(names) != set(map(str, range(count))) else None
    estimator.n_features_in_ = count
    if columns is not None:
        estimator.feature_names_in_ = np.array(columns, dtype=object)


def _params(model: _native.Model | _native.SparseModel, notes: dict[str, str]) -> dict[str, Any]:
    """Return the parameters as the estimator was given them, or else the settings."""
    if "params" not in notes:
        settings = model.settings
        # What this machine has to offer is no parameter.
        settings.pop("memory", None)
        return settings
    params = json.loads(notes["params"])
    if not isinstance(params, dict):
        raise TypeError("its parameters are not by name")
    return {k: tuple(v) if isinstance(v, list) else v for k, v in params.items()}
