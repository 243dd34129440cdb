"""From the drafts of a walk to the finished model: one parameter space, names, relations of statements."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import last_line, location, walk
from polybuild.normalise.names import Variable
from polybuild.scop import order
from polybuild.scop.aliasing import check_fixed_values
from polybuild.scop.draft import RegionDraft
from polybuild.scop.model import Access, Array, FinalValue, Iterator, Parameter, Scop, Statement
from polybuild.scop.parameters import IslNames

_dim = isl.dim_type


def assemble(walked: RegionDraft) -> Scop:
    """The scop of a walk."""
    accesses = [each for draft in walked.drafts for each in draft.accesses]
    check_fixed_values(walked.names.iterators.values(), accesses)
    space = _space(walked)
    context = walked.assumptions.context.align_params(space)
    arrays = {array.name: _aligned(array, space) for array in _used_arrays(walked)}
    statements = [_finish(walked, index, arrays, space) for index in range(len(walked.drafts))]
    finals = [
        FinalValue(variable.name, c_ast.ID(variable.name), variable.type, value.align_params(space))
        for variable, value in walked.values.items()
        if variable not in walked.last_values
    ]
    finals += walked.last_values.finals(walked.values, space)
    return Scop(
        context=context,
        parameters=walked.parameters.all(),
        arrays=tuple(arrays.values()),
        statements=tuple(statements),
        schedule=order.build_schedule(walked.tree, [each.domain for each in statements]),
        assumptions=tuple(
            type(each)(each.condition.align_params(space), each.reason, each.location)
            for each in walked.assumptions.all()
        ),
        final_values=tuple(finals),
        location=walked.region.begin,
        remarks=walked.remarks,
        limits=tuple(walked.assumptions.limits),
    )


def _used_arrays(walked: RegionDraft) -> list[Array]:
    """The arrays that the statements mention; others were met in constructs that were read again."""
    touched = {each.array.name for draft in walked.drafts for each in draft.accesses}
    touched |= {array.name for draft in walked.drafts for _, array in _locals(walked, draft.body)}
    return [array for array in walked.arrays.all() if array.name in touched]


def _locals(walked: RegionDraft, body: c_ast.Node) -> list[tuple[c_ast.Node, Array]]:
    """The names in ``body`` that are variables of the region, declared outside of ``body``."""
    found = []
    for node in walk(body):
        variable = walked.names.variables.get(node) if isinstance(node, c_ast.ID) else None
        if variable is not None and variable.local:
            array = walked.arrays.find(variable)
            if array is not None:
                found.append((node, array))
    return found


def _space(walked: RegionDraft) -> isl.Space:
    """The parameter space of the scop, parameters in the order in which they were met."""
    names = [each.name for each in walked.parameters.all()]
    space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, len(names))
    for position, name in enumerate(names):
        space = space.set_dim_name(_dim.param, position, name)
    return space


def _finish(walked: RegionDraft, index: int, arrays: Mapping[str, Array], space: isl.Space) -> Statement:
    name, draft = f"S{index}", walked.drafts[index]
    counters = draft.point.counters
    dimensions = _dimension_names(counters, walked.parameters.all())

    def named(relation: isl.Map) -> isl.Map:
        relation = relation.align_params(space).set_tuple_name(_dim.in_, name)
        for position, dimension in enumerate(dimensions):
            relation = relation.set_dim_name(_dim.in_, position, dimension)
        return relation

    domain = draft.point.domain.coalesce().align_params(space).set_tuple_name(name)
    for position, dimension in enumerate(dimensions):
        domain = domain.set_dim_name(_dim.set, position, dimension)
    return Statement(
        name=name,
        domain=domain,
        iterators=tuple(
            Iterator(counter.name, counter.type, location(loop))
            for counter, loop in zip(counters, draft.loops, strict=True)
        ),
        body=draft.body,
        accesses=tuple(
            Access(
                arrays[each.array.name], named(each.relation), each.kind, each.node, each.exact, each.within
            )
            for each in draft.accesses
        ),
        locals=tuple((node, arrays[array.name]) for node, array in _locals(walked, draft.body)),
        location=location(draft.source),
        end_line=last_line(draft.source),
        dynamic=draft.dynamic,
    )


def _dimension_names(counters: Sequence[Variable], parameters: Iterable[Parameter]) -> list[str]:
    """Names for the dimensions of a domain: those of the counters, made unique."""
    names = IslNames()
    for parameter in parameters:
        names.unique(parameter.name)
    return [names.unique(counter.name) for counter in counters]


def _aligned(array: Array, space: isl.Space) -> Array:
    extents = tuple(None if each is None else each.align_params(space) for each in array.extents)
    return dataclasses.replace(array, extents=extents)
