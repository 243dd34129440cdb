"""What stands before and after the new loops of a region: its parameters, and the values it leaves."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import islpy as isl
from pycparser import c_ast

from polybuild.c.types import IntegerType, PointerType
from polybuild.codegen.c.bodies import c_text
from polybuild.codegen.c.expressions import TERNARY, ExpressionPrinter
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.codegen.file.names import PREFIX, fresh
from polybuild.scop.final_values import entries_in
from polybuild.scop.model import FinalValue, Scop

_WIDEST = 64


class BoundaryPrinter:
    """Prints the declarations of parameters, called ``names``, and the final values of variables.

    ``in_use`` records what the text mentions.
    """

    def __init__(self, scop: Scop, names: Mapping[str, str], in_use: NamesInUse) -> None:
        self._scop = scop
        self._names = names
        self._in_use = in_use
        self._printer = ExpressionPrinter(lambda name: names.get(name, name), in_use)
        self._build = isl.AstBuild.from_context(isl.Set.universe(scop.context.get_space()))

    def final_values(self, taken: Collection[str]) -> list[str]:
        """Give variables declared before the region the values that they have after the original loops.

        Pointers computed from others that change, too, are computed before any of them is set, in variables
        whose names are not ``taken``.
        """
        values = self._scop.final_values
        names = {each.name for each in values}
        early, late = [], []
        for each in values:
            text, condition = self._last(each)
            variable = c_text(each.expression)
            if text and not (names - {each.name}).isdisjoint(_read_by(each)):
                kept = fresh(f"{PREFIX}last_{each.name}", taken)
                taken = {*taken, kept}
                chosen = f"(void *)({text})"
                if condition:
                    chosen = f"{condition} ? {chosen} : (void *){variable}"
                early.append(f"void *{kept} = {chosen};")
                text, condition = kept, ""
            assignment = [f"{variable} = {text};"] if text else []
            late += [f"if ({condition})", f"  {assignment[0]}"] if condition else assignment
        return [*early, *late]

    def _last(self, value: FinalValue) -> tuple[str, str]:
        """The text of ``value``, empty if it is unchanged, and that of a condition for it, if it has one."""
        printer, build, context = self._printer, self._build, self._scop.context
        if value.value is None:
            assert value.source is not None  # noqa: S101 - the model says so
            return c_text(value.source), ""
        result = value.value.project_domain_on_params().intersect_params(context).coalesce()
        defined = result.domain()
        if defined.is_empty():
            return "", ""
        text = printer.text(build.expr_from_pw_aff(result))
        if isinstance(value.type, IntegerType) and not (value.type.width == _WIDEST and value.type.signed):
            text = f"({value.type.name})({text})"  # the compiler need not warn that it is narrower
        if value.base is not None:
            text = f"{_primary(value.base)} + ({text})"
        if context.is_subset(defined):
            return text, ""
        return text, printer.text(build.expr_from_set(defined.gist(context)))

    def declarations(self, *, kind: str) -> list[str]:
        """One wide copy of each parameter in use, of type ``kind``, so that no expression can overflow.

        What the declarations mention is in use, too.
        """
        in_code = frozenset(self._in_use.variables)
        lines: list[str] = []
        for parameter in reversed(self._scop.parameters):
            if self._names[parameter.name] not in self._in_use.variables | self._in_use.in_directives:
                continue
            value = c_text(parameter.expression)
            if parameter.reached is not None:
                reached = parameter.reached.align_params(self._scop.context.get_space())
                condition = self._printer.text(self._build.expr_from_set(reached), TERNARY + 1)
                value = f"{condition} ? {value} : 0"
            lines.append(f"{kind} {self._names[parameter.name]} = {value};")
        used = self._in_use.variables | self._in_use.in_directives
        # a compiler without OpenMP sees no use of what only directives mention
        unseen = [each for each in self._names.values() if each in used - in_code]
        return [*lines[::-1], *(f"(void)sizeof {each};" for each in unseen)]


def _read_by(value: FinalValue) -> frozenset[str]:
    """The variables that the value of a pointer is computed from."""
    if not isinstance(value.type, PointerType):
        return frozenset()
    return frozenset().union(*(entries_in(each) for each in (value.base, value.source) if each is not None))


def _primary(base: c_ast.Node) -> str:
    """The text of a pointer that something is added to."""
    text = c_text(base)
    return f"({text})" if isinstance(base, c_ast.TernaryOp) else text
