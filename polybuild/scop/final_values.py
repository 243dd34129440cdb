"""What normalised variables hold after the region: from ``LastValue`` statements to final values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import islpy as isl
from pycparser import c_ast

from polybuild.c import types
from polybuild.c.syntax_tree import key, names_in, walk
from polybuild.c.synthetic import CountedLoop, EntryValue, LastValue
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Variable
from polybuild.poly import spaces
from polybuild.scop.assumptions import Violation
from polybuild.scop.expressions import Expressions
from polybuild.scop.facts import Facts
from polybuild.scop.model import FinalValue
from polybuild.scop.program_point import ProgramPoint


class NotFollowed(Exception):
    """Variables that normalisation must leave as they are, by name."""

    def __init__(self, *names: str) -> None:
        super().__init__(", ".join(names))
        self.names = frozenset(names)


def check_unnormalised(node: c_ast.Node) -> None:
    """Raise NotFollowed if ``node``, which is to be kept as one statement, was changed by normalisation.

    Its text would assign a variable whose value the rest of the region takes to be that on entry.
    """
    names = [each.lvalue.name for each in walk(node) if isinstance(each, LastValue)]
    names += [each.variable for each in walk(node) if isinstance(each, CountedLoop)]
    if names:
        raise NotFollowed(*names)


class FinalValues:
    """The last values met so far; ``lvalues`` are the pointers in memory that variables stand for."""

    def __init__(self, lvalues: Mapping[str, c_ast.Node]) -> None:
        self._lvalues = lvalues
        self._bases: dict[Variable, c_ast.Node | None] = {}
        self._sources: dict[Variable, c_ast.Node] = {}

    def __contains__(self, variable: Variable) -> bool:
        return variable in self._bases

    def read(
        self, node: LastValue, point: ProgramPoint, facts: Facts, violations: list[Violation]
    ) -> isl.PwAff | None:
        """The value stored at ``point``, where no later one relvalues it; None if it is not affine.

        A value that is not affine is kept as a C expression if it is stored exactly
        once, outside all loops. Raises NotFollowed if it cannot be kept.
        """
        variable = facts.names.variables[node.lvalue]
        base, value = _parts(node, variable)
        self._check_base(variable, base, point)
        try:
            affine = Expressions(facts, "value", violations).affine(value, point)
        except Unsupported:
            if point.depth or not spaces.universe(0).is_subset(point.domain) or variable in self._sources:
                raise NotFollowed(variable.name) from None
            self._sources[variable] = node.rvalue
            return None
        if variable in self._sources:
            raise NotFollowed(variable.name)
        return affine.value.intersect_domain(point.domain)

    def _check_base(self, variable: Variable, base: c_ast.Node | None, point: ProgramPoint) -> None:
        known = self._bases.setdefault(variable, base)
        if known is base:
            counters = {counter.name for counter in point.counters}
            if base is None or counters.isdisjoint(names_in(base)):
                return
        elif known is not None and base is not None and key(known) == key(base):
            return
        raise NotFollowed(variable.name)

    def finals(self, values: Mapping[Variable, isl.PwAff], space: isl.Space) -> Iterator[FinalValue]:
        """The final values; ``values`` are those of variables, of parameters that ``space`` knows.

        Raises NotFollowed if one is known in two ways, or is a number computed from another variable
        that was set before.
        """
        stored = [*self._sources, *(each for each in values if each in self._bases)]
        for variable in stored:
            source = self._sources.get(variable)
            base = self._bases[variable]
            others = {each.name for each in stored if each is not variable}
            reads = source is not None and not others.isdisjoint(entries_in(source))
            if reads and not isinstance(variable.type, types.PointerType):
                raise NotFollowed(variable.name)
            if source is not None and variable in values:
                raise NotFollowed(variable.name)
            yield FinalValue(
                variable.name,
                self._lvalues.get(variable.name, c_ast.ID(variable.name)),
                variable.type,
                values[variable].align_params(space) if variable in values else None,
                base=base if source is None else None,
                source=source,
            )


def entries_in(text: c_ast.Node) -> frozenset[str]:
    """The variables whose values on entry ``text`` mentions."""
    return frozenset(each.name for each in walk(text) if isinstance(each, EntryValue))


def _parts(node: LastValue, variable: Variable) -> tuple[c_ast.Node | None, c_ast.Node]:
    """The base of a pointer's value (None for an integer), and the integer."""
    if isinstance(variable.type, types.PointerType):
        return node.rvalue.left, node.rvalue.right
    return None, node.rvalue
