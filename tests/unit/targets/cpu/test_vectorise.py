"""The loop for the vector unit, as it stands or distributed."""

from __future__ import annotations

import pytest

from polybuild.machine.model import Machine
from polybuild.poly.relations import sets_of
from polybuild.targets.cpu import vectorise
from polybuild.targets.cpu.strides import references
from polybuild.targets.cpu.vectorise import find_vector_loop

PARAMETERS = (
    "int n, double *restrict a, double *restrict b, double *restrict c, double A[restrict n][n], "
    "unsigned char *restrict pixels, unsigned char *restrict grey"
)
NEST = "for (int i = 1; i < n; i++) for (int j = 1; j < n; j++)"


@pytest.fixture
def vector(model):
    """The vector loop of a region that is one loop."""

    def find(body, before=""):
        found = model(f"for (int i = 0; i < n - 1; i++) {{ {body} }}", PARAMETERS, before=before)
        node = found.scop.schedule.get_root().child(0)
        loop = find_vector_loop(node, references(found.scop, node), found.dependences, Machine())
        if loop is None:
            return None
        return [[each.get_tuple_name() for each in sets_of(group)] for group in loop.groups]

    return find


def test_independent_iterations(vector):
    assert vector("a[i] = b[i];") == []


def test_colours_of_pixels_are_loaded_together(vector):
    assert vector("grey[i] = (pixels[3 * i] + pixels[3 * i + 1] + pixels[3 * i + 2]) / 3;") == []


def test_elements_far_apart_are_left_to_scalar_code(vector):
    assert vector("grey[i] = (pixels[9 * i] + pixels[9 * i + 1] + pixels[9 * i + 2]) / 3;") is None


def test_a_recurrence_has_none(vector):
    assert vector("a[i + 1] = 2 * a[i] + b[i];") is None


def test_a_sum_has_none(vector):
    assert vector("a[0] += b[i];") is None


def test_statements_that_feed_later_iterations_are_distributed(vector):
    assert vector("b[i + 1] = a[i]; c[i] = b[i];") == [["S0"], ["S1"]]
    assert vector("c[i] = b[i]; b[i + 1] = a[i];") == [["S1"], ["S0"]]


def test_a_private_scalar_keeps_its_statements_together(vector):
    assert vector("t = a[i]; b[i] = t * t;", before="double t;") == []
    # distribution would make one variable hold the values of all iterations
    assert vector("t = a[i]; b[i + 1] = t; c[i] = b[i] + t;", before="double t;") is None


def test_a_circle_has_none(vector):
    assert vector("b[i + 1] = c[i]; c[i + 1] = b[i];") is None


def test_the_member_that_carries_nothing(band):
    found, node = band(f"{NEST} A[i][j] = A[i - 1][j];", PARAMETERS, "i", "j")
    assert find_vector_loop(node, references(found.scop, node), found.dependences, Machine()).member == 1
    found, node = band(f"{NEST} A[i][j] = A[i][j - 1];", PARAMETERS, "i", "j")
    loop = find_vector_loop(node, references(found.scop, node), found.dependences, Machine())
    assert loop is None or loop.member == 0


def test_variables_do_not_make_up_for_columns(vector):
    assert vector("double s = A[i][1]; s += A[i][2]; s += A[i][3]; A[i][0] = s;") is None


def test_a_statement_is_looked_through_once(model, monkeypatch):
    """However many accesses it has: a block of statements that follow each other has very many."""
    found = model("for (int i = 1; i < n; i++) { a[i] = b[i] + c[i]; b[i] = c[i] * c[i - 1]; }", PARAMETERS)
    node = found.scop.schedule.get_root().child(0)
    seen = []
    monkeypatch.setattr(vectorise, "has_loops", lambda body: bool(seen.append(body)))
    vectorise.vector_candidates(references(found.scop, node), 1, Machine())
    assert len(seen) == len(found.scop.statements) == 2
