"""What ranks send each other, as C: one loop nest for each exchange names the elements, whoever sends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polybuild.codegen.c.expressions import ADDITIVE, ATOM, Operand, is_number
from polybuild.codegen.c.instances import COUNTER_TYPE
from polybuild.codegen.c.lane_loops import mentions
from polybuild.codegen.c.layout import CodeLine, between, closing, condition, loop, opening
from polybuild.codegen.c.loops import LoopPrinter
from polybuild.codegen.c.nodes import FOR, IF, flat, kind_of
from polybuild.poly.relations import natural_key
from polybuild.scop.model import Array
from polybuild.targets.ranks.model import (
    AROUND,
    END,
    FIRST,
    FROM_END,
    FROM_FIRST,
    TO_END,
    TO_FIRST,
    Exchange,
    ExchangeKind,
    Message,
    Sharing,
)

_INDENT = "  "
_LOWEST, _HIGHEST = "pb_lowest", "pb_highest"
_EXCHANGE = "pb_exchange"
# what is called for neighbours: elements that are only read may be constant
_CALLS = dict.fromkeys((ExchangeKind.DURING, ExchangeKind.AFTER), "polybuild_send")
_Op = isl.ast_expr_op_type
_SET = isl.dim_type.set
_ZERO = Operand("0", ATOM, is_zero=True)


def _block(rank: str, first: str, end: str) -> list[str]:
    """Declarations of the ends of the block of ``rank``."""
    return [
        f"const {COUNTER_TYPE} {name} = polybuild_block({_LOWEST}, {_HIGHEST}, {which});"
        for name, which in ((first, rank), (end, f"{rank} + 1"))
    ]


class RankLoopPrinter(LoopPrinter):
    """Prints the loops of one rank, and what it sends others between them."""

    _sharing: Sharing | None = None

    def of_rank(self, sharing: Sharing) -> RankLoopPrinter:
        """Itself, for the block of a rank that ``sharing`` gives it."""
        self._sharing = sharing
        return self

    def lines(self) -> list[CodeLine]:
        """Declarations of what ranks share, and of the block of this one, and its code."""
        assert self._sharing is not None  # noqa: S101 - who has a rank's loops printed says so
        sharing = self._sharing
        build = isl.AstBuild.from_context(isl.Set.universe(sharing.context.get_space()))
        ends = zip((_LOWEST, _HIGHEST), (sharing.lowest, sharing.highest), strict=True)
        values = ((name, self._expression().text(build.expr_from_pw_aff(value))) for name, value in ends)
        declared = [f"const {COUNTER_TYPE} {name} = {value};" for name, value in values]
        declared += _block("polybuild_rank_here()", FIRST, END)
        return [*map(CodeLine, declared), *super().lines()]

    def _statement(self, node: isl.AstNode, indent: str) -> list[str]:
        """Lines of a statement, or of an exchange."""
        name = node.get_annotation().get_name()
        exchanges = (*self._sharing.exchanges, *self._sharing.notes) if self._sharing else ()
        exchange = next((each for each in exchanges if each.name == name), None)
        if exchange is None:
            return super()._statement(node, indent)
        expression, text = node.user_get_expr(), self._expression().text
        around = [text(expression.op_get_arg(position)) for position in range(1, expression.op_get_n_arg())]
        return self._exchange(exchange, around, indent)

    def _exchange(self, exchange: Exchange, around: Sequence[str], indent: str) -> list[str]:
        """All messages that this rank sends and receives where the loops ``around`` have these values."""
        inner, innermost, before = indent + _INDENT, indent + _INDENT * 2, self._names.enter()
        lines: list[str] = [opening(f"{indent}{{ /* what {exchange.kind.value}: {exchange.text} */")]
        for position, value in enumerate(around):
            name = f"{AROUND}{position}"
            lines.append(f"{inner}const {COUNTER_TYPE} {name} = {value};")
            lines.append(f"{inner}(void)sizeof {name};")
        lines.append(
            f"{inner}struct polybuild_exchange {_EXCHANGE} = {{.kind = POLYBUILD_{exchange.kind.name}}};"
        )
        lines.append(loop(f"{inner}while (polybuild_next(&{_EXCHANGE}))"))
        for who, first, end in (("from", FROM_FIRST, FROM_END), ("to", TO_FIRST, TO_END)):
            lines += [f"{innermost}{each}" for each in _block(f"{_EXCHANGE}.{who}", first, end)]
            lines.append(f"{innermost}(void)sizeof {first}, (void)sizeof {end};")
        endless, finite = _by_bounds(exchange)
        for message in endless:
            first = self._instances.element(message.array, [_ZERO] * len(message.array.extents))
            lines.append(f"{innermost}polybuild_want_all(&{_EXCHANGE}, &{first});")
        if finite.messages:
            lines += self._elements(self._ast_of(finite), finite, innermost)
        self._names.leave(before)
        return [*lines, closing(inner), closing(indent)]

    def _ast_of(self, exchange: Exchange) -> isl.AstNode:
        """Loops over the elements of all messages, each array's along its dimensions."""
        messages = sorted(exchange.messages, key=lambda each: natural_key(each.array.name))
        schedules = [isl.Schedule.from_domain(isl.UnionSet.from_set(each.elements)) for each in messages]
        ordered: Sequence[isl.Schedule] = [
            each.insert_partial_schedule(_dimensions(message.elements)) if message.array.extents else each
            for each, message in zip(schedules, messages, strict=True)
        ]
        whole = ordered[0]
        for each in ordered[1:]:
            whole = whole.sequence(each)
        assert self._sharing is not None  # noqa: S101 - it has exchanges
        return isl.AstBuild.from_context(self._sharing.context).node_from_schedule(whole)

    def _elements(self, node: isl.AstNode, exchange: Exchange, indent: str) -> list[str]:
        kind = kind_of(node)
        if kind == FOR:
            return self._run_of(node, exchange, indent)
        if kind == IF:
            lines: list[str] = [condition(f"{indent}if ({self._expression().text(node.if_get_cond())})")]
            lines += self._elements(node.if_get_then_node(), exchange, indent + _INDENT)
            if node.if_has_else_node():
                lines += [
                    between(indent),
                    *self._elements(node.if_get_else_node(), exchange, indent + _INDENT),
                ]
            return [*lines, closing(indent)]
        if kind == isl.ast_node_type.block:
            return [line for each in flat(node) for line in self._elements(each, exchange, indent)]
        return self._run(node.user_get_expr(), exchange, "1", indent)

    def _run_of(self, node: isl.AstNode, exchange: Exchange, indent: str) -> list[str]:
        """A loop over elements; one along a row is a single run of neighbours."""
        identifier, text = node.for_get_iterator().id_get_id().get_name(), self._expression().text
        counter, outer, inner = self._names.fresh(identifier), self._names.get(identifier), indent + _INDENT
        first, body = text(node.for_get_init()), node.for_get_body()
        self._names[identifier] = counter
        start = f"{inner}const {COUNTER_TYPE} {counter} = {first};"
        lines: list[str]
        if node.for_is_degenerate():
            lines = [opening(f"{indent}{{"), start, *self._elements(body, exchange, inner)]
        elif _is_row(node, identifier) and _has_neighbours(_array_of(body.user_get_expr(), exchange)):
            test = node.for_get_cond()
            more = " + 1" if _Op(test.op_get_type()) == _Op.le else ""
            count = f"{text(test.op_get_arg(1), ADDITIVE)} - {counter}{more}"
            run = self._run(body.user_get_expr(), exchange, count, inner + _INDENT)
            head = condition(f"{inner}if ({text(test)})")
            lines = [opening(f"{indent}{{"), start, head, *run, closing(inner)]
        else:
            going = f"{text(node.for_get_cond())}; {counter} += {text(node.for_get_inc())}"
            head = loop(f"{indent}for ({COUNTER_TYPE} {counter} = {first}; {going})")
            lines = [head, *self._elements(body, exchange, inner)]
        self._names.restore(identifier, outer)
        return [*lines, closing(indent)]

    def _run(self, user: isl.AstExpr, exchange: Exchange, count: str, indent: str) -> list[str]:
        """``count`` neighbours from one element on."""
        array = _array_of(user, exchange)
        text = self._instances.element(array, self._expression().subscripts(user))
        called = _CALLS.get(exchange.kind, "polybuild_touched")
        return [f"{indent}{called}(&{_EXCHANGE}, &{text}, sizeof {text}, {count});"]


def _array_of(user: isl.AstExpr, exchange: Exchange) -> Array:
    """The array of an element."""
    name = user.op_get_arg(0).id_get_id().get_name()
    return next(each.array for each in exchange.messages if each.array.name == name)


def _has_neighbours(array: Array) -> bool:
    """Whether elements that differ by one in the last subscript lie side by side: not members of structs."""
    return not (array.suffixes and array.suffixes[-1])


def _by_bounds(exchange: Exchange) -> tuple[list[Message], Exchange]:
    """The messages of arrays of which any element may be read, wherever it is, and the others."""
    if exchange.kind is not ExchangeKind.BEFORE:
        return [], exchange
    endless = [each for each in exchange.messages if not _is_bounded(each.elements)]
    others = tuple(each for each in exchange.messages if each not in endless)
    return endless, replace(exchange, messages=others)


def _is_bounded(elements: isl.Set) -> bool:
    return all(
        elements.dim_has_lower_bound(_SET, each) and elements.dim_has_upper_bound(_SET, each)
        for each in range(elements.dim(_SET))
    )


def _is_row(node: isl.AstNode, identifier: str) -> bool:
    """Whether the loop ``node`` goes along the last dimension of one array, from neighbour to neighbour."""
    body, test = node.for_get_body(), node.for_get_cond()
    if kind_of(body) != isl.ast_node_type.user or not is_number(node.for_get_inc(), 1):
        return False
    user = body.user_get_expr()
    *outer, last = map(user.op_get_arg, range(1, user.op_get_n_arg()))
    if any(mentions(each, identifier) for each in outer) or not _is(last, identifier):
        return False
    return _Op(test.op_get_type()) in {_Op.le, _Op.lt} and _is(test.op_get_arg(0), identifier)


def _is(expression: isl.AstExpr, identifier: str) -> bool:
    plain = isl.ast_expr_type(expression.get_type()) == isl.ast_expr_type.id
    return bool(plain and expression.id_get_id().get_name() == identifier)


def _dimensions(elements: isl.Set) -> isl.MultiUnionPwAff:
    """A schedule of elements along their dimensions, in the order in which they lie in memory."""
    identity = isl.Map.identity(elements.get_space().map_from_set()).reset_tuple_id(isl.dim_type.out)
    return isl.MultiUnionPwAff.from_union_map(isl.UnionMap.from_map(identity.intersect_domain(elements)))
