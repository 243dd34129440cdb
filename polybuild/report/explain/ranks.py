"""What a region takes on more ranks, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from polybuild.report.record.model import RankPlan, RankPrediction

_HEADS = ("ranks", "instances", "messages", "bytes", "messages ms", "ms", "speed-up", "efficiency")


def table(plan: RankPlan) -> tuple[str, Sequence[str]]:
    """The title of the table of ``plan``, and its lines: numbers of the rank that has the most."""
    sizes = ", ".join(f"{name} = {value}" for name, value in plan.parameters.items())
    title = f"on ranks{f', for {sizes}' if sizes else ''}"
    if not plan.rows:
        return title, (plan.reason,)
    cells = [_HEADS, *map(_cells, plan.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return title, lines


def _cells(row: RankPrediction) -> tuple[str, ...]:
    counts = (row.ranks, row.instances, row.messages, row.bytes)
    times = map(_milliseconds, (row.communication_ns, row.time_ns))
    return (*map(str, counts), *times, f"{row.speed_up:.2f}", f"{row.efficiency:.0%}")


def _milliseconds(nanoseconds: float) -> str:
    """Three digits at least, and no power of ten."""
    number = nanoseconds / 1e6
    return f"{number:.3g}" if number < _WHOLE else f"{number:.0f}"


_WHOLE = 100  # from here on three digits have no fraction
