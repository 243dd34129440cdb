"""How loops move through memory."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.scop.model import AccessKind
from polybuild.targets.cpu import strides
from polybuild.targets.cpu.strides import Stride, references, references_at

PARAMETERS = (
    "int n, double *restrict a, double A[restrict n][n], double B[restrict 2][n],"
    " double W[restrict 3 * n][3 * n], int *restrict k"
)
NEST = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
NONE, UNIT, FAR = Stride.NONE, Stride.UNIT, Stride.FAR


# statement in a nest over (i, j): array that is asked for, its strides along i and j (None: whatever)
CASES = {
    "a row": ("A[i][j] = 0;", "A", (FAR, UNIT)),
    "a column": ("A[j][i] = 0;", "A", (UNIT, FAR)),
    "the same element": ("A[3][5] = i + j;", "A", (NONE, NONE)),
    "backwards": ("A[i][n - 1 - j] = 0;", "A", (FAR, UNIT)),
    "every second": ("W[i][2 * j] = 0;", "W", (FAR, FAR)),
    "a diagonal": ("W[i + j][j] = 0;", "W", (FAR, FAR)),
    "an antidiagonal of a vector": ("a[i + j] = 0;", "a", (UNIT, UNIT)),
    "rounded down": ("a[j / 2] = i;", "a", (None, FAR)),
    "through an index": ("A[i][j] = a[k[j]];", "a", (None, FAR)),
    "a row that data choose": ("A[i][j] = W[k[i]][j];", "W", (FAR, UNIT)),
    "a row through two tables": ("A[i][j] = W[k[k[i]] + 1][2 + j];", "W", (FAR, UNIT)),
    "a row of a flat array": ("A[i][j] = a[k[i] * n + j];", "a", (FAR, UNIT)),
    "columns of such a row": ("A[i][j] = a[(k[i] + j) * n + i];", "a", (FAR, FAR)),
    "every second of such a row": ("A[i][j] = a[k[i] + 2 * j];", "a", (FAR, FAR)),
    "such a row backwards": ("A[i][j] = a[(long)k[i] - j];", "a", (FAR, UNIT)),
    "the same element of such a row": ("A[i][j] = a[k[i] + i];", "a", (FAR, NONE)),
    "a row and a column that data choose": ("A[i][j] = W[k[i]][k[j]];", "W", (FAR, FAR)),
    "one of two rows": ("A[i][j] = a[(k[i] > 3 ? k[i] : i) + j];", "a", (None, UNIT)),
    "a place that is computed": ("A[i][j] = a[k[i] * k[i + 1] - k[i] % 5 + j];", "a", (FAR, UNIT)),
    "a place that changes": ("A[i][j] = a[k[i] * k[j] + j];", "a", (FAR, FAR)),
    "in turn": ("B[i % 2][j] = 0;", "B", (None, UNIT)),
    "either way": ("if (k[j] > 0) A[i][j] = 1; else A[i][j] = 2;", "A", (FAR, UNIT)),
    "a choice further out": ("A[i == 0 ? n - 1 : i - 1][j] = 0;", "A", (FAR, UNIT)),
    "a choice along the row": ("A[i][j == 0 ? n - 1 : j - 1] = 0;", "A", (FAR, FAR)),
    "a view": ("a[i * n + j] = 0;", "a", (FAR, UNIT)),
}


@pytest.mark.parametrize("what", CASES)
def test_stride(what, band):
    statement, array, expected = CASES[what]
    found, node = band(f"{NEST} {statement}", PARAMETERS, "i", "j")
    own = [each for each in references(found.scop, node) if each.access.array.name == array]
    assert own
    for reference in own:
        if expected[0] is not None:
            assert reference.stride(0) is expected[0]
        assert reference.stride(1) is expected[1]


def test_strides_follow_the_members_not_the_counters(band):
    found, node = band(f"{NEST} A[i][j] = 0;", PARAMETERS, "i + j", "j")
    (reference,) = references(found.scop, node)
    assert reference.matrix == ((1, -1), (0, 1))
    assert (reference.stride(0), reference.stride(1)) == (FAR, FAR)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("{ int p = k[i]; for (int j = 0; j < n; j++) A[i][j] = a[p + j]; }", (FAR, UNIT)),
        ("for (int j = 0; j < n; j++) { int p = k[i]; A[i][j] = a[p + j]; }", (FAR, FAR)),
        ("for (int j = 0; j < n; j++) { k[3] = j; A[i][j] = a[k[i] + j]; }", (FAR, FAR)),
        ("{ k[3] = i; for (int j = 0; j < n; j++) A[i][j] = a[k[i] + j]; }", (FAR, UNIT)),
    ],
)
def test_data_that_loops_change_move_what_they_choose(model, body, expected):
    scop = model(f"for (int i = 0; i < n; i++) {body}", PARAMETERS).scop
    (statement,) = (each for each in scop.statements if len(each.iterators) == 2 and "A" in _written(each))
    found = references_at(scop, {statement.name: statement.domain.identity()}, range(2))
    own = [each for each in found if each.access.array.name == "a"]
    assert [(each.stride(0), each.stride(1)) for each in own] == [expected]


def _written(statement):
    return {each.array.name for each in statement.accesses if each.kind is not AccessKind.READ}


def test_a_fraction_is_no_stride():
    subscript = isl.PwAff("{ [i, j, k] -> [(13 + i + j) / 3 + k] }")
    assert strides._row(subscript, range(3)) == (None, None, 1)


def test_what_chooses_between_pieces_has_no_stride_and_others_have():
    subscript = isl.PwAff("{ [i, j, k] -> [(i + k)] : i > 0; [i, j, k] -> [(9 + j + k)] : i <= 0 }")
    assert strides._row(subscript, range(3)) == (None, None, 1)


def test_choices_of_one_subscript_are_none_of_the_others(band):
    found, node = band(f"{NEST} W[0][i] = A[i == 0 ? n - 1 : i - 1][j];", PARAMETERS, "i", "j")
    (read,) = (each for each in references(found.scop, node) if each.access.array.name == "A")
    assert read.matrix == ((None, 0), (0, 1))


def test_loops_around_do_not_count(band):
    found, node = band(f"{NEST} A[i][j] = 0;", PARAMETERS, "i")
    inner = node.child(0).insert_partial_schedule(isl.MultiUnionPwAff("[{ S0[i, j] -> [(j)] }]"))
    assert [each.matrix for each in references(found.scop, inner)] == [((0,), (1,))]
    assert [each.matrix for each in references(found.scop, inner.parent())] == [((1,), (0,))]


def test_extent_is_the_box_of_a_tile(band):
    found, node = band(f"{NEST} A[i][j] = W[j][2 * i + j];", PARAMETERS, "i", "j")
    boxes = {each.access.array.name: each.extent((8, 4)) for each in references(found.scop, node)}
    assert boxes == {"A": (8, 4), "W": (4, 1 + 2 * 7 + 3)}
