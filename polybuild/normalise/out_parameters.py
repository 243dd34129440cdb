"""Variables that a function of the region sets through their addresses: ``polar(x, y, &r, &phi);``.

Where the function does nothing with such a parameter but read and write what it points to, its statements can
take the variable itself. A variable whose address nobody else takes is then one of the function's own again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from pycparser import c_ast

from polybuild.c.symbols import Symbol
from polybuild.c.syntax_tree import structure_of, walk
from polybuild.c.types import FloatingType, IntegerType, PointerType, RecordType, Type
from polybuild.source.model import Callee, Region


def addressed(argument: c_ast.Node) -> str | None:
    """The variable whose address ``argument`` is; None if it is none."""
    if isinstance(argument, c_ast.UnaryOp) and argument.op == "&" and isinstance(argument.expr, c_ast.ID):
        return str(argument.expr.name)
    return None


def is_target_only(callee: Callee, parameter: str) -> bool:
    """Whether ``callee`` uses ``parameter`` for nothing but the one object that it points to."""
    assert callee.body is not None  # noqa: S101 - who asks has looked
    nodes = [each for statement in callee.body.statements for each in walk(statement)]
    uses = sum(isinstance(each, c_ast.ID) and each.name == parameter for each in nodes)
    targets = sum(
        isinstance(pointer := target_of(each), c_ast.ID) and pointer.name == parameter for each in nodes
    )
    return bool(uses == targets)


def target_of(node: c_ast.Node) -> c_ast.Node | None:
    """The pointer ``p`` of ``*p``, ``p[0]`` and ``p->member``; None for anything else."""
    if isinstance(node, c_ast.StructRef) and node.type == "->":
        return node.name
    if isinstance(node, c_ast.UnaryOp) and node.op == "*":
        return node.expr
    if isinstance(node, c_ast.ArrayRef) and isinstance(node.subscript, c_ast.Constant):
        return node.name if node.subscript.value == "0" else None
    return None


def symbols_after(region: Region, statements: Iterable[c_ast.Node]) -> Mapping[str, Symbol]:
    """The symbols that ``region`` sees, once it consists of ``statements`` that take fewer addresses.

    The address of a variable is still taken where the rest of the function takes it. Functions of the library
    that only set what they get the address of do not keep that.
    """
    passed = frozenset(name for name, each in region.callees.items() if each.stays)
    every_time = {*_addressed_in(region.statements)}
    before, everywhere, left = (
        _addressed_in(each, passed) for each in (region.statements, [region.function.body], statements)
    )
    return {
        name: replace(symbol, address_taken=False)
        if symbol.address_taken
        and _is_plain(symbol.type)
        and name in every_time
        and name not in left
        and everywhere.count(name) == before.count(name)
        else symbol
        for name, symbol in region.visible.symbols.items()
    }


def _is_plain(kind: Type) -> bool:
    """Whether no part of a variable of this type is an array, which stands for its address."""
    if isinstance(kind, RecordType):
        return bool(kind.fields) and all(_is_plain(each.type) for each in kind.fields or ())
    return isinstance(kind, IntegerType | FloatingType | PointerType)


def _addressed_in(statements: Iterable[c_ast.Node], passed: Collection[str] = ()) -> list[str]:
    """The variables in ``statements`` whose address, or that of a member, is taken, as often as it is.

    But for those that calls of the functions ``passed`` get.
    """
    nodes = [each for statement in statements for each in walk(statement)]
    given = {
        id(argument)
        for each in nodes
        if isinstance(each, c_ast.FuncCall) and isinstance(each.name, c_ast.ID) and each.name.name in passed
        for argument in each.args.exprs
    }
    taken = (
        each.expr
        for each in nodes
        if isinstance(each, c_ast.UnaryOp) and each.op == "&" and id(each) not in given
    )
    roots = map(structure_of, taken)
    return [str(each.name) for each in roots if isinstance(each, c_ast.ID)]
