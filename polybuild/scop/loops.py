"""``for`` headers: which values a counter takes, and which one it is left with."""

from __future__ import annotations

import dataclasses

import islpy as isl
from pycparser import c_ast

from polybuild.c.conversions import WIDE, limits
from polybuild.c.syntax_tree import location
from polybuild.c.types import IntegerType
from polybuild.diagnostics import Location, Unsupported
from polybuild.normalise.names import Variable, stepped_name
from polybuild.poly import spaces
from polybuild.poly.integers import value_of
from polybuild.scop.assumptions import Violation
from polybuild.scop.expressions import Expressions
from polybuild.scop.facts import Facts
from polybuild.scop.program_point import ProgramPoint
from polybuild.values import dataclass

_HINT = "write the loop as for (i = start; i < end; i += constant)"
_dim = isl.dim_type


@dataclass(frozen=True, slots=True)
class AffineLoop:
    """A loop at a point of ``depth`` loops.

    ``domain`` (space of depth + 1) holds the iterations that run; ``final``
    (space of depth) is the counter's value afterwards, also where none ran.
    ``step`` is the constant increment, never 0. ``start`` (space of depth) is the first value
    where that has remainders and there is a stride, else None.
    """

    counter: Variable
    domain: isl.Set
    step: int
    final: isl.PwAff | None
    start: isl.PwAff | None


def read_loop(
    node: c_ast.For, point: ProgramPoint, facts: Facts, violations: list[Violation], *, want_final: bool
) -> AffineLoop:
    """The loop ``node`` when reached at ``point``; ``final`` is computed on request.

    Raises Unsupported if the header is not one of a loop with a constant step
    and affine bounds.
    """
    counter = facts.names.iterators.get(node)
    if counter is None or node.cond is None:
        raise _header(node, "its header has no counter, start or condition that is understood")
    kind = counter_type(counter, node, point, facts)
    step = constant_step(node, facts, violations)
    start = Expressions(facts, "bound", violations).value(start_of(node), point, kind)

    candidates, first = _candidates(point, start, step)
    inner = point.inside(counter, candidates)
    holds = Expressions(facts, "bound", []).condition(node.cond, inner)
    domain = candidates.intersect(holds)
    stopped = None
    if not _stops_for_good(holds, step):
        stopped = candidates.subtract(holds)
        domain = _before_first_stop(domain, stopped, step)
        endless = point.domain.subtract(_project_innermost(stopped))
        violations.append(_endless(endless, point, node))
        domain = domain.subtract(spaces.deepen_set(endless))

    # the condition is evaluated for the iterations that run and once more
    tested = domain.union(_next(domain, step)).union(candidates.intersect(first))
    condition_violations: list[Violation] = []
    Expressions(facts, "bound", condition_violations).condition(node.cond, point.inside(counter, tested))
    violations.extend(condition_violations)
    violations.extend(_overruns(domain, step, kind, point, node))

    final = None
    if want_final:
        stopped = candidates.subtract(holds) if stopped is None else stopped
        final = first_value(stopped, step)
    strided = abs(step) > 1 and _has_quotients(start)
    return AffineLoop(counter, domain, step, final, start if strided else None)


def _has_quotients(value: isl.PwAff) -> bool:
    """Whether there are quotients or remainders in ``value``."""
    return any(piece.dim(_dim.div) for _, piece in value.get_pieces())


def first_value(values: isl.Set, step: int) -> isl.PwAff:
    """The innermost coordinate of ``values`` met first when counting by ``step``."""
    by_outer = spaces.innermost_map(values)
    chosen = by_outer.lexmin_pw_multi_aff() if step > 0 else by_outer.lexmax_pw_multi_aff()
    return chosen.get_pw_aff(0)


def counter_type(counter: Variable, node: c_ast.For, point: ProgramPoint, facts: Facts) -> IntegerType:
    """The type of the counter of ``node``; raises Unsupported if it is not the header's alone."""
    where = location(node)
    if not isinstance(counter.type, IntegerType) or counter.type.width == 1:
        raise Unsupported("loop-header", f"'{counter.name}' is not an integer", where, _HINT)
    if counter.volatile or counter.address_taken:
        raise Unsupported(
            "iterator-escapes",
            f"the loop counter '{counter.name}' is volatile or its address is taken",
            where,
            "use a variable of its own for the loop",
        )
    if counter in facts.names.written:
        raise Unsupported(
            "iterator-written",
            f"the loop counter '{counter.name}' is also assigned outside its loop's header",
            where,
            "use another variable for that value",
        )
    if counter in point.counters:
        raise Unsupported(
            "iterator-reused",
            f"the loop counts with '{counter.name}', like a loop around it",
            where,
            "use another counter for the inner loop",
        )
    return counter.type


def _header(node: c_ast.For, reason: str) -> Unsupported:
    return Unsupported("loop-header", f"this loop is not understood: {reason}", location(node), _HINT)


def start_of(node: c_ast.For) -> c_ast.Node:
    """The expression that a counter starts from; raises Unsupported if there is none."""
    if isinstance(node.init, c_ast.Assignment):
        return node.init.rvalue
    start = node.init.decls[0].init
    if start is None:
        raise _header(node, "its counter has no start value")
    return start


def constant_step(node: c_ast.For, facts: Facts, violations: list[Violation]) -> int:
    """The constant that each iteration adds to the counter."""
    step = node.next
    if isinstance(step, c_ast.UnaryOp):
        return 1 if "+" in step.op else -1
    sign, amount = amount_of(node)
    if amount is None:
        raise _header(node, "its increment does not add a constant to the counter")
    facts = dataclasses.replace(facts, eager=False)  # what is read here may not be reached
    value = Expressions(facts, "stride", violations).value(
        amount, ProgramPoint(domain=spaces.universe(0)), None
    )
    number = spaces.constant_value(value)
    if number is None:
        raise Unsupported(
            "non-constant-stride",
            "the loop's stride is not a compile-time constant",
            location(step),
            "use a constant stride, or count iterations and compute the value from the counter",
        )
    if number == 0 or abs(number) >= WIDE:
        raise _header(node, f"its increment is {number}")
    return sign * number


def amount_of(node: c_ast.For) -> tuple[int, c_ast.Node | None]:
    """Sign and amount of ``i += c``, ``i -= c``, ``i = i + c``, ``i = c + i`` or ``i = i - c``."""
    step, name = node.next, stepped_name(node)
    if not isinstance(step, c_ast.Assignment):
        return 1, None
    if step.op in {"+=", "-="}:
        return (1 if step.op == "+=" else -1), step.rvalue
    right = step.rvalue
    if step.op == "=" and isinstance(right, c_ast.BinaryOp) and right.op in {"+", "-"}:
        if isinstance(right.left, c_ast.ID) and right.left.name == name:
            return (1 if right.op == "+" else -1), right.right
        if right.op == "+" and isinstance(right.right, c_ast.ID) and right.right.name == name:
            return 1, right.left
    return 1, None


def _candidates(point: ProgramPoint, start: isl.PwAff, step: int) -> tuple[isl.Set, isl.Set]:
    """All values from ``start`` on by ``step``, without an end, and ``start`` alone."""
    value, first = spaces.dimension(point.depth + 1, point.depth), spaces.deepen(start)
    outer = spaces.deepen_set(point.domain)
    from_start = value.ge_set(first) if step > 0 else value.le_set(first)
    candidates = outer.intersect(from_start)
    if abs(step) > 1:
        candidates = candidates.intersect(value.sub(first).mod_val(value_of(abs(step))).zero_set())
    return candidates, value.eq_set(first)


def _stops_for_good(holds: isl.Set, step: int) -> bool:
    """Whether it is plain that the condition becomes false, and stays false from then on.

    So it is if every constraint on the counter bounds it from the side it moves
    to, and each basic set has one.
    """
    position = int(holds.dim(_dim.set)) - 1
    for basic in holds.get_basic_sets():
        bounded = False
        if basic.dim(_dim.div):
            return False
        for constraint in basic.get_constraints():
            coefficient = constraint.get_coefficient_val(_dim.set, position)
            if coefficient.is_zero():
                continue
            if constraint.is_equality() or coefficient.is_pos() == (step > 0):
                return False
            bounded = True
        if not bounded:
            return False
    return True


def _later(depth: int, step: int) -> isl.Map:
    """Relates a value of the innermost dimension to all later ones of the same outer iteration."""
    here = spaces.universe(depth)
    same = isl.Map.identity(here.get_space().map_from_set())
    free = same.drop_constraints_involving_dims(_dim.out, depth - 1, 1)
    if step > 0:
        return free.order_lt(_dim.in_, depth - 1, _dim.out, depth - 1)
    return free.order_gt(_dim.in_, depth - 1, _dim.out, depth - 1)


def _before_first_stop(domain: isl.Set, stopped: isl.Set, step: int) -> isl.Set:
    """Iterations of ``domain`` that no value of ``stopped`` precedes."""
    after = stopped.apply(_later(int(domain.dim(_dim.set)), step))
    return domain.subtract(after).coalesce()


def _project_innermost(domain: isl.Set) -> isl.Set:
    return domain.project_out(_dim.set, int(domain.dim(_dim.set)) - 1, 1)


def _next(domain: isl.Set, step: int) -> isl.Set:
    """``domain`` moved by ``step`` along its innermost dimension."""
    depth = int(domain.dim(_dim.set))
    shift = isl.MultiAff.identity_on_domain_space(domain.get_space())
    innermost = shift.get_at(depth - 1).add_constant_val(value_of(-step))
    return domain.preimage_multi_aff(shift.set_at(depth - 1, innermost))


def _endless(instances: isl.Set, point: ProgramPoint, node: c_ast.For) -> Violation:
    return Violation(
        instances,
        point.domain,
        "endless-loop",
        "the loop's counter must reach its end",
        location(node),
        "use < or > in the loop's condition",
    )


def _overruns(
    domain: isl.Set, step: int, kind: IntegerType, point: ProgramPoint, node: c_ast.For
) -> list[Violation]:
    """Iterations whose increment leaves the counter's type; C excludes them for ``int`` and ``long``."""
    if kind.signed and kind.width >= 32:
        return []
    low, high = limits(kind)
    bound = high if step > 0 else low
    depth = point.depth + 1
    following = _next(domain, step)
    value = spaces.dimension(depth, depth - 1)
    limit = spaces.constant(depth, bound)
    outside = value.gt_set(limit) if step > 0 else value.lt_set(limit)
    where: Location = location(node)
    return [
        Violation(
            outside,
            following,
            "integer-wrap",
            f"the loop counter must stay within '{kind.name}'",
            where,
            "count with a signed type wide enough for the values after the loop, too",
            wide=abs(bound) >= WIDE - 1,
        )
    ]
