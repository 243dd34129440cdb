"""Blocks with resident or distributed arrays: the calls at their two ends, on the lines that the user wrote.

    #pragma polybuild resident(u)     { const void *const pb_resident_3_0 = u; polybuild_resident(...);
    {                                 {
        ...                               ...
    }                                 } polybuild_release(pb_resident_3_0); }

The address is kept, as the pointer may have another value at the end.
"""

from __future__ import annotations

from polybuild.source.model import BlockKind, ResidentBlock, Span
from polybuild.values import dataclass

_CALLS = {
    BlockKind.RESIDENT: ("polybuild_resident", "polybuild_release"),
    BlockKind.DISTRIBUTED: ("polybuild_distribute", "polybuild_release_ranks"),
}


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text to put in the place of ``span``; it has as many line ends."""

    span: Span
    text: str


def resident_calls(block: ResidentBlock, text: str) -> tuple[Insertion, Insertion]:
    """What goes in the place of the pragma, and after the block; ``text`` is the user's."""
    names = [f"pb_resident_{block.location.line}_{number}" for number in range(len(block.arrays))]
    pairs = list(zip(names, block.arrays, strict=True))
    kept = [f"const void *const {name} = {array.address};" for name, array in pairs]
    enter, leave = _CALLS[block.kind]
    begin = [f"{enter}({name}, {array.size});" for name, array in pairs]
    ended = [f"{leave}({name});" for name in reversed(names)]
    lines = "\n" * text.count("\n", block.pragma.start, block.pragma.end)
    return (
        Insertion(block.pragma, " ".join(["{", *kept, *begin]) + lines),
        Insertion(Span(block.body.end, block.body.end), " ".join(["", *ended, "}"])),
    )
