"""``--time``: what passes take."""

from __future__ import annotations

import time

import islpy as isl
import pytest

from polybuild.cli.commands import run
from polybuild.driver.pass_times import PassClock, PassTime, table

LOOP = """\
void f(int n, double *restrict a) {
#pragma scop
  for (int i = 0; i < n; i++) a[i] = 2 * a[i];
#pragma endscop
}
"""


def test_runs_of_a_pass_are_added_up_with_the_calls_of_isl():
    clock = PassClock(on=True)
    for _ in range(2):
        with clock.runs("mapping"):
            isl.Set("{ [i] : i >= 0 }").intersect(isl.Set("{ [i] : i < 9 }"))
    with clock.runs("codegen"):
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass
    mapping, codegen = clock.times.values()
    assert (mapping.name, mapping.runs, mapping.isl_calls) == ("mapping", 2, 2)
    assert mapping.seconds >= mapping.isl_seconds > 0
    assert (codegen.name, codegen.runs, codegen.isl_calls, codegen.isl_seconds) == ("codegen", 1, 0, 0)
    assert codegen.seconds >= 0.02


def test_a_pass_that_fails_counts():
    clock = PassClock(on=True)
    with pytest.raises(ValueError, match="no"), clock.runs("schedule"):
        raise ValueError("no")
    assert clock.times["schedule"].runs == 1


def test_the_table_adds_up():
    times = [PassTime("scop", 1, 0.25, 0.1, 7), PassTime("codegen", 2, 0.5, 0.4, 13)]
    lines = [line.split() for line in table(times, 1.0).splitlines()]
    assert lines[1:] == [
        ["scop", "1", "0.250", "25.0", "0.100", "7"],
        ["codegen", "2", "0.500", "50.0", "0.400", "13"],
        ["start", "and", "end", "1", "0.250", "25.0", "0.000", "0"],
        ["total", "1", "1.000", "100.0", "0.500", "20"],
    ]


def test_the_command_prints_all_passes_and_the_same_file(tmp_path, capfd):
    source, plain, timed = (tmp_path / name for name in ("loop.c", "plain.c", "timed.c"))
    source.write_text(LOOP)
    assert run(["compile", str(source), "-o", str(plain)]) == 0
    assert not capfd.readouterr().err
    assert run(["compile", str(source), "-o", str(timed), "--time"]) == 0
    names = [line.split("  ")[0] for line in capfd.readouterr().err.splitlines()]
    assert names[:3] == ["pass", "reading", "machine"]
    assert names[-2:] == ["start and end", "total"]
    assert {"scop", "dependences", "schedule", "codegen"} < set(names)
    assert timed.read_text() == plain.read_text()


def test_a_pass_within_another_counts_once():
    clock = PassClock(on=True)
    with clock.runs("reading"), clock.runs("scop"):
        isl.Set("{ [i] : i >= 0 }").is_empty()
    assert clock.times["scop"].isl_calls == 1
    assert clock.times["reading"].isl_calls == 0
