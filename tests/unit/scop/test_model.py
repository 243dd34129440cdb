"""Domains, access relations, arrays and assumptions of small regions, as sets."""

from __future__ import annotations

import islpy as isl
import pytest
from plain_regions import scop_in

from polybuild.diagnostics import Unsupported
from polybuild.scop.model import AccessKind, Scop


def relations(scop: Scop, statement: int) -> list[tuple[str, isl.Map]]:
    return [(each.kind.value, each.relation) for each in scop.statements[statement].accesses]


def assert_accesses(scop: Scop, statement: int, *expected: str) -> None:
    found = relations(scop, statement)
    assert len(found) == len(expected), [f"{kind} {relation}" for kind, relation in found]
    domain = scop.statements[statement].domain
    for (kind, relation), text in zip(found, expected, strict=True):
        wanted_kind, wanted = text.split(" ", 1)
        parameters = ", ".join(each.name for each in scop.parameters)
        wanted_map = isl.Map(f"[{parameters}] -> {{ {wanted} }}").intersect_domain(domain)
        assert kind == wanted_kind
        assert relation.is_equal(wanted_map), f"{relation} is not {wanted_map}"
        assert relation.get_space().is_equal(wanted_map.get_space())


def condition(scop: Scop) -> isl.Set:
    whole = isl.Set.universe(scop.context.get_space())
    for each in scop.assumptions:
        whole = whole.intersect(each.condition)
    return whole


def test_matrix_product():
    scop = scop_in(
        """for (int i = 0; i < n; i++)
             for (int j = 0; j < n; j++) {
               C[i][j] = 0;
               for (int k = 0; k < n; k++)
                 C[i][j] += A[i][k] * B[k][j];
             }""",
        "int n, double A[n][n], double B[n][n], double C[restrict n][n]",
    )
    domain = isl.Set("[n] -> { S1[i, j, k] : 0 <= i < n and 0 <= j < n and 0 <= k < n }")
    assert scop.statements[1].domain.is_equal(domain)
    assert [each.name for each in scop.statements[1].iterators] == ["i", "j", "k"]
    assert_accesses(scop, 0, "write S0[i, j] -> C[i, j]")
    assert_accesses(
        scop,
        1,
        "read S1[i, j, k] -> C[i, j]",
        "read S1[i, j, k] -> A[i, k]",
        "read S1[i, j, k] -> B[k, j]",
        "write S1[i, j, k] -> C[i, j]",
    )
    # inner extents are positive; that subscripts stay inside follows from the bounds
    assert condition(scop).is_equal(isl.Set("[n] -> { : n > 0 }"))
    assert scop.context.is_equal(isl.Set("[n] -> { : n > 0 }"))
    array = scop.arrays[0]
    assert array.name == "C"
    assert array.provenance.by_pointer
    assert str(array.extents[1]) == "[n] -> { [] -> [(n)] }"


def test_every_object_has_the_parameters_of_the_context():
    scop = scop_in(
        "for (int i = 0; i < n; i++) a[i] = 0; for (int i = 0; i < m; i++) a[i] = 1;",
        "int n, int m, double *a",
    )
    space = scop.context.get_space()
    for statement in scop.statements:
        assert statement.domain.params().get_space().is_equal(space)
        for access in statement.accesses:
            assert access.relation.params().get_space().is_equal(space)
    assert [each.name for each in scop.parameters] == ["n", "m"]


def test_the_schedule_is_a_tree_of_one_band_per_loop():
    scop = scop_in(
        "for (int i = 0; i < n; i++) { x = 0; for (int j = n; j > i; j--) x += a[j]; }",
        "int n, double x, double *a",
    )
    assert scop.schedule.plain_is_equal(
        isl.Schedule(
            """{ domain: "[n] -> { S0[i] : 0 <= i < n; S1[i, j] : 0 <= i < j <= n }",
                 child: { schedule: "[n] -> [{ S0[i] -> [(i)]; S1[i, j] -> [(i)] }]",
                   child: { sequence: [
                     { filter: "[n] -> { S0[i] }" },
                     { filter: "[n] -> { S1[i, j] }",
                       child: { schedule: "[n] -> [{ S1[i, j] -> [(-j)] }]" } } ] } } }"""
        )
    )
    root = scop.schedule.get_root()
    assert root.child(0).get_type() == isl.schedule_node_type.band
    assert not root.child(0).band_get_permutable()
    inner = root.child(0).child(0).child(1).child(0)
    assert str(inner.band_get_partial_schedule().get_at(0)).count("-j") == 1


def test_subscripts_divide_as_c_does():
    scop = scop_in("for (int i = -n; i < n; i++) a[i / 2] = a[i % 3 + 1];", "int n, double *a")
    assert_accesses(
        scop,
        0,
        """read S0[i] -> a[x] : (exists q : i = 3q + x - 1)
                                and ((i >= 0 and 0 < x <= 3) or (i < 0 and -2 < x <= 1))""",
        "write S0[i] -> a[x] : (i >= 0 and 2x <= i <= 2x + 1) or (i < 0 and 2x - 1 <= i <= 2x)",
    )


def test_evaluation_inside_a_statement():
    scop = scop_in(
        "for (int i = 0; i < n; i++) a[i] = b[i] > 0 ? (x = b[i]) : (y += 1, c[i] && (z = 2));",
        "int n, double *a, double *b, double *c, double x, double y, double z",
    )
    assert_accesses(
        scop,
        0,
        "read S0[i] -> b[i]",
        "read S0[i] -> b[i]",
        "may-write S0[i] -> x[]",
        "read S0[i] -> y[]",
        "may-write S0[i] -> y[]",
        "read S0[i] -> c[i]",
        "may-write S0[i] -> z[]",
        "write S0[i] -> a[i]",
    )


def test_an_affine_choice_reads_only_what_it_chooses():
    scop = scop_in(
        "for (int i = 0; i < n; i++) a[i] = i > 0 ? b[i - 1] : b[n];", "int n, double *a, double *b"
    )
    assert_accesses(
        scop, 0, "read S0[i] -> b[i - 1] : i > 0", "read S0[i] -> b[n] : i <= 0", "write S0[i] -> a[i]"
    )


def test_chained_assignment_and_increments():
    scop = scop_in("x = a[1] = b[2]++;", "double *a, double *b, double x")
    assert_accesses(scop, 0, "read S0[] -> b[2]", "write S0[] -> b[2]", "write S0[] -> a[1]")
    assert_accesses(scop, 1, "read S1[] -> a[1]", "write S1[] -> x[]")


def test_constants_are_stored_at_once():
    scop = scop_in("x = a[1] = 0;", "double *a, double x")
    assert_accesses(scop, 0, "write S0[] -> a[1]", "write S0[] -> x[]")


def test_members_of_structures():
    scop = scop_in(
        "for (int i = 0; i < p->n; i++) { p->grid[i][1] = q[i].x; s.sum += s.cell[2].y[i]; }",
        "struct grid *p, struct point *q, struct sums s",
        top="""struct point { double x; double y[8]; };
               struct grid { int n; float grid[4][5]; };
               struct sums { double sum; struct point cell[3]; };""",
    )
    assert [each.name for each in scop.parameters] == ["p_n"]
    assert_accesses(scop, 0, "read S0[i] -> q_x[i]", "write S0[i] -> p_grid[i, 1]")
    assert_accesses(
        scop, 1, "read S1[i] -> s_sum[]", "read S1[i] -> s_cell_y[2, i]", "write S1[i] -> s_sum[]"
    )
    arrays = {each.name: each for each in scop.arrays}
    assert arrays["q_x"].suffixes == (".x",)
    assert arrays["s_cell_y"].suffixes == (".y", "")
    assert arrays["p_grid"].provenance.by_pointer
    assert not arrays["s_sum"].provenance.by_pointer
    # the second subscript of s.cell[2].y must stay inside
    assert condition(scop).is_equal(isl.Set("[p_n] -> { : p_n <= 8 }"))


def test_two_locals_of_one_name_are_two_arrays():
    scop = scop_in(
        "for (int i = 0; i < n; i++) { double t = a[i]; a[i] = t; } { float t = 1; a[0] = t; }",
        "int n, double *a",
    )
    names = [each.name for each in scop.arrays if each.local]
    assert len(set(names)) == 2
    written = [each for each in scop.statements[0].accesses if each.kind is AccessKind.WRITE]
    assert written[0].array.name == names[0]
    assert scop.statements[3].accesses[0].array.name == names[1]
    assert scop.arrays[1].declared is not None


def test_a_local_gets_a_name_that_hides_nothing():
    scop = scop_in(
        """for (int i = 0; i < n; i++) { double x = a[i]; a[i] = x; }
           for (int k = 0; k < n; k++) { double i = x[k]; a[k] = i; }""",
        "int n, double *a, double *x",
    )
    outside = {"i", "k", "n", "a", "x"}
    assert not outside & {each.name for each in scop.arrays if each.local}
    # the arrays' isl names may be anything: they are printed as the user's expressions
    assert [each.expression.name for each in scop.arrays if not each.local] == ["a", "x"]


def test_local_array_and_dereferenced_pointer():
    scop = scop_in(
        "for (int i = 0; i < n; i++) { double row[m]; for (int j = 0; j < m; j++) row[j] = *a; }",
        "int n, int m, double *a",
    )
    assert_accesses(scop, 0, "read S0[i, j] -> a[0]", "write S0[i, j] -> row[j]")
    assert str(scop.arrays[1].extents[0]).endswith("{ [] -> [(m)] }")


@pytest.mark.parametrize(
    ("region", "parameters", "expected"),
    [
        ("for (unsigned i = 0; i < n - 1; i++) a[i] = 0;", "unsigned n, double *a", "[n] -> { : n > 0 }"),
        ("for (int i = 0; i != n; i++) a[i] = 0;", "int n, double *a", "[n] -> { : n >= 0 }"),
        (
            "for (int i = 0; i != n; i += 3) a[i] = 0;",
            "int n, double *a",
            "[n] -> { : n >= 0 and n mod 3 = 0 }",
        ),
        ("for (unsigned char i = 0; i < n; i++) a[i] = 0;", "int n, double *a", "[n] -> { : n < 256 }"),
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j + m] = 0;",
            "int n, int m, double a[][9]",
            "[n, m] -> { : m >= 0 and n + m <= 9 }",
        ),
        ("for (int i = 0; i < n; i++) a[i] = 0;", "long n, double *a", "[n] -> { : }"),
        ("for (long i = 0; i < n; i++) a[i] = 0;", "unsigned long n, double *a", "[n] -> { : n >= 0 }"),
        (
            "for (unsigned i = 0; i <= n; i++) a[i] = 0;",
            "unsigned n, double *a",
            "[n] -> { : n < 4294967295 }",
        ),
    ],
)
def test_assumptions(region, parameters, expected):
    scop = scop_in(region, parameters)
    wanted = isl.Set(expected)
    if "unsigned n" in parameters:
        wanted = wanted.intersect(isl.Set("[n] -> { : n >= 0 }"))
        found = condition(scop).intersect(isl.Set("[n] -> { : n >= 0 }"))
    else:
        found = condition(scop)
    assert found.is_equal(wanted)


def test_bounds_of_wide_types_stay_out_of_the_context():
    scop = scop_in("for (unsigned i = 0; i <= n; i++) a[i] = 0;", "unsigned n, double *a")
    assert scop.context.is_equal(isl.Set("[n] -> { : n >= 0 }"))


def test_final_values_only_of_counters_used_afterwards():
    region = "for (i = 0; i < n; i++) for (j = 0; j < i; j++) a[j] = 0;"
    scop = scop_in(region, "int n, double *a", "int i, j;", "a[0] = j;")
    assert [each.name for each in scop.final_values] == ["j"]
    assert scop.final_values[0].value.is_equal(isl.PwAff("[n] -> { [] -> [n - 1] : n > 0 }"))
    assert scop_in(region, "int n, double *a", "int i, j;").final_values == ()


def test_pragmas_about_speed_are_dropped():
    scop = scop_in("#pragma GCC ivdep\nfor (int i = 0; i < n; i++) a[i] = 0;", "int n, double *a")
    assert len(scop.statements) == 1


def test_enumerators_sizes_and_typedefs():
    scop = scop_in(
        "for (int i = 0; i < LAST; i += sizeof(float)) a[i] = (real)i;",
        "double *a",
        top="enum { FIRST = 3, LAST = 9 }; typedef float real;",
    )
    assert scop.statements[0].domain.is_equal(isl.Set("{ S0[i] : 0 <= i < 9 and i mod 4 = 0 }"))


def test_a_deep_expression_is_refused_not_a_crash():
    with pytest.raises(Unsupported):
        scop_in(f"x = {'(' * 60}{' + '.join(['x'] * 3000)}{')' * 60};", "double x")
