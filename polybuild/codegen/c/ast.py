"""From a schedule tree to isl's AST, with what each statement instance needs to be printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Protocol

import islpy as isl

from polybuild.codegen.c.accumulators import AccumulatorPlaces
from polybuild.codegen.c.buffers import NamedBuffer
from polybuild.codegen.c.callbacks import Failures
from polybuild.codegen.c.dynamic import RestoredLoop, restored_loop
from polybuild.codegen.c.vectors import Lanes, Move, Packing, Tiles
from polybuild.poly.marks import Mark
from polybuild.poly.relations import depends_on, maps_of
from polybuild.scop.model import Access, Scop, Statement
from polybuild.targets.model import Accumulator, RegisterTile


@dataclass(frozen=True, slots=True)
class Instance:
    """A statement at one place of the generated code.

    ``iterators`` gives the value of each original loop counter, ``accesses`` the
    new form of each access whose subscripts are affine, both over the counters
    of the generated loops. ``domain`` are the instances that run there, ``never`` the accesses
    of arrays in buffers that none of them makes: one side of a choice may be impossible there.
    """

    statement: Statement
    iterators: tuple[isl.AstExpr, ...]
    accesses: tuple[tuple[Access, isl.AstExpr], ...]
    domain: isl.Set
    never: tuple[Access, ...] = ()


@dataclass(frozen=True, slots=True)
class GeneratedAst:
    """An AST; the annotation of each user node is the name of its entry in ``instances``.

    The annotation of each ``for`` node is a name for its counter, or that of its entry
    in ``dynamic``, ``accumulators`` annotates marks.
    """

    root: isl.AstNode
    instances: dict[str, Instance]
    dynamic: dict[str, RestoredLoop]
    vectors: dict[str, Lanes | Move | Packing]
    tiles: Tiles
    accumulators: AccumulatorPlaces

    @property
    def everything(self) -> dict[str, Instance | Lanes | Move | Packing]:
        """What stands at each user node."""
        return {**self.instances, **self.vectors}


class PrintedAst(Protocol):
    """What a printer of loops asks of an AST, whoever made it; as in GeneratedAst."""

    @property
    def root(self) -> isl.AstNode:
        """The node that all others are below."""
        ...

    @property
    def instances(self) -> Mapping[str, Instance]:
        """The statement instances, by the annotation of their node."""
        ...

    @property
    def dynamic(self) -> Mapping[str, RestoredLoop]:
        """The loops whose bounds are data, by the annotation of their node."""
        ...

    @property
    def vectors(self) -> Mapping[str, Lanes | Move | Packing]:
        """What stands at the nodes of register tiles."""
        ...

    @property
    def tiles(self) -> Tiles:
        """The register tiles among the marks."""
        ...

    @property
    def everything(self) -> Mapping[str, Instance | Lanes | Move | Packing]:
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
    statements = {statement.name: statement for statement in scop.statements}
    held = {each.buffer.array.name: each for each in buffers}
    instances: dict[str, Instance] = {}
    dynamic: dict[str, RestoredLoop] = {}
    vectors: dict[str, Lanes | Move | Packing] = {}
    tiles = Tiles(registers)
    within: list[RegisterTile] = []
    places = AccumulatorPlaces(accumulators)
    failures = Failures()
    unnamed = isl.Id("c")

    def at_domain(node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        with failures:
            called = node.user_get_expr().op_get_arg(0).id_get_id().get_name()
            vector = tiles.at(called, within, build)
            if vector is None:
                name = f"instance{len(instances)}"
                instances[name] = instance_at(statements[called], build, held)
            else:
                name = f"vector{len(vectors)}"
                vectors[name] = vector
            return node.set_annotation(isl.Id(name))
        return node

    def before_for(build: isl.AstBuild) -> isl.Id:
        with failures:
            restored = restored_loop(build, statements)
            if restored is None:
                return isl.Id(_counter_name(build, statements))
            dynamic[name := f"dynamic{len(dynamic)}"] = restored
            return isl.Id(name)
        return unnamed

    def before_mark(mark: isl.Id, build: isl.AstBuild) -> None:
        with failures:
            within.extend(tiles.entered(Mark.of_id(mark)))
            places.enter(Mark.of_id(mark), build)

    def after_mark(node: isl.AstNode, _build: isl.AstBuild) -> isl.AstNode:
        with failures:
            del within[len(within) - len(tiles.entered(Mark.of_id(node.mark_get_id()))) :]
            return places.leave(node)
        return node

    build = isl.AstBuild.from_context(scop.context)
    build, at_handle = build.set_at_each_domain(at_domain)
    build, for_handle = build.set_before_each_for(before_for)
    build, before_handle = build.set_before_each_mark(before_mark)
    build, after_handle = build.set_after_each_mark(after_mark)
    with failures:
        root = build.node_from_schedule(schedule)
    # isl keeps no reference to the callbacks: they had to live until here
    del at_handle, for_handle, before_handle, after_handle
    failures.check()
    return GeneratedAst(root, instances, dynamic, vectors, tiles, places)


_NOTHING: Mapping[str, NamedBuffer] = MappingProxyType({})


def instance_at(
    statement: Statement, build: isl.AstBuild, held: Mapping[str, NamedBuffer] = _NOTHING
) -> Instance:
    """The statement's counters and accesses in terms of the loops that ``build`` has made so far.

    Accesses of arrays that are ``held`` in buffers go there.
    """
    schedule = isl.Map.from_union_map(build.get_schedule())
    to_instance = isl.PwMultiAff.from_map(schedule.reverse())
    space = statement.domain.get_space()
    iterators = tuple(
        build.expr_from_pw_aff(
            isl.PwAff.var_on_domain(
                isl.LocalSpace.from_space(space), isl.dim_type.set, dim
            ).pullback_pw_multi_aff(to_instance)
        )
        for dim in range(len(statement.iterators))
    )
    here = schedule.domain()

    def place(access: Access) -> tuple[Access, isl.AstExpr]:
        buffer = held.get(access.array.name)
        if buffer is None:
            element = isl.PwMultiAff.from_map(access.relation)
        else:
            access, element = replace(access, array=buffer.array), buffer.element(access.relation)
        at = element.pullback_pw_multi_aff(to_instance)
        if buffer is not None and at.domain().is_empty():
            # what was never written is not kept anywhere; no program runs this
            at = isl.PwMultiAff.from_multi_aff(isl.MultiAff.zero(at.get_space()))
        return access, build.access_from_pw_multi_aff(at)

    affine = [each for each in statement.accesses if each.exact and each.relation.is_single_valued()]
    made: list[Access] = []
    never: list[Access] = []
    for access in affine:
        (never if access.relation.domain().is_disjoint(here) else made).append(access)
    missing = tuple(each for each in never if each.array.name in held)
    return Instance(statement, iterators, tuple(map(place, made)), here, missing)


def _counter_name(build: isl.AstBuild, statements: dict[str, Statement]) -> str:
    """The original name of the counter that the loop being built steps through, else ``c``.

    A loop over tiles of ``i`` is called ``i_tile``.
    """
    names: set[str] = set()
    for each in maps_of(build.get_schedule()):
        depth = each.dim(isl.dim_type.out)
        statement = statements.get(each.get_tuple_name(isl.dim_type.in_))
        if statement is None:  # a copy statement
            continue
        outer = each.project_out(isl.dim_type.out, 0, depth - 1)
        used = [position for position in range(each.dim(isl.dim_type.in_)) if depends_on(outer, position)]
        if len(used) != 1:
            return "c"
        exact = outer.is_injective() if len(statement.iterators) == 1 else _is_exact(outer, used[0])
        names.add(statement.iterators[used[0]].name + ("" if exact else "_tile"))
    return names.pop() if len(names) == 1 else "c"


def _is_exact(schedule: isl.Map, position: int) -> bool:
    count = schedule.dim(isl.dim_type.in_)
    lone = schedule.project_out(isl.dim_type.in_, position + 1, count - position - 1)
    return bool(lone.project_out(isl.dim_type.in_, 0, position).is_injective())
