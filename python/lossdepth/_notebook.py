"""What notebooks show: HTML in which every name and value is text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lossdepth._outliers import Outliers

# Letters of a cell.
_LONGEST = 160


def odd_rows(found: Outliers) -> str:
    """Return the oddest rows as a table."""
    head = "".join(f"<th>{text}</th>" for text in ("row", "p", "depth", "why", "ordinary with"))
    lines = []
    for row in found.found:
        name = row.name if row.name is not None else f"row {row.row}"
        reasons = [_text(str(reason)) for reason in row.reasons] or ["no single column stands out"]
        change = ", ".join(f"{column} {value}" for column, value in row.ordinary_with.items())
        cells = (
            _text(name),
            f"{row.p:.2g}",
            f"{row.depth:.3g}",
            "<br>".join(reasons),
            _text(change),
        )
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    caption = f"The {len(found):,} oddest of {found.n_rows:,} rows"
    return (
        f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def frame(html: str, title: str) -> str:
    """Return a page in a frame that may run its own script and save files, and nothing else."""
    return (
        f'<iframe title="{escape(title)}" sandbox="allow-scripts allow-downloads" width="100%" '
        f'height="760" style="border: 1px solid #8886; border-radius: 6px" srcdoc="{escape(html)}">'
        "</iframe>"
    )


def _text(text: str) -> str:
    return escape(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
