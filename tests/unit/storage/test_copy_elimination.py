"""Copies between two grids in each step: which go, what comes instead, and which look as if they could."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.storage.copied_grids import copied_grids, loops_over_time
from polybuild.storage.copy_elimination import fold_copies

PARAMETERS = "int steps, int n, double a[restrict n], double b[restrict n], double *restrict c"
GRIDS = "int steps, int n, double a[n][n], double b[n][n]"
STEP = "for (int i = 1; i < n - 1; i++) b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;"
COPY = "for (int i = 1; i < n - 1; i++) a[i] = b[i];"
# grids with other subscripts do not take turns themselves
MOVED_STEP = "for (int i = 1; i < n - 1; i++) b[i - 1] = (a[i - 1] + a[i] + a[i + 1]) / 3;"
MOVED_COPY = "for (int i = 1; i < n - 1; i++) a[i] = b[i - 1];"


def steps(*parts: str) -> str:
    return f"for (int t = 0; t < steps; t++) {{ {' '.join(parts)} }}"


def arrays_of(scop):
    """The arrays that each statement reads, and that it writes."""
    return [
        tuple(sorted({one.array.name for one in each.accesses if (one.kind.value == "read") == read}))
        for each in scop.statements
        for read in (True, False)
    ]


def test_grids_alternate_between_copies_of_the_border_and_of_the_last_step(model):
    found = model(steps(MOVED_STEP, MOVED_COPY), PARAMETERS)
    scop = fold_copies(found.scop, found.live, ())
    a, b, other = ("a",), ("b",), ("polybuild_a",)
    assert arrays_of(scop) == [a, other, a, other, other, a, other, a, a, b]
    border, even, odd, back, last = (each.domain for each in scop.statements)
    borders = isl.Set("[n, steps] -> { [i] : (i = 0 or i = n - 1) and steps >= 4 and n > 2 }")
    assert border.reset_tuple_id().is_equal(borders)
    assert [each.dim(isl.dim_type.set) for each in (even, odd)] == [2, 2]
    whole = isl.Set("[n, steps] -> { [i] : 0 < i < n - 1 and steps >= 4 }")
    assert last.reset_tuple_id().is_equal(whole)
    assert back.reset_tuple_id().is_equal(whole.intersect(isl.Set("[steps] -> { [i] : steps mod 2 = 1 }")))


def test_a_copy_at_the_beginning_of_a_step_leaves_what_was_there_before_the_last(model):
    whole = "for (int i = 0; i < n; i++) b[i + 1] = a[i];"
    made = "for (int i = 1; i < n - 1; i++) a[i] = (b[i] + b[i + 1] + b[i + 2]) / 3;"
    found = model(steps(whole, made), PARAMETERS)
    scop = fold_copies(found.scop, found.live, ())
    a, b, other = ("a",), ("b",), ("polybuild_a",)
    # what b holds then is restored before what a does
    assert arrays_of(scop)[-6:] == [a, b, other, b, other, a]


def test_borders_that_only_copies_set_are_set_in_a_first_step_of_its_own(model):
    found = model(steps(STEP, "for (int i = 0; i < n; i++) a[i] = b[i];"), PARAMETERS)
    scop = fold_copies(found.scop, found.live, ())
    assert arrays_of(scop)[:4] == [("a",), ("b",), ("b",), ("a",)]
    assert [each.domain.dim_max_val(0).to_python() for each in scop.statements[:2]] == [0, 0]


WHOLE = "for (int i = 0; i < n; i++) b[i] = a[i];"
MADE = "for (int i = 1; i < n - 1; i++) a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3;"


def test_grids_that_are_copied_whole_take_turns_themselves(model):
    found = model(steps(WHOLE, MADE), PARAMETERS)
    scop = fold_copies(found.scop, found.live, (), allocates=False)
    a, b = ("a",), ("b",)
    # the border, steps from one to the other, and the last step as it is: without its copy if b has that
    assert arrays_of(scop) == [a, b, a, b, b, a, a, b, b, a, b, a]
    assert [each.name for each in scop.arrays] == [each.name for each in found.scop.arrays]
    assert [each.message.split(",")[0] for each in scop.remarks] == ["'a' takes turns with 'b'"]
    assert scop.assumptions == found.scop.assumptions


def test_a_grid_whose_elements_are_all_made_needs_no_border(model):
    ring = "b[i] = (a[i == 0 ? n - 1 : i - 1] + a[i]) / 2;"
    each = "for (int i = 0; i < n; i++)"
    found = model(steps(f"{each} {ring}", f"{each} a[i] = b[i];"), PARAMETERS)
    scop = fold_copies(found.scop, found.live, (), allocates=False)
    a, b = ("a",), ("b",)
    assert arrays_of(scop) == [a, b, b, a, b, a, a, b]


def test_a_border_that_the_steps_do_not_write_is_read_where_it_is(model):
    found = model(steps(STEP, COPY), PARAMETERS)
    scop = fold_copies(found.scop, found.live, (), allocates=False)
    a, b = ("a",), ("b",)
    both = ("a", "b")
    # from a to b, and back: the interior, both ends, and the only place of three; then what is copied last
    assert arrays_of(scop) == [a, b, b, a, both, a, both, a, both, a, b, a, a, b]
    used = [one for each in scop.statements for one in each.accesses if one.array.name == "b"]
    inside = isl.Set("[n, steps] -> { b[i] : 0 < i < n - 1 }")
    assert all(each.relation.range().is_subset(inside) for each in used)
    # of a grid of the function's own that nobody reads any more all may be written
    local = model(steps(STEP, COPY), "int steps, int n, double a[restrict n]", before="double b[n];")
    scop = fold_copies(local.scop, local.live, (), allocates=False)
    assert arrays_of(scop)[0] == a
    assert len(scop.arrays) == 2


def test_grids_with_many_parts_of_a_border_keep_their_copies(model):
    each = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
    made = f"{each} b[i][j] = a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1];"
    found = model(steps(made, f"{each} a[i][j] = b[i][j];"), GRIDS)
    assert fold_copies(found.scop, found.live, (), allocates=False) is found.scop


def test_names_of_the_program_are_left_to_it(model):
    found = model(steps(MOVED_STEP, MOVED_COPY), PARAMETERS)
    scop = fold_copies(found.scop, found.live, {"polybuild_a"})
    assert "polybuild_a_" in {each.name for each in scop.arrays}


@pytest.mark.parametrize(
    "body",
    [
        steps(STEP, "for (int i = 2; i < n - 1; i++) a[i] = b[i];"),
        steps(STEP, "for (int i = 1; i < n - 1 - t; i++) a[i] = b[i];"),
        steps(STEP, f"if (t % 3 > 0) {COPY}"),
        steps(f"if (t % 2 > 0) {STEP}", COPY),
        steps("for (int i = 1; i < n - 1; i++) b[i] = b[i] / 2 + a[i - 1];", COPY),
        steps("for (int i = 1; i < n - 1; i++) a[i] = (a[i - 1] + b[i]) / 2;", COPY),
        steps(
            "for (int i = 0; i < n; i++) b[i] = i > 0 ? a[i - 1] : 0;",
            "for (int i = 1; i < n; i++) a[i] = b[i];",
        ),
        steps(
            "for (int i = 1; i < n; i++) b[i - 1] = c[i] > 0 ? a[i - 1] : 0;",
            "for (int i = 1; i < n; i++) a[i] = b[i - 1];",
        ),
        steps("for (int i = 1; i < n - 1; i++) { b[i] = (a[i - 1] + a[i + 1]) / 2; a[i] = b[i]; }"),
    ],
)
def test_what_is_no_whole_copy_of_each_step_stays(model, body):
    found = model(body, PARAMETERS)
    (loop,) = loops_over_time(found.scop)
    list(copied_grids(found.scop, loop, ()))
    assert fold_copies(found.scop, found.live, ()) is found.scop


def test_few_steps_are_left_alone(model):
    found = model(steps(STEP, COPY).replace("< steps", "< 3"), PARAMETERS)
    assert fold_copies(found.scop, found.live, ()) is found.scop
