"""Buffers that stand for temporary arrays, in C."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.c.types import FloatingType, IntegerType
from polybuild.codegen.c.nodes import called_by, is_loop, kind_of, nodes_below, parts, users_below
from polybuild.codegen.file.names import fresh_stem
from polybuild.poly.marks import Mark
from polybuild.poly.relations import maps_of
from polybuild.schedule.legality import IllegalSchedule
from polybuild.scop.model import Access, AccessKind, Array
from polybuild.storage.buffers import Buffer
from polybuild.targets.model import Packed, RegisterTile
from polybuild.values import dataclass

_in = isl.dim_type.in_


@dataclass(frozen=True, slots=True)
class VariableUse:
    """Whether a variable is read at all, and whether a statement that always runs sets it first."""

    read: bool
    set_first: bool


@dataclass(frozen=True, slots=True)
class NamedBuffer:
    """A buffer with the name it has in the generated code."""

    buffer: Buffer
    name: str

    @property
    def array(self) -> Array:
        """The buffer as an array: a variable of the region."""
        extents = (None,) * len(self.buffer.extents)
        suffixes = ("",) * len(extents)
        return replace(
            self.buffer.array, name=self.name, local=True, extents=extents, suffixes=suffixes, flat=1
        )

    @property
    def variables(self) -> list[str]:
        """The names that are declared for it: with subscripts, or one for each of its elements."""
        extents = self.buffer.extents
        if not self.buffer.scalars:
            return [self.name + "".join(f"[{each}]" for each in extents)]
        return [
            self.variable([str(each) for each in cell])
            for cell in itertools.product(*(range(each) for each in extents))
        ]

    def variable(self, subscripts: Sequence[str]) -> str:
        """The variable that stands for an element."""
        return "_".join([self.name, *subscripts])

    def declaration(self, used: Mapping[str, VariableUse]) -> list[str]:
        """Its declaration.

        Of variables for elements those are declared that are ``used``. Every value that is read was
        written, but a compiler cannot see that behind a condition.
        """
        element = self.buffer.array.element
        assert isinstance(element, IntegerType | FloatingType)  # noqa: S101 - arrays of others are no temporaries
        if not self.buffer.scalars:
            idle = not self.buffer.extents and self.buffer.flow.is_empty()
            return [f"{element.name} {self.variables[0]};", *[f"(void)sizeof {self.name};"] * idle]
        chosen = [each for each in self.variables if each in used]
        starts = (each if used[each].set_first else f"{each} = 0" for each in chosen)
        unread = [f"(void)sizeof {each};" for each in chosen if not used[each].read]
        return [f"register {element.name} {', '.join(starts)};", *unread] if chosen else []

    def element(self, access: isl.Map) -> isl.PwMultiAff:
        """Where the cell of each instance of a statement is kept, given its ``access`` of the array."""
        prefix = self._prefix(access.get_tuple_name(_in))
        return self._kept(prefix, isl.PwMultiAff.from_map(access))

    def moved(self, tile: RegisterTile) -> isl.PwMultiAff:
        """Where the first cell that each load of a register tile takes is kept."""
        prefix = tile.transfer.needs.reverse().apply_range(self._prefix(tile.update.name))
        return self._kept(prefix, tile.transfer.element)

    def packed(self, operand: Packed, cell: isl.PwMultiAff) -> isl.PwMultiAff:
        """Where the ``cell`` that each copy of an operand of a register tile reads is kept."""
        prefix = operand.needs.reverse().apply_range(self._prefix(operand.update.name))
        return self._kept(prefix, cell)

    def _prefix(self, statement: str) -> isl.Map:
        (found,) = (each for each in maps_of(self.buffer.prefix) if each.get_tuple_name(_in) == statement)
        return found

    def _kept(self, prefix: isl.Map, cell: isl.PwMultiAff) -> isl.PwMultiAff:
        here = isl.PwMultiAff.from_map(prefix).range_product(cell)
        return isl.PwMultiAff.from_multi_aff(self.buffer.layout).pullback_pw_multi_aff(here)


def named_buffers(buffers: Sequence[Buffer], taken: Collection[str]) -> tuple[NamedBuffer, ...]:
    """``buffers`` with names that are not ``taken``."""
    named: list[NamedBuffer] = []
    for each in buffers:
        used = {*taken, *(other.name for other in named)}
        named.append(NamedBuffer(each, fresh_stem(f"{each.array.name}_buffer", used)))
    return tuple(named)


# among so many variables one may be chosen when the program runs
_CHOICES = 4


def with_constants(
    buffers: Sequence[NamedBuffer], instances: Iterable[Sequence[tuple[Access, isl.AstExpr]]]
) -> tuple[NamedBuffer, ...]:
    """``buffers``, as arrays where the accesses of ``instances`` do not say which variable they mean.

    Of a few variables one may be read by subscripts that are no numbers, as behind a loop.
    """
    constant = {each.name: each.buffer.scalars for each in buffers}
    few = {each.name for each in buffers if len(each.buffer.extents) == 1 and each.buffer.cells <= _CHOICES}
    for accesses in instances:
        for access, element in accesses:
            chosen = access.array.name in few and access.kind is AccessKind.READ
            if access.array.name in constant and not chosen and not _has_numbers(element):
                constant[access.array.name] = False
    return tuple(replace(each, buffer=replace(each.buffer, scalars=constant[each.name])) for each in buffers)


def _has_numbers(element: isl.AstExpr) -> bool:
    """Whether all subscripts of an access are numbers."""
    subscripts = [element.op_get_arg(index) for index in range(1, element.op_get_n_arg())]
    return all(isl.ast_expr_type(each.get_type()) == isl.ast_expr_type.int for each in subscripts)


@dataclass(frozen=True, slots=True)
class Scopes:
    """Where buffers are declared in an AST: at its root, and at the start of loops' bodies.

    isl may write what is below a buffer's mark in several pieces, each with a mark of its own:
    where a loop around has a single iteration, or was split. The pieces in one iteration
    of the loops share what is declared there. Pieces that do not use the buffer need none: they have other
    ``statements`` of the region alone, not what register tiles make of them.
    """

    buffers: Mapping[Mark, NamedBuffer]
    statements: frozenset[str] = frozenset()

    def declared_in(self, body: isl.AstNode) -> list[NamedBuffer]:
        """The buffers that ``body``, the root or a loop's body, declares."""
        if not self.buffers:
            return []
        found = dict.fromkeys(
            Mark.of_id(node.mark_get_id()) for node in _marks_in(body) if self._is_used(node)
        )
        return [self.buffers[mark] for mark in found]

    def _is_used(self, node: isl.AstNode) -> bool:
        """Whether ``node`` is the mark of a buffer that something below it uses."""
        mark = Mark.of_id(node.mark_get_id())
        if mark not in self.buffers:
            return False
        users = {each.get_tuple_name(_in) for each in maps_of(self.buffers[mark].buffer.prefix)}
        below = (called_by(each) for each in users_below(node))
        return any(name in users or name not in self.statements for name in below)

    def variables(self, array: str, element: isl.AstExpr) -> dict[str, str] | None:
        """The variables that may stand for ``element`` of a buffer, each with the subscript it is for.

        None if ``array`` is kept in no variables.
        """
        for each in self.buffers.values():
            if each.name == array and each.buffer.scalars:
                subscripts = [element.op_get_arg(index) for index in range(1, element.op_get_n_arg())]
                if _has_numbers(element):
                    return {each.variable([str(cell.int_get_val().to_python()) for cell in subscripts]): ""}
                return {each.variable([str(cell)]): str(cell) for cell in range(each.buffer.cells)}
        return None

    def check(self, root: isl.AstNode, domains: Mapping[str, isl.Set]) -> None:
        """Raise IllegalSchedule if a value would have to go from one declaration of its buffer to another.

        ``domains`` are the instances at each user node, by its annotation. Iterations of the loops
        around a declaration share no value, as these loops are above the buffer's mark.
        """
        pieces: dict[Mark, list[isl.UnionSet]] = {mark: [] for mark in self.buffers}
        for body in _bodies(root):
            for mark in (each.buffer.mark for each in self.declared_in(body)):
                pieces[mark].append(_instances_below(body, mark, domains))
        for mark, found in pieces.items():
            uses = self.buffers[mark].buffer.flow
            for first, second in itertools.permutations(found, 2):
                if not uses.intersect_domain(first).intersect_range(second).is_empty():
                    array = self.buffers[mark].buffer.array.name
                    raise IllegalSchedule(f"the buffer of '{array}' has no one place")


class BuffersInScope:
    """The buffers of ``scopes`` that are declared around the code at hand, and how it uses their variables.

    ``conditional`` counts the loops and conditions around that code.
    """

    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes
        self.conditional = 0
        self._declared: list[tuple[int, dict[str, dict[str, VariableUse]]]] = []

    def enter(self, buffers: Sequence[NamedBuffer]) -> None:
        """Begin the block that declares ``buffers``."""
        self._declared.append((self.conditional, {each.name: {} for each in buffers}))

    def leave(self, buffers: Sequence[NamedBuffer]) -> list[str]:
        """End the block that declares ``buffers``; returns their declarations."""
        _, used = self._declared.pop()
        return [line for each in buffers for line in each.declaration(used[each.name])]

    def use(self, buffer: str, variables: Iterable[str], *, read: bool, sets: bool) -> None:
        """Note a use of ``variables`` of ``buffer``; ``sets`` says that the statement sets one first."""
        depth, found = next(each for each in reversed(self._declared) if buffer in each[1])
        used = found[buffer]
        for each in variables:
            first = VariableUse(read=False, set_first=sets and depth == self.conditional)
            before = used.get(each, first)
            used[each] = replace(before, read=before.read or read)


def _instances_below(body: isl.AstNode, mark: Mark, domains: Mapping[str, isl.Set]) -> isl.UnionSet:
    """The instances below the nodes of ``mark`` in the root or a loop's body."""
    found = isl.UnionSet.empty(isl.Space.params_alloc(body.get_ctx(), 0))
    for node in _marks_in(body):
        if Mark.of_id(node.mark_get_id()) == mark:
            for user in users_below(node):
                found = found.union(isl.UnionSet.from_set(domains[user.get_annotation().get_name()]))
    return found.coalesce()


def _bodies(node: isl.AstNode) -> Iterator[isl.AstNode]:
    """``node`` and the bodies of the loops in it."""
    yield node
    yield from (each.for_get_body() for each in nodes_below(node) if is_loop(each))


def _marks_in(node: isl.AstNode) -> Iterator[isl.AstNode]:
    """The marks that are run once each time ``node`` is: all but those in loops below."""
    pending = [node]
    while pending:
        each = pending.pop()
        if kind_of(each) == isl.ast_node_type.mark:
            yield each
        if not is_loop(each):
            pending += reversed(parts(each))
