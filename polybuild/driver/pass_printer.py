"""``--print-after``: what passes made of a region, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass

from polybuild.poly.budget import unlimited
from polybuild.source.model import Region


@dataclass(frozen=True, slots=True)
class PassPrinter:
    """Prints what the passes ``names`` made, each time one of them has run.

    Where nothing is printed ``enters`` is told of each pass as it begins.
    """

    names: Collection[str] = ()
    enters: Callable[[str], None] | None = None

    def before(self, name: str, region: Region) -> None:
        """The pass ``name`` begins on ``region``."""
        if self.enters is not None and not self.names:
            self.enters(f"{region.begin.file}:{region.begin.line}: {name}")

    def after(self, name: str, region: Region, show: Callable[[], str]) -> None:
        """The pass ``name`` has run on ``region``, and made what ``show`` tells."""
        if name not in self.names:
            return
        with unlimited():
            lines = show().splitlines()
        head = f"{region.begin.file}:{region.begin.line}: after {name}\n"
        sys.stderr.write(head + "".join(f"  {line}".rstrip() + "\n" for line in lines))


SILENT = PassPrinter()
