"""The proof of the barriers fails for every barrier that is taken away, or that some threads miss."""

import re
from dataclasses import replace

import islpy as isl
import pytest
from device_regions import MATRICES, PRODUCT

from polybuild.context import CompileContext
from polybuild.options import Options
from polybuild.schedule.legality import IllegalSchedule
from polybuild.targets.device import Purpose
from polybuild.targets.gpu import choice
from polybuild.targets.gpu.barriers import check_barriers
from polybuild.targets.gpu.target import CUDA


def barriers(plan):
    return [name for name, each in plan.tree.added.items() if each.purpose is Purpose.BARRIER]


TRANSPOSED = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] = A[j][i];"


@pytest.mark.parametrize("body", [PRODUCT, TRANSPOSED])
def test_each_barrier_is_needed(planned, body):
    plan = planned(body, MATRICES, tile_shape="rectangular").plan
    check_barriers(plan.tree, plan.kernels)
    assert len(barriers(plan)) == 2
    for name in barriers(plan):
        other = replace(plan.tree.added[name], purpose=Purpose.LOAD)
        tree = replace(plan.tree, added={**plan.tree.added, name: other})
        with pytest.raises(IllegalSchedule, match="no barrier parts"):
            check_barriers(tree, plan.kernels)


def test_a_barrier_for_some_threads_only(planned):
    plan = planned(PRODUCT, MATRICES).plan
    name = barriers(plan)[0]
    text = str(plan.tree.schedule)
    (extension,) = re.findall(f'extension: "([^"]*{name}[^"]*)"', text)
    some = str(isl.UnionMap(extension).intersect_params(isl.Set("[pb_t0] -> { : pb_t0 <= 3 }")))
    schedule = isl.Schedule(text.replace(extension, some))
    with pytest.raises(IllegalSchedule, match="not all threads"):
        check_barriers(replace(plan.tree, schedule=schedule), plan.kernels)


def test_the_next_tile_needs_a_stage_of_its_own(planned):
    """It is put where this one is read from, if there is but one."""
    plan = planned(PRODUCT, MATRICES).plan
    staged = {name: each for name, each in plan.tree.added.items() if each.staged is not None}
    purposes = [each.purpose for each in staged.values()]
    assert purposes.count(Purpose.FETCH) == 4  # two arrays, before the loop and in it
    assert purposes.count(Purpose.PUT) == 2  # both are waited for at once
    single = {name: replace(each, tile=replace(each.tile, stages=1)) for name, each in staged.items()}
    with pytest.raises(IllegalSchedule, match="no barrier parts"):
        check_barriers(replace(plan.tree, added={**plan.tree.added, **single}), plan.kernels)


STEPS = """
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i] + a[i + 1];
    for (int i = 1; i < n - 1; i++) a[i] = b[i - 1] + b[i + 1];
  }"""


def test_steps_that_take_nothing_of_other_threads_have_no_barrier(model, monkeypatch):
    """What a thread stores it has computed itself: one barrier is for loading, one for all steps."""
    found = model(STEPS, "int n, int steps, double *restrict a, double *restrict b")
    needed = {}

    def check(tree, kernels, meetings):
        needed.update(meetings)
        check_barriers(tree, kernels, meetings)
        with pytest.raises(IllegalSchedule, match="a step does not begin with a barrier"):
            check_barriers(tree, kernels)

    monkeypatch.setattr(choice, "check_barriers", check)
    context = CompileContext(Options(tile_sizes=(4, 16), tile_shape="overlapped"))
    _, plan = CUDA.plan_overlapped(found.scop, found.dependences, context, frozenset())
    (name,) = barriers(plan)
    tree = replace(
        plan.tree, added={**plan.tree.added, name: replace(plan.tree.added[name], purpose=Purpose.LOAD)}
    )
    with pytest.raises(IllegalSchedule, match="a step does not begin with a barrier"):
        check_barriers(tree, plan.kernels, needed)
