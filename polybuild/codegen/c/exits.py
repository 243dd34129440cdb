"""The tests of a region's early exits as loops: they run before it, up to the first exit."""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast

from polybuild.codegen.c.ast import build_ast
from polybuild.codegen.c.directives import DirectivePrinter
from polybuild.codegen.c.inspectors import InspectorText
from polybuild.codegen.c.layout import CodeLine
from polybuild.codegen.c.loops import LoopPrinter
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.file.names import fresh
from polybuild.scop.model import ExitTests, Statement


def write_exit_tests(tests: ExitTests, flag: str, text: InspectorText) -> list[str | CodeLine]:
    """Loops that leave the variable ``flag``, which is 1, so if the region would be left early."""
    label = fresh(f"{flag}_{text.scop.location.line}", text.taken)
    statements = tuple(_jumping(each, label) for each in tests.statements)
    own = replace(text.scop, statements=statements, schedule=tests.schedule, exits=None)
    printer = LoopPrinter(
        build_ast(own, tests.schedule),
        NamesInScope(text.names, text.taken | {flag, label}),
        DirectivePrinter({}, text.in_use),
        sizes=text.sizes,
    )
    return [*printer.lines(), f"{flag} = 0;", f"{label}:;"]


def _jumping(test: Statement, label: str) -> Statement:
    """``test`` with jumps to ``label``."""

    def visit(body: c_ast.Node) -> c_ast.Node:
        if isinstance(body, c_ast.If):
            return c_ast.If(body.cond, visit(body.iftrue), None, body.coord)
        return c_ast.Goto(label, body.coord)

    return replace(test, body=visit(test.body))
