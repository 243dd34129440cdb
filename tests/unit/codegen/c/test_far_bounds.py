"""Bounds of parameters in the conditions under which isl makes loops: which matter to a schedule."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.codegen.c.far_bounds import without_far_bounds

SCHEDULE = isl.Schedule(
    '{ domain: "[n, m] -> { S[i, j] : 0 <= i < n and 0 <= j < m and j < 300 }",'
    ' child: { schedule: "[n, m] -> [{ S[i, j] -> [floor(i/128)] }, { S[i, j] -> [j] }]" } }'
)


@pytest.mark.parametrize(
    ("context", "kept"),
    [
        ("n <= 2000", ""),
        ("n <= 128", "n <= 128"),  # one tile has all iterations
        ("m <= 200", "m <= 200"),  # less than what bounds the loop otherwise
        ("0 < n <= 2000 and m <= 301", "0 < n"),
        ("n <= 100 and m <= 2000", "n <= 100"),
        ("n + m <= 2000", "n + m <= 2000"),  # of more than one
        ("n >= 2000", "n >= 2000"),
        ("n = 2000", "n = 2000"),
        ("n < 0 or n > 2000 and m <= 4000", "n < 0 or n > 2000 and m <= 4000"),
    ],
)
def test_only_upper_bounds_above_all_numbers_of_a_schedule_go(context, kept):
    found = without_far_bounds(isl.Set(f"[n, m] -> {{ : {context} }}"), SCHEDULE)

    assert found.is_equal(isl.Set(f"[n, m] -> {{ : {kept} }}"))


def test_a_loop_over_one_tile_is_not_written_where_a_bound_says_so():
    def loops(context):
        there = without_far_bounds(isl.Set(f"[n, m] -> {{ : {context} }}"), SCHEDULE)
        return isl.AstBuild.from_context(there).node_from_schedule(SCHEDULE).to_C_str()

    assert loops("n <= 128").count("for") == 2
    assert loops("n <= 129").count("for") == 3
    assert loops("n <= 2000") == loops("n <= 3000")
