"""Which loop the vector unit would like, and whether dependences let it have it."""

from __future__ import annotations

import islpy as isl

from polybuild.machine.model import Machine
from polybuild.schedule.legality import active_dependences
from polybuild.targets.cpu.carried import carries_nothing, fixed_around
from polybuild.targets.cpu.strides import references
from polybuild.targets.cpu.vectorise import member_cost, vector_candidates

PARAMETERS = (
    "int n, double *restrict a, double A[restrict n][n],"
    " double B[restrict n][n], double W[restrict 2 * n][2 * n]"
)
NEST = "for (int i = 1; i < n; i++) for (int j = 1; j < n; j++)"


def candidates(band, statement, *members):
    found, node = band(f"{NEST} {statement}", PARAMETERS, *(members or ("i", "j")))
    return vector_candidates(references(found.scop, node), node.band_n_member(), Machine())


def test_rows_come_first(band):
    assert candidates(band, "A[i][j] = B[i][j];")[0] == 1
    assert candidates(band, "A[j][i] = B[j][i];")[0] == 0


def test_the_store_decides_between_a_row_and_a_column(band):
    found, node = band(f"{NEST} A[i][j] = B[j][i];", PARAMETERS, "i", "j")
    accesses = references(found.scop, node)
    costs = [member_cost(accesses, each, Machine()) for each in range(2)]
    assert costs[0] is None or (costs[1] is not None and costs[1] < costs[0])


def test_a_scattered_store_is_not_worth_it(band):
    assert candidates(band, "W[2 * i][2 * j] = 1;") == []


def test_divisions_are_worth_scattered_stores(band):
    assert candidates(band, "W[2 * i][2 * j] = 1 / W[2 * i][2 * j];") == [1, 0]


def test_loops_inside_a_statement_keep_the_vector_unit_out(model):
    body = "for (int i = 0; i < n; i++) { double s = a[i]; while (s > 1) s /= 2; a[i] = s; }"
    found = model(body, PARAMETERS)
    node = found.scop.schedule.get_root().child(0)
    assert vector_candidates(references(found.scop, node), 1, Machine()) == []


def test_only_the_dependences_of_one_member_are_left_when_it_is_innermost(band):
    found, node = band(f"{NEST} A[i][j] = A[i - 1][j] + A[i][j];", PARAMETERS, "i", "j")
    active = active_dependences(node, found.dependences.validity)
    assert not active.is_empty()
    partial = node.band_get_partial_schedule()
    assert not carries_nothing(partial, 0, fixed_around(partial, 0, active))
    assert carries_nothing(partial, 1, fixed_around(partial, 1, active))


def test_what_outer_loops_carry_is_not_active(band):
    found, node = band(f"{NEST} A[i][j] = A[i - 1][j];", PARAMETERS, "i")
    inner = node.child(0).insert_partial_schedule(isl.MultiUnionPwAff("[{ S0[i, j] -> [(j)] }]"))
    assert active_dependences(inner, found.dependences.validity).is_empty()
    assert not active_dependences(node, found.dependences.validity).is_empty()


def test_lanes_follow_no_pointers_to_rows(band):
    found, node = band(
        f"{NEST} a[i] += rows[i][j];", "int n, double *restrict a, double **restrict rows", "i", "j"
    )
    accesses = references(found.scop, node)
    costs = [member_cost(accesses, each, Machine()) for each in range(2)]
    assert costs[0] is None
    assert costs[1] is not None


def test_stores_that_fill_what_is_between_them_suit_lanes(model):
    """Compilers put bytes that are stored side by side together, and leave single ones apart."""

    def cost(body):
        found = model(f"for (int i = 0; i < n; i++) {{ {body} }}", "int n, unsigned char *restrict c")
        accesses = references(found.scop, found.scop.schedule.get_root().child(0))
        return member_cost(accesses, 0, Machine())

    assert cost("c[2 * i] = 1; c[2 * i + 1] = i;") is not None
    assert cost("c[2 * i] = 1; c[2 * i + 3] = i; c[2 * i + 8] = 2;") is None
    assert cost("c[2 * i] = 1;") is None
