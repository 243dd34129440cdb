"""Directives of loops as lines of C."""

from __future__ import annotations

import pytest

from polybuild.codegen.c.directives import DirectivePrinter
from polybuild.codegen.c.layout import CodeLine
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.poly.marks import Mark, MarkKind
from polybuild.targets.model import LoopDirective


@pytest.mark.parametrize(
    ("directive", "words"),
    [
        (LoopDirective(0, parallel=True), "parallel for if(n > 9)"),
        # a clause without a name is one of simd, too: one thread would run without vectors
        (LoopDirective(0, parallel=True, simd=True), "parallel for simd if(parallel: n > 9)"),
    ],
)
def test_a_condition_on_threads_is_none_on_vectors(directive, words):
    mark = Mark(MarkKind.PARALLEL, 0)
    printer = DirectivePrinter({mark: directive}, NamesInUse(), lambda _: "n > 9")
    assert printer.above(CodeLine("for (;;)"), directive, ())[0] == f"POLYBUILD_OMP({words})"
