"""Blocks whose arrays stay on the device: ``#pragma polybuild resident(u, v[0:n])`` before a block.

    #pragma polybuild resident(u, v[0:n])
    {
        for (int t = 0; t < steps; t++)
            step(n, u, v);
    }

An array stands for all of itself; of what a pointer points to, ``v[first:count]`` says how
many elements there are. Where anything speaks against a block it is left alone, which is
always right: its regions then copy their arrays each time. Blocks whose arrays stay distributed among
ranks, ``#pragma polybuild distributed(u, v[0:n])``, are read alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pycparser import c_ast

from polybuild.c.basic_types import DataModel
from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.tokens import Token, matching_bracket, tokens
from polybuild.c.types import ArrayType, FunctionType, PointerType, RecordType, Type, UnknownType, VoidType
from polybuild.c.typing import field_of
from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.patterns import pattern
from polybuild.source.blocks import begin_pragma, escapes, item_lists
from polybuild.source.chunks import ChunkIndex
from polybuild.source.lines import LineTable
from polybuild.source.markers import Marker, SourceText
from polybuild.source.model import BlockKind, Region, RejectedRegion, ResidentArray, ResidentBlock, Span
from polybuild.source.parse import FunctionSyntaxError, parse_function
from polybuild.source.symbols import file_scope, visible_at
from polybuild.values import dataclass

_PRAGMA = pattern(
    r"^[ \t]*#[ \t]*pragma[ \t]+polybuild[ \t]+(resident|distributed)\b[ \t]*(.*)$", re.MULTILINE
)
_LIST = pattern(r"\((.*)\)[ \t\r]*")
_COMMA = pattern(r",(?![^\[(]*[\])])")
_ITEM = pattern(r"\s*(?P<path>[A-Za-z_]\w*(?:\s*(?:\.|->)\s*[A-Za-z_]\w*)*)\s*(?P<section>\[.*\])?\s*")
_SECTION = pattern(r"\[([^:\[\]]+):([^:\[\]]+)\]")
_STEP = pattern(r"(\.|->)\s*(\w+)")
_NOT_CODE = r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:\\\r?\n|[^\n])*"
_BRACE = pattern(rf"{_NOT_CODE}|(?P<brace>[{{}}])", re.DOTALL | re.MULTILINE)
_CALLED = {
    BlockKind.RESIDENT: (
        ("polybuild_update_host", "polybuild_update_device"),
        "call polybuild_update_host before the host reads it, polybuild_update_device after it wrote",
    ),
    BlockKind.DISTRIBUTED: (
        ("polybuild_collect",),
        "call polybuild_collect before the host reads or writes it",
    ),
}


class _Misuse(Exception):
    """Why a block is left alone; ``line`` is where, 0 for the line of the pragma."""

    def __init__(self, code: str, message: str, hint: str = "", line: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
        self.line = line


@dataclass(frozen=True, slots=True)
class ResidentReader:
    """Reads the resident blocks of a file, whose ``regions`` are known."""

    user_text: SourceText
    lines: LineTable
    chunks: ChunkIndex
    model: DataModel
    regions: Sequence[Region | RejectedRegion]

    def read(self) -> tuple[tuple[ResidentBlock, ...], tuple[Diagnostic, ...]]:
        """The blocks, and what is wrong with those that are left alone."""
        blocks: list[ResidentBlock] = []
        problems: list[Diagnostic] = []
        for match in _PRAGMA.finditer(self.lines.text):
            presumed = self.lines.presumed_at(match.start())
            if not self.lines.is_main(presumed):
                continue
            user = self.lines.user_location(presumed)
            try:
                blocks.append(self._block(match, Location(user.file, user.line)))
            except _Misuse as misuse:
                location = Location(user.file, misuse.line or user.line)
                message = f"{BlockKind(match[1]).refusal}: {misuse}"
                problems.append(Diagnostic(Severity.WARNING, misuse.code, message, location, misuse.hint))
        return tuple(blocks), tuple(problems)

    def _block(self, pragma: re.Match[str], location: Location) -> ResidentBlock:
        chunk = self.chunks.at(pragma.start())
        if chunk is None or self.chunks.chunks[chunk].body is None:
            raise _Misuse("resident-block", "the pragma is not inside a function")
        following = next(
            (each for each in tokens(self.lines.text, pragma.end()) if each.text[0] != "#"), None
        )
        end = matching_bracket(self.lines.text, following.start) if following else None
        if following is None or following.text != "{" or end is None:
            raise _Misuse(
                "resident-block", "the pragma is not before a '{'", "put braces around the statements"
            )
        marker, body = self._place(pragma, Span(following.start, end))
        kind = BlockKind(pragma[1])
        items = _items(pragma)
        self._check_regions(marker.span, body)
        symbols = self._check_block(chunk, pragma.start())
        for name, _, _ in items:
            self._check_use(kind, _root(name), Span(following.start, end))
        arrays = tuple(_array(path, first, count, symbols) for path, first, count in items)
        return ResidentBlock(marker.span, body, location, arrays, kind)

    def _place(self, pragma: re.Match[str], block: Span) -> tuple[Marker, Span]:
        """The pragma and the block as the user wrote them."""
        line = self.lines.physical_line(self.lines.presumed_at(pragma.start()))
        hidden = _Misuse("resident-block", "macros or '#line' directives hide where the block is")
        if line is None:
            raise hidden
        written = [
            m for m in self.user_text.markers if m.kind == pragma[1] and m.first_line <= line <= m.last_line
        ]
        marker = written[0] if written else self.user_text.macro_marker(pragma[1], line)
        if marker is None:
            raise hidden
        body = _braces(self.user_text.text, marker.span.end)
        edges = (block.start, block.end - 1)
        wanted = [self.lines.physical_line(self.lines.presumed_at(offset)) for offset in edges]
        if body is None or wanted != [
            self.user_text.line_of(body.start),
            self.user_text.line_of(body.end - 1),
        ]:
            raise hidden
        return marker, body

    def _check_regions(self, pragma: Span, body: Span) -> None:
        for region in self.regions:
            disjoint = region.span.end <= pragma.start or region.span.start >= body.end
            inside = body.start < region.span.start and region.span.end < body.end
            if not disjoint and not inside:
                raise _Misuse("resident-block", "the block is not outside of all regions")

    def _check_block(self, chunk: int, pragma: int) -> Mapping[str, Symbol]:
        """The variables visible at the block, which is left at its end alone."""
        try:
            parsed = parse_function(self.chunks, self.lines, chunk, {pragma: (f"#pragma {begin_pragma(0)}",)})
        except FunctionSyntaxError as error:
            raise _Misuse("resident-block", f"the function cannot be parsed: {error}") from None
        for ancestors, items in item_lists(parsed.function.body, ()):
            names = [each.string if isinstance(each, c_ast.Pragma) else "" for each in items]
            position = names.index(begin_pragma(0)) if begin_pragma(0) in names else -1
            if position >= 0:
                for node, name in escapes(items[position + 1], parsed.function):
                    line = node.coord.line if node.coord else 0
                    raise _Misuse("resident-block", f"a '{name}' passes the ends of the block", line=line)
                file = file_scope(parsed.declarations, self.model, self.lines.text)
                return visible_at(file, parsed, ancestors, 0).symbols
        raise _Misuse("resident-block", "the pragma does not stand before a statement of a block")

    def _check_use(self, kind: BlockKind, name: str, block: Span) -> None:
        """Raise _Misuse if statements outside of regions use elements of ``name``, and nobody said when."""
        code = [each for each in tokens(self.lines.text, block.start, block.end) if each.text[0] != "#"]
        texts = [each.text for each in code]
        calls, hint = _CALLED[kind]
        if any(each in texts for each in calls):
            return
        for position in range(1, len(code) - 1):
            if texts[position] == name and _touches(texts, position):
                line = self._outside(code[position])
                if line:
                    raise _Misuse(
                        "resident-use",
                        f"'{name}' is used by statements of no region",
                        hint,
                        line,
                    )

    def _outside(self, token: Token) -> int:
        """The line of ``token`` if it is in no region, else 0."""
        presumed = self.lines.presumed_at(token.start)
        line = self.lines.physical_line(presumed)
        for region in self.regions:
            first = self.user_text.line_of(region.span.start)
            if line is None or first <= line <= self.user_text.line_of(
                max(region.span.start, region.span.end - 1)
            ):
                return 0
        return line or self.lines.user_location(presumed).line


def _touches(texts: Sequence[str], position: int) -> bool:
    """Whether the name at ``position`` stands for its elements, not for where they are."""
    if texts[position + 1] not in {"[", "->", "."}:
        return texts[position - 1] == "*"
    return texts[position - 1] != "&" or texts[position - 2] not in {"(", ",", "="}


def _items(pragma: re.Match[str]) -> list[tuple[str, str, str]]:
    """The arrays in the list of a pragma: path, first element and count (both empty for all of it)."""
    whole, hint = _LIST.fullmatch(pragma[2]), f"write the arrays as in '{pragma[1]}(u, v[0:n])'"
    items: list[tuple[str, str, str]] = []
    for item in _COMMA.split(whole[1]) if whole else []:
        parts = _ITEM.fullmatch(item)
        section = _SECTION.fullmatch(parts["section"]) if parts and parts["section"] else None
        if parts is None or (parts["section"] and section is None):
            raise _Misuse("resident-syntax", f"'{item.strip()}' is no array", hint)
        first, count = (section[1].strip(), section[2].strip()) if section else ("", "")
        items.append((parts["path"], first, count))
    if not items:
        raise _Misuse("resident-syntax", "there is no list of arrays", hint)
    return items


def _root(path: str) -> str:
    return re.split(r"\W", path, maxsplit=1)[0]


def _array(path: str, first: str, count: str, symbols: Mapping[str, Symbol]) -> ResidentArray:
    symbol = symbols.get(_root(path))
    kind: Type = symbol.type if symbol else UnknownType(path)
    for step, member in _STEP.findall(path):
        record = kind.target if step == "->" and isinstance(kind, PointerType) else kind
        found = field_of(record, member) if isinstance(record, RecordType) else None
        kind = found.type if found else UnknownType(path)
    element = (
        kind.target
        if isinstance(kind, PointerType)
        else kind.element
        if isinstance(kind, ArrayType)
        else kind
    )
    if not isinstance(kind, PointerType | ArrayType) or isinstance(
        element, VoidType | FunctionType | UnknownType
    ):
        raise _Misuse("resident-array", f"'{path}' is no array and no pointer to elements of known size")
    if symbol is not None and symbol.volatile:
        raise _Misuse("resident-array", f"'{path}' is volatile")
    if count:
        address = path if first == "0" else f"({path}) + ({first})"
        # the file may have no size_t
        return ResidentArray(address, f"({count}) > 0 ? (unsigned long long)({count}) * sizeof *({path}) : 0")
    is_parameter = path == _root(path) and symbol is not None and symbol.storage is StorageClass.PARAMETER
    if isinstance(kind, PointerType) or kind.extent is None or is_parameter:
        hint = f"write '{path}[0:n]' for n elements"
        raise _Misuse("resident-array", f"how many elements '{path}' has is not known", hint)
    return ResidentArray(path, f"sizeof ({path})")


def _braces(text: str, start: int) -> Span | None:
    """The first block in the user's text from ``start`` on."""
    depth, opening = 0, start
    for match in _BRACE.finditer(text, start):
        if match["brace"] == "{":
            opening = match.start() if depth == 0 else opening
            depth += 1
        elif match["brace"] == "}":
            depth -= 1
            if depth <= 0:
                return Span(opening, match.end()) if depth == 0 else None
    return None
