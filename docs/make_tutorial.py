"""Run the blocks of docs/tutorial.md: write what they print and draw into the page, or check it.

python docs/make_tutorial.py           runs, fills in the output, saves the pictures
python docs/make_tutorial.py --check   runs, and fails if a block prints something else
"""

import contextlib
import io
import re
import sys
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

PAGE = Path(__file__).with_name("tutorial.md")
# A block, and what follows it: what it prints, or the picture that it draws.
BLOCK = re.compile(
    r"```python\n(?P<code>.*?)```\n"
    r"(?P<text>\n```text\n.*?```\n)?"
    r"(?P<picture>\n!\[[^\]]*\]\((?P<path>[^)]+)\)\n)?",
    re.DOTALL,
)


def run(page: str, *, save: bool) -> str:
    """Return the page with the output of its blocks."""
    scope: dict[str, object] = {}

    def block(found: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", module="numba|pyod")
            code = compile(found["code"], str(PAGE), "exec")
            exec(code, scope)  # noqa: S102
        if bool(printed.getvalue()) != bool(found["text"]):
            raise ValueError(f"what this block prints is not shown:\n{found['code']}")
        if bool(plt.get_fignums()) != bool(found["path"]):
            raise ValueError(f"what this block draws is not shown:\n{found['code']}")
        if found["path"] and save:
            plt.gcf().savefig(PAGE.parent / found["path"], dpi=110)
        plt.close("all")
        lines = "".join(
            f"{line.rstrip()}\n" for line in printed.getvalue().splitlines()
        )
        text = f"\n```text\n{lines}```\n" if lines else ""
        return f"```python\n{found['code']}```\n{text}{found['picture'] or ''}"

    return BLOCK.sub(block, page)


def main() -> int:
    """Fill in the page, or check it."""
    check = "--check" in sys.argv[1:]
    page = PAGE.read_text(encoding="utf-8")
    new = run(page, save=not check)
    if check and new != page:
        differing = [
            f"- {old}\n+ {now}"
            for old, now in zip(page.splitlines(), new.splitlines(), strict=False)
            if old != now
        ]
        print("docs/tutorial.md is not what its blocks print:", *differing, sep="\n")
        return 1
    if not check:
        (PAGE.parent / "python").mkdir(exist_ok=True)
        PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
