"""Calls of functions with loops of their own, replaced by what they do.

``c[i] = dot(n, a, b + i)`` becomes the function's statements, with names of their own, and ``c[i] = `` what
it returns: then the loops inside are loops of the region. Such a function changes nothing but its own
variables, and returns once, at its end. One that returns nothing, as ``axpy(n, t, x, y);``, may change
elements of its arguments, too; so may one whose value is all that is assigned, as ``t = middle(window);``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from pycparser import c_ast

from polybuild.c.conversions import decayed
from polybuild.c.pure_functions import is_pure_function
from polybuild.c.syntax_tree import (
    always_evaluates,
    changed_operand,
    duplicate,
    key,
    mapped,
    structure_of,
    walk,
    walk_values,
)
from polybuild.c.synthetic import NEVER
from polybuild.c.types import PointerType
from polybuild.c.typing import type_of
from polybuild.normalise.exits import failed_assertion
from polybuild.normalise.out_parameters import addressed, target_of
from polybuild.source.model import Callee

_UNSUITED = (
    c_ast.Goto,
    c_ast.Label,
    c_ast.Switch,
    c_ast.Return,
    c_ast.CompoundLiteral,
    c_ast.Pragma,
)


def with_named_structure(callee: Callee) -> Callee:
    """``callee`` with a variable for the structure without a name that it returns; itself without one."""
    body = callee.body
    last = body.statements[-1] if body is not None and body.statements else None
    value = last.expr if isinstance(last, c_ast.Return) else None
    if body is None or not isinstance(value, c_ast.CompoundLiteral):
        return callee
    kind, name = value.type.type, f"{callee.name}_value"
    if not isinstance(kind, c_ast.TypeDecl) or name in own_names(callee) or name in body.visible.symbols:
        return callee
    declarator = duplicate(kind)
    declarator.declname = name
    declared = c_ast.Decl(name, [], [], [], [], declarator, value.init, None, coord=value.coord)
    returned = c_ast.Return(c_ast.ID(name, value.coord), value.coord)
    statements = (*body.statements[:-1], declared, returned)
    return replace(callee, body=replace(body, statements=statements))


def computed_value(callee: Callee, *, elements: bool = False) -> c_ast.Node | None:
    """What a function returns that changes only its own variables before; None of other functions.

    It may change ``elements`` of its arguments, too, where these are asked for.
    """
    if callee.body is None or len(callee.body.statements) < 2:
        return None
    *statements, last = callee.body.statements
    if not isinstance(last, c_ast.Return) or last.expr is None or not _only_computes(last.expr):
        return None
    return last.expr if _changes_own(callee, statements, elements=elements) else None


def _only_computes(expression: c_ast.Node) -> bool:
    """Whether evaluating ``expression`` changes nothing, and calls nothing that does."""
    return not any(
        changed_operand(each) is not None or (isinstance(each, c_ast.FuncCall) and not _is_pure(each))
        for each in walk(expression)
    )


def updating_statements(callee: Callee) -> Sequence[c_ast.Node]:
    """The statements of a function that changes elements, for a call of which no value is used.

    Empty for functions that do anything else before they return.
    """
    if callee.body is None or not callee.body.statements:
        return ()
    statements = callee.body.statements
    last = statements[-1]
    if isinstance(last, c_ast.Return) and (last.expr is None or _only_computes(last.expr)):
        statements = statements[:-1]
    return statements if _changes_own(callee, statements, elements=True) else ()


def _changes_own(callee: Callee, statements: Sequence[c_ast.Node], *, elements: bool) -> bool:
    """Whether ``statements`` of ``callee`` change its own variables alone, or also ``elements`` of them."""
    names = own_names(callee)
    if any(names.count(str(each.name)) > 1 for each in callee.parameters):
        return False
    arrays = {
        str(each.name)
        for statement in statements
        for each in walk(statement)
        if isinstance(each, c_ast.Decl) and _is_array(each)
    }
    tests = [each for each in _statements(statements) if failed_assertion(each) is not None]
    tested = {id(each) for test in tests for each in walk(test)}
    for each in (part for statement in statements for part in walk_values(statement)):
        if id(each) in tested:
            continue
        if isinstance(each, c_ast.FuncCall) and not _is_pure(each):
            return False
        if isinstance(each, _UNSUITED) or _names_object(each):
            return False
        if isinstance(each, c_ast.Decl) and (each.storage or not (_is_plain(each.type) or _is_array(each))):
            return False
        target = changed_operand(each)
        if target is not None and _root(target) in arrays:
            continue
        if target is not None:
            target = _structure(_pointer(target, callee) if elements else target, callee)
        if target is not None and not (isinstance(target, c_ast.ID) and target.name in names):
            return False
    return True


def _statements(nodes: Sequence[c_ast.Node]) -> Iterator[c_ast.Node]:
    """The expressions among ``nodes`` and in what controls them that are statements."""
    for node in nodes:
        if isinstance(node, c_ast.Compound):
            yield from _statements(node.block_items or ())
        elif isinstance(node, c_ast.If):
            yield from _statements([each for each in (node.iftrue, node.iffalse) if each is not None])
        elif isinstance(node, c_ast.For | c_ast.While | c_ast.DoWhile):
            yield from _statements([node.stmt])
        else:
            yield node


def _is_pure(call: c_ast.FuncCall) -> bool:
    """Whether ``call`` computes a value and does nothing else, or says what never holds."""
    return isinstance(call.name, c_ast.ID) and (
        is_pure_function(call.name.name) or bool(call.name.name == NEVER)
    )


def _pointer(element: c_ast.Node, callee: Callee) -> c_ast.Node:
    """The pointer, array or structure that ``element`` is reached through; any other expression itself."""
    inner = _unmoved(_through(element), callee)
    if inner is None:
        return element
    if isinstance(inner, c_ast.StructRef) and inner.type == ".":
        structure = structure_of(inner)
        if _through(structure) is not None:  # an array in a structure that is an element
            return _pointer(structure, callee)
        # a member of a structure that is passed by value is a copy, what it points to is not
        body = callee.body
        assert body is not None  # noqa: S101 - who asks has looked
        follows = isinstance(type_of(inner, dict(body.visible.symbols), body.visible), PointerType)
        return structure_of(inner) if follows else element
    return _pointer(inner, callee)


def _unmoved(pointer: c_ast.Node | None, callee: Callee) -> c_ast.Node | None:
    """What ``pointer`` is cast from, or moved from."""
    body = callee.body
    assert body is not None  # noqa: S101 - who asks has looked
    while True:
        if isinstance(pointer, c_ast.Cast) and isinstance(pointer.to_type.type, c_ast.PtrDecl):
            pointer = pointer.expr
            continue
        if not isinstance(pointer, c_ast.BinaryOp) or pointer.op not in {"+", "-"}:
            return pointer
        kind = type_of(pointer.left, dict(body.visible.symbols), body.visible)
        if not isinstance(decayed(kind), PointerType):
            return pointer
        pointer = pointer.left


def _structure(member: c_ast.Node, callee: Callee) -> c_ast.Node:
    """The structure of the function's own that ``member`` is a member of; any other expression itself."""
    body, inner = callee.body, structure_of(member)
    return inner if body is not None and isinstance(inner, c_ast.ID) else member


def _through(element: c_ast.Node) -> c_ast.Node | None:
    """What ``element`` is an element, a target or a member behind a pointer of."""
    if isinstance(element, c_ast.ArrayRef) or (isinstance(element, c_ast.StructRef) and element.type == "->"):
        return element.name
    return element.expr if isinstance(element, c_ast.UnaryOp) and element.op == "*" else None


def _names_object(node: c_ast.Node) -> bool:
    """Whether ``node`` is about a variable as an object: its address, which ``&a[i]`` is not, or its size."""
    if not isinstance(node, c_ast.UnaryOp):
        return False
    return is_size_of_object(node) or (node.op == "&" and not isinstance(node.expr, c_ast.ArrayRef))


def is_size_of_object(node: c_ast.Node) -> bool:
    """Whether ``node`` is the size of a variable, which may be an array, and not that of a type."""
    sized = isinstance(node, c_ast.UnaryOp) and node.op == "sizeof"
    return sized and not isinstance(node.expr, c_ast.Typename)


def own_names(callee: Callee) -> list[str]:
    """The parameters and variables of a function, each as often as it is declared."""
    assert callee.body is not None  # noqa: S101 - who asks has looked
    names = [str(each.name) for each in callee.parameters]
    return names + [
        str(each.name)
        for statement in callee.body.statements
        for each in walk_values(statement)
        if isinstance(each, c_ast.Decl)
    ]


def assigned_names(callee: Callee) -> set[str]:
    """The variables that a function assigns after their declaration."""
    assert callee.body is not None  # noqa: S101 - who asks has looked
    targets = (changed_operand(each) for statement in callee.body.statements for each in walk(statement))
    inner = (_structure(each, callee) for each in targets if each is not None)
    return {str(each.name) for each in inner if isinstance(each, c_ast.ID)}


def _is_plain(kind: c_ast.Node) -> bool:
    """Whether a variable is a number, a structure with a name, or a pointer to such."""
    if isinstance(kind, c_ast.PtrDecl):
        kind = kind.type
    named = isinstance(kind, c_ast.TypeDecl) and isinstance(kind.type, c_ast.Struct) and not kind.type.decls
    return named or (isinstance(kind, c_ast.TypeDecl) and isinstance(kind.type, c_ast.IdentifierType))


def _is_array(declared: c_ast.Decl) -> bool:
    """Whether a variable is an array of numbers, without a list of values."""
    kind = declared.type
    if not isinstance(kind, c_ast.ArrayDecl) or declared.init is not None:
        return False
    while isinstance(kind, c_ast.ArrayDecl) and kind.dim is not None:
        kind = kind.type
    return _is_plain(kind) and not isinstance(kind, c_ast.PtrDecl)


def _root(element: c_ast.Node) -> str | None:
    """The name of the array that ``element`` is of; None if it is no element."""
    if not isinstance(element, c_ast.ArrayRef):
        return None
    while isinstance(element, c_ast.ArrayRef):
        element = element.name
    return str(element.name) if isinstance(element, c_ast.ID) else None


def parameter_variable(parameter: c_ast.Node, name: str, value: c_ast.Node) -> c_ast.Node | None:
    """The declaration of a variable ``name`` like ``parameter``, with a ``value``; None if it is special."""
    kind = parameter.type
    if isinstance(kind, c_ast.ArrayDecl):
        kind = c_ast.PtrDecl([], kind.type)
    if not _is_plain(kind):
        return None
    kind = duplicate(kind)
    inner = kind.type if isinstance(kind, c_ast.PtrDecl) else kind
    if isinstance(kind, c_ast.PtrDecl):
        kind.quals = []
    else:
        inner.quals = []
    inner.declname = name
    return c_ast.Decl(name, [], [], [], [], kind, value, None, coord=value.coord)


def renamed(node: c_ast.Node, names: Mapping[str, c_ast.Node]) -> c_ast.Node:
    """A copy of ``node`` with other variables or values for ``names``, also where they are declared."""
    if isinstance(node, c_ast.ID) and node.name in names:
        return duplicate(names[node.name])
    if isinstance(node, c_ast.Struct | c_ast.Union):
        return duplicate(node)  # with its members
    if isinstance(node, c_ast.NamedInitializer):
        return c_ast.NamedInitializer(node.name, renamed(node.expr, names), node.coord)
    if isinstance(node, c_ast.StructRef):
        new = mapped(node, lambda each: each)
        new.name = renamed(node.name, names)
        if node.type == "->" and addressed(new.name):
            new.name, new.type = new.name.expr, "."
        return new
    new = mapped(node, lambda each: renamed(each, names))
    pointer = target_of(new)
    if pointer is not None and addressed(pointer):
        return pointer.expr
    if isinstance(node, c_ast.Decl) and node.name in names:
        new.name = names[node.name].name
        inner = new.type
        while not isinstance(inner, c_ast.TypeDecl):
            inner = inner.type
        inner.declname = new.name
    return new


def hoistable_calls(
    value: c_ast.Node, functions: Mapping[str, Callee], expressions: Collection[str] = ()
) -> Iterator[c_ast.FuncCall]:
    """The calls of ``functions`` in ``value`` that are always made, inner ones first.

    None if anything in it has effects: all that these functions change is their own. Those called
    ``expressions`` have none.
    """
    calls = [each for each in walk(value) if isinstance(each, c_ast.FuncCall) and not _is_pure(each)]
    known = [each for each in calls if isinstance(each.name, c_ast.ID) and each.name.name in functions]
    changes = any(changed_operand(each) is not None for each in walk(value))
    plain = [each for each in calls if isinstance(each.name, c_ast.ID) and each.name.name in expressions]
    if len(calls) == len(known) + len(plain) and not changes:
        yield from (each for each in reversed(known) if always_evaluates(value, each))


def without_copy(statements: Sequence[c_ast.Node], declared: c_ast.Decl) -> list[c_ast.Node]:
    """``statements``, which set a variable ``declared`` before them, without one of its type only for that.

    ``{ double t = 0; ... t += x; ... s = t; }`` is ``{ s = 0; ... s += x; ... }``.
    """
    *before, last = statements
    copied = last.rvalue.name if isinstance(last.rvalue, c_ast.ID) else None
    own = [each for each in before if isinstance(each, c_ast.Decl) and each.name == copied]
    listed = len(own) == 1 and isinstance(own[0].init, c_ast.InitList)
    if listed or len(own) != 1 or not _of_same_type(own[0].type, declared.type):
        return list(statements)
    target = c_ast.ID(declared.name, declared.coord)
    new: list[c_ast.Node] = []
    for each in before:
        if each is not own[0]:
            new.append(renamed(each, {str(copied): target}))
        elif each.init is not None:
            new.append(c_ast.Assignment("=", target, each.init, each.coord))
    return new


def _of_same_type(one: c_ast.Node, other: c_ast.Node) -> bool:
    """Whether two declarations have the same type by its name."""
    plain = isinstance(one, c_ast.TypeDecl) and isinstance(other, c_ast.TypeDecl)
    return plain and not one.quals and not other.quals and key(one.type) == key(other.type)


def block(statements: Sequence[c_ast.Node], coord: object) -> c_ast.Compound:
    """``statements`` in a block."""
    return c_ast.Compound(list(statements), coord)
