"""Executes a notebook that shows two reports and a table of outliers, and writes it as a page.

python tests/browser/notebook.py FOLDER
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter

DATA = """\
import lossdepth
rows = [[i % 5, i % 7, (i * i) % 11] for i in range(150)] + [[40, 3, 5], [2, 60, 1]]
other = [[i % 9, (i * 3) % 8] for i in range(90)] + [[2, 77]]"""
CELLS = [
    DATA,
    'lossdepth.report(rows, top=12, title="First report")',
    'lossdepth.report(other, top=8, title="Second report </iframe><script>alert(1)</script>")',
    "lossdepth.outliers(rows, top=2)",
]


def main() -> None:
    folder = Path(sys.argv[1])
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(text) for text in CELLS]
    )
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    page, _ = HTMLExporter(template_name="lab").from_notebook_node(notebook)
    # What a notebook loads from elsewhere, as its formulas, is not asked for here.
    (folder / "notebook.html").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
