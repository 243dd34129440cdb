"""The proof that generated loops run every instance once: isl's AST read back as sets.

The AST is isl's word for what the schedule says, and where strides meet divisions it
has been wrong. So each loop and condition is turned into constraints again, as C will
evaluate them, and what its statements then run is compared with their domains. Where
no domain has integer divisions this is not worth its time, which may be long.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import islpy as isl

from polybuild.codegen.c.nodes import FOR, IF, kind_of, parts
from polybuild.schedule.legality import IllegalSchedule
from polybuild.scop.model import Scop

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
_FOLDS: Mapping[isl.ast_expr_op_type, Callable[[isl.PwAff, isl.PwAff], isl.PwAff]] = {
    _Op.add: isl.PwAff.add,
    _Op.sub: isl.PwAff.sub,
    _Op.mul: isl.PwAff.mul,
    _Op.min: isl.PwAff.min,
    _Op.max: isl.PwAff.max,
}


def check_coverage(root: isl.AstNode, scop: Scop) -> None:
    """Raise IllegalSchedule unless the AST at ``root`` runs each instance of ``scop`` exactly once."""
    space = scop.context.get_space().add_unnamed_tuple_ui(0)
    start = isl.Set.universe(space).intersect_params(scop.context)
    reader = AstReader({each.name: isl.Set.empty(each.domain.get_space()) for each in scop.statements})
    reader.node(root, Place((), start))
    for statement in scop.statements:
        missed = statement.domain.intersect_params(scop.context).subtract(reader.run[statement.name])
        if not missed.is_empty():
            raise IllegalSchedule(f"the generated loops leave out instances of {statement.name}")
        extra = reader.run[statement.name].subtract(statement.domain)
        if not extra.is_empty():
            raise IllegalSchedule(f"the generated loops add instances of {statement.name}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the walk stands: the counters around, and their values as ``{ [c0, ...] }``."""

    counters: tuple[str, ...]
    values: isl.Set

    def within(self, condition: isl.Set) -> Place:
        """The same where ``condition`` holds."""
        return Place(self.counters, self.values.intersect(condition))


class AstReader:
    """Collects the instances that run; ``run`` has a set for each statement."""

    def __init__(self, run: dict[str, isl.Set]) -> None:
        self.run = run

    def node(self, node: isl.AstNode, place: Place) -> None:
        """Add what runs at ``node``."""
        kind = kind_of(node)
        if kind == FOR:
            self.node(node.for_get_body(), self.loop(node, place))
        elif kind == IF:
            condition = self.condition(node.if_get_cond(), place)
            self.node(node.if_get_then_node(), place.within(condition))
            if node.if_has_else_node():
                self.node(node.if_get_else_node(), place.within(condition.complement()))
        elif kind == isl.ast_node_type.user:
            self._statement(node.user_get_expr(), place)
        else:
            for each in parts(node):
                self.node(each, place)

    def loop(self, node: isl.AstNode, place: Place) -> Place:
        """The place inside a loop."""
        depth = len(place.counters)
        first = self._value(node.for_get_init(), place).add_dims(isl.dim_type.in_, 1)
        name = node.for_get_iterator().id_get_id().get_name()
        inner = Place((*place.counters, name), place.values.add_dims(_set, 1))
        counter = _dimension(inner.values.get_space(), depth)
        if node.for_is_degenerate():
            return inner.within(counter.eq_set(first))
        step = self._value(node.for_get_inc(), place).max_val()
        inner = inner.within(counter.ge_set(first))
        if not step.is_one():
            inner = inner.within(counter.sub(first).mod_val(step).zero_set())
        return inner.within(self.condition(node.for_get_cond(), inner))

    def _statement(self, call: isl.AstExpr, place: Place) -> None:
        name = call.op_get_arg(0).id_get_id().get_name()
        if name not in self.run:  # a copy statement
            return
        instance = isl.Map.from_domain(place.values)
        for position in range(1, call.op_get_n_arg()):
            value = self._value(call.op_get_arg(position), place)
            instance = instance.flat_range_product(isl.Map.from_pw_aff(value))
        instance = instance.intersect_domain(place.values)
        if not instance.is_injective():
            raise IllegalSchedule(f"the generated loops repeat an instance of {name}")
        found = instance.range()
        known = self.run[name]
        found = found.set_tuple_name(name)
        if not found.is_disjoint(known):
            raise IllegalSchedule(f"the generated loops run an instance of {name} twice")
        self.run[name] = known.union(found)

    # Expressions, as C evaluates them

    def _value(self, node: isl.AstExpr, place: Place) -> isl.PwAff:
        kind = isl.ast_expr_type(node.get_type())
        space = place.values.get_space()
        if kind == isl.ast_expr_type.int:
            return isl.PwAff.val_on_domain(isl.Set.universe(space), node.int_get_val())
        if kind == isl.ast_expr_type.id:
            return self._name(node.id_get_id().get_name(), place)
        op = _Op(node.op_get_type())
        arguments = [node.op_get_arg(index) for index in range(node.op_get_n_arg())]
        if op in {_Op.cond, _Op.select}:
            chosen = self.condition(arguments[0], place)
            yes = self._value(arguments[1], place.within(chosen)).intersect_domain(chosen)
            no = self._value(arguments[2], place.within(chosen.complement())).subtract_domain(chosen)
            return yes.union_add(no)
        values = [self._value(each, place) for each in arguments]
        if op in _FOLDS:
            return functools.reduce(_FOLDS[op], values)
        if op == _Op.minus:
            return values[0].neg()
        return self._division(op, values, place)

    def _division(self, op: isl.ast_expr_op_type, values: list[isl.PwAff], place: Place) -> isl.PwAff:
        dividend, divisor = values[0], values[1].max_val()
        if op in {_Op.pdiv_q, _Op.pdiv_r}:
            negative = dividend.neg().pos_set().intersect(place.values)
            if not negative.is_empty():
                raise IllegalSchedule("the generated loops divide a negative value")
        if op in {_Op.pdiv_r, _Op.zdiv_r}:
            return dividend.mod_val(divisor)
        if op in {_Op.pdiv_q, _Op.fdiv_q, _Op.div}:
            return dividend.scale_down_val(divisor).floor()
        raise IllegalSchedule(f"the operation {op} of the generated loops is not understood")

    def condition(self, node: isl.AstExpr, place: Place) -> isl.Set:
        """Where an expression is true, within ``place``."""
        if isl.ast_expr_type(node.get_type()) == isl.ast_expr_type.op:
            op = _Op(node.op_get_type())
            arguments = [node.op_get_arg(index) for index in range(node.op_get_n_arg())]
            if op in _COMPARISONS:
                return _COMPARISONS[op](self._value(arguments[0], place), self._value(arguments[1], place))
            if op in _AND:
                left = self.condition(arguments[0], place)
                return left.intersect(self.condition(arguments[1], place.within(left)))
            if op in _OR:
                left = self.condition(arguments[0], place)
                return left.union(self.condition(arguments[1], place.within(left.complement())))
        return self._value(node, place).non_zero_set()

    @staticmethod
    def _name(name: str, place: Place) -> isl.PwAff:
        space = place.values.get_space()
        if name in place.counters:
            return _dimension(space, place.counters.index(name))
        position = space.find_dim_by_name(_param, name)
        return isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), _param, position)


def _dimension(space: isl.Space, position: int) -> isl.PwAff:
    return isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), _set, position)
