"""No pass decides anything by looking into text: marks, directives and expressions are values."""

from __future__ import annotations

import ast

import pytest
from package_modules import package_modules
from text_decisions import asked_in, text_decisions

EXCEPTIONS = {
    "targets.gpu.nvcc": "reads flags, and what the compiler of kernels prints",
    "codegen.file.splice.splice": "keeps the user's line ends and byte-order mark",
    "codegen.file.line_numbers._Writer.add": "the user's text may have directives of its own",
    "codegen.device.kernels.KernelPrinter._taken": "names a variable for people after a parameter's name",
    "targets.languages.mathematical": "knows C's functions by their names",
    "codegen.device.bodies.KernelBodyPrinter.visit_FuncCall": "asks the user's code which functions it calls",
}
"""Modules and functions that ask texts something, each with the reason."""


def test_no_pass_looks_into_text():
    assert text_decisions(package_modules(), EXCEPTIONS) == []


def test_every_exception_is_still_one():
    asking = {line.partition(":")[0] for line in text_decisions(package_modules(), {})}
    for name in EXCEPTIONS:
        assert any(f"{each}.".startswith(f"{name}.") for each in asking), name


@pytest.mark.parametrize(
    "question",
    [
        'mark_name(node).startswith("parallel")',
        '"simd" in line.text.lower()',
        '"parallel for" in line.text',
        "step == '1'",
        '"POLYBUILD_OMP(" not in line',
        'self.text.removesuffix(")")',
        'name.endswith("_tile")',
        're.findall(r"\\w+", condition)',
        're.fullmatch(r"\\w+", end)',
        'printer.text(one).startswith("(")',
    ],
)
def test_a_question_to_text_is_seen(question):
    same = ast.unparse(ast.parse(question))
    assert asked_in(f"def f(a):\n    if {question}:\n        pass") == [f"codegen.one.f: {same}"]


@pytest.mark.parametrize(
    "fine",
    [
        "mark.kind is MarkKind.PARALLEL",
        '"POLYBUILD_SIMD" in helpers',
        "name in used",
        'kind in ("min of", "max of")',
        "line.directive.parallel",
    ],
)
def test_a_question_to_a_value_is_fine(fine):
    assert asked_in(f"def f(a):\n    if {fine}:\n        pass") == []
