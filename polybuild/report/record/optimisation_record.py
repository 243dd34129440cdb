"""What became of regions as optimisation records of LLVM, which opt-viewer reads beside those of clang.

The parser of LLVM knows only a part of YAML: keys are plain, and values are plain or in single quotes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polybuild.report.record.model import RegionReport

SUFFIX = ".polybuild.opt.yaml"
"""What the names of such files end in, after that of the object."""


def as_optimisation_record(regions: Sequence[RegionReport]) -> bytes:
    """A document for each region, and one for each piece of advice."""
    return "".join(text for region in regions for text in _documents(region)).encode("utf-8", "replace")


def _documents(region: RegionReport) -> Iterator[str]:
    if region.gains:
        tiles = ", ".join("x".join(map(str, each)) for each in region.tile_sizes)
        parts = [
            ("String", f"region is {region.fate} for "),
            ("Backend", region.backend),
            ("String", ", parallel loops: "),
            ("ParallelLoops", str(region.parallel_loops)),
            ("String", ", tiles: "),
            ("Tiles", tiles or "none"),
        ]
        yield _document("Passed", "Region", region, region.line, parts)
    else:
        said = region.message or region.reason
        yield _document("Missed", region.code or "Region", region, region.line, [("String", said)])
    for each in region.advice:
        yield _document("Analysis", each.kind, region, each.line, [("String", each.message)])


def _document(kind: str, name: str, region: RegionReport, line: int, parts: list[tuple[str, str]]) -> str:
    lines = [
        f"--- !{kind}",
        "Pass:            polybuild",
        f"Name:            {_quoted(name)}",
        f"DebugLoc:        {{ File: {_quoted(region.file)}, Line: {line}, Column: 0 }}",
        f"Function:        {_quoted(region.function or region.file)}",
        "Args:",
        *(f"  - {key + ':':16} {_quoted(value)}" for key, value in parts),
        "...",
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + " ".join(text.split("\n")).replace("'", "''") + "'"
