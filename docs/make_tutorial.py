"""Run the blocks of the tutorial and the how-to pages: write what they print and draw into them, or check it.

python docs/make_tutorial.py [PAGE...]           runs, fills in the output, saves the pictures
python docs/make_tutorial.py --check [PAGE...]   runs, and fails if a block prints something else

Without a page it takes all of them. Blocks run in the root of the repository.
"""

import contextlib
import io
import os
import re
import sys
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

DOCS = Path(__file__).resolve().parent
PAGES = [
    "tutorial.md",
    "start.md",
    "gallery.md",
    "coming-from.md",
    "how-to/tables.md",
    "how-to/thresholds.md",
    "how-to/explanations.md",
    "how-to/compare.md",
    "how-to/large.md",
    "how-to/own.md",
    "how-to/moving-reference.md",
]
# A block, and what follows it: what it prints, or the picture that it draws.
BLOCK = re.compile(
    r"```python\n(?P<code>.*?)```\n"
    r"(?P<text>\n```text\n.*?```\n)?"
    r"(?P<picture>\n!\[[^\]]*\]\((?P<path>[^)]+)\)\n)?",
    re.DOTALL,
)


def run(path: Path, page: str, *, save: bool) -> str:
    """Return the page with the output of its blocks."""
    scope: dict[str, object] = {}

    def block(found: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", module="numba|pyod")
            code = compile(found["code"], str(path), "exec")
            exec(code, scope)  # noqa: S102
        if bool(printed.getvalue()) != bool(found["text"]):
            raise ValueError(f"what this block prints is not shown:\n{found['code']}")
        if bool(plt.get_fignums()) != bool(found["path"]):
            raise ValueError(f"what this block draws is not shown:\n{found['code']}")
        if found["path"] and save:
            plt.gcf().savefig(path.parent / found["path"], dpi=110)
        plt.close("all")
        lines = "".join(
            f"{line.rstrip()}\n" for line in printed.getvalue().splitlines()
        )
        text = f"\n```text\n{lines}```\n" if lines else ""
        return f"```python\n{found['code']}```\n{text}{found['picture'] or ''}"

    return BLOCK.sub(block, page)


def main() -> int:
    """Fill in the pages, or check them."""
    check = "--check" in sys.argv[1:]
    os.chdir(DOCS.parent)
    (DOCS / "python").mkdir(exist_ok=True)
    stale = 0
    for name in [name for name in sys.argv[1:] if name != "--check"] or PAGES:
        path = DOCS / name
        page = path.read_text(encoding="utf-8")
        new = run(path, page, save=not check)
        if check and new != page:
            differing = [
                f"- {old}\n+ {now}"
                for old, now in zip(page.splitlines(), new.splitlines(), strict=False)
                if old != now
            ]
            print(f"docs/{name} is not what its blocks print:", *differing, sep="\n")
            stale = 1
        if not check:
            path.write_text(new, encoding="utf-8")
    return stale


if __name__ == "__main__":
    sys.exit(main())
