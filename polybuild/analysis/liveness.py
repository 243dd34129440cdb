"""Which variables the rest of the program may read after a region."""

from __future__ import annotations

from polybuild.normalise.upward_exposed import read_after
from polybuild.source.model import Region


def live_after(region: Region) -> frozenset[str]:
    """Names of the variables visible in ``region`` whose value may be read after it.

    A variable is dead only if it is automatic, its address is never taken, and
    the function overwrites it before any use that can follow.
    """
    used = read_after(region.function, region.index)
    return frozenset(
        name
        for name, symbol in region.visible.symbols.items()
        if name in used or symbol.address_taken or symbol.volatile or symbol.storage.is_static
    )
