"""The AST that isl generates, read back as sets: values of counters and the instances that run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import islpy as isl

from polybuild.codegen.c.nodes import FOR, IF, identifier_of, kind_of, parts
from polybuild.poly import spaces
from polybuild.schedule.legality import IllegalSchedule
from polybuild.values import dataclass

_Op = isl.ast_expr_op_type
_set, _param = isl.dim_type.set, isl.dim_type.param
_AND = {getattr(_Op, "and_"), _Op.and_then}  # noqa: B009 - likewise
_OR = {getattr(_Op, "or_"), _Op.or_else}  # noqa: B009 - likewise

_COMPARISONS: Mapping[isl.ast_expr_op_type, Callable[[isl.PwAff, isl.PwAff], isl.Set]] = {
    _Op.eq: isl.PwAff.eq_set,
    _Op.le: isl.PwAff.le_set,
    _Op.lt: isl.PwAff.lt_set,
    _Op.ge: isl.PwAff.ge_set,
    _Op.gt: isl.PwAff.gt_set,
}
# what a comparison says of each argument, where one of its sides is the maximum or minimum of several
_ALL_OF: Mapping[isl.ast_expr_op_type, tuple[isl.ast_expr_op_type, isl.ast_expr_op_type]] = {
    _Op.le: (_Op.max, _Op.min),
    _Op.lt: (_Op.max, _Op.min),
    _Op.ge: (_Op.min, _Op.max),
    _Op.gt: (_Op.min, _Op.max),
}
_FOLDS: Mapping[isl.ast_expr_op_type, Callable[[isl.PwAff, isl.PwAff], isl.PwAff]] = {
    _Op.add: isl.PwAff.add,
    _Op.sub: isl.PwAff.sub,
    _Op.mul: isl.PwAff.mul,
    _Op.min: isl.PwAff.min,
    _Op.max: isl.PwAff.max,
}


@dataclass(frozen=True, slots=True)
class CounterValues:
    """The counters of the loops around a node, and the values they have there as ``{ [c0, ...] }``."""

    counters: tuple[str, ...]
    values: isl.Set

    def within(self, condition: isl.Set) -> CounterValues:
        """The same where ``condition`` holds."""
        return CounterValues(self.counters, self.values.intersect(condition))


class AstReader:
    """Collects the instances that run; ``run`` has a set for each statement.

    Expressions are read as C evaluates them. What cannot be raises IllegalSchedule.
    """

    def __init__(self, run: dict[str, isl.Set]) -> None:
        self.run = run

    def node(self, node: isl.AstNode, around: CounterValues) -> None:
        """Add what runs at ``node``."""
        kind = kind_of(node)
        if kind == FOR:
            self.node(node.for_get_body(), self.loop(node, around))
        elif kind == IF:
            condition = self.condition(node.if_get_cond(), around)
            self.node(node.if_get_then_node(), around.within(condition))
            if node.if_has_else_node():
                self.node(node.if_get_else_node(), around.within(condition.complement()))
        elif kind == isl.ast_node_type.user:
            self._statement(node.user_get_expr(), around)
        else:
            for each in parts(node):
                self.node(each, around)

    def loop(self, node: isl.AstNode, around: CounterValues) -> CounterValues:
        """The values inside a loop."""
        depth = len(around.counters)
        init = node.for_get_init()
        name = identifier_of(node)
        inner = CounterValues((*around.counters, name), around.values.add_dims(_set, 1))
        counter = _dimension(inner.values.get_space(), depth)
        if node.for_is_degenerate():
            first = self._value(init, around).add_dims(isl.dim_type.in_, 1)
            return inner.within(counter.eq_set(first))
        step = self._value(node.for_get_inc(), around).max_val()
        for each in _arguments(init, _Op.max):
            inner = inner.within(counter.ge_set(self._value(each, around).add_dims(isl.dim_type.in_, 1)))
        if not step.is_one():
            first = self._first(init, step, around).add_dims(isl.dim_type.in_, 1)
            inner = inner.within(counter.sub(first).mod_val(step).zero_set())
        return inner.within(self.condition(node.for_get_cond(), inner))

    def _first(self, init: isl.AstExpr, step: isl.Val, around: CounterValues) -> isl.PwAff:
        """A value that is a multiple of ``step`` away from the first one of a loop.

        Of a maximum that is any argument where all of them are such: the maximum itself has as many
        pieces as orders that the arguments may have.
        """
        values = [self._value(each, around) for each in _arguments(init, _Op.max)]
        if len(values) > 1:
            distances = (each.sub(values[0]).mod_val(step).non_zero_set() for each in values[1:])
            if not all(each.is_disjoint(around.values) for each in distances):
                return self._value(init, around)
        return values[0]

    def _statement(self, call: isl.AstExpr, around: CounterValues) -> None:
        name = call.op_get_arg(0).id_get_id().get_name()
        if name not in self.run:  # a copy statement
            return
        instance = isl.Map.from_domain(around.values)
        for position in range(1, call.op_get_n_arg()):
            value = self._value(call.op_get_arg(position), around)
            instance = instance.flat_range_product(isl.Map.from_pw_aff(value))
        instance = instance.intersect_domain(around.values)
        if not instance.is_injective():
            raise IllegalSchedule(f"the generated loops repeat an instance of {name}")
        found = instance.range()
        before = self.run[name]
        found = found.set_tuple_name(name)
        if not found.is_disjoint(before):
            raise IllegalSchedule(f"the generated loops run an instance of {name} twice")
        self.run[name] = before.union(found)

    # Expressions, as C evaluates them

    def _value(self, node: isl.AstExpr, around: CounterValues) -> isl.PwAff:
        kind = isl.ast_expr_type(node.get_type())
        space = around.values.get_space()
        if kind == isl.ast_expr_type.int:
            return isl.PwAff.val_on_domain(isl.Set.universe(space), node.int_get_val())
        if kind == isl.ast_expr_type.id:
            return self._name(node.id_get_id().get_name(), around)
        op = _Op(node.op_get_type())
        arguments = [node.op_get_arg(index) for index in range(node.op_get_n_arg())]
        if op in {_Op.cond, _Op.select}:
            chosen = self.condition(arguments[0], around)
            yes = self._value(arguments[1], around.within(chosen)).intersect_domain(chosen)
            no = self._value(arguments[2], around.within(chosen.complement())).subtract_domain(chosen)
            return yes.union_add(no)
        values = [self._value(each, around) for each in arguments]
        if op in _FOLDS:
            return functools.reduce(_FOLDS[op], values)
        if op == _Op.minus:
            return values[0].neg()
        return self._division(op, values, around)

    def _division(
        self, op: isl.ast_expr_op_type, values: list[isl.PwAff], around: CounterValues
    ) -> isl.PwAff:
        dividend, divisor = values[0], values[1].max_val()
        if op in {_Op.pdiv_q, _Op.pdiv_r}:
            negative = dividend.neg().pos_set().intersect(around.values)
            if not negative.is_empty():
                raise IllegalSchedule("the generated loops divide a negative value")
        if op in {_Op.pdiv_r, _Op.zdiv_r}:
            return dividend.mod_val(divisor)
        if op in {_Op.pdiv_q, _Op.fdiv_q, _Op.div}:
            return dividend.scale_down_val(divisor).floor()
        raise IllegalSchedule(f"the operation {op} of the generated loops is not understood")

    def condition(self, node: isl.AstExpr, around: CounterValues) -> isl.Set:
        """Where an expression is true, within ``around``."""
        if isl.ast_expr_type(node.get_type()) == isl.ast_expr_type.op:
            op = _Op(node.op_get_type())
            arguments = [node.op_get_arg(index) for index in range(node.op_get_n_arg())]
            if op in _COMPARISONS:
                return self._comparison(op, arguments, around)
            if op in _AND:
                left = self.condition(arguments[0], around)
                return left.intersect(self.condition(arguments[1], around.within(left)))
            if op in _OR:
                left = self.condition(arguments[0], around)
                return left.union(self.condition(arguments[1], around.within(left.complement())))
        return self._value(node, around).non_zero_set()

    def _comparison(
        self, op: isl.ast_expr_op_type, arguments: list[isl.AstExpr], around: CounterValues
    ) -> isl.Set:
        """Where a comparison holds: of a maximum or minimum, where it does of each argument."""
        folds = _ALL_OF.get(op, (None, None))
        sides = [_arguments(each, fold) for each, fold in zip(arguments, folds, strict=True)]
        left, right = ([self._value(each, around) for each in side] for side in sides)
        holds = [_COMPARISONS[op](one, other) for one in left for other in right]
        return functools.reduce(isl.Set.intersect, holds)

    @staticmethod
    def _name(name: str, around: CounterValues) -> isl.PwAff:
        space = around.values.get_space()
        if name in around.counters:
            return _dimension(space, around.counters.index(name))
        return isl.PwAff.param_on_domain_id(isl.Set.universe(space), spaces.identifier(name))


def _arguments(node: isl.AstExpr, fold: isl.ast_expr_op_type | None) -> list[isl.AstExpr]:
    """What ``node`` is the ``fold`` of, a maximum or minimum, at any depth; ``node`` itself if it is none."""
    if isl.ast_expr_type(node.get_type()) != isl.ast_expr_type.op or _Op(node.op_get_type()) != fold:
        return [node]
    inside = (node.op_get_arg(index) for index in range(node.op_get_n_arg()))
    return [argument for each in inside for argument in _arguments(each, fold)]


def _dimension(space: isl.Space, position: int) -> isl.PwAff:
    return isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), _set, position)
