"""What must hold at run time for the generated loops to replace the original ones, as C."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.aliasing import Overlap
from polybuild.analysis.footprints import Footprint
from polybuild.analysis.trip_counts import constant_instances
from polybuild.c.types import PointerType
from polybuild.codegen.c.bodies import Sizes, c_text, element, row
from polybuild.codegen.c.expressions import (
    ADDITIVE,
    AND,
    ATOM,
    MULTIPLICATIVE,
    UNARY,
    ExpressionPrinter,
    Operand,
)
from polybuild.codegen.c.inspectors import Extrema
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.codegen.c.sum_limits import has_far_limits, sum_limits_text
from polybuild.codegen.file.pointer_rows import ROWS, STRUCTURE
from polybuild.codegen.file.team import TEAM
from polybuild.scop.model import Assumption, ProductLimit, Scop, WholeMultiple
from polybuild.targets.model import Enough, RegisterTile, ThreadLimits
from polybuild.values import dataclass

ViewSizes = Mapping[str, Sizes]


@dataclass(frozen=True, slots=True)
class Condition:
    """C text for the generated code, the same in the user's names, the reason, and its source line.

    ``failure`` says in a few words what was the case where it does not hold. What ``compares_addresses`` is
    told by its reason, as its text tells nobody more.
    """

    text: str
    meaning: str
    reason: str
    line: int
    failure: str
    compares_addresses: bool = False

    def __str__(self) -> str:
        return f"{self.meaning} (line {self.line}: {self.reason})"

    @property
    def brief(self) -> str:
        """The condition as short as it can be told."""
        return f"{self.reason} (line {self.line})" if self.compares_addresses else str(self)


class ConditionPrinter:
    """Prints the conditions of one region; ``names`` and ``in_use`` are those of its loops.

    ``extrema`` has the variables that inspectors leave their results in. ``line`` is that of the region.
    """

    def __init__(self, scop: Scop, names: Mapping[str, str], in_use: NamesInUse, extrema: Extrema) -> None:
        self._scop = scop
        self.line = scop.location.line
        self.in_use = in_use
        self._build = isl.AstBuild.from_context(isl.Set.universe(scop.context.get_space()))
        own = {parameter.name: _operand(parameter.expression) for parameter in scop.parameters}
        self._printers = (
            ExpressionPrinter(lambda name: names.get(name, name), in_use),
            ExpressionPrinter(lambda name: own.get(name, name), NamesInUse()),
        )
        self._directive_printer = ExpressionPrinter(
            lambda name: names.get(name, name), in_use.of_directives()
        )
        inspected = {each: c_text(each.expression) for each in extrema}
        self._extrema = extrema, {each: (f"least {text}", f"most {text}") for each, text in inspected.items()}
        self._sizes = tuple(self._view_sizes(printer) for printer in self._printers)

    @property
    def sizes(self) -> ViewSizes:
        """The inner extents of each array that is reached by flat subscripts, as operands of a product."""
        return self._sizes[0]

    def all(
        self, overlaps: Sequence[Overlap], worth: Sequence[Condition], *, runs: bool
    ) -> tuple[Condition, ...]:
        """All conditions, each text once, beginning with those under which the new loops are ``worth`` it.

        Small sizes get no further. ``runs`` tells whether something runs where these hold.
        """
        found = [*map(self._assumption, self._scop.assumptions), *map(self._limit, self._scop.limits)]
        # with work to do, the addresses below are those of elements
        return _once([*worth, *found, *self.disjoint(overlaps, runs=runs)])

    def disjoint(self, overlaps: Sequence[Overlap], *, runs: bool) -> tuple[Condition, ...]:
        """That ``overlaps`` are none, where it is known that something ``runs``."""
        ran = self._ran() if runs else None
        return _once([self._disjoint(each, ran) for each in overlaps])

    def enough_threads(self) -> Condition:
        """That threads make up for an inspector, which takes about as long as the loops it is for."""
        self.in_use.helpers.add("polybuild_threads")
        text = "polybuild_threads() > 2"
        reason = "with fewer threads, looking at the data takes longer than they save"
        return Condition(text, text, reason, self.line, "too few threads to look at the data")

    def several_threads(self, *, fixed: bool) -> Condition:
        """That there are threads, where one gains nothing.

        Those that other work leaves no processors for are none, unless the number of threads is ``fixed``.
        """
        threads = "polybuild_threads" if fixed else TEAM
        self.in_use.helpers.add(threads)
        text, reason = f"{threads}() > 1", "one thread gains nothing"
        return Condition(text, text, reason, self.line, "only one thread, which gains nothing")

    def enough_for(
        self, loops: Sequence[ThreadLimits], minimum: Callable[[ThreadLimits], int], reason: str
    ) -> Condition | None:
        """That one of ``loops`` has the ``minimum`` work; None unless that of all depends on parameters."""
        if not loops or not all(_depends_on_parameters(each) for each in loops):
            return None

        def text(printer: ExpressionPrinter, _: ViewSizes) -> str:
            sums = dict.fromkeys(
                f"{self._instances(each.work, printer)} >= {minimum(each)}" for each in loops
            )
            return next(iter(sums)) if len(sums) == 1 else f"({' || '.join(sums)})"

        return self._both(text, reason, self.line, "too little work")

    def _both(
        self, text: Callable[[ExpressionPrinter, ViewSizes], str], reason: str, line: int, failure: str = ""
    ) -> Condition:
        generated, meaning = (
            text(printer, sizes) for printer, sizes in zip(self._printers, self._sizes, strict=True)
        )
        return Condition(generated, meaning, reason, line, failure or f"not {meaning} ({reason})")

    def _assumption(self, assumption: Assumption) -> Condition:
        condition = assumption.condition.coalesce()
        text = partial(sum_limits_text, self._build, condition) if has_far_limits(condition) else None
        expression = self._build.expr_from_set(condition)
        return self._both(
            lambda printer, _: text(printer) if text else printer.text(expression, AND),
            assumption.reason,
            assumption.location.line,
        )

    def _limit(self, limit: ProductLimit | WholeMultiple) -> Condition:
        return self._multiple(limit) if isinstance(limit, WholeMultiple) else self._product(limit)

    def _multiple(self, whole: WholeMultiple) -> Condition:
        both = [self._build.expr_from_pw_aff(each) for each in (whole.product, whole.factor)]

        def text(printer: ExpressionPrinter, _: ViewSizes) -> str:
            product, factor = (printer.text(each, MULTIPLICATIVE + 1) for each in both)
            return f"{factor} > 0 && {product} % {factor} == 0"

        return self._both(text, whole.reason, whole.location.line)

    def _product(self, limit: ProductLimit) -> Condition:
        factors = [self._build.expr_from_pw_aff(factor) for factor in limit.factors]

        def text(printer: ExpressionPrinter, _: ViewSizes) -> str:
            # in double: a product that is too large is not exact, but still too large
            operands = " * ".join(f"(double){printer.text(factor, UNARY + 1)}" for factor in factors)
            return f"{operands} <= {limit.limit}.0"

        return self._both(text, limit.reason, limit.location.line)

    def _ran(self) -> isl.Set:
        """Parameter values for which anything runs."""
        ran = isl.Set.empty(self._scop.context.get_space())
        for statement in self._scop.statements:
            ran = ran.union(statement.domain.params())
        return ran.intersect(self._scop.context)

    def _disjoint(self, overlap: Overlap, ran: isl.Set | None) -> Condition:
        """The check of ``overlap`` where something runs if ``ran`` is given, else anywhere.

        Where one of the two is not touched at all its corners are no elements, and nothing is to be checked.
        """
        possible = self._scop.context if ran is None else ran
        touched = possible
        for corner in (*overlap.first.lowest, *overlap.second.lowest):
            touched = touched.intersect(corner.domain().params())
        always = possible.is_subset(touched)
        guard = None if always else self._build.expr_from_set(touched.gist(possible).coalesce())

        def text(printer: ExpressionPrinter, sizes: ViewSizes) -> str:
            first, second = overlap.first, overlap.second
            extrema = self._extrema[self._printers.index(printer)]
            nothing = f"!({printer.text(guard)}) || " if guard is not None else ""
            for each in dict.fromkeys((first.inspector, second.inspector)):
                if each is not None:
                    nothing += "{} > {} || ".format(*extrema[each])
            if first.array.row_subscripts or second.array.row_subscripts:
                return f"({nothing}{self._disjoint_rows(overlap, printer, sizes)})"
            return (
                f"({nothing}{self._before(first, second, printer, sizes)}"
                f" || {self._before(second, first, printer, sizes)})"
            )

        both = (overlap.first, overlap.second)
        told = sorted({self._told(each): None for each in both})
        names = " and ".join(told) if len(told) > 1 else f"two rows of {told[0]}"
        line = overlap.location.line
        found = self._both(text, f"{names} must not overlap", line, f"{names} overlapped")
        return replace(found, compares_addresses=True)

    @staticmethod
    def _told(footprint: Footprint) -> str:
        """The name of what a footprint is of, for people."""
        name = f"'{c_text(footprint.array.expression)}'"
        if footprint.array.is_scalar and isinstance(footprint.array.element, PointerType):
            return f"the pointer {name}"
        return f"the pointers of {name}" if footprint.rows_of is not None else name

    def _disjoint_rows(self, overlap: Overlap, printer: ExpressionPrinter, sizes: ViewSizes) -> str:
        """That the rows of one table and those of another are apart, or all rows of one."""
        self.in_use.helpers.add(ROWS)
        one, other = (
            f"&(struct {STRUCTURE}){self._rows(each, printer, sizes)}"
            for each in (overlap.first, overlap.second)
        )
        return f"{ROWS}({one}, {'0' if overlap.first is overlap.second else other})"

    def _rows(self, footprint: Footprint, printer: ExpressionPrinter, sizes: ViewSizes) -> str:
        """The structure that tells where rows are: the first pointer, and counts and steps of subscripts."""
        array, followed = footprint.array, footprint.array.provenance.followed
        low, high = (self._subscripts(footprint, corner, printer) for corner in (0, 1))
        size = sizes.get(array.name, ())
        start = f"(const char *)&{element(array, low, size)}"
        if not followed:
            end = f"(const char *)(&{element(array, high, size)} + 1)"
            return f"{{{start}, 0, 0, {{0}}, {{0}}, {{0}}, 0, {end} - {start}}}"
        lengths, steps, inner, loads = [], [], [], 0
        last = array.row_subscripts
        for dim in range(last):
            before = "" if low[dim].is_zero else f" - {low[dim].bound(MULTIPLICATIVE)}"
            lengths.append(f"{high[dim].bound(ADDITIVE)}{before} + 1")
            steps.append(f"sizeof {row(array, low, dim)}[0]")
            level = next(each for each in followed if each > dim)
            inner.append("0")
            if level == dim + 1:
                loads |= 1 << dim
                if level < last:
                    beyond = next(each for each in followed if each > level)
                    place = f"(const char *)&{row(array, low, beyond)}"
                    inner[-1] = f"{place} - (const char *){row(array, low, level)}"
        row_start = f"(const char *){row(array, low, last)}"
        # the last element of the first row: dimensions that choose rows do not matter
        furthest = element(array, [*low[:last], *high[last:]], size)
        fields = [
            f"(const char *)&{row(array, low, followed[0])}",
            str(last),
            str(loads),
            *(f"{{{', '.join(each)}}}" for each in (lengths, steps, inner)),
            f"{start} - {row_start}",
            f"(const char *)(&{furthest} + 1) - {row_start}",
        ]
        return f"{{{', '.join(fields)}}}"

    def _before(self, one: Footprint, other: Footprint, printer: ExpressionPrinter, sizes: ViewSizes) -> str:
        end = self._address(one, 1, printer, sizes)
        start = self._address(other, 0, printer, sizes)
        return f"(const char *)({end} + 1) <= (const char *){start}"

    def _address(
        self, footprint: Footprint, corner: int, printer: ExpressionPrinter, sizes: ViewSizes
    ) -> str:
        """The address of the first (0) or the last (1) element of a box."""
        subscripts = self._subscripts(footprint, corner, printer)
        return f"&{element(footprint.array, subscripts, sizes.get(footprint.array.name, ()))}"

    def _subscripts(self, footprint: Footprint, corner: int, printer: ExpressionPrinter) -> list[Operand]:
        """The subscripts of the first (0) or the last (1) element of a box."""
        corners = (footprint.lowest, footprint.highest)[corner]
        subscripts = [printer.operand(self._build.expr_from_pw_aff(each)) for each in corners]
        if footprint.inspector is not None:
            extrema = self._extrema[self._printers.index(printer)]
            subscripts.insert(0, Operand(extrema[footprint.inspector][corner], ATOM))
        return subscripts

    def worthwhile(self, work: Sequence[Sequence[isl.PwAff]], min_work: int) -> list[Condition]:
        """That the region has ``work`` of ``min_work`` instances; nothing where it certainly has."""
        constant = constant_instances(work)
        if min_work == 0 or not work or (constant is not None and constant >= min_work):
            return []

        def text(printer: ExpressionPrinter, _: ViewSizes) -> str:
            return f"{self._instances(work, printer)} >= {min_work}"

        return [self._both(text, "less work is not worth it", self.line, "too little work")]

    def all_worthwhile(self, enough: Sequence[Enough]) -> list[Condition]:
        """That the region has all that is ``enough``."""
        return [found for each in enough for found in self.worthwhile(each.counts, each.minimum)]

    def full_tiles(self, registers: Sequence[RegisterTile]) -> list[Condition]:
        """That one of the register tiles is full somewhere, if all have operands that are packed.

        Rows shorter than the lanes of a tile fill none, and what is packed serves nobody then. There is no
        condition where a tile certainly is full.
        """
        context = self._scop.context
        full = isl.Set.empty(context.get_space())
        for each in registers:
            full = full.union(each.transfer.needs.params().align_params(context.get_space()))
        if not registers or not all(each.packed for each in registers) or context.is_subset(full):
            return []
        expression = self._build.expr_from_set(full.coalesce().gist(context))
        reason = "smaller sizes fill no register tile"
        return [
            self._both(lambda printer, _: printer.text(expression, AND), reason, self.line, "no full tile")
        ]

    def work_of(self, loop: ThreadLimits) -> str | None:
        """How much ``loop`` does each time it runs; None where that is not known."""
        return self._instances(loop.work, self._directive_printer) if loop.work else None

    def instances(self, work: Sequence[Sequence[isl.PwAff]]) -> str:
        """How many statement instances run at most, in double."""
        return self._instances(work, self._printers[0])

    def elements_of(self, extents: Sequence[isl.PwAff | None]) -> str:
        """How many elements a grid of these ``extents`` has, as a factor."""
        printer = self._printers[0]
        factors = [self._build.expr_from_pw_aff(each.project_domain_on_params()) for each in extents if each]
        return " * ".join(f"(unsigned long long)({printer.text(each)})" for each in factors)

    def _instances(self, work: Sequence[Sequence[isl.PwAff]], printer: ExpressionPrinter) -> str:
        """The sum over the statements of the products of their trip counts, in double."""
        products = dict.fromkeys(" * ".join(map(partial(self._real, printer), counts)) for counts in work)
        return " + ".join(each or "1.0" for each in products)

    def _real(self, printer: ExpressionPrinter, count: isl.PwAff) -> str:
        """A trip count in double; a number as it is where the text is for people."""
        expression = self._build.expr_from_pw_aff(count)
        if printer is self._printers[1]:
            return printer.text(expression, MULTIPLICATIVE + 1)
        if isl.ast_expr_type(expression.get_type()) == isl.ast_expr_type.int:
            return f"{printer.text(expression)}.0"
        return f"(double){printer.text(expression, UNARY + 1)}"

    def _view_sizes(self, printer: ExpressionPrinter) -> dict[str, Sizes]:
        return {
            array.name: tuple(
                partial(
                    printer.text,
                    self._build.expr_from_pw_aff(extent.project_domain_on_params()),
                    MULTIPLICATIVE + 1,
                )
                for extent in array.extents[array.view.start + 1 : array.view.stop]
                if extent is not None
            )
            for array in self._scop.arrays
            if array.flat > 1
        }


def either(alone: Sequence[Condition], on_threads: Sequence[Condition]) -> Condition:
    """That one thread has enough work, as ``alone`` says, or that all the conditions ``on_threads`` hold."""

    def joined(conditions: Sequence[str]) -> str:
        text = " && ".join(conditions)
        return text if len(conditions) == 1 else f"({text})"

    return replace(
        alone[0],
        text=f"({joined([each.text for each in alone])} || {joined([each.text for each in on_threads])})",
        meaning=f"({joined([each.meaning for each in alone])} || "
        f"{joined([each.meaning for each in on_threads])})",
        reason="less work gains on several threads alone",
    )


def _once(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Conditions, each text once, the first time it comes."""
    return tuple({each.text: each for each in reversed(conditions)}.values())[::-1]


def has_too_little_work(loop: ThreadLimits) -> bool:
    """Whether the work of ``loop`` is a constant, and not worth starting threads for."""
    constant = constant_instances(loop.work) if loop.work else None
    return constant is not None and constant < loop.minimum


def _depends_on_parameters(loop: ThreadLimits) -> bool:
    """Whether the work of ``loop`` is known, but no constant."""
    return bool(loop.work) and constant_instances(loop.work) is None


def _operand(expression: c_ast.Node) -> str:
    """The C text of a parameter, to be used as an operand."""
    text = c_text(expression)
    return text if isinstance(expression, c_ast.ID | c_ast.StructRef) else f"({text})"
