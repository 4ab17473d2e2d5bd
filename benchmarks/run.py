"""Time lossdepth against scikit-learn and print the tables; see README.md in this folder."""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: fewer queries and sizes")
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("LOSSDEPTH_DATA") or None,
        metavar="DIR",
        help="folder of mnist/ and odds/; default: $LOSSDEPTH_DATA, "
        "and synthetic rows for what is not there",
    )
    parser.add_argument("--threads", type=int, default=1, help="for both sides; default: 1")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every figure, every run")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="what is also printed")
    args = parser.parse_args()
    if args.threads < 1:
        parser.error("--threads must be at least 1")
    if args.data is not None and not args.data.is_dir():
        parser.error(f"no such folder: {args.data}")
    # Before NumPy is imported, which reads these once: no threads but those that are asked for.
    for library in ("OMP", "OPENBLAS", "MKL", "BLIS"):
        os.environ[f"{library}_NUM_THREADS"] = "1"
    os.environ["VECLIB_MAXIMUM_THREADS"] = "1"
    import networks  # noqa: PLC0415
    import tables  # noqa: PLC0415

    effort = tables.Effort(args.threads)
    effort = effort.quick() if args.quick else effort
    result: dict[str, Any] = {"machine": machine(args.threads), "repeats": effort.repeats}
    peak = result["gemm_flops"] = tables.gemm(args.threads)
    works = tables.works(args.data)
    result["against"] = [row for work in works for row in tables.against(work, effort, peak)]
    result["forests"] = tables.forests(args.data, effort)
    names, *cells = networks.lines(found := networks.table(args.data, effort))
    result["networks"] = found
    result["networks_table"] = [
        *header(*names, left=("work", "peer")),
        *(line(*row) for row in cells),
    ]
    result["growth"] = tables.growth(effort)
    text = report(result, quick=args.quick)
    print(text)
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if args.markdown:
        args.markdown.write_text(text + "\n", encoding="utf-8")


def machine(threads: int) -> dict[str, Any]:
    """Say where and with what this runs."""
    from importlib.metadata import version  # noqa: PLC0415

    from threadpoolctl import threadpool_info  # noqa: PLC0415

    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    for line in info.read_text(encoding="utf-8").splitlines() if info.exists() else []:
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    blas = {f"{pool['internal_api']} {pool['version']} ({pool['architecture']})" for pool in pools}
    names = ("numpy", "scipy", "scikit-learn", "lossdepth")
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "threads": threads,
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {"Python": platform.python_version()} | {name: version(name) for name in names},
        "blas": sorted(blas),
    }


def report(result: dict[str, Any], *, quick: bool) -> str:
    """Write everything as Markdown."""
    where = result["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in where["versions"].items())
    lines = [
        f"{where['cpu']}, {where['cores']} cores, {where['system']}; threads: {where['threads']}.",
        f"{versions}; BLAS: {', '.join(where['blas']) or 'unknown'}.",
        f"Matrix product of 1024³: {result['gemm_flops'] / 1e9:.1f} GFLOP/s.",
        f"Times are medians of {result['repeats']} runs, in turns.",
    ]
    if quick:
        lines.append("**A smoke run: do not quote its figures.**")
    lines += [
        "",
        *against(result["against"]),
        "",
        *forests(result["forests"]),
        "",
        *result["networks_table"],
        "",
        *growth(result["growth"]),
    ]
    return "\n".join(lines)


def against(rows: list[dict[str, Any]]) -> list[str]:
    """Write the first table."""
    columns: dict[str, Callable[[dict[str, Any]], Any]] = {
        "work": lambda row: f"{row['work']}, reg {row['reg']:.3g}",
        "n": lambda row: row["n"],
        "d": lambda row: row["d"],
        "our tol": lambda row: f"{row['ours_tol']:g}",
        "peer": lambda row: row["peer"],
        "queries, ours / peer": lambda row: f"{row['queries_ours']} / {row['queries_peer']}",
        "ours, a query": lambda row: duration(row["ours_seconds"]),
        "with standard error": lambda row: duration(row["details_seconds"]),
        "peer, a query": lambda row: duration(row["peer_seconds"]),
        "ratio": lambda row: f"{row['ratio']:.3g}×",
        "median depth": lambda row: f"{row['median_depth']:.2g}",
        "ours off by": lambda row: f"{row['ours_off']:.1e}",
        "peer off by": lambda row: f"{row['peer_off']:.1e}",
        "our bound": lambda row: f"{row['certified']:.1e}",
        "share of GEMM": lambda row: f"{row['peak_share']:.0%}" if row["peak_share"] else "–",
    }
    lines = header(*columns, left=("work", "peer"))
    lines += [line(*(write(row) for write in columns.values())) for row in rows]
    for row in rows:
        if row["peer_warnings"]:
            lines += ["", f"Warnings of the peer: {row['work']}, {row['peer']}."]
        if row["unconverged"]:
            lines += [
                "",
                f"Ours beyond its tolerance: {row['work']}, {row['unconverged']} queries.",
            ]
    return lines


def forests(rows: list[dict[str, Any]]) -> list[str]:
    """Write the table of the forests."""
    columns: dict[str, Callable[[dict[str, Any]], Any]] = {
        "work": lambda row: row["work"],
        "n": lambda row: row["n"],
        "d": lambda row: row["d"],
        "peer": lambda row: row["peer"],
        "queries, ours / peer": lambda row: f"{row['queries_ours']} / {row['queries_peer']}",
        "ours, a query": lambda row: duration(row["ours_seconds"]),
        "peer, a query": lambda row: duration(row["peer_seconds"]),
        "ratio": lambda row: f"{row['ratio']:.3g}×",
        "our bound": lambda row: f"{row['certified']:.1e}",
        "peer off by": lambda row: f"{row['peer_off']:.1e}",
        "fit, which scores all n rows": lambda row: duration(row["all_rows_seconds"]),
    }
    lines = header(*columns, left=("work", "peer"))
    return lines + [line(*(write(row) for write in columns.values())) for row in rows]


def growth(rows: list[dict[str, Any]]) -> list[str]:
    """Write the last table."""
    regs = list(rows[0]["by_reg"])
    pairs = [(f"reg {float(reg):g}, a query", "iterations") for reg in regs]
    lines = header("n", "d", "queries", *(name for pair in pairs for name in pair))
    for row in rows:
        cells = [row["n"], row["d"], row["queries"] or "many"]
        for reg in regs:
            found = row["by_reg"][reg]
            cells += [duration(found["seconds"]), f"{found['iterations']:.1f}"]
        lines.append(line(*cells))
    return lines


def header(*names: str, left: tuple[str, ...] = ()) -> list[str]:
    """Write the names of the columns; all but a few are aligned to the right."""
    return [line(*names), line(*("---" if name in left else "---:" for name in names))]


def line(*cells: Any) -> str:
    """Write one line of a table."""
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def duration(seconds: float) -> str:
    """Write a time with three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


if __name__ == "__main__":
    main()
