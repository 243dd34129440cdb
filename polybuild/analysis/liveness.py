"""Which variables the rest of the function may read after a region.

The answer is textual and conservative: a variable is dead after the region only
if it is automatic, its address is never taken, and no use of it can follow.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from polybuild.source.model import Region, Storage

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def live_after(region: Region) -> frozenset[str]:
    """Names of the variables visible in ``region`` whose value may be read after it."""
    used = _used_after(region)
    return frozenset(
        name
        for name, symbol in region.symbols.items()
        if name in used
        or symbol.address_taken
        or symbol.volatile
        or symbol.storage in {Storage.GLOBAL, Storage.STATIC}
    )


def _used_after(region: Region) -> frozenset[str]:
    """Names that occur outside the region where control may come after it."""
    begin, end = f"polybuild begin {region.index}", f"polybuild end {region.index}"
    inside = False
    seen_end = False
    before: set[str] = set()
    after: set[str] = set()
    jumps = False
    in_loop = False
    for node, loops in _walk(region.function.body, 0):
        if isinstance(node, c_ast.Pragma) and node.string == begin:
            inside, in_loop = True, loops > 0
        elif isinstance(node, c_ast.Pragma) and node.string == end:
            inside, seen_end = False, True
        elif isinstance(node, c_ast.Goto):
            jumps = True
        elif isinstance(node, c_ast.ID) and not inside:
            (after if seen_end else before).add(node.name)
    return frozenset(before | after if jumps or in_loop else after)


def _walk(node: c_ast.Node, loops: int) -> Iterator[tuple[c_ast.Node, int]]:
    """Nodes in textual order, each with the number of loops of the function around it."""
    yield node, loops
    inner = loops + isinstance(node, _LOOPS)
    for child in node:
        yield from _walk(child, inner)
