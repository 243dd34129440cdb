"""The names of one region's generated code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.inspectors import Inspector
from polybuild.c.syntax_tree import walk
from polybuild.codegen.c.accumulators import accumulator_names
from polybuild.codegen.c.buffers import NamedBuffer, named_buffers, with_constants
from polybuild.codegen.c.inspectors import Extrema, name_extrema
from polybuild.codegen.file.names import PREFIX, fresh, identifiers
from polybuild.poly.marks import Mark
from polybuild.scop.model import Access, Scop
from polybuild.source.model import Region
from polybuild.storage.buffers import Buffer
from polybuild.targets.model import Accumulator
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class RegionNames:
    """The names of a region's generated code, all different from those that the user's code means.

    ``used`` are the names in the user's code and in the statements it became, ``visible`` all that may mean
    something there, ``counters`` those that mean nothing but loop counters, and would hide nothing.
    ``parameters`` has the variable of each parameter, ``accumulators`` that of each accumulator's mark,
    ``extrema`` the two of each inspector.
    """

    used: frozenset[str]
    visible: frozenset[str]
    counters: frozenset[str]
    parameters: Mapping[str, str]
    extrema: Extrema
    buffers: tuple[NamedBuffer, ...]
    accumulators: Mapping[Mark, str]

    @property
    def taken(self) -> frozenset[str]:
        """What no generated counter may hide."""
        return (self.used.union(self.visible) - self.counters).union(
            self.parameters.values(), _names_of(self.buffers), self.accumulators.values()
        )

    @property
    def buffered(self) -> frozenset[str]:
        """The names of the arrays that buffers stand for."""
        return frozenset(each.buffer.array.name for each in self.buffers)

    def for_accesses(self, instances: Iterable[Sequence[tuple[Access, isl.AstExpr]]]) -> RegionNames:
        """The same, buffers being arrays where the accesses of ``instances`` ask for it."""
        return replace(self, buffers=with_constants(self.buffers, instances))


def name_region(
    scop: Scop,
    region: Region,
    buffers: Sequence[Buffer],
    accumulators: Sequence[Accumulator],
    inspectors: Sequence[Inspector],
) -> RegionNames:
    """Name the parameters of a region, and what its new order and its checks need."""
    bodies = (statement.body for statement in scop.statements)
    used = frozenset(identifiers([*region.statements, *bodies]))
    visible = region.visible.may_mean_something()
    parameters = _parameter_names(scop, used | visible)
    taken = used.union(visible, parameters.values())
    named = named_buffers(buffers, taken)
    return RegionNames(
        used,
        visible,
        _only_counters(scop) - visible,
        parameters,
        name_extrema(inspectors, taken),
        named,
        accumulator_names(accumulators, taken | _names_of(named)),
    )


def _names_of(buffers: Iterable[NamedBuffer]) -> frozenset[str]:
    """All names that the declarations of ``buffers`` may take."""
    return frozenset(name for each in buffers for name in (each.name, *each.variables))


def _only_counters(scop: Scop) -> frozenset[str]:
    """Names that mean nothing but loop counters in the region: generated loops may use them."""
    counters = {iterator.name for statement in scop.statements for iterator in statement.iterators}
    arrays = {name for array in scop.arrays for name in identifiers([array.expression])}
    parameters = {name for parameter in scop.parameters for name in identifiers([parameter.expression])}
    declared = {
        each.name
        for statement in scop.statements
        for each in walk(statement.body)
        if isinstance(each, c_ast.Decl)
    }
    return frozenset(counters - arrays - parameters - declared)


def _parameter_names(scop: Scop, used: frozenset[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for parameter in scop.parameters:
        names[parameter.name] = fresh(PREFIX + parameter.name, used.union(names.values()))
    return names
