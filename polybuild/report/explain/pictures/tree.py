"""The schedule tree of a region: what is done in which order, from the root down."""

from __future__ import annotations

import islpy as isl

from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import natural_key, sets_of
from polybuild.poly.trees import children, mark_of, node_kind
from polybuild.report.explain.pictures.expressions import text_of
from polybuild.report.explain.pictures.svg import Drawing, code_width
from polybuild.scop.model import Scop, Statement
from polybuild.values import dataclass

_Kind = isl.schedule_node_type

_INDENT = 26.0
_ROW = 17.0
_PAD = 8.0
_GAP = 12.0
_MAXIMUM_NODES = 120
_MAXIMUM_STATEMENTS = 6


@dataclass(frozen=True, slots=True)
class _TreeLine:
    """A node as drawn: ``depth`` nodes of the picture stand above it; a heading and lines of code."""

    depth: int
    heading: str
    lines: tuple[str, ...]

    @property
    def height(self) -> float:
        return _ROW * (1 + len(self.lines)) + _PAD

    @property
    def width(self) -> float:
        longest = max(map(code_width, self.lines), default=0.0)
        return max(longest, 6.9 * len(self.heading)) + 2 * _PAD


def schedule_tree(scop: Scop, schedule: isl.Schedule) -> str:
    """An SVG picture of ``schedule``: bands with their members, sequences, and what marks say of a loop."""
    nodes = list(_nodes(_ScheduleReader(scop), schedule.get_root()))
    dropped = max(0, len(nodes) - _MAXIMUM_NODES)
    nodes = nodes[:_MAXIMUM_NODES]
    if dropped:
        nodes.append(_TreeLine(0, f"and {dropped} nodes more", ()))
    width = max(each.depth * _INDENT + each.width for each in nodes) + 2 * _GAP
    height = sum(each.height + _GAP for each in nodes) + _GAP
    picture = Drawing(width, height, "schedule tree")
    above: dict[int, float] = {}  # the lower end of the last node of each depth
    top = _GAP
    for each in nodes:
        left = _GAP + each.depth * _INDENT
        if each.depth and each.depth - 1 in above:
            trunk, middle = left - _INDENT / 2, top + each.height / 2
            picture.line((trunk, above[each.depth - 1]), (trunk, middle), "axis")
            picture.line((trunk, middle), (left, middle), "axis")
        picture.box((left, top), (each.width, each.height), "box", 5)
        picture.text((left + _PAD, top + _ROW - 2), each.heading)
        for row, line in enumerate(each.lines):
            picture.text((left + _PAD, top + _ROW * (row + 2) - 3), line, "code")
        above[each.depth] = top + each.height
        top += each.height + _GAP
    return picture.svg()


_COPIES = "copies into a packed buffer"


class _ScheduleReader:
    """Puts nodes into words."""

    def __init__(self, scop: Scop) -> None:
        self._statements = {each.name: each for each in scop.statements}

    def instances(self, domain: isl.UnionSet) -> str:
        """The statements of a set of instances, by their lines."""
        names = [each.get_tuple_name() for each in sets_of(domain) if not each.is_empty()]
        found = [self._statements[each] for each in names if each in self._statements]
        if names and not found:
            return _COPIES
        lines = sorted({each.location.line for each in found})
        shown = ", ".join(map(str, lines[:_MAXIMUM_STATEMENTS]))
        more = ", ..." if len(lines) > _MAXIMUM_STATEMENTS else ""
        return f"line{'s' if len(lines) > 1 else ''} {shown}{more}"

    def member(self, value: isl.UnionPwAff) -> str:
        """One member of a band: its part of the time stamp, once for all statements if they agree."""
        pieces: list[isl.PwAff] = []
        value.foreach_pw_aff(pieces.append)
        texts: dict[str, list[Statement]] = {}
        for each in sorted(pieces, key=lambda one: natural_key(_name(one))):
            if _name(each) not in self._statements:
                continue
            statement = self._statements[_name(each)]
            text = text_of(each, [iterator.name for iterator in statement.iterators])
            texts.setdefault(text, []).append(statement)
        if not texts:
            return "over its elements"
        if len(texts) == 1:
            return next(iter(texts))
        parts = [
            f"{text} (line {', '.join(str(each.location.line) for each in found[:_MAXIMUM_STATEMENTS])})"
            for text, found in texts.items()
        ]
        return ";  ".join(parts[:_MAXIMUM_STATEMENTS])


def _nodes(
    reader: _ScheduleReader, node: isl.ScheduleNode, depth: int = 0, said: str = ""
) -> list[_TreeLine]:
    """``node`` and everything below it; ``said`` is what the mark above it says."""
    kind = node_kind(node)
    below = children(node)
    if kind == _Kind.domain:
        own = _TreeLine(depth, f"instances of {reader.instances(node.domain_get_domain())}", ())
    elif (mark := mark_of(node)) is not None:
        word = _MARKS.get(mark.kind, "")
        return [each for child in below for each in _nodes(reader, child, depth, word or said)]
    elif kind == _Kind.band and node.band_n_member():
        own = _TreeLine(depth, _band(node, said), _members(reader, node))
    elif kind in {_Kind.sequence, _Kind.set}:
        own = _TreeLine(depth, "in this order" if kind == _Kind.sequence else "in any order", ())
    elif kind == _Kind.filter:
        own = _TreeLine(depth, reader.instances(node.filter_get_filter()), ())
    else:
        return [each for child in below for each in _nodes(reader, child, depth, said)]
    return [own, *(each for child in below for each in _nodes(reader, child, depth + 1))]


_MARKS = {MarkKind.PARALLEL: "run by threads", MarkKind.SIMD: "run by the vector unit"}


def _band(node: isl.ScheduleNode, said: str) -> str:
    count = node.band_n_member()
    what = f"band of {count} loops" if count > 1 else "loop"
    if count > 1 and node.band_get_permutable():
        what += ", permutable"
    return f"{what}; the first is {said}" if said and count > 1 else f"{what}, {said}" if said else what


def _members(reader: _ScheduleReader, node: isl.ScheduleNode) -> tuple[str, ...]:
    partial = node.band_get_partial_schedule()
    lines = []
    for position in range(node.band_n_member()):
        free = ";  carries nothing" if node.band_member_get_coincident(position) else ""
        lines.append(reader.member(partial.get_union_pw_aff(position)) + free)
    return tuple(lines)


def _name(value: isl.PwAff) -> str:
    return str(value.get_domain_space().get_tuple_name(isl.dim_type.set))
