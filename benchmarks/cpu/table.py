"""The table, and the figures under it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence

from benchmarks.cpu.measure import Column, Row

LONG = 0.050  # seconds of the original from which a run is long enough to judge by


def heading(peers: Sequence[str], threads: int) -> str:
    """The table's first line; every row is laid out alike."""
    names = ["gcc" if not peers else "original", "1 thread", f"{threads} threads", "x 1", f"x {threads}"]
    return _line("kernel", [*names, "tool", *peers], "regions, results")


def row(found: Row, peers: Sequence[str]) -> str:
    """One kernel: medians in seconds, speed-ups over the original, and what was out of the ordinary."""
    columns = found.columns
    times = [_seconds(columns[name]) for name in ("original", "one", "many")]
    ratios = [_ratio(found.ratio(name)) for name in ("one", "many")]
    tool = f"{found.tool_seconds:.2f}" if found.tool_seconds is not None else "-"
    note = ", ".join(dict.fromkeys([found.status, found.verdict]))
    return _line(found.kernel, [*times, *ratios, tool, *(_seconds(columns[name]) for name in peers)], note)


def summary(rows: Sequence[Row], peers: Sequence[str], threads: int) -> str:
    """Geometric means over all kernels and over those that run long, the extremes, the failures."""
    columns = [("1 thread", "one"), (f"{threads} threads", "many"), *((name, name) for name in peers)]
    long = [found for found in rows if (found.columns["original"].median or 0.0) > LONG]
    lines = ["", "Speed-up over the original, geometric mean (kernels counted):"]
    for title, name in columns:
        means = "   ".join(
            f"{label} {_mean(found.ratio(name) for found in chosen)}"
            for label, chosen in (("all", rows), (f"over {LONG * 1000:.0f} ms", long))
        )
        lines.append(f"  {title:12} {means}   {_worst(rows, name)}")
    tool = [(found.tool_seconds, found.kernel) for found in rows if found.tool_seconds is not None]
    if tool:
        median, worst = statistics.median(seconds for seconds, _ in tool), max(tool)
        lines.append(f"Tool time: median {median:.2f} s, worst {worst[0]:.2f} s ({worst[1]})")
    lines.append(_count(rows, "transformed", lambda found: found.status == "transformed"))
    unchanged = [found.kernel for found in rows if found.status == "unchanged"]
    if unchanged:
        lines.append(
            f"{len(unchanged)}/{len(rows)} unchanged, as the compiler makes as much: {', '.join(unchanged)}"
        )
    lines.append(_count(rows, "equal", lambda found: found.verdict == "equal"))
    for found in rows:
        for name, column in found.columns.items():
            if column.failure and (name, column.failure) != ("one", found.columns["many"].failure):
                lines.append(f"  {found.kernel}, {name}: {column.failure}")
    return "\n".join(lines)


def _line(first: str, cells: Iterable[str], last: str) -> str:
    return f"{first:15}" + "".join(f"{cell:>11}" for cell in cells) + f"  {last}"


def _seconds(column: Column) -> str:
    if column.median is not None:
        return f"{column.median:.4f}" if column.median >= 0.01 else f"{column.median:.6f}"
    return column.failure if column.failure.startswith((">", "DIFF")) else "-"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _mean(ratios: Iterable[float | None]) -> str:
    known = [ratio for ratio in ratios if ratio is not None]
    return f"{statistics.geometric_mean(known):.2f} ({len(known)})" if known else "-"


def _worst(rows: Sequence[Row], name: str) -> str:
    known = [(ratio, found.kernel) for found in rows if (ratio := found.ratio(name)) is not None]
    return f"worst {min(known)[0]:.2f} ({min(known)[1]})" if known else ""


def _count(rows: Sequence[Row], what: str, holds: Callable[[Row], bool]) -> str:
    failing = [found.kernel for found in rows if not holds(found)]
    others = f"; not {', '.join(failing)}" if failing else ""
    return f"{len(rows) - len(failing)}/{len(rows)} {what}{others}"
