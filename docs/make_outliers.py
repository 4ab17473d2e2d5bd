"""Write docs/outliers.md: what `lossdepth outliers` prints on five tables that scikit-learn ships.

LOSSDEPTH_BIN=target/release/lossdepth python docs/make_outliers.py
LOSSDEPTH_BIN=target/release/lossdepth python docs/make_outliers.py --check     fails if the page says something else
"""

import difflib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn import datasets

PAGE = Path(__file__).with_name("outliers.md")
PROGRAM = os.environ.get("LOSSDEPTH_BIN", "lossdepth")

HEAD = """# What `lossdepth outliers` says

Five tables that scikit-learn ships, written to CSV as they are, each with the screen that the command prints. Made by
`docs/make_outliers.py`.
"""

# The name of the table, flags, and what to see in the screen.
TABLES = [
    (
        "wine",
        ["--label", "target"],
        (
            "Chemical analyses of 178 wines; the cultivar is named as the label, so it is not compared. "
            "The reasons are values at the end of their columns, or values that the other columns do not lead to expect."
        ),
    ),
    (
        "iris",
        [],
        (
            "The species is compared as a category, and the note says so. Row 41 is the well-known setosa whose sepals are too "
            "narrow for its species: an ordinary value in its column, odd beside the others."
        ),
    ),
    (
        "breast_cancer",
        ["--label", "target"],
        (
            "Thirty measurements that depend on each other. Where many of them would have to "
            "change together, the text says how many instead of listing them; `--format json` has all."
        ),
    ),
    (
        "diabetes",
        [],
        (
            "The columns were centred and scaled by those who published them, so values mean little by themselves; the "
            "reasons still say where in its column each one stands."
        ),
    ),
    (
        "linnerud",
        [],
        "Twenty rows only: p-values cannot be below 1/20, and the oddest of so few is often just the largest.",
    ),
]


def table(name: str) -> str:
    """Return a table of scikit-learn as CSV."""
    found = getattr(datasets, f"load_{name}")(as_frame=True)
    frame = found.frame.copy()
    if "target" in frame and name != "diabetes":
        frame["target"] = np.array(found.target_names)[found.target]
    return frame.to_csv(index=False)


def main() -> int:
    """Run the command on every table; write the page, or compare it."""
    parts = [HEAD]
    with tempfile.TemporaryDirectory() as folder:
        for name, flags, text in TABLES:
            Path(folder, f"{name}.csv").write_text(table(name), encoding="utf-8")
            args = ["outliers", f"{name}.csv", *flags, "--top", "5"]
            ran = subprocess.run(
                [Path(PROGRAM).resolve() if os.sep in PROGRAM else PROGRAM, *args],
                cwd=folder,
                capture_output=True,
                text=True,
                check=True,
            )
            parts.append(
                f"## {name}\n\n{text}\n\n```text\n$ lossdepth {' '.join(args)}\n{ran.stdout}```\n"
            )
    new = "\n".join(parts)
    if "--check" in sys.argv[1:]:
        old = PAGE.read_text(encoding="utf-8")
        print(
            *difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm=""),
            sep="\n",
        )
        return int(old != new)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
