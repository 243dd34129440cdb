"""What all calls of a function pass: pointers that lead to different arrays, wherever it is called.

A function with internal linkage is called by its file alone, unless its address is taken. Where each call
gives two of its parameters different arrays, these never overlap, and nothing is to be compared at run time.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping

from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.source.chunks import ChunkIndex
from polybuild.source.lines import LineTable
from polybuild.source.parse import FunctionSyntaxError, ParsedFunction, parse_function

_NOT_KNOWN: Mapping[str, frozenset[str]] = {}


def distinct_parameters(
    chunks: ChunkIndex, lines: LineTable, number: int, function: c_ast.FuncDef
) -> Mapping[str, frozenset[str]]:
    """For parameters of the ``function`` in chunk ``number`` those that each call gives another array."""
    parameters = _parameters(function)
    pointers = [at for at, each in enumerate(parameters) if _is_pointer(each)]
    if "static" not in function.decl.storage or len(pointers) < 2:
        return _NOT_KNOWN
    distinct = set(itertools.combinations(pointers, 2))
    called = False
    try:
        for arguments in _calls(chunks, lines, number, function.decl.name):
            if arguments is None or len(arguments) != len(parameters):
                return _NOT_KNOWN
            called = True
            distinct = {
                (one, other)
                for one, other in distinct
                if arguments[one] and arguments[other] and arguments[one] != arguments[other]
            }
    except FunctionSyntaxError:
        return _NOT_KNOWN
    found: dict[str, set[str]] = {}
    for pair in distinct if called else ():
        for one, other in itertools.permutations(pair):
            found.setdefault(parameters[one].name, set()).add(parameters[other].name)
    return {name: frozenset(others) for name, others in found.items()}


def _parameters(function: c_ast.FuncDef) -> list[c_ast.Decl]:
    """The parameters of a function; none if one has no name, or if they follow the parentheses."""
    declared = function.decl.type.args
    found = declared.params if declared is not None and not function.param_decls else []
    return list(found) if all(isinstance(each, c_ast.Decl) for each in found) else []


def _is_pointer(parameter: c_ast.Decl) -> bool:
    return isinstance(parameter.type, c_ast.PtrDecl | c_ast.ArrayDecl)


def _calls(chunks: ChunkIndex, lines: LineTable, number: int, name: str) -> Iterator[list[str] | None]:
    """For each call of ``name`` the arrays that its arguments lead to, empty where that is not known.

    None for each other mention of it but declarations. Raises FunctionSyntaxError.
    """
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])(?P<call>\s*\()?")
    for position, chunk in enumerate(chunks.chunks):
        body = chunk.end if chunk.body is None else chunk.body
        heads = list(word.finditer(chunks.text, chunk.start, body))
        if any(not each["call"] for each in heads) or (len(heads) > 1 and position != number):
            yield None
        mentions = list(word.finditer(chunks.text, body, chunk.end))
        if not mentions:
            continue
        caller = parse_function(chunks, lines, position, {})
        calls = [
            each
            for each in walk(caller.function.body)
            if isinstance(each, c_ast.FuncCall) and isinstance(each.name, c_ast.ID) and each.name.name == name
        ]
        if len(calls) != len(mentions):  # its address is taken, or a string has it
            yield None
        dimensions = _arrays(caller)
        for call in calls:
            arguments = call.args.exprs if call.args is not None else ()
            yield [_array(each, dimensions) for each in arguments]


def _arrays(caller: ParsedFunction) -> dict[str, int]:
    """How many dimensions the arrays have that a function can name, but for those whose names are several."""
    parameters = {each.name for each in _parameters(caller.function)}
    local = [each for each in walk(caller.function) if isinstance(each, c_ast.Decl)]
    names = [each.name for each in local]
    arrays = {each.name: _dimensions(each.type) for each in local if names.count(each.name) == 1}
    for each in caller.declarations:
        if isinstance(each.node, c_ast.Decl) and each.node.name not in names:
            arrays[each.node.name] = _dimensions(each.node.type)
    return {name: count for name, count in arrays.items() if count and name not in parameters}


def _dimensions(kind: c_ast.Node) -> int:
    return 1 + _dimensions(kind.type) if isinstance(kind, c_ast.ArrayDecl) else 0


def _array(argument: c_ast.Node, dimensions: Mapping[str, int]) -> str:
    """The array that ``argument`` is a pointer into, empty if that is not known."""
    depth = 0
    if (
        isinstance(argument, c_ast.UnaryOp)
        and argument.op == "&"
        and isinstance(argument.expr, c_ast.ArrayRef)
    ):
        argument, depth = argument.expr, -1
    elif isinstance(argument, c_ast.BinaryOp) and argument.op in {"+", "-"}:
        argument = argument.left
    while isinstance(argument, c_ast.ArrayRef):
        argument, depth = argument.name, depth + 1
    if not isinstance(argument, c_ast.ID):
        return ""
    return argument.name if depth < dimensions.get(argument.name, 0) else ""
