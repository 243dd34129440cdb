"""What printed code mentions: of directives apart, and of text that is dropped not at all."""

from __future__ import annotations

import islpy as isl

from polybuild.codegen.c.expressions import ExpressionPrinter
from polybuild.codegen.c.names_in_use import NamesInUse


def printed(text, in_use):
    build = isl.AstBuild.from_context(isl.Set("[n, m] -> { : }"))
    value = isl.PwAff(f"[n, m] -> {{ [({text})] }}")
    return ExpressionPrinter(lambda name: f"pb_{name}", in_use).text(build.expr_from_pw_aff(value))


def test_what_is_printed_is_in_use():
    in_use = NamesInUse()
    assert printed("n + 1", in_use) == "pb_n + 1"
    assert in_use == NamesInUse({"pb_n"})


def test_directives_are_recorded_apart():
    in_use = NamesInUse()
    printed("floor(m / 8)", in_use.of_directives())
    assert in_use == NamesInUse(set(), {"pb_m"}, {"polybuild_floordiv"})


def test_text_that_is_kept_is_included():
    in_use, other = NamesInUse(), NamesInUse()
    printed("m + floor(n / 8)", other)
    assert in_use == NamesInUse()
    in_use.include(other)
    assert in_use == NamesInUse({"pb_n", "pb_m"}, set(), {"polybuild_floordiv"})
