"""All outermost loops of a file, by its tokens alone: where they are, how deep they nest, what they do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polybuild.c.tokens import Token, tokens
from polybuild.effort import NOMINAL_SIZE
from polybuild.patterns import pattern
from polybuild.source.chunks import Chunk, ChunkIndex, without_attributes
from polybuild.source.lines import LineTable
from polybuild.source.markers import OWN_DIRECTIVE, SourceText
from polybuild.source.preprocess import preprocess
from polybuild.source.reader import text_of
from polybuild.source.statements import LOOPS, group_end, statement_end
from polybuild.values import dataclass

_NAME = pattern(r"([A-Za-z_$][\w$]*)\s*\(")
_OPERATORS = frozenset("+-*/%[?.=<>")


@dataclass(frozen=True, slots=True)
class LoopNest:
    """An outermost loop of a function, with its lines in the user's file.

    ``depth`` is how many loops are in each other at most, ``work`` the operators in it, each as often as
    the bounds of the loops around say. ``directive`` is what the function has for its loops: ``scop``,
    ``omp``, ``acc`` or nothing.
    """

    function: str
    first_line: int
    last_line: int
    depth: int
    work: float
    directive: str = ""


def loop_nests(path: str, compiler: Sequence[str], flags: Sequence[str]) -> tuple[LoopNest, ...]:
    """The outermost loops of the file at ``path``, in order, each once where the file includes itself.

    Raises SourceError as ``read_source`` does.
    """
    text = text_of(path)
    preprocessed = preprocess(path, compiler, flags)
    lines = LineTable(preprocessed.text, SourceText(text, path), path)
    chunks = ChunkIndex(preprocessed.text).chunks
    nests = [nest for chunk in chunks if chunk.body is not None for nest in _nests(chunk, lines)]
    by_lines = {(each.first_line, each.last_line): each for each in reversed(nests)}
    return tuple(by_lines[lines] for lines in sorted(by_lines))


def _nests(function: Chunk, lines: LineTable) -> Iterator[LoopNest]:
    body = function.body or 0
    if lines.physical_line(lines.presumed_at(body)) is None:
        return
    name = _NAME.search(without_attributes(lines.text[function.start : body]))
    directive = OWN_DIRECTIVE.search(lines.text, body, function.end)
    found = [each for each in tokens(lines.text, body, function.end) if each.text[0] != "#"]
    position = 0
    while position < len(found):
        if found[position].text not in LOOPS:
            position += 1
            continue
        following = statement_end(found, position)
        first, last = (
            lines.physical_line(lines.presumed_at(found[each].start)) for each in (position, following - 1)
        )
        if first is not None and last is not None:
            depth, work = _measure(found[position:following])
            yield LoopNest(
                name[1] if name else "", first, last, depth, work, directive[1] if directive else ""
            )
        position = max(following, position + 1)


def work_and_trips(found: Sequence[Token]) -> tuple[float, int]:
    """How much the tokens ``found`` of a loop may do, and how often its body runs: that of a block once."""
    trips = _trips(found[: group_end(found, 1)]) if found[0].text in LOOPS else 1
    return _measure(found)[1], trips


def _measure(found: Sequence[Token]) -> tuple[int, float]:
    """How many loops of the tokens ``found`` are in each other, and how much they may do."""
    depth, work, position = 0, 0.0, 0
    while position < len(found):
        if found[position].text in LOOPS:
            following = max(statement_end(found, position), position + 1)
            inner, done = _measure(found[position + 1 : following])
            depth = max(depth, inner + 1)
            work += _trips(found[position + 1 : group_end(found, position + 1)]) * done
            position = following
        else:
            work += found[position].text in _OPERATORS
            position += 1
    return depth, work


def _trips(header: Sequence[Token]) -> int:
    """The number that a ``for`` with ``header`` compares its counter with, that of costs where it is none."""
    words = [each.text for each in header]
    for position, word in enumerate(words):
        is_bound = words[position - 1] == "<" or words[position - 2 : position] == ["<", "="]
        if word.isdigit() and is_bound and words[position + 1 : position + 2] == [";"]:
            return max(1, int(word))
    return NOMINAL_SIZE
