"""What stands before and after the new loops of a region: its parameters, and the values it leaves."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import key, walk
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
        early, late = [], []
        for each in values:
            text, condition = self._last(each)
            variable = c_text(each.expression)
            if text and any(_reads(each, other) for other in values if other is not each):
                kept = fresh(f"{PREFIX}last_{each.name}", taken)
                taken = {*taken, kept}
                chosen = f"(void *)({text})"
                if condition and isinstance(each.expression, c_ast.ID):
                    chosen, condition = f"{condition} ? {chosen} : (void *){variable}", ""
                elif condition:  # what is in memory may not be there
                    runs = fresh(f"{PREFIX}sets_{each.name}", taken)
                    taken = {*taken, runs}
                    early.append(f"const int {runs} = {condition};")
                    chosen, condition = f"{runs} ? {chosen} : (void *)0", runs
                early.append(f"void *{kept} = {chosen};")
                text = kept
            assignment = [f"{variable} = {text};"] if text else []
            late += [f"if ({condition})", f"  {assignment[0]}"] if condition else assignment
        return [*early, *late]

    def _last(self, value: FinalValue) -> tuple[str, str]:
        """The text of ``value``, empty if it is unchanged, and that of a condition for it, if it has one."""
        printer, build, context = self._printer, self._build, self._scop.context
        if value.value is None:
            assert value.source is not None  # noqa: S101 - the model says so
            source, kept = _unless_kept(value.source, value.expression)
            return c_text(source), kept
        result = value.value.project_domain_on_params().intersect_params(context).coalesce()
        defined = result.domain()
        if defined.is_empty():
            return "", ""
        text = printer.text(build.expr_from_pw_aff(result))
        if isinstance(value.type, IntegerType) and not (value.type.width == _WIDEST and value.type.signed):
            text = f"({value.type.name})({text})"  # the compiler need not warn that it is narrower
        kept = ""
        if value.base is not None:
            base, kept = _unless_kept(value.base, value.expression)
            text = f"{_primary(base)} + ({text})"
        if context.is_subset(defined):
            return text, kept
        known = printer.text(build.expr_from_set(defined.gist(context)))
        return text, f"({kept}) && ({known})" if kept else known

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


def _reads(value: FinalValue, other: FinalValue) -> bool:
    """Whether ``value``, that of a pointer, is computed from what ``other`` changes."""
    if not isinstance(value.type, PointerType):
        return False
    parts = [each for each in (value.base, value.source) if each is not None]
    if isinstance(other.expression, c_ast.ID):
        return any(other.name in entries_in(each) for each in parts)
    return any(key(node) == key(other.expression) for each in parts for node in walk(each))


def _unless_kept(source: c_ast.Node, target: c_ast.Node) -> tuple[c_ast.Node, str]:
    """A value, and the text of a condition if ``target`` in memory keeps the value that it has else."""
    kept = isinstance(source, c_ast.TernaryOp) and key(source.iffalse) == key(target)
    if kept and not isinstance(target, c_ast.ID):
        return source.iftrue, c_text(source.cond)
    return source, ""


def _primary(base: c_ast.Node) -> str:
    """The text of a pointer that something is added to."""
    text = c_text(base)
    return f"({text})" if isinstance(base, c_ast.TernaryOp) else text
