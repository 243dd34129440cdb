"""Blocks of a function's syntax tree: where a region lies, whether it can become one, what jumps past one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.source.nesting import MarkerContext
from polybuild.values import dataclass

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_WITHOUT_BLOCKS = (
    *(c_ast.Assignment, c_ast.BinaryOp, c_ast.Constant, c_ast.Decl, c_ast.FuncCall, c_ast.ID),
    *(c_ast.Pragma, c_ast.TernaryOp, c_ast.UnaryOp),
)


def begin_pragma(index: int) -> str:
    """The string of the pragma node before region ``index``."""
    return f"polybuild begin {index}"


def end_pragma(index: int) -> str:
    """The string of the pragma node after region ``index``."""
    return f"polybuild end {index}"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a region is: its ancestors (outermost first), its statements, what follows in its block."""

    ancestors: tuple[c_ast.Node, ...]
    statements: tuple[c_ast.Node, ...]
    following: tuple[c_ast.Node, ...]


def place_region(function: c_ast.FuncDef, index: int) -> Placement | None:
    """Find region ``index``; None if its pragmas are not items of the same block."""
    for ancestors, items in item_lists(function.body, ()):
        names = [item.string if isinstance(item, c_ast.Pragma) else None for item in items]
        if begin_pragma(index) in names:
            start = names.index(begin_pragma(index))
            if end_pragma(index) not in names[start:]:
                return None
            end = names.index(end_pragma(index), start)
            return Placement(ancestors, tuple(items[start + 1 : end]), tuple(items[end + 1 :]))
    return None


def is_repeated(function: c_ast.FuncDef, index: int) -> bool:
    """Whether region ``index`` is in a loop of its function."""
    placement = place_region(function, index)
    return placement is not None and any(isinstance(each, _LOOPS) for each in placement.ancestors)


def item_lists(
    node: c_ast.Node, ancestors: tuple[c_ast.Node, ...]
) -> Iterator[tuple[tuple[c_ast.Node, ...], Sequence[c_ast.Node]]]:
    """Each list of block items below ``node``, with the nodes around it."""
    inside = (*ancestors, node)
    if isinstance(node, c_ast.Compound):
        yield inside, node.block_items or ()
    elif isinstance(node, c_ast.Case | c_ast.Default):
        yield inside, node.stmts or ()
    elif isinstance(node, _WITHOUT_BLOCKS):
        return
    for child in node:
        yield from item_lists(child, inside)


def check_block(
    placement: Placement, context: MarkerContext, end: MarkerContext, begin: Location
) -> Diagnostic | None:
    """Why the region cannot be replaced by one compound statement, None if it can."""
    statements = placement.statements
    controlled = context.controlled or (context.labelled and not _label_in_block(placement))
    if controlled:
        single = len(statements) == 1 and not isinstance(statements[0], c_ast.Decl | c_ast.Typedef)
        if not single or (end.following == "else" and _has_dangling_if(statements[0])):
            return _warning(
                "unbraced-region",
                "the region is the body of an 'if' or a loop without braces and is not one statement",
                begin,
                "put braces around the region",
            )
    for name, node in _declared(statements):
        if any(_mentions(item, name) for item in placement.following):
            where = Location(node.coord.file, node.coord.line) if node.coord else begin
            message = f"'{name}' is declared inside the region and used after it"
            return _warning("declaration-escapes", message, where, "move the declaration before the region")
    return None


def escapes(block: c_ast.Compound, function: c_ast.FuncDef) -> Iterator[tuple[c_ast.Node, str]]:
    """Control-flow escapes: the jumps into ``block`` or out of it past its braces, and their names."""
    labels = {node.name for node in walk(block) if isinstance(node, c_ast.Label)}
    inside = {id(node) for node in walk(block)}
    for node in walk(function.body):
        if isinstance(node, c_ast.Goto) and (id(node) in inside) != (node.name in labels):
            yield node, "goto"
    yield from outward_jumps(block)


def outward_jumps(
    node: c_ast.Node, *, loop: bool = False, switch: bool = False
) -> Iterator[tuple[c_ast.Node, str]]:
    """What in ``node`` belongs to a loop, a switch or a function around it, and its name.

    ``loop`` and ``switch`` say that ``node`` is in one that is not around it in this sense.
    """
    if isinstance(node, c_ast.Return):
        yield node, "return"
    elif isinstance(node, c_ast.Break) and not loop and not switch:
        yield node, "break"
    elif isinstance(node, c_ast.Continue) and not loop:
        yield node, "continue"
    elif isinstance(node, c_ast.Case | c_ast.Default) and not switch:
        yield node, "case"
    is_switch = isinstance(node, c_ast.Switch)
    for _, child in node.children():
        yield from outward_jumps(child, loop=loop or isinstance(node, _LOOPS), switch=switch or is_switch)


def _label_in_block(placement: Placement) -> bool:
    """Whether the label before the region labels a statement of a block (not a controlled one)."""
    # The innermost ancestor is the block that was put around the region.
    for ancestor in reversed(placement.ancestors[:-1]):
        if not isinstance(ancestor, c_ast.Label | c_ast.Case | c_ast.Default):
            return isinstance(ancestor, c_ast.Compound)
    return False


def _has_dangling_if(statement: c_ast.Node) -> bool:
    """Whether an ``else`` after ``statement`` would belong to an ``if`` inside it."""
    while True:
        match statement:
            case c_ast.If():
                if statement.iffalse is None:
                    return True
                statement = statement.iffalse
            case c_ast.For() | c_ast.While() | c_ast.Label():
                statement = statement.stmt
            case _:
                return False


def _declared(statements: Sequence[c_ast.Node]) -> Iterator[tuple[str, c_ast.Node]]:
    """The names that the statements declare in their own block: variables, types, tags, enumerators."""
    for statement in statements:
        if isinstance(statement, c_ast.Decl | c_ast.Typedef):
            if statement.name:
                yield statement.name, statement
            yield from _tags(statement.type)


def _tags(node: c_ast.Node) -> Iterator[tuple[str, c_ast.Node]]:
    if isinstance(node, c_ast.Struct | c_ast.Union) and node.decls and node.name:
        yield node.name, node
    elif isinstance(node, c_ast.Enum) and node.values is not None:
        if node.name:
            yield node.name, node
        for enumerator in node.values.enumerators:
            if isinstance(enumerator, c_ast.Enumerator):
                yield enumerator.name, enumerator
    for _, child in node.children():
        yield from _tags(child)


def _mentions(node: c_ast.Node, name: str) -> bool:
    match node:
        case c_ast.ID() | c_ast.Struct() | c_ast.Union() | c_ast.Enum():
            if node.name == name:
                return True
        case c_ast.IdentifierType():
            return name in node.names
        case c_ast.StructRef():
            return _mentions(node.name, name)
    return any(_mentions(child, name) for _, child in node.children())


def _warning(code: str, message: str, location: Location, hint: str) -> Diagnostic:
    return Diagnostic(Severity.WARNING, code, message, location, hint)
