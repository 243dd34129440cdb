"""``--time``: the processor time of each pass, and isl's part of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field

from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class PassTime:
    """What a pass took in all ``runs``, in seconds of processor time; ``isl_seconds`` are a part of them."""

    name: str
    runs: int
    seconds: float
    isl_seconds: float
    isl_calls: int


@dataclasses.dataclass(slots=True)
class PassClock:
    """Adds up what passes take, in the order in which they first run; nothing unless it is ``on``."""

    on: bool = False
    times: dict[str, PassTime] = field(default_factory=dict)

    @contextmanager
    def runs(self, name: str) -> Iterator[None]:
        """What is done under this, but for the passes within it, is the pass ``name``."""
        if not self.on:
            yield
            return
        before = self._left()
        try:
            yield
        finally:
            after, old = self._left(), self.times.get(name, PassTime(name, 0, 0.0, 0.0, 0))
            self.times[name] = PassTime(
                name,
                old.runs + 1,
                old.seconds + after.seconds - before.seconds,
                old.isl_seconds + after.isl_seconds - before.isl_seconds,
                old.isl_calls + after.isl_calls - before.isl_calls,
            )

    def _left(self) -> PassTime:
        """What the process has taken so far but for the passes that have run."""
        from polybuild.poly.clock import time_isl  # noqa: PLC0415 - results of the cache need no isl

        isl, ran = time_isl(), self.times.values()
        return PassTime(
            "",
            0,
            processor_seconds() - sum(each.seconds for each in ran),
            isl.seconds - sum(each.isl_seconds for each in ran),
            isl.calls - sum(each.isl_calls for each in ran),
        )


def processor_seconds() -> float:
    """The processor time of this process, and of those it has waited for."""
    import resource  # noqa: PLC0415 - where processes can be forked, there is this

    usage = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in usage)


def table(times: Iterable[PassTime], total: float) -> str:
    """A line for each pass, and one for what is left of ``total``, as start-up is."""
    rows = list(times)
    rest = total - sum(each.seconds for each in rows)
    calls, in_isl = sum(each.isl_calls for each in rows), sum(each.isl_seconds for each in rows)
    rows += [PassTime("start and end", 1, rest, 0.0, 0), PassTime("total", 1, total, in_isl, calls)]
    width = max(len(each.name) for each in rows)
    lines = [f"{'pass':{width}}  runs  seconds     %  in isl    calls"]
    lines += [
        f"{each.name:{width}}  {each.runs:4}  {each.seconds:z7.3f}  {100 * each.seconds / total:z4.1f}"
        f"  {each.isl_seconds:z6.3f}  {each.isl_calls:7}"
        for each in rows
    ]
    return "\n".join(lines) + "\n"
