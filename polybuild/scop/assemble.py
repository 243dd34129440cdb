"""From the draft of a region to the finished model: one parameter space, names, relations of statements."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import last_line, location, walk
from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.normalise.names import Variable
from polybuild.scop import order
from polybuild.scop.aliasing import check_counters
from polybuild.scop.draft import RegionDraft
from polybuild.scop.model import Access, Array, ExitTests, FinalValue, Iterator, Parameter, Scop, Statement
from polybuild.scop.parameters import IslNames
from polybuild.scop.signs import with_signs_outside
from polybuild.source.model import Region

_dim = isl.dim_type


def assemble(draft: RegionDraft) -> Scop:
    """The scop of a region whose draft is complete."""
    accesses = [each for statement in draft.statements for each in statement.accesses]
    check_counters(draft.names.iterators.values(), accesses)
    space = _space(draft)
    context = draft.assumptions.context.align_params(space)
    arrays = {array.name: _aligned(array, space) for array in _used_arrays(draft)}
    everything = [_finish(draft, index, arrays, space) for index in range(len(draft.statements))]
    tests = tuple(each for each, own in zip(everything, draft.statements, strict=True) if own.is_exit_test)
    statements = [each for each in everything if each not in tests]
    finals = [
        FinalValue(variable.name, c_ast.ID(variable.name), variable.type, value.align_params(space))
        for variable, value in draft.values.items()
        if variable not in draft.last_values
    ]
    finals += draft.last_values.finals(draft.values, space)
    schedule = order.build_schedule(draft.tree, [each.domain for each in everything])
    exits = ExitTests(tests, schedule) if tests else None
    if exits is not None:
        schedule = schedule.intersect_domain(_domain(statements))
    return Scop(
        context=context,
        parameters=draft.parameters.all(),
        arrays=tuple(arrays.values()),
        statements=tuple(statements),
        schedule=schedule,
        assumptions=tuple(
            type(each)(each.condition.align_params(space), each.reason, each.location)
            for each in draft.assumptions.all()
        ),
        final_values=tuple(finals),
        location=draft.region.begin,
        remarks=draft.remarks,
        limits=tuple(draft.assumptions.limits),
        exits=exits,
        type_names=_type_names(draft.region, everything),
    )


def _type_names(region: Region, statements: Sequence[Statement]) -> dict[str, Type]:
    """The arithmetic types that names in ``statements`` stand for, where ``region`` gives no type a name."""
    if any(isinstance(each, c_ast.Typedef) for body in region.statements for each in walk(body)):
        return {}
    names = {
        each.names[0]
        for statement in statements
        for each in walk(statement.body)
        if isinstance(each, c_ast.IdentifierType) and len(each.names) == 1
    }
    known = {name: region.visible.scope.typedefs.get(name) for name in sorted(names)}
    return {
        name: each.type
        for name, each in known.items()
        if each is not None and isinstance(each.type, IntegerType | FloatingType) and not each.volatile
    }


def _domain(statements: Sequence[Statement]) -> isl.UnionSet:
    """All instances of ``statements``."""
    domain = isl.UnionSet.from_set(statements[0].domain)
    for each in statements[1:]:
        domain = domain.union(isl.UnionSet.from_set(each.domain))
    return domain


def _used_arrays(draft: RegionDraft) -> list[Array]:
    """The arrays that the statements mention; others were met in constructs that were read again."""
    touched = {each.array.name for statement in draft.statements for each in statement.accesses}
    touched |= {array.name for statement in draft.statements for _, array in _locals(draft, statement.body)}
    return [array for array in draft.arrays.all() if array.name in touched]


def _locals(draft: RegionDraft, body: c_ast.Node) -> list[tuple[c_ast.Node, Array]]:
    """The names in ``body`` that are variables of the region, declared outside of ``body``.

    Its own may be known from before, when what it is part of was read as loops.
    """
    own = [draft.names.variables.get(node) for node in walk(body) if isinstance(node, c_ast.Decl)]
    found = []
    for node in walk(body):
        variable = draft.names.variables.get(node) if isinstance(node, c_ast.ID) else None
        if variable is not None and variable.local and variable not in own:
            array = draft.arrays.find(variable)
            if array is not None:
                found.append((node, array))
    return found


def _space(draft: RegionDraft) -> isl.Space:
    """The parameter space of the scop, parameters in the order in which they were met."""
    names = [each.name for each in draft.parameters.all()]
    space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, len(names))
    for position, name in enumerate(names):
        space = space.set_dim_name(_dim.param, position, name)
    return space


def _finish(draft: RegionDraft, index: int, arrays: Mapping[str, Array], space: isl.Space) -> Statement:
    name, statement = f"S{index}", draft.statements[index]
    counters = statement.point.counters
    dimensions = _dimension_names(counters, draft.parameters.all())

    def named(relation: isl.Map) -> isl.Map:
        relation = relation.align_params(space).set_tuple_name(_dim.in_, name)
        for position, dimension in enumerate(dimensions):
            relation = relation.set_dim_name(_dim.in_, position, dimension)
        return relation

    domain = statement.point.domain.coalesce().align_params(space).set_tuple_name(name)
    for position, dimension in enumerate(dimensions):
        domain = domain.set_dim_name(_dim.set, position, dimension)
    whole = Statement(
        name=name,
        domain=domain,
        iterators=tuple(
            Iterator(counter.name, counter.type, location(loop))
            for counter, loop in zip(counters, statement.loops, strict=True)
        ),
        body=statement.body,
        accesses=tuple(
            Access(
                arrays[each.array.name],
                named(each.relation),
                each.kind,
                each.node,
                each.exact,
                each.within,
                each.certain,
            )
            for each in statement.accesses
        ),
        locals=tuple((node, arrays[array.name]) for node, array in _locals(draft, statement.body)),
        location=location(statement.source),
        end_line=last_line(statement.source),
        dynamic=statement.dynamic,
    )
    return with_signs_outside(whole)


def _dimension_names(counters: Sequence[Variable], parameters: Iterable[Parameter]) -> list[str]:
    """Names for the dimensions of a domain: those of the counters, made unique."""
    names = IslNames()
    for parameter in parameters:
        names.unique(parameter.name)
    return [names.unique(counter.name) for counter in counters]


def _aligned(array: Array, space: isl.Space) -> Array:
    extents = tuple(None if each is None else each.align_params(space) for each in array.extents)
    return dataclasses.replace(array, extents=extents)
