"""Short words for what the tests of the reading room ask."""

from __future__ import annotations

from collections.abc import Callable

from polybuild.source.model import Region, RejectedRegion, Source

Reader = Callable[..., Source]


def region(source: Source, index: int = 0) -> Region:
    """The region, which must have been read."""
    found = source.regions[index]
    assert isinstance(found, Region), found.diagnostic
    return found


def rejected(source: Source, index: int = 0) -> RejectedRegion:
    """The region, which must have been rejected."""
    found = source.regions[index]
    assert isinstance(found, RejectedRegion)
    return found


def codes(source: Source) -> list[str]:
    """One word per region: ``ok`` or the code it was rejected with; then the file's own diagnostics."""
    regions = ["ok" if isinstance(each, Region) else each.diagnostic.code for each in source.regions]
    return regions + [each.code for each in source.diagnostics]


def function(body: str, parameters: str = "int n, double *a") -> str:
    return f"void f({parameters})\n{{\n{body}\n}}\n"
