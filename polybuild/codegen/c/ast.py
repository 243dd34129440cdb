"""From a schedule tree to isl's AST, with what each statement instance needs to be printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol

import islpy as isl

from polybuild.analysis.branch_free import branch_free
from polybuild.codegen.c.accumulators import AccumulatorScopes
from polybuild.codegen.c.buffers import NamedBuffer
from polybuild.codegen.c.callbacks import AstCallbacks, generate_ast
from polybuild.codegen.c.counters import computes_with, fitting_counters
from polybuild.codegen.c.dynamic import RestoredLoop, restored_loop
from polybuild.codegen.c.far_bounds import without_far_bounds
from polybuild.codegen.c.grafted_points import graft_points
from polybuild.codegen.c.loop_origins import LoopOrigin, loop_origin
from polybuild.codegen.c.nodes import called_by
from polybuild.codegen.c.vector_blocks import PackedElement, Packing, Tiles, VectorBlock
from polybuild.poly.marks import Mark
from polybuild.poly.memory import Itself
from polybuild.poly.relations import everywhere, only_piece
from polybuild.scop.flat_elements import element_of, subscripts_of
from polybuild.scop.model import Access, Scop, Statement
from polybuild.targets.model import Accumulator, Packed, RegisterTile
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Instance:
    """A statement at one place of the generated code.

    ``iterators`` gives the value of each original loop counter, ``accesses`` the
    new form of each access whose subscripts are affine, both over the counters
    of the generated loops. ``domain`` are the instances that run there, ``never`` the accesses
    of arrays in buffers that none of them makes: one side of a choice may be impossible there.
    ``fitting`` are the positions of the counters whose types may count loops over their values, where
    it matters. The conditions ``branch_free`` of its body need no branch. What is ``packed`` it reads from
    buffers of register tiles beside it.
    """

    statement: Statement
    iterators: tuple[isl.AstExpr, ...]
    accesses: tuple[tuple[Access, isl.AstExpr], ...]
    domain: isl.Set
    never: tuple[Access, ...] = ()
    fitting: frozenset[int] = frozenset()
    branch_free: frozenset[int] = frozenset()
    packed: tuple[PackedElement, ...] = ()

    def takes_from(self, packed: Packed) -> bool:
        """Whether it reads from the buffer ``packed``."""
        return any(each.packed is packed for each in self.packed)


@dataclass(frozen=True, slots=True)
class GeneratedAst:
    """An AST of ``schedule``; the annotation of each user node is the name of its entry in ``instances``.

    The annotation of each ``for`` node is the name of its entry in ``loops`` or ``dynamic``,
    ``accumulators`` annotates marks.
    """

    root: isl.AstNode
    schedule: isl.Schedule
    instances: dict[str, Instance]
    loops: dict[str, LoopOrigin]
    dynamic: dict[str, RestoredLoop]
    vectors: dict[str, VectorBlock | Packing]
    tiles: Tiles
    accumulators: AccumulatorScopes

    @property
    def everything(self) -> dict[str, Instance | VectorBlock | Packing]:
        """What stands at each user node."""
        return {**self.instances, **self.vectors}


class PrintedAst(Protocol):
    """What a printer of loops asks of an AST, whoever made it; as in GeneratedAst."""

    @property
    def root(self) -> isl.AstNode:
        """The node that all others are below."""
        ...

    @property
    def schedule(self) -> isl.Schedule:
        """The tree that it was made of."""
        ...

    @property
    def instances(self) -> Mapping[str, Instance]:
        """The statement instances, by the annotation of their node."""
        ...

    @property
    def loops(self) -> Mapping[str, LoopOrigin]:
        """Where loops come from, by the annotation of their node."""
        ...

    @property
    def dynamic(self) -> Mapping[str, RestoredLoop]:
        """The loops whose bounds are data, by the annotation of their node."""
        ...

    @property
    def vectors(self) -> Mapping[str, VectorBlock | Packing]:
        """What stands at the nodes of register tiles."""
        ...

    @property
    def tiles(self) -> Tiles:
        """The register tiles among the marks."""
        ...

    @property
    def everything(self) -> Mapping[str, Instance | VectorBlock | Packing]:
        """What stands at each user node."""
        ...


def build_ast(
    scop: Scop,
    schedule: isl.Schedule,
    buffers: Sequence[NamedBuffer] = (),
    registers: Sequence[RegisterTile] = (),
    accumulators: Sequence[Accumulator] = (),
) -> GeneratedAst:
    """Generate the AST that visits the instances of ``scop`` in the order of ``schedule``.

    What ``buffers`` stand for is accessed there; ``registers`` and ``accumulators`` are those among
    its marks.
    """
    builder = _AstBuilder(scop, buffers, registers, accumulators)
    context = without_far_bounds(scop.context, schedule)
    # what else looks at loops before their statements are reached wants to see these
    grouped = not accumulators and not any(each.dynamic for each in scop.statements)
    root = generate_ast(context, graft_points(schedule, scop.context), builder, grouped=grouped)
    return GeneratedAst(
        root,
        schedule,
        builder.instances,
        builder.loops,
        builder.dynamic,
        builder.vectors,
        builder.tiles,
        builder.accumulators,
    )


class _AstBuilder(AstCallbacks):
    """Annotates the nodes of an AST, and keeps what the annotations mean."""

    def __init__(
        self,
        scop: Scop,
        buffers: Sequence[NamedBuffer],
        registers: Sequence[RegisterTile],
        accumulators: Sequence[Accumulator],
    ) -> None:
        self._statements = {statement.name: statement for statement in scop.statements}
        self._buffers = {each.buffer.array.name: each for each in buffers}
        computing = any(map(computes_with, scop.statements))
        self._fitting = {
            each.name: fitting_counters(each, scop.parameters) for each in scop.statements if computing
        }
        self._branch_free = branch_free(Itself(scop))
        self._within: list[RegisterTile] = []  # the register tiles whose marks are around
        self._packed: list[Mark] = []  # those of buffers, and partial tiles, that are around
        self.instances: dict[str, Instance] = {}
        self.loops: dict[str, LoopOrigin] = {}
        self.dynamic: dict[str, RestoredLoop] = {}
        self.vectors: dict[str, VectorBlock | Packing] = {}
        self.tiles = Tiles(registers, self._buffers)
        self.accumulators = AccumulatorScopes(accumulators)

    def at_domain(self, node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        """Find what stands at a statement instance."""
        called = called_by(node)
        vector = self.tiles.at(called, self._within, build)
        if vector is None and called not in self._statements:
            name = called  # what ranks exchange is printed by who knows of it
        elif vector is None:
            name = f"instance{len(self.instances)}"
            statement = self._statements[called]
            self.instances[name] = replace(
                instance_at(statement, build, self._buffers),
                fitting=self._fitting.get(called, frozenset()),
                branch_free=self._branch_free,
                packed=self.tiles.shared(statement, self._packed, build),
            )
        else:
            name = f"vector{len(self.vectors)}"
            self.vectors[name] = vector
        return node.set_annotation(isl.Id(name))

    def before_for(self, build: isl.AstBuild) -> isl.Id:
        """The name of where a loop comes from, or of the loop with dynamic bounds that it is."""
        restored = restored_loop(build, self._statements)
        if restored is None:
            name = f"loop{len(self.loops)}"
            self.loops[name] = loop_origin(self.schedule_of(build), self._statements)
            return isl.Id(name)
        self.dynamic[name := f"dynamic{len(self.dynamic)}"] = restored
        return isl.Id(name)

    def before_mark(self, mark: isl.Id, build: isl.AstBuild) -> None:
        """Go below a mark, which register tiles and accumulators may begin at."""
        self._within.extend(self.tiles.entered(Mark.of_id(mark)))
        self._packed.extend({Mark.of_id(mark)} & (self.tiles.buffers.keys() | self.tiles.partial.keys()))
        self.accumulators.enter(Mark.of_id(mark), build)

    def after_mark(self, node: isl.AstNode, _build: isl.AstBuild) -> isl.AstNode:
        """Come back from below a mark."""
        mark = Mark.of_id(node.mark_get_id())
        del self._within[len(self._within) - len(self.tiles.entered(mark)) :]
        if self._packed and self._packed[-1] == mark:
            self._packed.pop()
        return self.accumulators.leave(node)


_NOTHING: Mapping[str, NamedBuffer] = MappingProxyType({})


def instance_at(
    statement: Statement, build: isl.AstBuild, buffers: Mapping[str, NamedBuffer] = _NOTHING
) -> Instance:
    """The statement's counters and accesses in terms of the loops that ``build`` has made so far.

    Accesses of the arrays, by name, that ``buffers`` stand for go there.
    """
    schedule = isl.Map.from_union_map(build.get_schedule())
    to_instance = isl.PwMultiAff.from_map(schedule.reverse())
    here = schedule.domain()
    # what it is in one piece is asked for where it is defined: isl would compare conditions that say so
    moved = only_piece(to_instance)
    counters = isl.MultiPwAff.from_pw_multi_aff(everywhere(to_instance))
    iterators = tuple(build.expr_from_pw_aff(counters.get_at(dim)) for dim in range(len(statement.iterators)))

    subscripts: dict[isl.PwAff, isl.AstExpr] = {}  # neighbours have most of theirs in common

    def chosen_element(access: Access) -> isl.AstExpr:
        """Where an access is whose subscripts are choices, each by itself."""
        values = subscripts_of(access)
        indices = isl.AstExprList.alloc(here.get_ctx(), len(values))
        for value in values:
            if value not in subscripts:
                at = (
                    value.pullback_pw_multi_aff(to_instance)
                    if moved is None
                    else value.pullback_multi_aff(moved)
                )
                subscripts[value] = build.expr_from_pw_aff(at)
            indices = indices.add(subscripts[value])
        return isl.AstExpr.from_id(access.relation.get_tuple_id(isl.dim_type.out)).access(indices)

    def place(access: Access) -> tuple[Access, isl.AstExpr]:
        buffer = buffers.get(access.array.name)
        if buffer is None:
            element = element_of(access)
            affine = only_piece(element)
            if affine is not None and moved is not None:
                at = isl.PwMultiAff.from_multi_aff(affine.pullback_multi_aff(moved))
                return access, build.access_from_pw_multi_aff(at)
            if affine is None:
                return access, chosen_element(access)
        else:
            access, element = replace(access, array=buffer.array), buffer.element(access.relation)
        at = element.pullback_pw_multi_aff(to_instance)
        if buffer is not None and at.domain().is_empty():
            # what was never written is not kept anywhere; no program runs this
            at = isl.PwMultiAff.from_multi_aff(isl.MultiAff.zero(at.get_space()))
        return access, build.access_from_pw_multi_aff(at)

    single = [each for each in statement.accesses if each.exact and each.relation.is_single_valued()]
    made: list[Access] = []
    never: list[Access] = []
    for access in single:
        (made if is_made(access, statement, here) else never).append(access)
    missing = tuple(each for each in never if each.array.name in buffers)
    return Instance(statement, iterators, tuple(map(place, made)), here, missing)


def is_made(access: Access, statement: Statement, here: isl.Set) -> bool:
    """Whether an instance ``here`` of ``statement`` makes ``access``: on a side of a choice none may."""
    where = access.relation.domain()
    return bool(where.plain_is_equal(statement.domain)) or not where.is_disjoint(here)
