"""The parameters of a scop: values that stay the same while the region runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterator
from functools import reduce

import islpy as isl
from pycparser import c_ast

from polybuild.c.conversions import WIDE, limits
from polybuild.c.syntax_tree import location
from polybuild.c.synthetic import number
from polybuild.c.types import IntegerType
from polybuild.normalise.names import Variable
from polybuild.poly import spaces
from polybuild.scop.model import Assumption, Parameter
from polybuild.scop.program_point import ProgramPoint

# Words with a meaning in isl's notation; a dimension or tuple must not be called so.
_RESERVED = {
    "and", "or", "not", "mod", "exists", "floor", "floord", "ceil", "ceild", "min", "max", "implies",
    "infty", "nan", "rat", "true", "false", "div", "sum", "intdiv",
}  # fmt: skip

GIVEN = "given?"
"""What stands after the path of a pointer for whether it is not null."""

# What values that are computed of variables are made of.
OPERATIONS = {"*": "times", "+": "plus", "-": "minus", "/": "by", "%": "modulo"}

# Numbers that a program writes down, like ``j < 5``, are not near the limits of a wide type.
_SMALL = (1 << 15) - 1
_WIDEST = IntegerType("long long", 64, signed=True)


class IslNames:
    """Hands out isl identifiers: the C name where it is free, else with a number appended."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def unique(self, name: str, avoid: Container[str] = ()) -> str:
        """``name``, or the first of ``name_1``, ``name_2``, ... that is free and not in ``avoid``."""
        candidate, count = name, 0
        while (
            candidate in self._taken
            or candidate in avoid
            or candidate.lower() in _RESERVED
            or _is_statement_name(candidate)
        ):
            count += 1
            candidate = f"{name}_{count}"
        self._taken.add(candidate)
        return candidate


def _is_statement_name(name: str) -> bool:
    return name[:1] == "S" and name[1:].isdigit()


class Parameters:
    """The parameters met so far and what their types say about them.

    ``facts`` is what the context may say (non-negative, ranges of narrow types);
    ``ranges`` has the bounds of wide types as well, for proofs only.
    """

    def __init__(self) -> None:
        self._names = IslNames()
        self._known: dict[tuple[Variable, tuple[str, ...]], Parameter] = {}
        # where the structure that a pointer leads to is certainly read
        self._reached: dict[str, isl.Set] = {}
        self._wholes: dict[Variable, isl.PwAff] = {}
        # the limits of dynamic loops' counters
        self._limits: dict[str, int] = {}
        self.facts = spaces.all_parameters()
        self.ranges = spaces.all_parameters()

    def value(
        self,
        variable: Variable,
        members: tuple[str, ...],
        expression: c_ast.Node,
        integer: IntegerType,
        depth: int,
    ) -> isl.PwAff:
        """The parameter for ``variable`` (and the path of ``members`` below it) on a space of ``depth``."""
        key = variable, members
        if key not in self._known:
            name = self._names.unique("_".join((variable.name, *members)).rstrip("?"))
            self._known[key] = Parameter(name, expression, integer)
            self._add_range(name, integer)
            for limit in self._limits:
                self._compare(limit, self._known[key])
        return spaces.parameter(depth, self._known[key].name)

    def range(self, counter: Variable, integer: IntegerType, depth: int) -> tuple[isl.PwAff, isl.PwAff]:
        """The minimum and the maximum of a counter of type ``integer``, on a space of ``depth``.

        Wide limits are parameters, of which only their order among other values is known.
        """
        bounds = []
        for end, bound in zip(("from", "to"), limits(integer), strict=True):
            if abs(bound) < WIDE - 1:
                bounds.append(spaces.constant(depth, bound))
                continue
            name = self._names.unique(f"{counter.name}_{end}")
            self._limits[name] = bound
            self._add_order(name, spaces.constant(0, -_SMALL if bound < 0 else _SMALL))
            for other in self._known.values():
                self._compare(name, other)
            value = number(max(bound, 1 - (1 << 63)))
            self._known[counter, (name,)] = Parameter(name, value, _WIDEST, is_limit=True)
            bounds.append(spaces.parameter(depth, name))
        return bounds[0], bounds[1]

    def _compare(self, limit: str, other: Parameter) -> None:
        """Note that the parameter ``other`` does not lie beyond ``limit``, if its type says so."""
        if other.name in self._limits or not isinstance(other.type, IntegerType):
            return
        low, high = limits(other.type)
        bound = self._limits[limit]
        if low >= bound if bound < 0 else high <= bound:
            self._add_order(limit, spaces.parameter(0, other.name))

    def _add_order(self, limit: str, value: isl.PwAff) -> None:
        last = spaces.parameter(0, limit)
        within = value.ge_set(last) if self._limits[limit] < 0 else value.le_set(last)
        self.facts = self.facts.intersect(within.params())

    def element(
        self,
        key: tuple[Variable, tuple[str, ...]],
        expression: c_ast.Node,
        integer: IntegerType,
        point: ProgramPoint,
        reached: isl.Set | None,
        *,
        target: str = "",
    ) -> isl.PwAff | None:
        """The parameter for a value in memory, which must not be read where the region does not read it.

        ``key`` is the variable with the members and the constant subscripts below it.
        ``reached`` holds the parameter values for which it is certainly read; None
        if that is not known. Then the value is known only where it was read before, or
        another member of the structure that the pointer ``target`` leads to.
        """
        known = self._known.get(key)
        here = point.domain.params()
        if reached is None:
            valid = known.reached if known is not None else self._reached.get(target)
            if known is None and valid is None:
                return None
            if valid is not None and not here.is_subset(valid):
                return None
            reached = valid
        if known is not None:
            return self._read_again(known, here, reached, point.depth)
        value = self.value(*key, expression, integer, point.depth)
        reached = spaces.all_parameters() if reached is None else reached
        always = bool(reached.plain_is_universe())
        self._known[key] = dataclasses.replace(self._known[key], reached=None if always else reached)
        if target:
            self._reached[target] = self._reached.get(target, reached).union(reached).coalesce()
        return value

    def computed(
        self,
        node: c_ast.BinaryOp,
        variable: Variable,
        integer: IntegerType,
        point: ProgramPoint,
        reached: isl.Set | None,
    ) -> isl.PwAff | None:
        """The parameter for what ``node`` computes, ``variable`` the first in it; as of ``element``."""
        return self.element((variable, tuple(_words(node))), node, integer, point, reached)

    def part(
        self, variable: Variable, node: c_ast.Node, integer: IntegerType, whole: isl.PwAff, depth: int
    ) -> isl.PwAff:
        """The parameter for ``node``, a part of the parameter ``whole``: it is known where that is."""
        value = self.value(variable, (), node, integer, depth)
        known = next(
            each for each in self._known.values() if whole.is_equal(spaces.parameter(depth, each.name))
        )
        self._known[variable, ()] = dataclasses.replace(self._known[variable, ()], reached=known.reached)
        self._wholes[variable] = spaces.parameter(0, known.name)
        return value

    def whole_of(self, part: Variable) -> isl.PwAff | None:
        """The parameter of which ``part`` is a part; None if it is no parameter."""
        return self._wholes.get(part)

    def reserve(self, name: str) -> None:
        """Keep ``name`` for a ``quotient``."""
        self._names.unique(name)

    def quotient(self, name: str, product: str, factor: str) -> None:
        """The parameter ``name`` that was reserved: ``product`` by ``factor``; 0 if that is not positive.

        Both are known parameters, whose types have the same sign.
        """
        by_name = {each.name: (key, each) for key, each in self._known.items()}
        (variable, members), whole = by_name[product]
        _, part = by_name[factor]
        positive = c_ast.BinaryOp(">", part.expression, number(0))
        value = c_ast.BinaryOp("/", whole.expression, part.expression)
        reached = [each.reached for each in (whole, part) if each.reached is not None]
        self._known[variable, (*members, OPERATIONS["/"], factor)] = Parameter(
            name,
            c_ast.TernaryOp(positive, value, number(0), whole.expression.coord),
            whole.type,
            reduce(isl.Set.intersect, reached) if reached else None,
        )

    def _read_again(
        self, known: Parameter, here: isl.Set, reached: isl.Set | None, depth: int
    ) -> isl.PwAff | None:
        """The value of a parameter at another point, None if it cannot be read for the sake of that, too."""
        if known.reached is not None and not here.is_subset(known.reached):
            wider = known.reached if reached is None else known.reached.union(reached).coalesce()
            if not here.is_subset(wider) or not self._is_said_before(wider, known):
                return None
            always = bool(wider.plain_is_universe())
            key = next(key for key, each in self._known.items() if each is known)
            self._known[key] = dataclasses.replace(known, reached=None if always else wider)
        return spaces.parameter(depth, known.name)

    def _is_said_before(self, reached: isl.Set, known: Parameter) -> bool:
        """Whether ``reached`` mentions only parameters that are older than ``known``."""
        older = list(self._known.values())
        names = {each.name for each in older[: older.index(known)]}
        return all(
            reached.get_dim_name(isl.dim_type.param, position) in names
            for position in range(reached.dim(isl.dim_type.param))
            if reached.involves_dims(isl.dim_type.param, position, 1)
        )

    def has_element(self, variable: Variable, members: tuple[str, ...]) -> bool:
        """Whether an element of the array ``variable`` (and ``members`` below it) is a parameter."""
        return any(
            root is variable
            and len(path) > len(members)
            and path[: len(members)] == members
            and not path[-1].endswith("?")
            for root, path in self._known
        )

    def has(self, variable: Variable, members: tuple[str, ...]) -> bool:
        """Whether the value of ``variable`` (and the path of ``members`` below it) is a parameter."""
        return (variable, members) in self._known

    def all(self) -> tuple[Parameter, ...]:
        """The parameters, in the order in which they were met."""
        return tuple(self._known.values())

    def unsigned_limits(self) -> tuple[Assumption, ...]:
        """That each unsigned 64-bit parameter, read as a signed integer, is not negative."""
        return tuple(
            Assumption(
                spaces.parameter(0, parameter.name).nonneg_set().params(),
                f"'{parameter.name}' must fit a signed 64-bit integer",
                location(parameter.expression),
            )
            for parameter in self._known.values()
            if isinstance(parameter.type, IntegerType)
            and not parameter.type.signed
            and parameter.type.width == 64
        )

    def _add_range(self, name: str, integer: IntegerType) -> None:
        value = spaces.parameter(0, name)
        low, high = limits(integer)
        above = value.ge_set(spaces.constant(0, low)).params()
        below = _bounded_above(name, high)
        if abs(low) < WIDE:
            self.facts = self.facts.intersect(above)
        if high < WIDE - 1:
            self.facts = self.facts.intersect(below)
        self.ranges = self.ranges.intersect(above).intersect(below)


def _words(node: c_ast.Node) -> Iterator[str]:
    """An expression in words, each operation before its operands."""
    if isinstance(node, c_ast.BinaryOp):
        yield OPERATIONS[node.op]
        yield from _words(node.left)
        yield from _words(node.right)
    elif isinstance(node, c_ast.StructRef):
        yield from _words(node.name)
        yield node.field.name
    else:
        yield node.name if isinstance(node, c_ast.ID) else node.value


def _bounded_above(name: str, bound: int) -> isl.Set:
    return spaces.parameter(0, name).le_set(spaces.constant(0, bound)).params()
