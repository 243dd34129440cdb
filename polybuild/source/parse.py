"""Parse one function and the declarations it needs, whatever else the file contains."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from pycparser import c_ast
from pycparser.c_lexer import CLexer
from pycparser.c_parser import CParser, ParseError

from polybuild.c.dialects import UNKNOWN_TAG, built_in_typedefs, changes_types, lower_dialect
from polybuild.c.tokens import identifiers
from polybuild.effort import PARSE_REPAIRS, PARSED_CHUNKS
from polybuild.patterns import pattern
from polybuild.source.chunks import ChunkIndex, declared_names, without_tables
from polybuild.source.compiler_hints import without_hints
from polybuild.source.lines import LineTable, PresumedLocation
from polybuild.source.old_style import with_prototype
from polybuild.source.openmp import OF_VARIABLES
from polybuild.source.unsupported_syntax import Unreadable, without_unsupported_statement
from polybuild.values import dataclass

_UNPLACED = "<polybuild>"  # the file of coordinates that still count lines of the parser's input
_PARSE_ERROR = pattern(r"[^:]*:(\d+):(\d+): (.*)", re.DOTALL)
_PRAGMA_LINE = pattern(r"[ \t]*#")


class FunctionSyntaxError(Exception):
    """The function that holds a region cannot be parsed."""

    def __init__(
        self, message: str, location: PresumedLocation, token: str = "", column: int = 0, hint: str = ""
    ) -> None:
        """``column`` counts the preprocessed line, where ``token`` stands.

        ``hint`` is given where the text is right, but not standard C.
        """
        super().__init__(message)
        self.hint = hint
        self.location = location
        self.token = token
        self.column = column


@dataclass(frozen=True, slots=True)
class Declared:
    """A parsed declaration; ``unknown`` if an attribute made its type one we cannot represent."""

    node: c_ast.Node
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class ParsedFunction:
    """A function definition and the file-scope declarations before it that it needs, in order."""

    function: c_ast.FuncDef
    declarations: tuple[Declared, ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A chunk in the C that pycparser reads: its text and where each line comes from."""

    text: str
    locations: tuple[PresumedLocation, ...]
    essential: bool = False
    typedefs: frozenset[str] = frozenset()
    unknown: bool = False


class _TrackingLexer(CLexer):  # type: ignore[misc] # pycparser has no types
    """A lexer that remembers the last token it gave, for errors that carry no location."""

    last: tuple[int, int, str] = (1, 1, "")

    def token(self) -> object:
        token = super().token()
        if token is not None:
            self.last = (token.lineno, token.column, token.value)
        return token


def parse_function(
    chunks: ChunkIndex,
    lines: LineTable,
    number: int,
    pragmas: Mapping[int, tuple[str, ...]],
    mentioned: Collection[str] = (),
) -> ParsedFunction:
    """Parse chunk ``number``, a function definition, with what it needs and what declares ``mentioned``.

    ``pragmas`` gives, for the offset of a pragma line in the preprocessed text,
    the lines to put in its place; other pragmas vanish, but for those of
    OpenMP that say something of variables.
    Every node's coordinate is a file and line of the user's. Raises FunctionSyntaxError.
    """
    declarations: list[Declared] = []
    types: set[str] = set()
    function: c_ast.FuncDef | None = None
    units = _units(chunks, lines, number, pragmas, mentioned)
    for unit in units:
        nodes = _parsed(unit, _words(unit.text) & types)
        types.update(node.name for node in nodes if isinstance(node, c_ast.Typedef))
        declarations += [Declared(node, unit.unknown) for node in nodes]
        function = next((node for node in nodes if isinstance(node, c_ast.FuncDef)), function)
    if function is None:
        raise FunctionSyntaxError("this is not a function definition", units[-1].locations[0])
    return ParsedFunction(function, tuple(each for each in declarations if each.node is not function))


def standard_function(text: str, place: PresumedLocation) -> ParsedFunction:
    """The definition ``text`` in standard C, in one line, of a function that stands in no file of the user's.

    All of it is said to be at ``place``.
    """
    (function,) = _parsed(_Unit(text, (place,), essential=True), frozenset())
    return ParsedFunction(function, ())


@functools.lru_cache(maxsize=PARSED_CHUNKS)  # functions of a file have most of what they need in common
def _parsed(unit: _Unit, types: frozenset[str]) -> tuple[c_ast.Node, ...]:
    """The nodes of ``unit``, in whose text ``types`` are names of types that were declared before.

    Which types they are does not matter to the parser. Raises FunctionSyntaxError if it is the function.
    """
    before = "".join(f"typedef int {name};" for name in sorted(types))
    for _ in range(PARSE_REPAIRS):
        parser = CParser(lexer=_TrackingLexer)
        try:
            tree = parser.parse(f"{before}\n{unit.text}", _UNPLACED)
        except RecursionError:
            raise FunctionSyntaxError("the function is nested too deeply", unit.locations[0]) from None
        # The parser also fails with these on input it does not foresee.
        except (
            ParseError,
            AssertionError,
            AttributeError,
            IndexError,
            KeyError,
            TypeError,
            ValueError,
        ) as error:
            unit = _repaired(unit, error, parser.clex.last)
            continue
        return tuple(_placed(node, unit) for node in tree.ext[len(types) :])
    raise FunctionSyntaxError("the declarations the function needs cannot be read", unit.locations[0])


def _units(
    chunks: ChunkIndex,
    lines: LineTable,
    number: int,
    pragmas: Mapping[int, tuple[str, ...]],
    mentioned: Collection[str],
) -> list[_Unit]:
    needed = chunks.needed_by(number, mentioned)
    typedefs = set[str]().union(*map(chunks.typedefs, needed))
    units: list[_Unit] = []
    words: set[str] = set()
    for index in needed:
        if chunks.chunks[index].is_old_style(lines.text):
            continue  # it declares no types of parameters
        raw, locations = _declaration(chunks, lines, index)
        words |= _words(raw)
        units.append(_Unit(_lowered(raw, _words(raw) & typedefs), locations, unknown=_changes_types(raw)))
    chunk = chunks.chunks[number]
    raw, locations = _extract(lines, chunk.start, chunk.end, pragmas)
    words |= _words(raw)
    text = _lowered(raw, _words(raw) & typedefs)
    units.append(_Unit(text, locations, essential=True, typedefs=frozenset(typedefs)))
    start = lines.user_location(lines.presumed_at(chunks.chunks[number].start))
    known = [_Unit(typedef, (start,)) for name, typedef in built_in_typedefs(words) if name not in typedefs]
    return known + units


def _declaration(
    chunks: ChunkIndex, lines: LineTable, number: int
) -> tuple[str, tuple[PresumedLocation, ...]]:
    """What a chunk declares, a function without its body, and the user's location of each line."""
    known: tuple[str, tuple[PresumedLocation, ...]] | None = chunks.known.get(("declaration", number))
    if known is None:  # most functions of a file need the same ones
        known = chunks.known["declaration", number] = _declared(chunks, lines, number)
    return known


def _declared(chunks: ChunkIndex, lines: LineTable, number: int) -> tuple[str, tuple[PresumedLocation, ...]]:
    chunk = chunks.chunks[number]
    if chunk.body is None:
        raw, locations = _extract(lines, chunk.start, chunk.end, {})
        return without_tables(raw), locations
    raw, locations = _extract(lines, chunk.start, chunk.body, {})
    return f"{raw};", locations


_lowered = functools.lru_cache(maxsize=PARSED_CHUNKS)(lower_dialect)
_changes_types = functools.lru_cache(maxsize=PARSED_CHUNKS)(changes_types)


@functools.lru_cache(maxsize=PARSED_CHUNKS)
def _words(text: str) -> frozenset[str]:
    return frozenset(identifiers(text))


def _extract(
    lines: LineTable, start: int, end: int, pragmas: Mapping[int, tuple[str, ...]]
) -> tuple[str, tuple[PresumedLocation, ...]]:
    """The lines of a chunk without line markers, and the user's location of each."""
    texts: list[str] = []
    locations: list[PresumedLocation] = []
    # The first line keeps its columns.
    column = start - (lines.text.rfind("\n", 0, start) + 1)
    for offset, line, location in lines.lines(start, end):
        user_location = lines.user_location(location)
        if offset in pragmas:
            texts += pragmas[offset]
            locations += [user_location] * len(pragmas[offset])
            continue
        text = "" if _PRAGMA_LINE.match(line) and not OF_VARIABLES.match(line) else line
        texts.append(" " * column + text if offset == start else text)
        locations.append(user_location)
    return "\n".join(texts), tuple(locations)


def _repaired(unit: _Unit, error: Exception, last: tuple[int, int, str]) -> _Unit:
    """``unit`` without what caused ``error``; raises FunctionSyntaxError if that is the function."""
    match = _PARSE_ERROR.fullmatch(str(error)) if isinstance(error, ParseError) else None
    line, column, token = last  # the parser may have looked one token further than it understood
    if match:
        line, column, token = int(match[1]), int(match[2]), match[3].removeprefix("before: ")
    line = min(max(line - 1, 1), len(unit.locations))  # the parser has a line before them
    if not unit.essential:
        text = _stand_in(unit.text)
        return replace(unit, text="" if text == unit.text else text)
    try:
        text = without_unsupported_statement(unit.text, line, column, unit.typedefs)
    except Unreadable as failure:
        location = unit.locations[line - 1]
        if failure.construct:
            what = f"{failure.construct} is not modelled"
            raise FunctionSyntaxError(what, location, token, column, hint=failure.hint) from None
        raise FunctionSyntaxError(f"syntax error near '{token}'", location, token, column) from None
    return replace(unit, text=text)


def _stand_in(text: str) -> str:
    """What replaces a declaration that cannot be read: typedef names stay types, the rest vanishes."""
    names: Collection[str] = declared_names(text) if text.lstrip().startswith("typedef") else ()
    typedefs = " ".join(f"typedef struct {UNKNOWN_TAG} {name};" for name in sorted(names))
    return typedefs + "\n" * text.count("\n")


def _placed(node: c_ast.Node, unit: _Unit) -> c_ast.Node:
    """``node`` of ``unit`` with the user's places, as standard C has it."""
    _place_nodes(node, unit.locations)
    return without_hints(with_prototype(node)) if isinstance(node, c_ast.FuncDef) else node


def _place_nodes(root: c_ast.Node, locations: Sequence[PresumedLocation]) -> None:
    """Turn line numbers of the parser's input, whose first line is ours, into the user's files and lines."""
    pending = [root]
    while pending:
        node = pending.pop()
        coord = node.coord
        if coord is not None and coord.file == _UNPLACED:
            location = locations[min(coord.line - 1, len(locations)) - 1]
            coord.file, coord.line = location.file, location.line
        if (
            isinstance(node, c_ast.FuncCall)
            and isinstance(node.name, c_ast.ID)
            and node.name.name == "offsetof"
        ):
            node.name.name = "__builtin_offsetof"  # as the user's headers spelled it
        pending.extend(child for _, child in node.children())
