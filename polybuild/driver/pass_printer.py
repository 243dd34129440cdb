"""``--print-after`` and ``--time``: what passes made of a region, on standard error, and what they took."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import field

from polybuild.driver.pass_times import PassClock
from polybuild.poly.budget import unlimited
from polybuild.source.model import Region
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class PassPrinter:
    """Prints what the passes ``names`` made, each time one of them has run; ``clock`` times them all.

    Where nothing is printed ``enters`` is told of each pass as it begins.
    """

    names: Collection[str] = ()
    enters: Callable[[str], None] | None = None
    clock: PassClock = field(default_factory=PassClock)

    @contextmanager
    def runs(self, name: str, region: Region) -> Iterator[None]:
        """The pass ``name`` runs on ``region`` under this."""
        if self.enters is not None and not self.names:
            self.enters(f"{region.begin.file}:{region.begin.line}: {name}")
        with self.clock.runs(name):
            yield

    def after(self, name: str, region: Region, show: Callable[[], str]) -> None:
        """The pass ``name`` has run on ``region``, and made what ``show`` tells."""
        if name not in self.names:
            return
        with unlimited():
            lines = show().splitlines()
        head = f"{region.begin.file}:{region.begin.line}: after {name}\n"
        sys.stderr.write(head + "".join(f"  {line}".rstrip() + "\n" for line in lines))


SILENT = PassPrinter()
