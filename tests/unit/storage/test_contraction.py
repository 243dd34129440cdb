"""The storage mappings of the scalar promotion report's examples, and some that need other bases."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.storage.contraction import contract
from polybuild.storage.liveness import ExecutionOrder, LiveValues, conflicts

CONTEXT = isl.Set("[N] -> { : N >= 10 }")


def union(text: str) -> isl.UnionMap:
    return isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, f"[N] -> {text}")


# The blur filter of section IV-A: S and T fill three rows ahead of U.
BLUR_WRITTEN = union(
    "{ S[y, x] -> B[x, y] : 0 <= y < 2 and 0 <= x < N; T[y, x] -> B[x, y] : 2 <= y < N and 0 <= x < N }"
)
BLUR_READ = union("{ U[y, x] -> B[x, z] : y - 2 <= z <= y and 2 <= y < N and 0 <= x < N }")
BLUR = LiveValues(BLUR_WRITTEN, BLUR_WRITTEN.apply_range(BLUR_READ.reverse()))

ORIGINAL = "{ S[y, x] -> [0, y, x, 0]; T[y, x] -> [1, y, x, 0]; U[y, x] -> [1, y, x, 1] }"
TILED = (
    "{ S[y, x] -> [floor(x/4), 0, y, x, 0]; T[y, x] -> [floor(x/4), 1, y, x, 0];"
    " U[y, x] -> [floor(x/4), 1, y, x, 1] }"
)
PERMUTED = "{ S[y, x] -> [x, 0, y, 0]; T[y, x] -> [x, 1, y, 0]; U[y, x] -> [x, 1, y, 1] }"


def mapping(values: LiveValues, schedule: str, *, together: str = "{ }"):
    users = values.written.domain().union(values.flow.range())
    sharing = isl.UnionMap.from_domain_and_range(users, users)
    found = conflicts(values, ExecutionOrder(union(schedule), sharing, union(together)))
    dimensions = isl.Set.from_union_set(values.written.range()).dim(isl.dim_type.set)
    return contract(None if found is None else found.deltas(), dimensions, CONTEXT)[0]


def test_tiled_blur_needs_twelve_registers():
    found = mapping(BLUR, TILED)
    assert found.rows == ((1, 0), (0, 1))
    assert found.sizes == (4, 3)
    assert found.footprint == 12


def test_permuted_blur_needs_three():
    found = mapping(BLUR, PERMUTED)
    assert found.rows == ((0, 1),)
    assert found.footprint == 3


def test_blur_as_written_needs_rows():
    found = mapping(BLUR, ORIGINAL)
    assert found.footprint is None
    assert 3 not in found.sizes  # less than three rows of N: a diagonal is shorter


PAIRS = union("{ W[i] -> A[i] : 0 <= i < N }")


@pytest.mark.parametrize("distance", [0, 1, 2, 7])
def test_cells_between_a_value_and_its_use(distance):
    values = LiveValues(PAIRS, union(f"{{ W[i] -> R[i + {distance}] : 0 <= i < N - {distance} }}"))
    # the use comes after the write of the same step
    found = mapping(values, "{ W[i] -> [i, 0]; R[i] -> [i, 1] }")
    assert found.footprint == distance + 1
    # before it, the last use makes room for the new value
    found = mapping(values, "{ W[i] -> [i, 1]; R[i] -> [i, 0] }")
    assert found.footprint == max(distance, 1)


def test_no_conflict_needs_one_cell():
    values = LiveValues(PAIRS, union("{ W[i] -> R[i] : 0 <= i < N }"))
    assert mapping(values, "{ W[i] -> [i, 0]; R[i] -> [i, 1] }").footprint == 1


def test_steps_that_run_together_have_cells_of_their_own():
    values = LiveValues(PAIRS, union("{ W[i] -> R[i] : 0 <= i < N }"))
    strip = "8*floor(i/8) = 8*floor(j/8) and i != j"
    lanes = f"{{ W[i] -> R[j] : {strip}; W[i] -> W[j] : {strip} }}"
    assert mapping(values, "{ W[i] -> [i, 0]; R[i] -> [i, 1] }", together=lanes).footprint == 8


def test_a_front_lies_on_a_diagonal():
    written = union("{ W[i, j] -> A[i, j] : 0 <= i < N and 0 <= j < N }")
    flow = union(
        "{ W[i, j] -> R[i + 1, j] : 0 <= i < N - 1 and 0 <= j < N;"
        " W[i, j] -> R[i, j + 1] : 0 <= i < N and 0 <= j < N - 1 }"
    )
    found = mapping(LiveValues(written, flow), "{ W[i, j] -> [i, j, 1]; R[i, j] -> [i, j, 0] }")
    assert len(found.rows) == 1
