"""Sums in order, apart from what computes their terms."""

from __future__ import annotations

import pytest

from polybuild.analysis.dependences import compute_dependences
from polybuild.schedule.legality import check_schedule
from polybuild.storage.ordered_sums import separate_sums
from polybuild.storage.scalar_expansion import private_nests

PARAMETERS = "int n, double *restrict x, double *restrict y, double *restrict e, double total"
LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
ROW = "for (int j = 0; j < n; j++)"
PAIR = "double w = x[i] - x[j];"


def parts(model, body, depth=0):
    found = model(body, PARAMETERS, after="y[0] = total;")
    separate = separate_sums(found.scop, depth)
    if separate is not None:
        check_schedule(
            separate.scop.schedule, compute_dependences(separate.scop, found.live), separate.scop.domain
        )
    return found, separate


@pytest.mark.parametrize(
    ("body", "sums"),
    [
        (f"{LOOPS} {{ {PAIR} total += w; }}", 1),
        (f"{LOOPS} {{ {PAIR} total -= w * w; }}", 1),
        (f"{LOOPS} {{ {PAIR} if (w > 0) {{ y[i] += w; total += w; }} }}", 1),
        (f"{LOOPS} {{ {PAIR} if (w > 0) {{ y[i] += w; total += w; }} else total -= w; }}", 2),
        (f"{LOOPS} {{ {PAIR} total += w; e[0] += w; }}", 2),
        (
            f"for (int i = 0; i < n; i++) {{ double s = 0; {ROW} s += x[j]; total += s; }}",
            1,
        ),
    ],
)
def test_each_sum_adds_a_private_value(model, body, sums):
    found, separate = parts(model, body)
    assert len(separate.sums) == sums
    terms = {each.name for each in separate.scop.arrays} - {each.name for each in found.scop.arrays}
    for statement in (each for each in separate.scop.statements if each.name in separate.sums):
        assert {each.array.name for each in statement.accesses} & terms


@pytest.mark.parametrize(
    "body", [f"for (int i = 0; i < n; i++) {{ double s = 0; {ROW} s += x[i] * x[j]; y[i] = s; total += s; }}"]
)
def test_loops_are_free_but_for_the_sums(model, body):
    found, separate = parts(model, body)
    own = compute_dependences(separate.scop, found.live)
    assert private_nests(separate.scop, own, found.live) == ()
    (nest,) = private_nests(separate.scop, own, found.live, separate.sums, separate.sums)
    assert nest.in_order == separate.sums
    assert nest.depth == 1


@pytest.mark.parametrize(
    "body",
    [
        f"{LOOPS} {{ {PAIR} total += w; y[i] = total; }}",
        f"{LOOPS} {{ {PAIR} total += w * total; }}",
        f"{LOOPS} {{ {PAIR} total *= w; }}",
        f"{LOOPS} {{ {PAIR} e[i] += w; }}",  # as many sums as iterations
        "for (int i = 0; i < n; i++) { total = 0; for (int j = 0; j < n; j++) total += x[j]; }",
    ],
)
def test_other_sums_stay(model, body):
    assert parts(model, body)[1] is None


def test_what_reads_a_sum_keeps_its_loop_in_order(model):
    body = "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) total += x[j]; y[i] = total; }"
    found, separate = parts(model, body, depth=1)
    own = compute_dependences(separate.scop, found.live)
    nests = private_nests(separate.scop, own, found.live, separate.sums, separate.sums)
    assert all(each.outer == 1 for each in nests)


def test_rows_of_terms_stay(model):
    found, separate = parts(model, f"{LOOPS} {{ {PAIR} y[i] += w; total += w; }}")
    own = compute_dependences(separate.scop, found.live)
    assert private_nests(separate.scop, own, found.live, separate.sums, separate.sums) == ()
