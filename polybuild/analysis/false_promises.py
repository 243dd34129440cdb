"""Directives of OpenMP that let threads share a loop whose iterations depend on each other.

::

    double t;
    #pragma omp parallel for                        <- 't' is one variable for all threads
    for (int i = 0; i < n; i++) {
      t = a[i] * a[i];
      b[i] = t + b[i + 1];                          <- and so is b[i + 1], which another iteration writes
    }

Found are conflicts that are certain: two iterations that both run, at elements that accesses certainly touch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import product

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import location, walk
from polybuild.diagnostics import Location
from polybuild.patterns import pattern
from polybuild.poly.relations import sets_of, tuple_name
from polybuild.poly.trees import children, is_band, node_kind
from polybuild.scop.model import Access, AccessKind, Array, Scop
from polybuild.source.model import Region
from polybuild.values import dataclass

_SHARES = pattern(r"omp\b.*\bfor\b")
_IN_TURN = pattern(
    r"omp\s+(?:critical|atomic|ordered|flush|barrier|cancel\w*|task\w*|single|master|masked|sections?)\b"
)
_CLAUSE = pattern(r"\b(?:private|firstprivate|lastprivate|reduction|linear|copyin)\s*\((?P<named>[^()]*)\)")
_COLLAPSE = pattern(r"\bcollapse\s*\(\s*(?P<loops>\d+)\s*\)")
_NAME = pattern(r"[A-Za-z_]\w*")

_in, _out = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class WrittenDirective:
    """A directive of OpenMP: its ``text`` after ``#pragma``, and its first ``line``."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class FalsePromise:
    """``directive`` says that threads may share the loop at ``location``, which is not so.

    Iterations conflict at ``variable``: one changes it in line ``writes``, another accesses it in line
    ``accesses``. It ``is_scalar``, or they come to the same element. It has no name where a value is passed
    on that no variable of the program holds.
    """

    directive: str
    location: Location
    variable: str
    writes: int
    accesses: int
    is_scalar: bool


@dataclass(frozen=True, slots=True)
class _SharedLoop:
    """A loop that threads share, as ``directive`` says, the first of so many that are ``collapsed`` into one.

    Private are the variables that clauses have ``named``, and those of declarations ``inside`` the team.
    """

    directive: str
    loop: c_ast.For
    collapsed: int
    named: frozenset[str]
    inside: tuple[c_ast.Decl, ...]


def false_promises(
    directives: Sequence[WrittenDirective], region: Region, scop: Scop, flow: isl.UnionMap
) -> Iterator[FalsePromise]:
    """The conflicts of iterations that ``directives`` in ``region`` let threads share.

    They are the first for each loop and variable. ``flow`` has the pairs of instances of which the second
    uses what the first computed.
    """
    names = {each.name for each in walk(region.function) if isinstance(each, c_ast.Decl)}
    for shared in _shared_loops(directives, region.statements):
        counter = _shared_counter(shared)
        if counter is not None:
            yield counter
        told: set[str] = set() if counter is None else {counter.variable}
        for conflict in _conflicts(shared, scop, names, flow):
            if conflict.variable not in told:
                told.add(conflict.variable)
                yield conflict


def _shared_loops(
    directives: Sequence[WrittenDirective], statements: Sequence[c_ast.Node]
) -> Iterator[_SharedLoop]:
    """The loops that threads share, but for those in which directives say what is done in turn."""
    blocks = [
        each
        for statement in statements
        for each in walk(statement)
        if isinstance(each, c_ast.For | c_ast.Compound)
    ]
    found = [(each, block) for each in directives if (block := _next(blocks, each)) is not None]
    for directive, loop in found:
        if not (isinstance(loop, c_ast.For) and _SHARES.match(directive.text)):
            continue
        last = max(location(each).line for each in walk(loop))
        inside = [each for each in directives if location(loop).line <= each.line <= last]
        if any(_IN_TURN.match(each.text) for each in inside):
            continue
        around = [pair for pair in found if any(each is loop for each in walk(pair[1]))]
        clauses = [each["named"] for outer, _ in around for each in _CLAUSE.finditer(outer.text)]
        collapse = _COLLAPSE.search(directive.text)
        yield _SharedLoop(
            directive.text,
            loop,
            int(collapse["loops"]) if collapse is not None else 1,
            frozenset(name for clause in clauses for name in _NAME.findall(clause)),
            tuple(each for _, other in around for each in walk(other) if isinstance(each, c_ast.Decl)),
        )


def _next(blocks: Sequence[c_ast.Node], directive: WrittenDirective) -> c_ast.Node | None:
    """The first loop or block after ``directive``; of one for loops the first loop."""
    loops = _SHARES.match(directive.text) is not None
    after = [each for each in blocks if location(each).line > directive.line]
    after = [each for each in after if isinstance(each, c_ast.For)] if loops else after
    return min(after, key=lambda each: (location(each).line, location(each).column), default=None)


def _shared_counter(shared: _SharedLoop) -> FalsePromise | None:
    """A counter of a loop inside that all threads count with: those of shared loops alone are private."""
    loops = [each for each in walk(shared.loop) if isinstance(each, c_ast.For)]
    private = {_counter(each) for each in loops[: shared.collapsed]} | {each.name for each in shared.inside}
    private |= shared.named
    for each in loops[shared.collapsed :]:
        name, line = _counter(each), location(each).line
        if name is not None and name not in private:
            return FalsePromise(shared.directive, location(shared.loop), name, line, line, is_scalar=True)
    return None


def _counter(loop: c_ast.For) -> str | None:
    """The variable that the head of ``loop`` assigns its first value, if it declares none."""
    first = loop.init
    if isinstance(first, c_ast.Assignment) and isinstance(first.lvalue, c_ast.ID):
        return str(first.lvalue.name)
    return None


def _conflicts(
    shared: _SharedLoop, scop: Scop, names: Collection[str], flow: isl.UnionMap
) -> Iterator[FalsePromise]:
    """The pairs of accesses by which iterations of a loop conflict, those that write first.

    Variables that are not among ``names`` are none of the program's: iterations may pass values on in them.
    """
    where = location(shared.loop)
    inside = [
        (each, depth)
        for each in scop.statements
        for depth, iterator in enumerate(each.iterators)
        if iterator.location == where
    ]
    for (first, depth), (second, other) in product(inside, repeat=2):
        if depth != other or _loops_around(scop.schedule, {first.name, second.name}) <= depth:
            continue
        for write, access in product(first.accesses, second.accesses):
            if write.kind is AccessKind.READ or write.array.name != access.array.name:
                continue
            if _is_private(write.array, shared) or not (_is_certain(write) and _is_certain(access)):
                continue
            made = write.array.local and write.array.source_name not in names
            pairs = write.relation.apply_range(access.relation.reverse()).intersect_params(scop.context)
            if made:
                pairs = flow.intersect(isl.UnionMap.from_map(pairs)).extract_map(pairs.get_space())
            if _are_carried(pairs, depth, shared.collapsed):
                yield FalsePromise(
                    shared.directive,
                    where,
                    "" if made else write.array.source_name,
                    first.location.line,
                    second.location.line,
                    is_scalar=write.array.is_scalar,
                )


def _loops_around(schedule: isl.Schedule, names: set[str]) -> int:
    """How many loops of ``schedule`` run all statements called ``names``."""
    node: isl.ScheduleNode | None = schedule.get_root()
    found = 0
    while node is not None:
        found += node.band_n_member() if is_band(node) else 0
        below = (each for each in children(node) if names <= set(map(tuple_name, sets_of(_run_by(each)))))
        node = next(below, None)
    return found


def _run_by(node: isl.ScheduleNode) -> isl.UnionSet:
    """What runs at ``node``; of a filter it is what passes."""
    passes = node_kind(node) == isl.schedule_node_type.filter
    return node.filter_get_filter() if passes else node.get_domain()


def _is_private(array: Array, shared: _SharedLoop) -> bool:
    """Whether each thread has a private ``array``, or the program does not have it at all."""
    if array.copied or array.expanded or array.source_name in shared.named:
        return True
    if not array.local or array.declared is None:
        return array.local
    return location(array.declared) in map(location, shared.inside)


def _is_certain(access: Access) -> bool:
    return access.exact and access.certain and access.kind is not AccessKind.MAY_WRITE


def _are_carried(pairs: isl.Map, depth: int, collapsed: int) -> bool:
    """Whether the shared loops, which are ``depth`` loops inside, carry any ``pairs``."""
    for position in range(depth):
        pairs = pairs.equate(_in, position, _out, position)
    same = pairs
    for position in range(depth, min(depth + collapsed, pairs.dim(_in), pairs.dim(_out))):
        same = same.equate(_in, position, _out, position)
    return not pairs.subtract(same).is_empty()
