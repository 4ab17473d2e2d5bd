"""Model files that Python, the command line and R share: shared.py make|compare FOLDER PROGRAM.

`make` writes rows, models, and the depths that Python and the program find, as hexadecimal numbers: no digit is lost.
`compare` reads the model and the depths that R wrote, and fails unless the others have the same bits.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import lossdepth


def rows() -> pd.DataFrame:
    """Return a table whose numbers are exact in any reader: multiples of 1/64."""
    random = np.random.default_rng(3)
    table = pd.DataFrame(np.round(64 * random.normal(size=(90, 3))) / 64, columns=["a", "b", "c"])
    table["region"] = np.array(["north", "south", "west"])[random.integers(0, 3, 90)]
    table.loc[4, "b"] = np.nan
    return table


def by_program(program: str, model: Path, table: Path) -> list[str]:
    """Return the depths that the program finds."""
    out = model.with_suffix(".csv")
    subprocess.run([program, "score", table, "--model", model, "--out", out, "--quiet"], check=True)
    with out.open(newline="") as file:
        return [float(row["depth"]).hex() for row in csv.DictReader(file)]


def by_python(model: Path, table: pd.DataFrame) -> list[str]:
    """Return the depths that Python finds."""
    estimator = lossdepth.load(model)
    return [float(depth).hex() for depth in estimator.score_samples(table[list(estimator.feature_names_in_)])]


def comparison(folder: Path, program: str) -> None:
    """Write what Python and the program find about two halves of the rows, and pages by Python."""
    table = pd.read_csv(folder / "rows.csv")
    halves = table[:40], table[40:].reset_index(drop=True)
    found = lossdepth.compare(*halves, permutations=199)
    numbers = [test.statistic for test in found.tests] + [test.p for test in found.tests]
    numbers += [shift.distance for shift in found.shifts]
    (folder / "compare.python").write_text("".join(f"{float(x).hex()}\n" for x in numbers))
    files = [folder / name for name in ("first.csv", "second.csv")]
    for half, file in zip(halves, files, strict=True):
        half.to_csv(file, index=False)
    command = [program, "compare", *files, "--permutations", "199", "--format", "json", "--quiet"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    numbers = [test[name] for name in ("statistic", "p") for test in answer["tests"]]
    numbers += [column["distance"] for column in answer["columns"]]
    (folder / "compare.program").write_text("".join(f"{float(x).hex()}\n" for x in numbers))
    table.index = pd.Index([f"r{row}" for row in range(1, len(table) + 1)])
    halves = table[:40], table[40:]
    lossdepth.report(table, folder / "report.html", top=5, title="Shared")
    lossdepth.report(halves[0], folder / "reference.html", reference=halves[1], top=5)


def make(folder: Path, program: str) -> None:
    """Write rows, models and depths."""
    table = rows()
    numbers = table[["a", "b", "c"]].dropna()
    models = {
        "auto": lossdepth.AutoDepth().fit(table),
        "logistic": lossdepth.LogisticDepth(reg=0.1, scale="standard").fit(table),
        "svm": lossdepth.SVMDepth(reg=0.05).fit(numbers),
        "halfspace": lossdepth.HalfspaceDepth(missing="median").fit(numbers),
    }
    table.dropna().to_csv(folder / "rows.csv", index=False)
    for name, estimator in models.items():
        file = folder / f"{name}.safetensors"
        estimator.save(file)
        (folder / f"{name}.python").write_text("\n".join(by_python(file, table.dropna())) + "\n")
        found = by_program(program, file, folder / "rows.csv")
        (folder / f"{name}.program").write_text("\n".join(found) + "\n")
    comparison(folder, program)


def compare(folder: Path, program: str) -> None:
    """Compare what R wrote with the others."""
    theirs = (folder / "from-r.depths").read_text().split()
    file = folder / "from-r.safetensors"
    table = pd.read_csv(folder / "rows.csv")
    for who, depths in (
        ("Python", by_python(file, table)),
        ("the program", by_program(program, file, folder / "rows.csv")),
    ):
        if [float.fromhex(depth) for depth in theirs] != [float.fromhex(depth) for depth in depths]:
            sys.exit(f"R and {who} differ on a model that R saved")
    print(f"R, Python and the program: the same bits for {len(theirs)} rows of a model that R saved")


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3])
