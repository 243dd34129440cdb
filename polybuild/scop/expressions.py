"""C integer expressions as piecewise affine expressions, C conditions as sets.

Values carry their C type. Signed arithmetic is taken not to overflow (that is
undefined in C). Unsigned arithmetic and conversions that may change a value are
*pending*: the piecewise affine expression is right modulo ``2**width``, and only
when the value is used (compared, divided, converted to a wider type, taken as
a bound or a subscript) must it be shown, or assumed, to lie in the range of its
type. So ``i + n - 1`` of unsigned values asks nothing of ``n - 1`` alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
from pycparser import c_ast

from polybuild.c.basic_types import BOOL, INT
from polybuild.c.conversions import GREATEST, WIDE, common_integer, holds, limits, promoted_integer
from polybuild.c.declarations import size_of
from polybuild.c.literals import integer_value, literal
from polybuild.c.syntax_tree import NEGATED, location
from polybuild.c.synthetic import EntryNumber, ExactCast, PointerTest, Quotient
from polybuild.c.types import IntegerType
from polybuild.c.typing import type_of
from polybuild.diagnostics import Unsupported
from polybuild.poly import spaces
from polybuild.poly.integers import value_of
from polybuild.scop.assumptions import Violation, keeps_parameters_small
from polybuild.scop.constants import constant_value
from polybuild.scop.facts import Facts
from polybuild.scop.parameters import GIVEN, OPERATIONS
from polybuild.scop.program_point import ProgramPoint
from polybuild.scop.references import check_object, resolve_reference
from polybuild.scop.remainders import counters_alone, is_far, quotient_near_zero, remainder
from polybuild.scop.wide_numbers import COMPARISONS, compared, near_zero, parts_of
from polybuild.values import dataclass

_LOGICAL = {"&&", "||"}
# What stands nowhere but where its point is reached; products in subscripts are read as those of flat arrays.
_EAGER = {"bound", "condition"}


@dataclass(frozen=True, slots=True)
class Affine:
    """A C value: ``value`` on the space of its point, its type, and whether it is pending (see above)."""

    value: isl.PwAff
    type: IntegerType
    pending: bool = False


class Expressions:
    """Reads the expressions of one construct.

    ``construct`` names the construct in messages (``bound``, ``condition``,
    ``subscript``, ``extent``, ``stride``). Violations found on the way are
    appended to ``violations``; the caller decides what to do with them.
    """

    def __init__(self, facts: Facts, construct: str, violations: list[Violation]) -> None:
        self._facts = facts
        self._construct = construct
        self._violations = violations

    # Values as bounds, conditions and subscripts need them

    def value(self, node: c_ast.Node, point: ProgramPoint, to: IntegerType | None = None) -> isl.PwAff:
        """The exact value of ``node``, converted to ``to`` if given."""
        affine = self.affine(node, point)
        if to is not None:
            affine = self.convert(affine, to, node, point)
        return self.within_type_range(affine, node, point).value

    def subscript(self, node: c_ast.Node, point: ProgramPoint) -> isl.PwAff:
        """The value of a subscript; address arithmetic itself wraps at 64 bits."""
        affine = self.affine(node, point)
        if affine.type.width == 64:
            return near_zero(affine.value, affine.type)
        return self.within_type_range(affine, node, point).value

    def within_type_range(self, affine: Affine, node: c_ast.Node, point: ProgramPoint) -> Affine:
        """``affine`` with its value in the range of its type, by proof or as a violation to exclude."""
        if not affine.pending:
            return affine
        parts = parts_of(affine.value, affine.type)
        if parts.others is None:
            return Affine(parts.joined(None), affine.type)
        affine = Affine(parts.others, affine.type, pending=True)
        value = affine.value
        low, high = limits(affine.type)
        if self._must_wrap(affine, point):
            value = self._wrapped(affine, point)
            span = 1 << affine.type.width
            low, high = low - span, high + span
        for bound, outside in (
            (low, affine.value.lt_set(spaces.constant(point.depth, low))),
            (high, affine.value.gt_set(spaces.constant(point.depth, high))),
        ):
            self._violations.append(
                Violation(
                    outside,
                    point.domain,
                    "integer-wrap",
                    f"the {self._construct} must stay within '{affine.type.name}'",
                    location(node),
                    "use a signed type, or write the expression so that it does not wrap",
                    wide=abs(bound) >= WIDE - 1,
                )
            )
        return Affine(parts.joined(value), affine.type)

    def _must_wrap(self, affine: Affine, point: ProgramPoint) -> bool:
        """Whether the value leaves its type whatever the parameters are: ``i - 1u`` for ``i`` from 0."""
        if not self._facts.wrapping or affine.type.width >= 64:
            return False
        low, high = limits(affine.type)
        reached = point.domain.intersect_params(self._facts.context())
        below = affine.value.lt_set(spaces.constant(point.depth, low))
        above = affine.value.gt_set(spaces.constant(point.depth, high))
        outside = below.union(above).intersect(reached)
        return not outside.is_empty() and bool(reached.params().is_subset(outside.params()))

    def _wrapped(self, affine: Affine, point: ProgramPoint) -> isl.PwAff:
        """The value in the type's range if it is off by no more than the size of that range."""
        low, high = limits(affine.type)
        value, span = affine.value, spaces.constant(point.depth, 1 << affine.type.width)
        pieces = [value, value.add(span), value.sub(span)]
        inside = [
            each.ge_set(spaces.constant(point.depth, low)).intersect(
                each.le_set(spaces.constant(point.depth, high))
            )
            for each in pieces
        ]
        parts = [each.intersect_domain(where) for each, where in zip(pieces, inside, strict=True)]
        return parts[0].union_add(parts[1]).union_add(parts[2])

    def convert(self, affine: Affine, to: IntegerType, node: c_ast.Node, point: ProgramPoint) -> Affine:
        """``affine`` converted to the type ``to``."""
        if to.width == 1:
            affine = self.within_type_range(affine, node, point)
            return Affine(affine.value.non_zero_set().indicator_function(), to)
        if to.width > affine.type.width:
            affine = self.within_type_range(affine, node, point)
        fits = holds(to, affine.type) and not affine.pending
        number = spaces.constant_value(affine.value)
        if number is not None and limits(to)[0] <= number <= limits(to)[1]:
            fits = True
        return Affine(affine.value, to, pending=not fits)

    def _operands(
        self, node: c_ast.BinaryOp, point: ProgramPoint, *, exact: bool
    ) -> tuple[isl.PwAff, isl.PwAff, IntegerType]:
        """Both operands in their common type, in its range if ``exact`` or if it is signed."""
        left, right = self.affine(node.left, point), self.affine(node.right, point)
        kind = common_integer(left.type, right.type, self._facts.region.visible.scope.data_model)
        operands = []
        for operand, source in ((left, node.left), (right, node.right)):
            converted = self.convert(operand, kind, source, point)
            if exact or kind.signed:
                converted = self.within_type_range(converted, source, point)
            operands.append(converted.value if exact else near_zero(converted.value, kind))
        return operands[0], operands[1], kind

    # Values

    def affine(self, node: c_ast.Node, point: ProgramPoint) -> Affine:
        """The value of a C expression as a piecewise affine expression.

        Raises Unsupported if it is not affine or not known before the region.
        """
        if isinstance(node, c_ast.Constant):
            number = literal(node, self._facts.region.visible.scope.data_model)
            if number is None:
                raise self._refusal("non-affine", f"'{node.value}' is not an integer", node)
            return Affine(spaces.constant(point.depth, number[0]), number[1])
        if isinstance(node, c_ast.ID):
            return self._identifier(node, point)
        if isinstance(node, EntryNumber):
            return self._entry_number(node, point)
        if isinstance(node, PointerTest):
            return self._test(node, point)
        if isinstance(node, c_ast.BinaryOp):
            return self._binary(node, point)
        if isinstance(node, c_ast.UnaryOp):
            return self._unary(node, point)
        if isinstance(node, c_ast.TernaryOp):
            return self._ternary(node, point)
        if isinstance(node, c_ast.Cast):
            to = self._facts.region.visible.scope.resolve(node.to_type)
            if not isinstance(to, IntegerType):
                raise self._refusal("non-affine", "a cast to a type that is not an integer", node)
            if isinstance(node, ExactCast):
                return Affine(self.affine(node.expr, point).value, to)
            return self.convert(self.affine(node.expr, point), to, node, point)
        if isinstance(node, c_ast.StructRef):
            return self._member(node, point)
        if isinstance(node, c_ast.ArrayRef):
            return self._element(node, point)
        raise self._refusal_of(node)

    def _element(self, node: c_ast.Node, point: ProgramPoint) -> Affine:
        """An element that the region does not change: ``*n``, ``len[0]``, ``p->dims[1]``, ``s[0].n``."""
        names = self._facts.names
        try:
            reference = resolve_reference(node, names)
        except Unsupported:
            raise self._refusal_of(node) from None
        variable, members, kind = reference.variable, reference.members, reference.type
        subscripts = tuple(self._fixed_subscript(each, point) for each in reference.subscripts)
        changed = variable in names.written or (variable, members) in names.written_members
        if changed or variable.local or None in subscripts or not isinstance(kind, IntegerType):
            raise self._refusal_of(node)
        if not reference.by_pointer and variable in names.demoted:
            raise self._refusal_of(node)
        path = (*members, *map(str, subscripts))
        reached = point.domain.params() if self._facts.eager else None
        value = self._facts.parameters.element((variable, path), node, kind, point, reached)
        if value is None:
            raise self._refusal_of(node)
        return Affine(value, kind)

    def _fixed_subscript(self, subscript: c_ast.Node, point: ProgramPoint) -> int | str | None:
        """What a subscript of literals and of variables that the region does not change says."""
        names = self._facts.names
        if isinstance(subscript, c_ast.Constant):
            return integer_value(subscript.value)
        if isinstance(subscript, c_ast.BinaryOp) and subscript.op in OPERATIONS:
            left, right = (self._fixed_subscript(each, point) for each in (subscript.left, subscript.right))
            return None if left is None or right is None else f"{left}_{OPERATIONS[subscript.op]}_{right}"
        variable = names.variables.get(subscript) if isinstance(subscript, c_ast.ID) else None
        if variable is None or not isinstance(variable.type, IntegerType):
            return None
        counts = variable in point.counters or variable in point.values or names.only_counts(variable)
        fixed = not (counts or variable.local or variable in names.written or variable in names.demoted)
        own = (
            variable is names.outer.get(variable.name) and not variable.is_reachable and not variable.volatile
        )
        return variable.name if fixed and own else None

    def _identifier(self, node: c_ast.ID, point: ProgramPoint) -> Affine:
        variable = self._facts.names.variables.get(node) or self._facts.names.outer.get(node.name)
        if variable is None:
            number = self._facts.region.visible.enumerators.get(node.name)
            if number is None:
                raise self._refusal("non-affine", f"'{node.name}' is not a variable", node)
            return Affine(spaces.constant(point.depth, number), INT)
        kind = variable.type
        if not isinstance(kind, IntegerType):
            raise self._refusal("data-dependent", f"'{node.name}' is not an integer", node)
        if variable in point.counters:
            position = len(point.counters) - 1 - point.counters[::-1].index(variable)
            return Affine(spaces.dimension(point.depth, position), kind)
        left = point.values.get(variable)
        if left is not None and point.domain.is_subset(left.domain()):
            return Affine(left, kind)
        if self._facts.names.only_counts(variable):
            raise Unsupported(
                "iterator-used-outside-loop",
                f"'{node.name}' counts a loop of the region and is read where that loop is not running",
                location(node),
                "use a variable of its own for the loop",
            )
        check_object(variable, node)
        names = self._facts.names
        if variable.local or variable in names.written or variable in names.demoted:
            raise self._refusal("data-dependent", f"'{node.name}' is assigned in the region", node)
        number = constant_value(variable, self._facts.region)
        if number is not None:
            return Affine(spaces.constant(point.depth, number), kind)
        return Affine(self._facts.parameters.value(variable, (), node, kind, point.depth), kind)

    def _entry_number(self, node: EntryNumber, point: ProgramPoint) -> Affine:
        variable = self._facts.names.variables[node]
        kind = variable.type
        assert isinstance(kind, IntegerType)  # noqa: S101 - the type of a number
        if not isinstance(node, Quotient):
            return Affine(self._facts.parameters.value(variable, (), node, kind, point.depth), kind)
        whole = Expressions(self._facts, "bound", []).affine(node.left, point)  # no data of the region
        if spaces.constant_value(whole.value) is not None:
            return Affine(whole.value.scale_down_val(value_of(divisor_of(node))).floor(), kind)
        return Affine(self._facts.parameters.part(variable, node, kind, whole.value, point.depth), kind)

    def _test(self, node: PointerTest, point: ProgramPoint) -> Affine:
        names = self._facts.names
        try:
            reference = resolve_reference(node.left, names)
        except Unsupported as error:
            raise self._refusal("data-dependent", error.diagnostic.message, node) from None
        variable, members = reference.variable, reference.members
        changed = variable in names.written or variable.local
        if changed or reference.subscripts or reference.offset is not None:
            raise self._refusal("data-dependent", f"'{reference.path}' may change in the region", node)
        other = node.right.name if isinstance(node.right, c_ast.ID) else ""
        if names.variables.get(node.right) in names.written:
            raise self._refusal("data-dependent", f"'{other}' may change in the region", node)
        path = (*members, f"{other}?" if other else GIVEN)
        if not reference.by_pointer:
            return Affine(self._facts.parameters.value(variable, path, node, BOOL, point.depth), INT)
        reached = point.domain.params() if self._facts.eager else None
        key, target = (variable, path), reference.target
        value = self._facts.parameters.element(key, node, BOOL, point, reached, target=target)
        if value is None:
            raise self._refusal("data-dependent", f"the region may not read '{reference.path}'", node)
        return Affine(value, INT)

    def _member(self, node: c_ast.StructRef, point: ProgramPoint) -> Affine:
        names = self._facts.names
        try:
            reference = resolve_reference(node, names)
        except Unsupported as error:
            raise self._refusal("data-dependent", error.diagnostic.message, node) from None
        variable, members, kind = reference.variable, reference.members, reference.type
        fixed = all(self._fixed_subscript(each, point) is not None for each in reference.subscripts)
        if reference.subscripts and fixed and isinstance(kind, IntegerType):
            return self._element(node, point)
        if reference.subscripts or not isinstance(kind, IntegerType):
            raise self._refusal("data-dependent", "it reads an array or a value that is no integer", node)
        changed = variable in names.written or (variable, members) in names.written_members
        if changed or variable.local:
            raise self._refusal("data-dependent", f"'{'.'.join(members)}' may change in the region", node)
        if not reference.by_pointer:
            return Affine(self._facts.parameters.value(variable, members, node, kind, point.depth), kind)
        reached = point.domain.params() if self._facts.eager else None
        key = variable, members
        value = self._facts.parameters.element(key, node, kind, point, reached, target=reference.target)
        if value is None:
            raise self._refusal("data-dependent", f"the region may not read '{'.'.join(members)}'", node)
        return Affine(value, kind)

    def _unary(self, node: c_ast.UnaryOp, point: ProgramPoint) -> Affine:
        if node.op == "sizeof":
            return self._sizeof(node, point)
        if node.op == "!":
            return self._truth(node, point)
        if node.op == "*":
            return self._element(node, point)
        if node.op not in {"-", "+", "~"}:
            raise self._refusal_of(node)
        operand = self.affine(node.expr, point)
        operand = self.convert(operand, promoted_integer(operand.type), node, point)
        if node.op == "+":
            return operand
        if operand.type.signed:
            operand = self.within_type_range(operand, node, point)
        value = operand.value.neg()
        if node.op == "~":
            value = value.sub(spaces.constant(point.depth, 1))
        return Affine(value, operand.type, pending=not operand.type.signed)

    def _sizeof(self, node: c_ast.UnaryOp, point: ProgramPoint) -> Affine:
        region = self._facts.region
        symbols = {each.name: each.type for each in self._facts.names.variables_in(node.expr)}
        size = size_of(type_of(node.expr, symbols, region.visible), region.visible.scope)
        kind = type_of(node, symbols, region.visible)
        if size is None or not isinstance(kind, IntegerType):
            raise self._refusal("non-affine", "the size of this type is not known here", node)
        return Affine(spaces.constant(point.depth, size), kind)

    def _ternary(self, node: c_ast.TernaryOp, point: ProgramPoint) -> Affine:
        chosen = self.condition(node.cond, point)
        yes_point, no_point = point.within(chosen), point.without(chosen)
        yes, no = self.affine(node.iftrue, yes_point), self.affine(node.iffalse, no_point)
        kind = common_integer(yes.type, no.type, self._facts.region.visible.scope.data_model)
        yes = self.convert(yes, kind, node.iftrue, yes_point)
        no = self.convert(no, kind, node.iffalse, no_point)
        value = yes.value.intersect_domain(chosen).union_add(no.value.subtract_domain(chosen))
        return Affine(value, kind, yes.pending or no.pending)

    def _truth(self, node: c_ast.Node, point: ProgramPoint) -> Affine:
        return Affine(self.condition(node, point).indicator_function(), INT)

    def _binary(self, node: c_ast.BinaryOp, point: ProgramPoint) -> Affine:
        op = node.op
        if op in COMPARISONS or op in _LOGICAL:
            return self._truth(node, point)
        if op in {"+", "-"}:
            left, right, kind = self._operands(node, point, exact=False)
            return Affine(left.add(right) if op == "+" else left.sub(right), kind, not kind.signed)
        if op == "*":
            left, right, kind = self._operands(node, point, exact=False)
            other = self._beside_unit(left, right)
            if other is not None:
                return Affine(other, kind, not kind.signed)
            constant = any(spaces.constant_value(each) is not None for each in (left, right))
            value = None if constant else self._value_on_entry(node, kind, point)
            if value is not None:
                return Affine(value, kind)
            return Affine(self._product(left, right, node), kind, not kind.signed)
        if op in {"/", "%"}:
            return self._division(node, point)
        if op in {"<<", ">>", "&", "^"}:
            return self._bitwise(node, point)
        raise self._refusal("non-affine", f"it uses the operator '{op}'", node)

    def _value_on_entry(
        self, node: c_ast.BinaryOp, kind: IntegerType, point: ProgramPoint
    ) -> isl.PwAff | None:
        """What is computed of variables that keep their values, as ``width * height``: a parameter.

        None of anything else.
        """
        names = self._facts.names
        parts = list(_leaves(node))
        members = [each for each in parts if isinstance(each, c_ast.StructRef)]
        named = [each for each in parts if isinstance(each, c_ast.ID)] + list(map(_owner, members))
        variables = [names.variables.get(each) for each in named]
        kept = all(
            each is not None
            and not (each.local or each in names.written or each in names.demoted)
            and each not in names.iterators.values()
            for each in variables
        )
        simple = all(
            isinstance(each, c_ast.ID | c_ast.Constant | c_ast.StructRef)
            or (isinstance(each, c_ast.BinaryOp) and each.op in OPERATIONS)
            for each in parts
        )
        if not (kept and simple and variables[0]):
            return None
        reached = point.domain.params() if self._facts.eager and self._construct in _EAGER else None
        return self._facts.parameters.computed(node, variables[0], kind, point, reached)

    def _beside_unit(self, left: isl.PwAff, right: isl.PwAff) -> isl.PwAff | None:
        """The factor that a parameter which is 1 multiplies; None if neither is such a parameter."""
        for factor, other in ((left, right), (right, left)):
            depth = factor.dim(isl.dim_type.in_)
            if any(factor.is_equal(spaces.parameter(depth, each)) for each in self._facts.units):
                return other
        return None

    def _product(self, left: isl.PwAff, right: isl.PwAff, node: c_ast.Node) -> isl.PwAff:
        for factor, other in ((left, right), (right, left)):
            number = spaces.constant_value(factor)
            if number is None:
                continue
            if abs(number) > GREATEST // 2 and spaces.constant_value(other) is None:
                raise self._refusal("non-affine", f"a product by {number} hardly stays within 64 bits", node)
            return other.scale_val(value_of(number))
        raise self._refusal("non-affine", "it multiplies two values that are not constant", node)

    def _division(self, node: c_ast.BinaryOp, point: ProgramPoint) -> Affine:
        left, right, kind = self._operands(node, point, exact=True)
        number = spaces.constant_value(right)
        if number == 0:
            raise self._refusal("non-affine", "it divides by zero", node.right)
        if number is None:
            value = self._value_on_entry(node, kind, point)
            if value is not None:
                return Affine(value, kind)
            quotient = self._quotient_by_parameter(left, right, node, point)
            return Affine(quotient if node.op == "/" else remainder(left, right, quotient), kind)
        if number > GREATEST and spaces.constant_value(left) is None:
            return Affine(spaces.constant(point.depth, 0) if node.op == "/" else left, kind)
        size = value_of(abs(number))
        if not kind.signed or self._never_negative(left, point):
            quotient, rest = left.scale_down_val(size).floor(), self._modulo(left, abs(number), point)
        else:
            # C rounds towards zero: one piece for each sign
            divisor = spaces.constant(point.depth, abs(number))
            quotient, rest = left.tdiv_q(divisor), left.tdiv_r(divisor)
        if node.op == "%":
            return Affine(rest, kind)
        return Affine(quotient.neg() if number < 0 else quotient, kind)

    def _quotient_by_parameter(
        self, left: isl.PwAff, right: isl.PwAff, node: c_ast.BinaryOp, point: ProgramPoint
    ) -> isl.PwAff:
        """The quotient by a value without counters, if it is 1, 0 or -1: certainly, or else by violation.

        What is added to the counters may then be a parameter: ``(i + shift) % n``.
        """
        outside = is_far(left, right, floor=False)
        reached = point.domain.intersect_params(self._facts.context())
        if not (outside.is_disjoint(reached) or self._is_shifted(left, right, reached)):
            near = left.sub(right)  # people add the size first where a counter may be negative
            if self._never_negative(left, point) and is_far(near, right, floor=True).is_disjoint(reached):
                quotient = quotient_near_zero(near, right, point.domain, floor=True)
                return quotient.add(spaces.constant(point.depth, 1))
            raise self._refusal("non-affine", "it divides by a value that is not constant", node.right)
        reason = "what is divided by a parameter must be less than twice as large"
        self._violations.append(
            Violation(outside, point.domain, "far-remainder", reason, location(node), "divide by a constant")
        )
        return quotient_near_zero(left, right, point.domain, floor=False)

    def _is_shifted(self, value: isl.PwAff, size: isl.PwAff, reached: isl.Set) -> bool:
        """Whether counters alone are less than two times ``size``, and parameters may stay large."""
        counters = counters_alone(value)
        context = self._facts.context()
        if not all(each.instances.intersect_params(context).is_empty() for each in self._violations):
            return False
        if counters is None or not is_far(counters, size, floor=False).is_disjoint(reached):
            return False
        outside = is_far(value, size, floor=False).intersect(reached)
        return keeps_parameters_small(outside.params(), reached.params()) == 0

    def _modulo(self, value: isl.PwAff, number: int, point: ProgramPoint) -> isl.PwAff:
        """``value`` modulo ``number``, not negative; a choice where the bounds say that it is near."""
        size = spaces.constant(point.depth, number)
        reached = point.domain.intersect_params(self._facts.context())
        for near in (value, value.sub(size)):  # people add the size first where a counter may be negative
            if is_far(near, size, floor=True).is_disjoint(reached):
                return remainder(near, size, quotient_near_zero(near, size, point.domain, floor=True))
        return value.mod_val(value_of(number))

    def _never_negative(self, value: isl.PwAff, point: ProgramPoint) -> bool:
        below = value.neg().pos_set().intersect(point.domain).intersect_params(self._facts.context())
        return bool(below.is_empty())

    def _bitwise(self, node: c_ast.BinaryOp, point: ProgramPoint) -> Affine:
        """Shifts and low bits by constants: floor division and modulus in two's complement."""
        left, right = self.affine(node.left, point), self.affine(node.right, point)
        if node.op == "&":
            return self._masked(node, left, right, point)
        if node.op == "^":
            return self._inverted(node, left, right, point)
        kind = promoted_integer(left.type)
        count = spaces.constant_value(right.value)
        if count is None or not 0 <= count < kind.width:
            raise self._refusal("non-affine", "it shifts by a value that is not constant", node)
        power = spaces.constant(point.depth, 1 << count)
        if node.op == "<<":
            value = self.convert(left, kind, node, point).value
            return Affine(self._product(value, power, node), kind, pending=not kind.signed)
        value = self.within_type_range(left, node, point).value
        if 1 << count > GREATEST and spaces.constant_value(value) is None:
            return Affine(value.neg().pos_set().indicator_function().neg(), kind)
        return Affine(value.scale_down_val(value_of(1 << count)).floor(), kind)

    def _masked(self, node: c_ast.BinaryOp, left: Affine, right: Affine, point: ProgramPoint) -> Affine:
        """``left & right``: the low bits of a value, or all others."""
        if spaces.constant_value(right.value) is None:
            left, right = right, left
        mask = spaces.constant_value(near_zero(right.value, right.type))
        kind = common_integer(left.type, right.type, self._facts.region.visible.scope.data_model)
        rest = mask if mask is None or mask >= 0 else -1 - mask
        narrow = mask is not None and mask < 0 and not right.type.signed and right.type.width < kind.width
        if mask is None or rest is None or rest & (rest + 1) or narrow:
            reason = "it masks with a value not of the form 2^k - 1 or ~(2^k - 1)"
            raise self._refusal("non-affine", reason, node)
        if mask < 0:
            left = self.convert(left, kind, node, point)
        if mask < 0 or mask.bit_length() >= left.type.width:
            left = self.within_type_range(left, node, point)
        if rest + 1 > GREATEST and not self._never_negative(left.value, point):
            raise self._refusal("non-affine", "it drops the sign of a value", node)
        low = left.value if rest + 1 > GREATEST else self._modulo(left.value, rest + 1, point)
        return Affine(left.value.sub(low) if mask < 0 else low, kind)

    def _inverted(self, node: c_ast.BinaryOp, left: Affine, right: Affine, point: ProgramPoint) -> Affine:
        """``left ^ right``: the low bits of a value turned round, as in ``t ^ 1``."""
        if spaces.constant_value(right.value) is None:
            left, right = right, left
        mask = spaces.constant_value(right.value)
        if mask is None or mask < 0 or mask & (mask + 1) or mask >= GREATEST:
            raise self._refusal("non-affine", "it turns round bits other than the lowest ones", node)
        kind = common_integer(left.type, right.type, self._facts.region.visible.scope.data_model)
        value = self.within_type_range(self.convert(left, kind, node, point), node, point).value
        low = self._modulo(value, mask + 1, point)
        return Affine(value.sub(low.scale_val(isl.Val(2))).add(spaces.constant(point.depth, mask)), kind)

    # Conditions

    def condition(self, node: c_ast.Node, point: ProgramPoint, *, negated: bool = False) -> isl.Set:
        """Where in the space of ``point`` the C condition is true (false if ``negated``)."""
        if isinstance(node, c_ast.UnaryOp) and node.op == "!":
            return self.condition(node.expr, point, negated=not negated)
        if isinstance(node, c_ast.BinaryOp) and node.op in _LOGICAL:
            # what stands on the right is evaluated only where the left does not decide
            left = self.condition(node.left, point, negated=negated)
            both = (node.op == "&&") != negated
            rest = point.within(left) if both else point.without(left)
            right = self.condition(node.right, rest, negated=negated)
            return left.intersect(right) if both else left.union(right).coalesce()
        compares = isinstance(node, c_ast.BinaryOp) and not isinstance(node, PointerTest)
        if compares and node.op in COMPARISONS:
            lhs, rhs, _ = self._operands(node, point, exact=True)
            return compared(NEGATED[node.op] if negated else node.op, lhs, rhs)
        value = self.value(node, point)
        return value.zero_set() if negated else value.non_zero_set()

    # Refusals

    def _refusal(self, kind: str, reason: str, node: c_ast.Node) -> Unsupported:
        hints = {
            "data-dependent": "use values that do not change inside the region",
            "non-affine": "use sums of loop counters, parameters and constants",
        }
        return Unsupported(
            f"{kind}-{self._construct}",
            f"the {self._construct} is not affine in loop counters and parameters: {reason}",
            location(node),
            hints[kind],
        )

    def _refusal_of(self, node: c_ast.Node) -> Unsupported:
        if isinstance(node, c_ast.FuncCall):
            return self._refusal("data-dependent", "it calls a function", node)
        if isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
            return self._refusal("data-dependent", "it reads memory that the region may change", node)
        if isinstance(node, c_ast.Assignment | c_ast.UnaryOp | c_ast.ExprList):
            return self._refusal("non-affine", "it has a side effect", node)
        return self._refusal("non-affine", "it is not an arithmetic expression", node)


def divisor_of(quotient: Quotient) -> int:
    """The number that ``quotient`` divides by."""
    value = integer_value(quotient.right.value)
    assert value is not None  # noqa: S101 - it is a number of bytes
    return value


def _leaves(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """``node`` and everything below it, but nothing below members of structures."""
    yield node
    for child in () if isinstance(node, c_ast.StructRef) else node:
        yield from _leaves(child)


def _owner(member: c_ast.StructRef) -> c_ast.Node:
    """The variable that ``member`` is reached from: ``m`` of ``m.size.w`` and of ``m->w``."""
    node: c_ast.Node = member
    while isinstance(node, c_ast.StructRef):
        node = node.name
    return node


def is_affinity_refusal(error: Unsupported) -> bool:
    """Whether ``error`` was raised because an expression is not affine, and not for another defect."""
    return error.diagnostic.code.startswith(("data-dependent-", "non-affine-"))
