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


# a filter's window is sorted in loops of its own, inside of those over the image that all statements share
SORTED_WINDOW = """\
enum { W = 83, H = 41 };
static unsigned char in[H][W], out[H][W];
void filter(void) {
#pragma scop
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++) {
      int w[3];
      for (int i = -1; i <= 1; i++) w[i + 1] = in[y][x + i];
      for (int a = 0; a < 2; a++)
        for (int b = a + 1; b < 3; b++) {
          int low = w[a] < w[b] ? w[a] : w[b], high = w[a] < w[b] ? w[b] : w[a];
          w[a] = low;
          w[b] = high;
        }
      out[y][x] = w[1];
    }
#pragma endscop
}
"""


def test_loops_that_are_shared_as_far_as_can_be_are_not_looked_for(tmp_path, monkeypatch):
    asked = []
    compute_schedule = schedule_choice.compute_schedule

    def recorded(scop, dependences, fusion):
        asked.append(fusion)
        return compute_schedule(scop, dependences, fusion)

    monkeypatch.setattr(schedule_choice, "compute_schedule", recorded)
    file = tmp_path / "sorted.c"
    file.write_text(SORTED_WINDOW)
    (region,) = compile_source(str(file), Options(min_work=0), ["gcc"], ["-O3"]).regions
    assert region.status == "transformed"
    assert region.parallel_loops
    assert schedule_choice.Fusion.MIN in asked
    assert schedule_choice.Fusion.MAX not in asked
