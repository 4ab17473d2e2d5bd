"""Decide by brute force, in fractions, the halfspace depths about which ddalpha is mistaken.

    python golden/make_halfspace_kept.py halfspace_kept.json

Rewrites the file: for every case the depth is computed anew, from the definition, exactly. The
queries lie between two rows, or the rows on a line, up to a last bit; rounding to the nearest tie is
what goes wrong. R 4.2.2 and ddalpha 1.3.13 gave the values called `ddalpha`.
"""

from __future__ import annotations

import itertools
import json
import sys
from fractions import Fraction
from pathlib import Path

Vector = list[Fraction]


def pivots(rows: list[Vector]) -> list[int]:
    """Find columns in which the rows have full rank."""
    left, found = [row[:] for row in rows], []
    for k in range(len(rows[0])):
        at = next((i for i in range(len(found), len(left)) if left[i][k]), None)
        if at is None:
            continue
        top = len(found)
        left[top], left[at] = left[at], left[top]
        for i in range(top + 1, len(left)):
            factor = left[i][k] / left[top][k]
            left[i] = [a - factor * b for a, b in zip(left[i], left[top], strict=True)]
        found.append(k)
    return found


def determinant(rows: list[Vector]) -> Fraction:
    """Compute a determinant by elimination."""
    left, product = [row[:] for row in rows], Fraction(1)
    for p in range(len(left)):
        at = next((i for i in range(p, len(left)) if left[i][p]), None)
        if at is None:
            return Fraction(0)
        if at != p:
            left[p], left[at] = left[at], left[p]
            product = -product
        product *= left[p][p]
        for i in range(p + 1, len(left)):
            factor = left[i][p] / left[p][p]
            left[i] = [a - factor * b for a, b in zip(left[i], left[p], strict=True)]
    return product


def least(points: list[Vector]) -> int:
    """Count the points of the lightest closed halfspace at the origin, by all rays of the arrangement."""
    here = sum(not any(y) for y in points)
    points = [y for y in points if any(y)]
    if not points:
        return here
    columns = pivots(points)
    points, rank = [[y[k] for k in columns] for y in points], len(columns)
    normals = [[Fraction(1)]] if rank == 1 else []
    if rank > 1:
        for chosen in itertools.combinations(points, rank - 1):
            minors = (
                [[y[c] for c in range(rank) if c != k] for y in chosen]
                for k in range(rank)
            )
            normals.append(
                [(-1) ** k * determinant(minor) for k, minor in enumerate(minors)]
            )
    best = len(points)
    for u in filter(any, normals):
        sides = [sum(a * b for a, b in zip(u, y, strict=True)) for y in points]
        for sign in (1, -1):
            above = sum(sign * side > 0 for side in sides)
            if above < best:
                border = [y for y, side in zip(points, sides, strict=True) if not side]
                best = min(best, above + (least(border) if border else 0))
    return best + here


def main() -> None:
    """Decide every case of the file."""
    path = Path(sys.argv[1])
    file = json.loads(path.read_text(encoding="utf-8"))
    for case in file["cases"]:
        query = [Fraction(v) for v in case["query"]]
        rows = [
            [Fraction(v) - z for v, z in zip(row, query, strict=True)]
            for row in case["rows"]
        ]
        case["depth"] = least(rows) / len(rows)
    path.write_text(json.dumps(file, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
