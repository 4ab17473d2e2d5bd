"""Explanations of encoded columns in terms of the columns of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossdepth._explanation import Cut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lossdepth import _native

    Floats = NDArray[np.float64]
    Names = NDArray[np.object_]


def in_columns(
    parts: dict[str, Any],
    encoding: _native._Encoding,
    rows: Floats,
    reference: tuple[Floats, Floats | None],
) -> tuple[Names, dict[str, Any]]:
    """Return the names of the columns, and what an explanation says about each.

    The contributions of the levels of a category are added, and so are those of a number and of its
    gap. The weight of a category is what its level adds to f against the average row, to first
    order: a category has no slope.
    """
    names = np.array([column["name"] for column in encoding["columns"]], dtype=object)
    groups = encoding["groups"]
    slopes, contributions = parts["weights"], parts["contributions"]
    if contributions is not None:
        parts["contributions"] = _added(contributions, groups, len(names))
        # Added in another order, so that it is exactly what the parts add up to.
        parts["value"] = np.add.accumulate(
            np.column_stack([parts["baseline"], parts["contributions"]]), axis=1
        )[:, -1]
    if slopes is not None:
        effects = slopes * (rows - np.average(reference[0], axis=0, weights=reference[1]))
        weights = _added(effects, groups, len(names))
        for column, kind, start, _ in groups:
            if kind == "number":
                weights[:, column] = slopes[:, start]
        parts["weights"] = weights
    cuts = parts.pop("cuts")
    if cuts is not None:
        at = np.repeat(np.arange(len(groups)), [width for _, _, _, width in groups])
        parts["cuts"] = [[_cut(cut, groups[at[cut[0]]], names) for cut in row] for row in cuts]
    return names, parts


def _added(table: Floats, groups: list[_native._Group], columns: int) -> Floats:
    result = np.zeros((len(table), columns))
    for column, _, start, width in groups:
        result[:, column] += table[:, start : start + width].sum(axis=1)
    return result


def _cut(cut: tuple[int, float, bool, float, float], group: _native._Group, names: Names) -> Cut:
    _, threshold, above, probability, share = cut
    name = str(names[group[0]])
    if group[1] == "number":
        return Cut(name, "above" if above else "below", threshold, probability, share)
    side = "level" if group[1] == "category" else "gap"
    return Cut(name, side, float("nan"), probability, share)


def notes_by_row(notes: list[_native._Note], names: Names, rows: int) -> list[list[str]]:
    """Say for each row which of its cells are gaps, or have a level that the reference lacks."""
    said: list[list[str]] = [[] for _ in range(rows)]
    for row, column, what, text in notes:
        if what == "gap":
            said[row].append(f"{names[column]} is a gap")
        elif what == "unread":
            said[row].append(f"{names[column]} {text!r} cannot be read")
        else:
            said[row].append(f"{names[column]} {text!r} is not in the reference")
    return said
