"""Falling back where isl's scheduler has no answer."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options
from polybuild.targets.cpu import schedule_choice

# with maximal fusion isl cannot "carry dependences" of the single element that is written
ONE_ELEMENT = """\
static unsigned a[2], b[1];
void f(int n, int p) {
#pragma scop
  for (int i = 0; i <= n; i++)
    for (int v = 3; v < p + 1; v++) b[0] = a[v - 3];
#pragma endscop
}
"""


@pytest.mark.parametrize("fails", [1, 2])
def test_another_strategy_then_the_original_order(fails, tmp_path, monkeypatch):
    asked = []
    compute_schedule = schedule_choice.compute_schedule

    def fail(scop, dependences, fusion):
        asked.append(fusion)
        if len(asked) <= fails:
            raise isl.Error
        return compute_schedule(scop, dependences, fusion)

    monkeypatch.setattr(schedule_choice, "compute_schedule", fail)
    file = tmp_path / "one.c"
    file.write_text(ONE_ELEMENT)
    (region,) = compile_source(str(file), Options(fusion="depth"), ["gcc"], ["-O1"]).regions
    assert region.status == "transformed"
    assert asked == [schedule_choice.Fusion.DEPTH, schedule_choice.Fusion.MIN]


def test_a_region_that_the_scheduler_fails_on_is_transformed(tmp_path):
    file = tmp_path / "one.c"
    file.write_text(ONE_ELEMENT)
    (region,) = compile_source(str(file), Options(fusion="max"), ["gcc"], []).regions
    assert region.status == "transformed", region.message
