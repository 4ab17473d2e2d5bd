"""Time lossdepth against scikit-learn and print the tables; see README.md in this folder."""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path
from typing import Any


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
    # Before NumPy is imported: BLAS reads these once.
    for library in ("OMP", "OPENBLAS", "MKL", "BLIS"):
        os.environ[f"{library}_NUM_THREADS"] = str(args.threads)
    os.environ["VECLIB_MAXIMUM_THREADS"] = str(args.threads)
    import tables  # noqa: PLC0415

    effort = (tables.quick if args.quick else tables.full)(args.threads)
    result: dict[str, Any] = {"machine": machine(args.threads), "repeats": effort.repeats}
    peak = result["gemm_flops"] = tables.gemm()
    works = tables.works(args.data)
    result["against"] = [row for work in works for row in tables.against(work, effort, peak)]
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
    lines += ["", *against(result["against"]), "", *growth(result["growth"])]
    return "\n".join(lines)


def against(rows: list[dict[str, Any]]) -> list[str]:
    """Write the first table."""
    head = "work|n|d|peer|queries, ours / peer|ours, a query|peer, a query|ratio|median depth"
    head += "|ours off by|peer off by|certified error|share of GEMM peak"
    lines = header(head, left=(0, 3))
    for row in rows:
        share = row["peak_share"]
        lines.append(
            line(
                row["work"],
                row["n"],
                row["d"],
                row["peer"],
                f"{row['queries_ours']} / {row['queries_peer']}",
                duration(row["ours_seconds"]),
                duration(row["peer_seconds"]),
                f"{row['ratio']:.3g}×",
                f"{row['median_depth']:.2g}",
                f"{row['ours_off']:.1e}",
                f"{row['peer_off']:.1e}",
                f"{row['certified']:.1e}",
                "–" if share is None else f"{100 * share:.0f} %",
            )
        )
    warned = [f"{row['work']}: {row['peer']}" for row in rows if row["peer_warnings"]]
    if warned:
        lines += ["", "The peer gave warnings: " + "; ".join(warned) + "."]
    short = {row["work"]: row["unconverged"] for row in rows if row["unconverged"]}
    if short:
        lines += [
            "",
            "Ours did not reach its tolerance: "
            + ", ".join(f"{work}: {count} queries" for work, count in short.items())
            + ".",
        ]
    return lines


def growth(rows: list[dict[str, Any]]) -> list[str]:
    """Write the second table."""
    regs = list(rows[0]["by_reg"])
    head = "n|d|queries" + "".join(f"|reg = {reg}, a query|iterations" for reg in regs)
    lines = header(head, left=())
    for row in rows:
        cells = [row["n"], row["d"], row["queries"] or "many"]
        for reg in regs:
            found = row["by_reg"][reg]
            cells += [duration(found["seconds"]), f"{found['iterations']:.1f}"]
        lines.append(line(*cells))
    return lines


def header(names: str, left: tuple[int, ...]) -> list[str]:
    """Write the names of the columns; all but a few are aligned to the right."""
    cells = names.split("|")
    return [line(*cells), line(*("---" if k in left else "---:" for k in range(len(cells))))]


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
