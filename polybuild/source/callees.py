"""The functions that regions call: their bodies, and what attributes and pragmas say of them."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import field

from pycparser import c_ast

from polybuild.c.pure_functions import is_pure_function
from polybuild.c.setting_functions import computed_by, setting_function, stays_a_call
from polybuild.c.symbols import VisibleNames
from polybuild.c.syntax_tree import walk
from polybuild.c.tokens import KEYWORDS, identifiers
from polybuild.patterns import pattern
from polybuild.source.chunks import ChunkIndex
from polybuild.source.lines import LineTable, PresumedLocation
from polybuild.source.model import Callee, Effects, Region
from polybuild.source.openmp import shared_from_outside
from polybuild.source.parse import FunctionSyntaxError, ParsedFunction, parse_function, standard_function
from polybuild.source.symbols import visible_at
from polybuild.source.taken_functions import calls_by_pointer, functions_as_values, taken_functions
from polybuild.values import dataclass

_CALL_LIKE = pattern(r"([A-Za-z_$][\w$]*)\s*\(")
_ATTRIBUTE_WORD = pattern(r"__attribute(?:__)?\s*\(\s*\((?P<list>(?:[^()]|\([^()]*\))*)\)\s*\)")
_PRAGMA = pattern(
    r"^[ \t]*#[ \t]*pragma[ \t]+polybuild[ \t]+access[ \t]*\((?P<text>.*)\)[ \t\r]*$", re.MULTILINE
)
_ACCESS = pattern(r"\s*(?P<name>\w+)\s*(?P<lists>(?:,\s*(?:read|write)\s*\([^()]*\)\s*)*)")
_LIST = pattern(r"(read|write)\s*\(([^()]*)\)")


@dataclass(frozen=True, slots=True)
class Calls:
    """The functions called below some text: the chunk of each definition, and the names they all mention.

    Those of them that are ``taken`` may be called by pointers, too.
    """

    definitions: Mapping[str, int]
    mentioned: frozenset[str]
    names: frozenset[str]
    taken: frozenset[str] = frozenset()


def calls_in(chunks: ChunkIndex, spans: Sequence[tuple[int, int]]) -> Calls:
    """What the text at ``spans`` calls, directly or through functions defined in the same text.

    What it may call by pointers are the functions whose address is taken.
    """
    pending = {name for start, end in spans for name in _CALL_LIKE.findall(chunks.text, start, end)}
    taken = {name for start, end in spans for name in functions_as_values(chunks, start, end)}
    if any(calls_by_pointer(chunks, start, end) for start, end in spans):
        taken |= taken_functions(chunks)
    names: set[str] = set()
    definitions: dict[str, int] = {}
    mentioned: set[str] = set()
    pending |= taken
    while pending:
        name = pending.pop()
        if name in names or name in KEYWORDS:
            continue
        names.add(name)
        number = chunks.definition(name)
        if number is not None:
            definitions[name] = number
            chunk = chunks.chunks[number]
            mentioned |= identifiers(chunks.text[chunk.start : chunk.end])
            body = chunk.body or chunk.start
            pending.update(_CALL_LIKE.findall(chunks.text, body, chunk.end))
            taken.update(functions_as_values(chunks, body, chunk.end))
            if calls_by_pointer(chunks, body, chunk.end):
                taken |= taken_functions(chunks)
            pending |= taken
        else:
            mentioned |= computed_by(name)
    return Calls(definitions, frozenset(mentioned | taken), frozenset(names), frozenset(taken))


@dataclass(frozen=True, slots=True)
class CallerFile:
    """What callees are read from; ``visible`` is what the caller's file declares before the caller.

    ``known`` has what is visible in the bodies of functions that were read, by their definitions.
    """

    chunks: ChunkIndex
    lines: LineTable
    visible: VisibleNames
    caller: ParsedFunction
    known: dict[c_ast.FuncDef, VisibleNames] = field(default_factory=dict)


def read_callees(calls: Calls, file: CallerFile, around: Region) -> dict[str, Callee]:
    """What is known of each function in ``calls`` that the region ``around`` may call."""
    return _reachable(around, _mentioned_callees(calls, file, around))


def _reachable(region: Region, callees: dict[str, Callee]) -> dict[str, Callee]:
    """Those of ``callees`` that ``region`` mentions, or one that it mentions: others are of other regions.

    What is called by a pointer may be any function whose address is taken.
    """
    kept: set[str] = set()
    pending = [(each, region.visible) for each in region.statements]
    while pending:
        statement, visible = pending.pop()
        for node in walk(statement):
            named = {node.name} if isinstance(node, c_ast.ID) else set()
            if isinstance(node, c_ast.FuncCall) and not _is_by_name(node, visible, callees):
                named = {name for name, each in callees.items() if each.taken}
            for name in named & (callees.keys() - kept):
                kept.add(name)
                body = callees[name].body
                pending += [] if body is None else [(each, body.visible) for each in body.statements]
    return {name: each for name, each in callees.items() if name in kept}


def _is_by_name(call: c_ast.FuncCall, visible: VisibleNames, callees: Container[str]) -> bool:
    """Whether ``call`` is of a function, not of what a pointer leads to."""
    name = call.name.name if isinstance(call.name, c_ast.ID) else ""
    return name not in visible.symbols and (name in callees or name in visible.functions)


def _mentioned_callees(calls: Calls, file: CallerFile, around: Region) -> dict[str, Callee]:
    """What is known of each function in ``calls``, for the region ``around``."""
    prototypes = _prototypes(file.caller)
    declared = declared_effects(file.chunks.text)
    found: dict[str, Callee] = {}
    for name in sorted(calls.names):
        number = calls.definitions.get(name)
        attributes = _attributes(file.chunks, name)
        effects = declared.get(name) or _attribute_effects(attributes)
        if effects is not None:
            if name in prototypes or number is not None:
                found[name] = Callee(name, prototypes.get(name, ()), effects=effects)
        elif number is None:
            library = _of_library(name, prototypes.keys(), file, around)
            if library is None and name in calls.taken and is_pure_function(name) and name in prototypes:
                library = Callee(name, prototypes[name], effects=Effects())
            found |= {name: library} if library is not None else {}
        elif attributes & {"weak", "ifunc", "alias"}:
            found[name] = Callee(name, (), problem="it may be replaced by another one when linking")
        else:
            found[name] = _defined(name, number, file, around)
    taken = {name: dataclasses.replace(found[name], taken=True) for name in calls.taken & found.keys()}
    return {**found, **taken}


def _of_library(name: str, declared: Container[str], file: CallerFile, around: Region) -> Callee | None:
    """The library's function ``name`` as if it was defined in the file, by ones that are ``declared``."""
    text = setting_function(name)
    if text is None or not all(each in declared for each in computed_by(name)):
        return None
    place = PresumedLocation(around.begin.file, around.begin.line)
    callee = _with_body(name, standard_function(text, place), file, around)
    return dataclasses.replace(callee, stays=stays_a_call(name))


def _defined(name: str, number: int, file: CallerFile, around: Region) -> Callee:
    chunks, lines = file.chunks, file.lines
    chunk = chunks.chunks[number]
    if shared_from_outside(lines.text, chunk.start, chunk.end) is not None:
        return Callee(name, (), problem="it has directives of OpenMP for the threads of its callers")
    try:
        parsed = _definition(chunks, lines, number)
    except FunctionSyntaxError as error:
        return Callee(name, (), problem=f"its definition cannot be parsed: {error}")
    return _with_body(name, parsed, file, around)


def _with_body(name: str, parsed: ParsedFunction, file: CallerFile, around: Region) -> Callee:
    declarator = parsed.function.decl.type
    items = declarator.args.params if declarator.args is not None else ()
    if any(isinstance(each, c_ast.EllipsisParam) for each in items):
        return Callee(name, (), problem="it takes a variable number of arguments")
    body = dataclasses.replace(
        around,
        index=-1,
        statements=tuple(parsed.function.body.block_items or ()),
        function=parsed.function,
        visible=_visible_in(parsed, file),
        callees={},
    )
    return Callee(name, _named_parameters(items), body=body)


def _visible_in(parsed: ParsedFunction, file: CallerFile) -> VisibleNames:
    """What is visible in the body of a function, of which several regions may ask."""
    if parsed.function not in file.known:
        file.known[parsed.function] = visible_at(file.visible, parsed, (), -1)
    return file.known[parsed.function]


def _definition(chunks: ChunkIndex, lines: LineTable, number: int) -> ParsedFunction:
    """A function that is called. Raises FunctionSyntaxError."""
    known: ParsedFunction | None = chunks.known.get(("definition", number))
    if known is None:  # functions of a file call the same ones
        known = chunks.known["definition", number] = parse_function(chunks, lines, number, {})
    return known


def _named_parameters(items: Sequence[c_ast.Node]) -> tuple[c_ast.Node, ...]:
    """The parameters of a function, none for ``(void)``."""
    parameters = tuple(each for each in items if isinstance(each, c_ast.Decl | c_ast.Typename))
    if len(parameters) == 1 and _is_void(parameters[0]):
        return ()
    return parameters


def _is_void(parameter: c_ast.Node) -> bool:
    declared = parameter.type
    return (
        isinstance(declared, c_ast.TypeDecl)
        and isinstance(declared.type, c_ast.IdentifierType)
        and declared.type.names == ["void"]
    )


def _prototypes(caller: ParsedFunction) -> dict[str, tuple[c_ast.Node, ...]]:
    """The parameters of each function that the caller's file declares before it."""
    found: dict[str, tuple[c_ast.Node, ...]] = {}
    for declared in caller.declarations:
        node = declared.node
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl) and node.name:
            items = node.type.args.params if node.type.args is not None else ()
            if not any(isinstance(each, c_ast.EllipsisParam) for each in items):
                found[node.name] = _named_parameters(items)
    return found


def _attributes(chunks: ChunkIndex, name: str) -> frozenset[str]:
    """The attributes of all declarations of a function, without underscores around them."""
    words = {
        word.strip("_")
        for number in chunks.declaring(name)
        for match in _ATTRIBUTE_WORD.finditer(chunks.head(number))
        for word in re.findall(r"\w+", match["list"])
    }
    return frozenset(words)


def _attribute_effects(attributes: frozenset[str]) -> Effects | None:
    if "const" in attributes:
        return Effects()
    if "pure" in attributes:
        return Effects(reads_everything=True)
    return None


@functools.lru_cache(maxsize=1)  # each function of a file asks for that of the file
def declared_effects(text: str) -> Mapping[str, Effects]:
    """What each ``#pragma polybuild access(f, read(x), write(y))`` that is understood says."""
    found: dict[str, Effects] = {}
    for match in _PRAGMA.finditer(text):
        parts = _ACCESS.fullmatch(match["text"])
        if parts is None:
            continue
        lists: dict[str, list[str]] = {"read": [], "write": []}
        for kind, names in _LIST.findall(parts["lists"]):
            lists[kind] += [each.strip() for each in names.split(",") if each.strip()]
        found[parts["name"]] = Effects(tuple(lists["read"]), tuple(lists["write"]))
    return found
