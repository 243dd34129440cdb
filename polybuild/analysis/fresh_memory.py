"""Pointers with memory of their own: all that is ever assigned to them is what ``malloc`` returns.

No other object and no pointer that was there before leads to what ``malloc`` returns (C17 7.22.3), and two
variables that are assigned only such results never lead to the same memory, whenever they are read.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import exposed_operand, walk
from polybuild.c.types import PointerType
from polybuild.source.model import Region

_ALLOCATORS = frozenset({"malloc", "calloc", "aligned_alloc", "memalign", "valloc", "_mm_malloc"})


def fresh_pointers(region: Region) -> frozenset[str]:
    """The local variables of the function around ``region`` that lead nowhere but to memory of their own."""
    local = {
        symbol.name
        for symbol in region.visible.symbols.values()
        if symbol.storage is StorageClass.LOCAL
        and isinstance(symbol.type, PointerType)
        and not symbol.address_taken
    }
    given: set[str] = set()
    others: set[str] = set()
    for name, value in _assignments(region.function.body) if local else ():
        (given if value is not None and _is_fresh(value) else others).add(name)
    return frozenset(local & given - others)


def _assignments(node: c_ast.Node) -> Iterator[tuple[str, c_ast.Node | None]]:
    """The variables that ``node`` changes with their new values, None where these depend on the old ones."""
    for each in walk(node):
        changed = exposed_operand(each)
        if isinstance(each, c_ast.Decl) and each.name and each.init is not None:
            yield each.name, each.init
        elif isinstance(changed, c_ast.ID):
            is_set = isinstance(each, c_ast.Assignment) and each.op == "="
            yield changed.name, each.rvalue if is_set else None


def _is_fresh(value: c_ast.Node) -> bool:
    """Whether ``value`` is what an allocation returns, or leads nowhere."""
    while isinstance(value, c_ast.Cast):
        value = value.expr
    if isinstance(value, c_ast.Constant):
        return bool(value.value == "0")
    return (
        isinstance(value, c_ast.FuncCall)
        and isinstance(value.name, c_ast.ID)
        and value.name.name in _ALLOCATORS
    )
