"""What ranks send each other, as C: one loop nest for each exchange names the elements, whoever sends."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from polybuild.codegen.c.element_loops import ElementLoopPrinter, PointPrinter
from polybuild.codegen.c.expressions import ATOM, Operand
from polybuild.codegen.c.instances import COUNTER_TYPE
from polybuild.codegen.c.layout import CodeLine, closing, condition, indented, laid_out, loop, opening
from polybuild.codegen.c.loops import LoopPrinter
from polybuild.codegen.c.rank_reductions import Combination, IdentityElements
from polybuild.codegen.device.model import BlockTexts
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.relations import natural_key
from polybuild.scop.model import Array
from polybuild.targets.ranks.model import (
    AROUND,
    END,
    FIRST,
    FROM_END,
    FROM_FIRST,
    HOME,
    TO_END,
    TO_FIRST,
    Exchange,
    ExchangeKind,
    Message,
    RankReduction,
    Sharing,
)
from polybuild.values import dataclass

_INDENT = "  "
_LOWEST, _HIGHEST = "pb_lowest", "pb_highest"
_EXCHANGE = "pb_exchange"
# what is called for neighbours: elements that are only read may be constant
_CALLS = dict.fromkeys((ExchangeKind.DURING, ExchangeKind.AFTER), "polybuild_send")
_SET = isl.dim_type.set
_ZERO = Operand("0", ATOM, is_zero=True)


def _block(sharing: Sharing, rank: str, first: str, end: str) -> list[str]:
    """Declarations of the ends of the block of ``rank``."""
    called = "polybuild_even_block" if sharing.work else "polybuild_block"
    return [
        f"const {COUNTER_TYPE} {name} = {called}({_LOWEST}, {_HIGHEST}, {which});"
        for name, which in ((first, rank), (end, f"{rank} + 1"))
    ]


class RankLoopPrinter(LoopPrinter):
    """Prints the loops of one rank, and what it sends others between them."""

    _sharing: Sharing | None = None
    _on_device: BlockTexts | None = None

    def of_rank(self, sharing: Sharing, blocks: BlockTexts | None = None) -> RankLoopPrinter:
        """Itself, for the block of a rank that ``sharing`` gives it, and its device's ``blocks``."""
        self._sharing, self._on_device = sharing, blocks
        return self

    def lines(self) -> list[CodeLine]:
        """Declarations of what ranks share, and of the block of this one, and its code."""
        assert self._sharing is not None  # noqa: S101 - who has a rank's loops printed says so
        sharing = self._sharing
        build = isl.AstBuild.from_context(isl.Set.universe(sharing.context.get_space()))
        ends = zip((_LOWEST, _HIGHEST), (sharing.lowest, sharing.highest), strict=True)
        values = ((name, self._expression().text(build.expr_from_pw_aff(value))) for name, value in ends)
        declared = [f"const {COUNTER_TYPE} {name} = {value};" for name, value in values]
        own = _block(sharing, "polybuild_rank_here()", FIRST, END)
        own += [_declaration(each) for each in sharing.exchanges if each.overlaps]
        own += ["int pb_done = 0, pb_home = 0;", *self._on_device.enter] if self._on_device else []
        return [*map(CodeLine, declared), *self._weighing(sharing), *map(CodeLine, own), *super().lines()]

    def _weighing(self, sharing: Sharing) -> list[CodeLine]:
        """What counts the instances of each value, where blocks of equally many have different work."""
        if not sharing.work:
            return []
        before, build = self._names.enter(), isl.AstBuild.from_context(sharing.context)
        lines: list[str] = [loop(f"while (polybuild_weighs({_LOWEST}, {_HIGHEST}))")]
        for number, each in enumerate(sharing.work):
            times = [self._expression().text(build.expr_from_pw_aff(one)) for one in each.times]
            factors = [str(each.number)] * (each.number > 1) + [f"({one})" for one in times]
            leaf = Weights(tuple(factors), lambda value: self._expression().text(value))
            lines += self._loops_over([each.points.set_tuple_name(f"work{number}")], leaf, _INDENT)
        self._names.leave(before)
        return laid_out([*lines, closing("")])

    def _statement(self, node: isl.AstNode, indent: str) -> list[str]:
        """Lines of a statement, or of what all ranks do together, or of what a device does."""
        name = node.get_annotation().get_name()
        written = self._of_device(name, indent + _INDENT) or self._together(name, indent + _INDENT)
        if written is not None and not written[1]:
            return []
        if written is None:
            return super()._statement(node, indent)
        told, lines = written
        expression, text = node.user_get_expr(), self._expression().text
        around = [text(expression.op_get_arg(position)) for position in range(1, expression.op_get_n_arg())]
        declared: list[str] = [opening(f"{indent}{{ /* {told} */")]
        for position, value in enumerate(around):
            declared.append(f"{indent}{_INDENT}const {COUNTER_TYPE} {AROUND}{position} = {value};")
            declared.append(f"{indent}{_INDENT}(void)sizeof {AROUND}{position};")
        return [*declared, *lines, closing(indent)]

    def _of_device(self, name: str, indent: str) -> tuple[str, list[str]] | None:
        """What the device of a rank does at the point ``name``, for people and as C: nothing without kernels.

        None for other points.
        """
        if self._sharing is None:
            return None
        known = {each.name: each.arrays for each in self._sharing.host_work}
        if name not in {HOME, *known, *(each.name for each in self._sharing.blocks)}:
            return None
        if self._on_device is None:
            return "", []
        if name in known:
            return "for the host", self._brought_home(known[name], indent)
        if name == HOME:
            return "what a device had", [f"{indent}{line}" for line in self._on_device.leave]
        device = self._on_device.texts[name]
        lines = indented(device.lines, indent + _INDENT)
        if device.condition:
            lines = [condition(f"{indent}if ({device.condition})"), *lines, closing(indent)]
        return "on a device", [f"{indent}pb_done = pb_home = 0;", *lines]

    def _brought_home(self, arrays: Collection[Array], indent: str) -> list[str]:
        """What makes ``arrays`` current on the host, which may write them; no lines without kernels."""
        if self._on_device is None:
            return []
        if not all(each.is_scalar for each in arrays):
            name = self._on_device.name
            return [f"{indent}polybuild_host_begin(&{name}, 0);", f"{indent}polybuild_host_end(&{name});"]
        texts = [self._instances.element(each, []) for each in arrays]
        calls = ("polybuild_update_host", "polybuild_update_device")
        return [f"{indent}{called}(&{text});" for text in texts for called in calls]

    def _mark(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        """As for the host; what a device did is left out."""
        mark = Mark.of_id(node.mark_get_id())
        blocks = self._on_device
        if blocks is None or mark.kind is not MarkKind.RANKS or mark.index not in blocks.hosts:
            return super()._mark(node, indent, before)
        inner = indent + _INDENT
        return [
            condition(f"{indent}if (!pb_done)"),
            f"{inner}{blocks.begin_host}",
            *super()._mark(node, inner, before),
            f"{inner}{blocks.end_host}",
            closing(indent),
        ]

    def _together(self, name: str, indent: str) -> tuple[str, list[str]] | None:
        """What all ranks do at the point ``name`` of the tree, for people and as C; None for a statement."""
        if self._sharing is None:
            return None
        before = self._names.enter()
        try:
            for each in (*self._sharing.exchanges, *self._sharing.notes):
                if each.name == name:
                    return f"what {each.kind.value}: {each.text}", self._exchange(each, indent)
                if each.overlaps and each.start == name:
                    return f"what {each.kind.value}, on its way: {each.text}", self._exchange(each, indent)
            for one in self._sharing.reductions:
                if one.start == name:
                    return f"the other ranks' parts of {one.text}", self._start(one, indent)
                if one.name == name:
                    return f"the parts of all ranks: {one.text}", self._combination(one, indent)
        finally:
            self._names.leave(before)
        return None

    def _exchange(self, exchange: Exchange, indent: str) -> list[str]:
        """All messages that this rank sends and receives at one point."""
        assert self._sharing is not None  # noqa: S101 - it is one of its exchanges
        inner, elements, name = indent + _INDENT, self._element, _variable(exchange)
        declared = [] if exchange.overlaps else [f"{indent}{_declaration(exchange)}"]
        lines = [*declared, loop(f"{indent}while (polybuild_next(&{name}))")]
        for who, first, end in (("from", FROM_FIRST, FROM_END), ("to", TO_FIRST, TO_END)):
            lines += [f"{inner}{each}" for each in _block(self._sharing, f"{name}.{who}", first, end)]
            lines.append(f"{inner}(void)sizeof {first}, (void)sizeof {end};")
        endless, finite = _by_bounds(exchange)
        for message in endless:
            first = self._instances.element(message.array, [_ZERO] * len(message.array.extents))
            lines.append(f"{inner}polybuild_want_all(&{name}, &{first});")
        if finite.messages:
            messages = sorted(finite.messages, key=lambda each: natural_key(each.array.name))
            arrays = {each.array.name: each.array for each in messages}
            leaf = _Runs(_CALLS.get(exchange.kind, "polybuild_touched"), name, arrays, elements)
            lines += self._loops_over([each.elements for each in messages], leaf, inner)
        return [*lines, closing(indent)]

    def _start(self, reduction: RankReduction, indent: str) -> list[str]:
        """What ranks but the first accumulate on."""
        home = self._brought_home([each.array for each in reduction.accumulations], indent)
        lines: list[str] = [*home, condition(f"{indent}if (polybuild_rank_here() > 0)")]
        for each in reduction.accumulations:
            if each.identity:
                text = partial(self._element, each.array)
                lines += self._loops_over([each.elements], IdentityElements(each, text), indent + _INDENT)
        return [*lines, closing(indent)]

    def _combination(self, reduction: RankReduction, indent: str) -> list[str]:
        """What each rank makes of the parts of all."""
        lines = [
            *self._brought_home([each.array for each in reduction.accumulations], indent),
            f"{indent}struct polybuild_exchange {_EXCHANGE} = {{.kind = POLYBUILD_PARTS}};",
            loop(f"{indent}while (polybuild_next(&{_EXCHANGE}))"),
        ]
        for each in reduction.accumulations:
            text = partial(self._element, each.array)
            leaf = Combination(each, text, _EXCHANGE)
            lines += self._loops_over([each.elements], leaf, indent + _INDENT)
        return [*lines, closing(indent)]

    def _element(self, array: Array, user: isl.AstExpr) -> str:
        """The C text of the element of ``array`` that isl's call ``user`` names."""
        return self._instances.element(array, self._expression().subscripts(user))

    def _loops_over(self, sets: Sequence[isl.Set], leaf: PointPrinter, indent: str) -> list[str]:
        assert self._sharing is not None  # noqa: S101 - it has exchanges
        return ElementLoopPrinter(self._names, self._expression).lines(
            sets, self._sharing.context, leaf, indent
        )


def _variable(exchange: Exchange) -> str:
    """The name of what the runtime keeps of an exchange: that of one that overlaps outlives a block."""
    return f"pb_{exchange.name}" if exchange.overlaps else _EXCHANGE


def _declaration(exchange: Exchange) -> str:
    kind = f".kind = POLYBUILD_{exchange.kind.name}" + (", .pauses = 1" if exchange.overlaps else "")
    return f"struct polybuild_exchange {_variable(exchange)} = {{{kind}}};"


@dataclass(frozen=True, slots=True)
class _Runs:
    """Calls the function for neighbours in memory, of the arrays of an exchange."""

    called: str
    exchange: str
    arrays: Mapping[str, Array]
    element: Callable[[Array, isl.AstExpr], str]

    def takes_rows(self, user: isl.AstExpr) -> bool:
        """Whether elements that differ by one in the last subscript lie side by side: no members."""
        suffixes = self.arrays[_name(user)].suffixes
        return not (suffixes and suffixes[-1])

    def lines(self, user: isl.AstExpr, count: str, indent: str) -> list[str]:
        """``count`` neighbours from one element on."""
        text = self.element(self.arrays[_name(user)], user)
        return [f"{indent}{self.called}(&{self.exchange}, &{text}, sizeof {text}, {count});"]


@dataclass(frozen=True, slots=True)
class Weights:
    """Counts points of each value, which is their first coordinate; each is the product of ``factors``."""

    factors: tuple[str, ...]
    text: Callable[[isl.AstExpr], str]

    def takes_rows(self, user: isl.AstExpr) -> bool:
        """Whether points that follow each other have the same value."""
        return user.op_get_n_arg() > _VALUE + 1

    def lines(self, user: isl.AstExpr, count: str, indent: str) -> list[str]:
        """``count`` points of one value."""
        product = " * ".join([f"({count})", *self.factors])
        return [f"{indent}polybuild_weigh({self.text(user.op_get_arg(_VALUE))}, {product});"]


_VALUE = 1  # the first argument of isl's call is what it calls


def _name(user: isl.AstExpr) -> str:
    """The name of the array that isl's call ``user`` is of."""
    return str(user.op_get_arg(0).id_get_id().get_name())


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
