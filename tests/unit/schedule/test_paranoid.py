"""Orders are run for small sizes, with no word of dependences."""

from __future__ import annotations

import pytest

from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.trees import insert_mark
from polybuild.schedule.legality import IllegalSchedule
from polybuild.schedule.paranoid import check_by_running

STENCIL = "for (int t = 0; t < n; t++) for (int i = 1; i < 9; i++) a[i] = a[i - 1] + a[i + 1];"
PARALLEL = Mark(MarkKind.PARALLEL, 0)
FIXED = "for (int i = 0; i < 100000; i++) a[i + 1] = 2 * a[i] + 1;"


def backwards(schedule):
    band = schedule.get_root().child(0)
    partial = band.band_get_partial_schedule()
    return band.delete().insert_partial_schedule(partial.neg()).get_schedule()


@pytest.mark.parametrize(("body", "counts"), [(STENCIL, (40 * 8, 2 * 8)), (FIXED, (24, 24))])
def test_the_original_order_passes_and_its_reverse_does_not(body, counts, model):
    found = model(body, "int n, double *restrict a")
    assert check_by_running(found.scop, found.scop.schedule, found.dependences, ()) == counts
    with pytest.raises(IllegalSchedule, match=r"the new order differs: .* of a\["):
        check_by_running(found.scop, backwards(found.scop.schedule), found.dependences, ())


@pytest.mark.parametrize("value", ["b[j]", "b[j % n]", "b[r[j]]"])
def test_loops_and_elements_that_data_choose_are_run_in_part(value, model):
    body = f"for (int i = 0; i < n; i++) for (int j = 0; j < r[i]; j++) a[j + 1] = a[j] + {value};"
    found = model(body, "int n, const int *restrict r, double *restrict a, const double *restrict b")
    counts = check_by_running(found.scop, found.scop.schedule, found.dependences, ())
    assert all(4 <= each <= 700 for each in counts)
    with pytest.raises(IllegalSchedule, match=r"the new order differs: .* of a\["):
        check_by_running(found.scop, backwards(found.scop.schedule), found.dependences, ())


def test_a_loop_of_threads_is_run_backwards_too(model):
    found = model("for (int i = 0; i < n; i++) a[i + 1] = 2 * a[i] + 1;", "int n, double *restrict a")
    marked = insert_mark(found.scop.schedule.get_root().child(0), PARALLEL).get_schedule()
    check_by_running(found.scop, marked, found.dependences, ())
    with pytest.raises(IllegalSchedule):
        check_by_running(found.scop, marked, found.dependences, (PARALLEL,))
