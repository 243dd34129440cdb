"""The interpreter of the model agrees with right orders and objects to wrong ones."""

from __future__ import annotations

import os
import signal

import islpy as isl
import pytest

from polybuild.poly.marks import MarkKind
from polybuild.schedule.oracle import first_difference

from . import interpret
from .generate import generate
from .interpret import differences, differences_apart, mapped

SOURCES = {
    "stencil": "for (int t = 0; t < n; t++) for (int i = 1; i < 9; i++) a[i] = a[i - 1] + 2 * a[i + 1];",
    "privatised": "for (int i = 0; i < n; i++) { x = b[i]; a[i] = x + a[i]; }",
    "sum": "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) b[i] += a[j];",
}


def region(name, tmp_path):
    file = tmp_path / "region.c"
    head = "void f(int n, int *restrict a, int *restrict b) {\nint x;\n#pragma scop\n"
    file.write_text(f"{head}{SOURCES[name]}\n#pragma endscop\n}}\n")
    (found,) = mapped(file)
    return found


@pytest.mark.fast
@pytest.mark.parametrize("name", SOURCES)
def test_what_polybuild_makes_is_right(name, tmp_path):
    scop, dependences, mapping = region(name, tmp_path)
    parallel = [mark for mark in mapping.directives if mark.kind is MarkKind.PARALLEL]
    for marks in ((), parallel):
        assert first_difference(scop, mapping.schedule, dependences, {"n": 6}, marks) is None


@pytest.mark.fast
@pytest.mark.parametrize("name", ["stencil", "privatised"])
def test_a_reversed_loop_is_not(name, tmp_path):
    scop, dependences, _ = region(name, tmp_path)
    band = scop.schedule.get_root().child(0)
    partial = band.band_get_partial_schedule()
    reversed_ = band.delete().insert_partial_schedule(partial.neg()).get_schedule()
    found = first_difference(scop, reversed_, dependences, {"n": 4})
    # each iteration of the second loop has its own x, so only the order of the time steps counts
    assert (found is not None) == (name == "stencil")


def test_a_shifted_statement_sees_another_value(tmp_path):
    scop, dependences, _ = region("privatised", tmp_path)
    shifted = isl.Schedule.from_domain(scop.domain).insert_partial_schedule(
        isl.MultiUnionPwAff("[n] -> [{ S0[i] -> [(i)]; S1[i] -> [(i + 1)] }]")
    )
    found = first_difference(scop, shifted, dependences, {"n": 4})
    assert found is not None
    assert found.cell[0] == "x"


def test_writes_that_nobody_reads_may_come_in_any_order(tmp_path):
    """Found by the fuzzer: a write that may not happen is no read of what was there."""
    file = tmp_path / "region.c"
    file.write_text(
        "void f(int n, int *restrict a, int *restrict b) {\nint x;\n#pragma scop\n"
        "for (int i = 0; i < n; i++) if (a[i] > b[i]) x = b[i];\n#pragma endscop\n}\n"
    )
    ((scop, dependences, _),) = mapped(file)
    backwards = isl.MultiUnionPwAff.from_union_map(scop.schedule.get_map()).neg()
    schedule = isl.Schedule.from_domain(scop.domain).insert_partial_schedule(backwards)
    assert first_difference(scop, schedule, dependences, {"n": 6}) is None


@pytest.mark.fast(index=[0, 1])
@pytest.mark.parametrize("index", range(10))
def test_random_programs(index, tmp_path):
    assert list(differences(generate(5, index), tmp_path)) == []


def hang(*_: object) -> None:
    while True:
        pass


def crash(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("end", [hang, crash])
def test_what_ends_the_interpreter_has_no_differences(end, tmp_path, monkeypatch):
    monkeypatch.setattr(interpret, "LONGEST", 1)
    monkeypatch.setattr(interpret, "first_difference", end)
    assert differences_apart(generate(5, 8), tmp_path) == []
