"""Statements that accumulate: which may run in any order, and by which argument.

A reduction is a statement that combines one element, its accumulator, with a value that does
not depend on it: ``s += e``, ``s = s * e``, ``if (e > m) m = e``. The combination is
associative and commutative

- in integers for ``+ - * & | ^``, modulo a power of two: the accumulator is kept in an
  unsigned type, which has no overflow, and cut to its own type in the end;
- for minima and maxima where equal values are the same value. Integers are; floating-point
  numbers are but for the two zeros, so the compared value must be one that is never ``-0.0``, or that of a
  maximum ``+0.0`` at least.
  Not-a-number compares false, and so is never chosen, wherever it comes;
- for ``+`` and ``*`` in floating point, and for all other minima and maxima, only by the
  user's leave: for all of them, or by a clause of OpenMP.
"""

from __future__ import annotations

from collections.abc import Collection

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.positive_values import PositiveValues, positive_variables
from polybuild.analysis.promised_orders import Update, promised_updates, updates_of
from polybuild.c.conversions import common_type, promoted
from polybuild.c.syntax_tree import conjuncts, single_statement, walk
from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.c.typing import type_of
from polybuild.context import Reordering
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.scop.statement_symbols import symbols_of
from polybuild.source.model import Region
from polybuild.values import dataclass

# An operator of C, and what a chain of it may consist of.
_CHAINS = {"+": "+-", "-": "+-", "*": "*", "&": "&", "|": "|", "^": "^"}
_GREATER, _LESS = {">", ">="}, {"<", "<="}
_MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
CARRIED = "carried"
"""The operator of what is kept along with a minimum or maximum."""
TAKEN = "taken"
"""The operator of what a search takes: nothing is compared but when."""


# The operator, the type to accumulate in, and whether that is exact in any order.
_Found = tuple[str, IntegerType | FloatingType, bool]


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """A statement that combines the element ``relation`` gives of ``array`` with a value.

    ``own`` are the nodes of the body that stand for that element, by identity. ``operator`` is
    one of ``+ * & | ^ && || min max fmin fmax taken``, ``type`` that of a variable which accumulates as the
    element would. ``exact`` says that the order makes no difference to the last bit. One with a ``selection``
    also keeps what belongs to the element that was chosen (``placed_reductions``). One in ``lanes`` has a
    counter that says which of several threads side by side a term belongs to. One of ``elements`` accumulates
    in so many, from the first one on, of which data choose one. Accesses that look at the values of a
    ``scan`` are taken for reductions of it.
    """

    statement: Statement
    array: Array
    relation: isl.Map
    own: frozenset[int]
    operator: str
    type: IntegerType | FloatingType
    exact: bool
    selection: Selection | None = None
    lanes: LaneCounter | None = None
    elements: int = 0
    scan: Scan | None = None

    @property
    def is_scattered(self) -> bool:
        """Whether data choose the accumulator."""
        return not self.relation.is_single_valued()

    @property
    def group(self) -> tuple[str, str]:
        """What reductions must have in common to be combined in any order with each other."""
        alone = self.operator == CARRIED or self.selection is not None or self.lanes is not None
        if self.scan is not None:
            return self.array.name, f"{self.operator} looked at"
        if self.elements:
            return self.array.name, f"{self.operator} of elements"
        return self.array.name, f"{self.operator} of {self.statement.name}" if alone else self.operator

    @property
    def in_order(self) -> bool:
        """Whether loops keep its terms in order: parts of them are combined in theirs, lanes cannot be."""
        placed = self.selection is not None or self.operator in {CARRIED, "&&", "||"}
        return placed or self.scan is not None


@dataclass(frozen=True, slots=True)
class Scan:
    """A ``loop`` that looks at the values of a reduction: its statements, and those of the ``terms``."""

    terms: frozenset[str]
    loop: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class LaneCounter:
    """Threads that share the terms of a reduction: the counter at ``position`` is below their ``count``.

    ``whole`` are the statements in the loop of the terms without it, which have the same instances.
    """

    position: int
    count: int
    whole: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """What a minimum, a maximum or a search does where it takes a value.

    Under ``condition`` the ``assignments`` are made: that of the value, and those of what is ``carried`` with
    it. Of equal values (of all values of a search) the last one counts with ``latest``, else the first one.
    """

    condition: c_ast.Node
    assignments: tuple[c_ast.Assignment, ...]
    carried: tuple[Reduction, ...]
    latest: bool


@dataclass(frozen=True, slots=True)
class Reductions:
    """The reductions of a region, and those that only the order of floating-point operations forbids.

    Those ``in_order`` are minima, maxima and searches with their places, and with what these carry;
    ``histograms`` update elements that data choose, and of ``scans`` the values between are looked at.
    """

    found: tuple[Reduction, ...]
    ordered: tuple[Reduction, ...]
    in_order: tuple[Reduction, ...] = ()
    histograms: tuple[Reduction, ...] = ()
    scans: tuple[Reduction, ...] = ()


def find_reductions(scop: Scop, region: Region, reordering: Reordering) -> Reductions:
    """The reductions of ``scop``; ``reordering`` says which sums may change their order."""
    return _sorted(scop, region, reordering)


def _sorted(
    scop: Scop,
    region: Region,
    reordering: Reordering,
    *,
    scattered: bool = False,
    dynamic: bool = True,
    members: bool = False,
) -> Reductions:
    found: list[Reduction] = []
    ordered: list[Reduction] = []
    promised = promised_updates(region.statements) if reordering is Reordering.PROMISED else frozenset()
    positive = positive_variables(scop, region)
    for statement in scop.statements:
        reduction = ReductionMatcher(
            statement, region, scattered=scattered, members=members, positive=positive
        ).reduction()
        if reduction is not None and (dynamic or not statement.dynamic):
            free = reduction.exact or reordering is Reordering.ANY or _is_promised(reduction, promised)
            (found if free else ordered).append(reduction)
    return Reductions(tuple(found), tuple(ordered))


def _is_promised(reduction: Reduction, promised: Collection[tuple[Update, str]]) -> bool:
    """Whether the updates of ``reduction`` are among those that clauses let happen in any order."""
    updates = list(updates_of(reduction.statement.body)) if promised else []
    return bool(updates) and all((each, reduction.operator) in promised for each in updates)


def find_scattered_updates(
    scop: Scop,
    region: Region,
    reordering: Reordering = Reordering.EXACT,
    *,
    dynamic: bool = False,
    members: bool = False,
) -> Reductions:
    """The reductions of ``scop`` whose accumulators data choose, as ``h[a[i]]++``; as in find_reductions.

    ``relation`` has all elements that may be one. The statement reads and writes its array there alone.
    Those of loops whose bounds are data, and of ``members`` of elements, are among them if asked for.
    """
    return _sorted(scop, region, reordering, scattered=True, dynamic=dynamic, members=members)


class ReductionMatcher:
    """Reads the body of one statement; data choose the accumulator if it is ``scattered``.

    Then it may be a member of an element if ``members`` are asked for.

    The variables of the names ``positive`` are never below zero, nor ``-0.0``.
    """

    def __init__(
        self,
        statement: Statement,
        region: Region,
        *,
        scattered: bool = False,
        members: bool = False,
        positive: Collection[str] = (),
    ) -> None:
        self._statement = statement
        self._region = region
        self._scattered = scattered
        self._members = members
        self._symbols = symbols_of(statement, region)
        self._positive = PositiveValues(positive, statement, self._symbols, region.visible)
        self._own: frozenset[int] = frozenset()

    def reduction(self) -> Reduction | None:
        """The reduction that the statement is, None if it is none."""
        write = self._only_write()
        if write is None or not isinstance(write.array.element, IntegerType | FloatingType):
            return None
        own = [each for each in self._statement.accesses_to(write.array) if self._is_own(each, write)]
        if self._scattered and len(own) < len(self._statement.accesses_to(write.array)):
            return None
        self._own = frozenset(id(each.node) for each in own)
        body = self._statement.body
        for _ in self._statement.dynamic:
            body = body.iftrue
        found = self._read(body, write.array.element)
        if found is None:
            return None
        operator, kind, exact = found
        return Reduction(self._statement, write.array, write.relation, self._own, operator, kind, exact)

    def _only_write(self) -> Access | None:
        """The one access that writes, if it is of one element that the statement reads, too."""
        writes = [each for each in self._statement.accesses if each.kind is not AccessKind.READ]
        if len(writes) != 1:
            return None
        (write,) = writes
        plain = write.exact and write.relation.is_single_valued()
        whole = self._members or not any(write.array.suffixes)
        return write if plain is not self._scattered and whole else None

    def _is_own(self, access: Access, write: Access) -> bool:
        """Whether ``access`` is of the element that ``write`` writes."""
        if self._scattered:
            return access.node is write.node or same(access.node, write.node)
        return access.exact and access.relation.is_equal(write.relation)

    def _read(self, body: c_ast.Node, element: IntegerType | FloatingType) -> _Found | None:
        if isinstance(element, FloatingType) and element.complex:
            return None
        if isinstance(element, IntegerType) and element.width == 1:
            return None
        if isinstance(body, c_ast.If):
            if body.iffalse is not None:
                return None
            update = single_statement(body.iftrue)
            found = self._chosen(body.cond, update, element)
            if found is not None or self._has_own(body.cond):
                return found
            return self._read(update, element)
        if self._is_step(body) and isinstance(element, IntegerType):
            return "+", _unsigned(element), True
        found = self._selection(body, element)
        return found if found is not None else self._chain(body, element)

    def _is_step(self, body: c_ast.Node) -> bool:
        """Whether ``body`` is ``x++`` or the like; where ``x`` is known, the model has an assignment."""
        return isinstance(body, c_ast.UnaryOp) and _effects(body) and id(body.expr) in self._own

    def _chain(self, body: c_ast.Node, element: IntegerType | FloatingType) -> _Found | None:
        """``x op= e``, ``x = x op e``, ``x = e op x``, ``x = x + e - f``."""
        if not isinstance(body, c_ast.Assignment) or id(body.lvalue) not in self._own:
            return None
        operator = body.op.removesuffix("=")
        if operator:
            if operator not in _CHAINS or self._has_own(body.rvalue):
                return None
        else:
            operator = next((op for op in "+*&|^" if self._is_chain(body.rvalue, op)), "")
            if not operator or id(body.rvalue) in self._own:
                return None
        kind = common_type(element, self._type(body.rvalue), self._region.visible.scope.data_model)
        operator = "+" if operator == "-" else operator
        if (
            isinstance(element, IntegerType)
            and isinstance(kind, IntegerType)
            and isinstance(promoted(kind), IntegerType)
        ):
            return operator, _unsigned(kind), True
        if isinstance(element, FloatingType) and isinstance(kind, IntegerType | FloatingType):
            real = not (isinstance(kind, FloatingType) and kind.complex)
            return (operator, element, False) if real and operator in "+*" else None
        return None

    def _is_chain(self, node: c_ast.Node, operator: str) -> bool:
        """Whether ``node`` is the accumulator combined by ``operator``, once, with what does not hold it."""
        if id(node) in self._own:
            return True
        if not isinstance(node, c_ast.BinaryOp) or node.op not in _CHAINS[operator]:
            return False
        left, right = self._has_own(node.left), self._has_own(node.right)
        if left and not right:
            return self._is_chain(node.left, operator)
        return right and not left and node.op != "-" and self._is_chain(node.right, operator)

    def _selection(self, body: c_ast.Node, element: IntegerType | FloatingType) -> _Found | None:
        """``m = e > m ? e : m``, ``s = c ? s + e : s``, ``m = fmax(m, e)`` and ``s = fma(e, f, s)``."""
        if not isinstance(body, c_ast.Assignment) or body.op != "=" or id(body.lvalue) not in self._own:
            return None
        value = body.rvalue
        if isinstance(value, c_ast.TernaryOp):
            taken = id(value.iffalse) in self._own
            new, old = (value.iftrue, value.iffalse) if taken else (value.iffalse, value.iftrue)
            if id(old) not in self._own:
                return None
            if self._has_own(value.cond):
                return self._compared(value.cond, new, element, taken=taken)
            chain = c_ast.Assignment("=", body.lvalue, new)
            return None if self._scattered else self._chain(chain, element)
        if isinstance(value, c_ast.FuncCall) and isinstance(value.name, c_ast.ID):
            return self._library(value, element)
        return None

    def _library(self, call: c_ast.FuncCall, element: IntegerType | FloatingType) -> _Found | None:
        """``fmax`` and ``fmin``, of which zeros give any, and ``fma``, a sum that is rounded once."""
        name = call.name.name.removeprefix("__builtin_")
        suffix = {"float": "f", "double": "", "long double": "l"}.get(element.name)
        arguments = list(call.args or ())
        if isinstance(element, FloatingType) and name == f"fma{suffix}" and len(arguments) == 3:
            factors = any(map(self._has_own, arguments[:2]))
            return ("+", element, False) if id(arguments[2]) in self._own and not factors else None
        if not isinstance(element, FloatingType) or name not in {f"fmax{suffix}", f"fmin{suffix}"}:
            return None
        others = [each for each in arguments if id(each) not in self._own]
        if len(arguments) != 2 or len(others) != 1 or self._has_own(others[0]):
            return None
        return name[:4], element, all(map(self._positive.has, arguments))

    def _chosen(
        self, condition: c_ast.Node, update: c_ast.Node, element: IntegerType | FloatingType
    ) -> _Found | None:
        """``if (e > m) m = e``, ``if (c && e > m) m = e``."""
        if not isinstance(update, c_ast.Assignment) or update.op != "=" or id(update.lvalue) not in self._own:
            return None
        return self._compared(condition, update.rvalue, element, taken=True)

    def _compared(
        self, condition: c_ast.Node, value: c_ast.Node, element: IntegerType | FloatingType, *, taken: bool
    ) -> _Found | None:
        """A minimum or maximum that takes ``value`` where ``condition`` is ``taken``, and others hold."""
        if taken:
            looking = [each for each in conjuncts(condition) if self._has_own(each)]
            condition = looking[0] if len(looking) == 1 else condition
        if not isinstance(condition, c_ast.BinaryOp) or condition.op not in _GREATER | _LESS:
            return None
        operator = condition.op
        left, right = condition.left, condition.right
        if id(left) in self._own:  # to "value against accumulator"
            left, right, operator = right, left, _MIRRORED[operator]
        if id(right) not in self._own or self._has_own(left) or not same(left, value):
            return None
        greater = (operator in _GREATER) is taken
        kind = self._type(value)
        if not _fits(kind, element):
            return None
        exact = isinstance(element, IntegerType)
        if not exact and taken:
            number = isinstance(kind, IntegerType) or self._positive.has(value)
            above = self._positive.has(right)
            # of equal values it does not matter which one a maximum above zero takes, nor one of such values
            exact = number or (above and operator == ">") if operator in {"<", ">"} else number and above
        return "max" if greater else "min", element, exact

    def _has_own(self, node: c_ast.Node) -> bool:
        return any(id(each) in self._own for each in walk(node))

    def _type(self, node: c_ast.Node) -> Type:
        return type_of(node, self._symbols, self._region.visible)


def _unsigned(kind: IntegerType) -> IntegerType:
    """An unsigned type as wide as ``kind``, at least ``int``: it accumulates without overflow."""
    wide = promoted(kind)
    assert isinstance(wide, IntegerType)  # noqa: S101 - integers are promoted to integers
    return wide if not wide.signed else IntegerType(f"unsigned {wide.name}", wide.width, signed=False)


def _fits(kind: Type, element: IntegerType | FloatingType) -> bool:
    """Whether each value of ``kind`` is one of ``element``'s, and compares with those as itself."""
    if isinstance(element, FloatingType):
        if isinstance(kind, FloatingType):
            return not kind.complex and kind.size <= element.size
        return isinstance(kind, IntegerType)  # rounded alike in the comparison and the assignment
    if not isinstance(kind, IntegerType):
        return False
    if kind.signed == element.signed:
        return kind.width <= element.width
    return element.signed and kind.width < element.width


def same(one: c_ast.Node, other: c_ast.Node) -> bool:
    """Whether two expressions without effects are written alike."""
    if type(one) is not type(other) or any(_effects(each) for each in walk(one)):
        return False
    if any(getattr(one, name) != getattr(other, name) for name in one.attr_names):
        return False
    children = list(one), list(other)
    return len(children[0]) == len(children[1]) and all(map(same, *children))


def _effects(node: c_ast.Node) -> bool:
    if isinstance(node, c_ast.UnaryOp):
        return node.op in {"++", "--", "p++", "p--"}
    return isinstance(node, c_ast.Assignment)
