"""Costs of loops as functions of the parameters: what they add up, and how they grow."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest
from contexts import context_of

from polybuild.analysis.aliasing import aliases_of
from polybuild.analysis.reductions import find_reductions
from polybuild.context import CompilerRules, Reordering, VectorRules
from polybuild.machine.model import Origin
from polybuild.poly.memory import remembering
from polybuild.poly.trees import descendants, is_band
from polybuild.targets.cost import Cost, overlapping
from polybuild.targets.cpu.choice import choose_mapping
from polybuild.targets.cpu.cost.compare import cost_of_mapping, cost_of_original
from polybuild.targets.cpu.cost.compiled import as_compiled
from polybuild.targets.cpu.cost.compilers_lanes import CompilersLanes, nowhere
from polybuild.targets.cpu.cost.core import adjacent_access
from polybuild.targets.cpu.cost.extents import extents_at
from polybuild.targets.cpu.cost.parameters import larger_sizes, parameters_at, usual_values
from polybuild.targets.cpu.cost.points import Points
from polybuild.transform.full_unrolling import outside_unrolled

PARAMETERS = (
    "int n, int m, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n],"
    " double *restrict x, double *restrict y, float *restrict s, float *restrict t"
)
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i][j] = a[i][j] + b[i][j];"
COLUMNS = "for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) c[i][j] = a[i][j] + b[i][j];"
PRODUCT = (
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
    " c[i][j] += a[i][k] * b[k][j];"
)
TRIANGLE = "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) c[i][j] = a[i][j] + b[i][j];"
DIAGONALS = (
    "for (int i = 1; i < n; i++) for (int j = 1; j < n; j++)"
    " a[i][j] = 1 / (1 + 1 / (a[i - 1][j] + a[i][j - 1]));"
)
SUM = "for (int i = 0; i < n; i++) y[0] += x[i];"
SCALED = "for (int i = 0; i < n; i++) y[i] = 2 * x[i];"
NARROW = "for (int i = 0; i < n; i++) t[i] = 2 * s[i];"
DIVIDED = "for (int i = 0; i < n; i++) y[i] = x[i] / (x[i] + 2);"
BLOCKED = (
    "for (int l = 0; l < 20; l++) for (int ii = 0; ii < n; ii += 32) for (int jj = 0; jj < n; jj += 32)"
    " for (int i = ii; i < (ii + 32 < n ? ii + 32 : n); i++)"
    " for (int j = jj; j < (jj + 32 < n ? jj + 32 : n); j++) c[i][j] += a[i][j] + b[i][j];"
)
SHIFTED = "for (int i = 0; i < n - m; i++) y[i] = x[i + m];"


@pytest.fixture
def original(model):
    """The cost of original loops for values of the parameters."""

    def make(body, **values):
        read = model(body, PARAMETERS)
        reductions = find_reductions(read.scop, read.region, Reordering.EXACT).found
        return cost_of_original(read.scop, read.dependences, reductions, context_of()).at(values)

    return make


def test_vectors_that_begin_anywhere_are_in_two_lines():
    """What begins at any element of a line mostly ends in the next one, if it is as long as a line."""
    machine = context_of().machine
    line = machine.memory.line
    whole = max(machine.arithmetic.access, line / machine.l1.bandwidth)
    assert adjacent_access(line, 8, machine) == pytest.approx(whole * (2 - 8 / line))
    assert adjacent_access(8, 8, machine) == pytest.approx(machine.arithmetic.access)
    assert adjacent_access(line // 2, 8, machine) < adjacent_access(line, 8, machine)


def test_traffic_is_whole_lines_and_what_is_written_goes_both_ways(original):
    n = 4000
    assert original(ROWS, n=n).traffic == pytest.approx(4 * 8 * n * n, rel=0.01)


def test_what_fits_the_caches_is_moved_once(original):
    assert original(PRODUCT, n=100).traffic == pytest.approx(4 * 8 * 100 * 100, rel=0.02)
    assert original(PRODUCT, n=4000).traffic > 20 * 4 * 8 * 4000 * 4000


def test_columns_take_longer_than_rows_once_their_lines_do_not_stay(original):
    assert original(COLUMNS, n=4000).total > 3 * original(ROWS, n=4000).total
    assert original(COLUMNS, n=4000).pages > 100 * original(ROWS, n=4000).pages


def test_triangles_are_half_of_squares(original):
    assert original(TRIANGLE, n=1000).accesses == pytest.approx(original(ROWS, n=1000).accesses / 2, rel=0.1)


def test_loops_over_blocks_run_once_for_each_block(original):
    plain = f"for (int l = 0; l < 20; l++) {ROWS.replace('c[i][j] =', 'c[i][j] +=')}"
    assert original(BLOCKED, n=1600).caches == pytest.approx(original(plain, n=1600).caches, rel=0.1)


@pytest.mark.parametrize(
    "neighbour",
    ["(i + n - 1) % n", "i == 0 ? n - 1 : i - 1", "i > 0 ? i - 1 : 0", "i < n - 1 ? i + 1 : n - 1"],
    ids=["a remainder", "around the corner", "the first one", "the last one"],
)
def test_neighbours_at_borders_are_elements_that_others_touch(original, neighbour):
    n = 4000
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    found = original(f"{loops} c[i][j] = a[i][j] + a[{neighbour}][j];", n=n).traffic
    assert found == pytest.approx(3 * 8 * n * n, rel=0.01)


def test_neighbours_of_statements_with_other_loops_are_others(original):
    border = "for (int t = 0; t < 9; t++) { a[0][0] = 1;"
    inside = " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i][j] = a[0][(j + 1) % n]; }"
    assert original(border + inside, n=500).total > 0


def test_a_sum_in_order_waits_for_each_term(original):
    assert original(SUM, n=1000).waiting == pytest.approx(1000 * context_of().machine.arithmetic.latency)
    assert original(SCALED, n=1000).waiting == 0


@pytest.mark.parametrize(
    ("parameters", "stored"),
    [
        ("int n, double *y, double *x", True),
        ("int n, double *restrict y, double *restrict x", False),
        ("int n, double *y, float *x", False),
        ("int n, double *y, char *x", True),
    ],
)
@pytest.mark.parametrize("written", [True, False])
def test_a_sum_that_may_be_written_otherwise_is_stored_and_loaded_again(model, parameters, stored, written):
    """Where others only read what may be it, it is stored each time, and stays in a register."""
    body = "for (int i = 0; i < n; i++) { y[0] += 2.0; x[i] = 0; }" if written else SUM
    read, context = model(body, parameters), context_of()
    stored = stored and written
    aliases = aliases_of(read.region, strict=True)
    found = cost_of_original(read.scop, read.dependences, (), context, aliases=aliases).at({"n": 1000})
    unit = context.machine.arithmetic
    assert found.waiting == pytest.approx(1000 * (unit.latency + stored * unit.forward))


@pytest.mark.parametrize(
    ("inside", "lanes"),
    [
        ("for (int k = 0; k < 40; k++) y[j] += a[k][i] * b[k][j];", True),
        ("for (int k = 0; k < m; k++) y[j] += a[k][i] * b[k][j];", False),
        ("for (int k = 0; k < 40; k++) y[j] += x[j] > 0 ? a[k][i] * b[k][j] : 0;", False),
        ("double s = 9; for (int k = 0; k < 40; k++) if (b[k][j] + 1 < s) s = b[k][j] + 1; y[j] = s;", True),
        ("for (int l = 0; l < 40; l++) for (int k = 0; k < 40; k++) y[j] += a[k][l] * b[k][j];", False),
    ],
)
def test_compilers_may_compute_a_loop_around_another_in_lanes(model, inside, lanes):
    read = model(f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {inside} }}", PARAMETERS)
    with_them, without = (
        cost_of_original(
            read.scop,
            read.dependences,
            (),
            replace(context_of(), compiler=CompilerRules(vectors=VectorRules(outer_lanes=each))),
        ).at({"n": 200, "m": 40})
        for each in (True, False)
    )
    assert (with_them.total < 0.6 * without.total) is lanes


@pytest.mark.parametrize(
    ("inside", "around"),
    [
        ("double s = 0; for (int k = 0; k < 40; k++) s += a[k][i] * b[k][j]; y[j] = s;", True),
        ("for (int k = 0; k < 40; k++) y[j] += a[k][i] * b[k][j];", False),
    ],
)
def test_generated_loops_around_others_that_store_again_and_again_are_left(model, inside, around):
    """Compilers know of no array that others overlap it where they read a directive for vectors."""
    read = model(f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {inside} }}", PARAMETERS)
    (loop,) = (
        each
        for each in descendants(read.scop.schedule.get_root())
        if is_band(each) and each.get_schedule_depth() == 1
    )
    found = [
        CompilersLanes(
            read.scop, read.dependences, context_of().machine, nowhere, CompilerRules(), generated=each
        ).takes_around(loop)
        for each in (False, True)
    ]
    assert found == [True, around]


@pytest.mark.parametrize(("pointers", "lanes"), [(3, True), (9, False)])
def test_loops_with_too_many_pointers_to_compare_run_without_lanes(model, pointers, lanes):
    terms = " + ".join(f"p{number}[i]" for number in range(pointers))
    parameters = "int n, double *x, double *y, " + ", ".join(f"double *p{each}" for each in range(pointers))
    read = model(f"for (int i = 0; i < n; i++) {{ x[i] = {terms}; y[i] = {terms}; }}", parameters)
    aliases = aliases_of(read.region, strict=True)
    known, unknown = (
        cost_of_original(read.scop, read.dependences, (), context_of(), aliases=each).at({"n": 1000})
        for each in (lambda _first, _second: False, aliases)
    )
    assert (unknown.arithmetic == known.arithmetic) == lanes


@pytest.mark.parametrize(
    ("target", "term", "lanes"),
    [
        ("x[i * n + j]", "y[(i + {0}) * n + j] * z[(i + {0}) * n + j]", False),  # n is no number
        ("x[i * n + j]", "y[i * n + j + {0}] * z[i * n + j + {0}]", True),
        ("X[i][j]", "Y[i + {0}][j] * Z[i + {0}][j]", True),
    ],
)
def test_rows_whose_distance_is_no_constant_are_compared_each(model, target, term, lanes):
    added = " + ".join(term.format(number) for number in range(-3, 3))
    assert _runs_in_lanes(model, f"{target} = {added};") is lanes


def test_rows_of_loops_that_are_unrolled_are_compared_each(model):
    loop = "for (int k = 0; k < 6; k++) s += y[(i + k) * n + j] * z[(i - k) * n + j];"
    assert not _runs_in_lanes(model, f"double s = 0; {loop} x[i * n + j] = s;")


def test_rows_that_statements_share_are_compared_once(model):
    window = "for (int k = 0; k < 7; k++) {{ {} }}"
    terms = ("s += y[(i + k) * n + j + {}];", "t += y[(i + k) * n + j + {}];")
    halves = (
        "for (int l = 0; l < 4; l++) s += y[(i + k) * n + j + 2 * l];"
        "for (int l = 0; l < 3; l++) t += y[(i + k) * n + j + 2 * l + 1];"
    )
    for each in (terms[0].format(0) + terms[1].format(1), halves):
        loop = window.format(each)
        assert _runs_in_lanes(model, f"double s = 0, t = 0; {loop} x[i * n + j] = s + t;")


@pytest.mark.parametrize(
    ("size", "update", "whole"),
    [
        # what gcc 12 -O3 reports (-fopt-info-loop); loads and operations count, of at most 200
        (7, "s += W[k][l] * Y[i + k][j + l];", True),
        (8, "s += W[k][l] * Y[i + k][j + l];", False),
        (9, "s += Y[i + k][j + l];", True),
        (11, "s += Y[i + k][j + l];", False),
        (6, "s += W[k][l] * x[(i + k) * n + j + l];", True),
        (7, "s += W[k][l] * x[(i + k) * n + j + l];", False),
        (7, "s += x[(i + k) * n + j + l];", True),
        (6, "X[i][j] += W[k][l] * Y[i + k][j + l];", True),
        (7, "X[i][j] += W[k][l] * Y[i + k][j + l];", False),
    ],
)
def test_windows_are_unrolled_up_to_a_number_of_instructions(model, size, update, whole):
    window = f"for (int k = 0; k < {size}; k++) for (int l = 0; l < {size}; l++) {update}"
    read = model(
        f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ double s = 0; {window} X[i][j] += s; }}",
        "int n, double X[][512], double Y[][512], double W[][16], double *x",
    )
    order, _ = as_compiled(read.scop, read.dependences, (), context_of())
    bands = [each for each in outside_unrolled(order.get_root()) if is_band(each)]
    assert len(bands) == (2 if whole else 3)


@pytest.mark.parametrize(
    ("update", "taken"),
    [
        # what gcc 12 -O3 -march=native reports
        ("x[i] = y[n - i] + 1;", True),
        ("p[i].f = q[n - i].x + 1;", False),
        ("p[n - i].f = q[i].x + 1;", True),
        ("p[n - i].f = q[i].x + 1; p[n - i].x = q[i].f;", False),
        ("p[i].f = q[i].x + 1;", True),
    ],
)
def test_few_compilers_go_back_over_elements_that_lie_apart(model, update, taken):
    kinds = "struct point { double x, f; };"
    parameters = (
        "int n, double *restrict x, double *restrict y, struct point *restrict p, struct point *restrict q"
    )
    read = model(f"for (int i = 0; i < n; i++) {{ {update} }}", parameters, top=kinds)
    loop, known = read.scop.schedule.get_root().child(0), (read.scop, read.dependences, context_of().machine)
    rules = (CompilerRules(vectors=VectorRules(backwards=each)) for each in (False, True))
    found = [CompilersLanes(*known, nowhere, each).takes(loop) for each in rules]
    assert found == [taken, True]


@pytest.mark.parametrize(
    ("update", "folded"),
    [
        ("s += x[i] * y[i];", True),
        ("s -= x[i] * y[i];", True),
        ("s = s + x[i] * y[i];", True),
        ("s *= x[i] + y[i];", False),
        ("s = x[i] - s;", False),
        ("s = x[i] > s ? x[i] : s;", False),
    ],
)
def test_gcc_computes_terms_of_sums_in_order_in_lanes(model, update, folded):
    parameters = "int n, double *x, double *y, double s"
    read = model(f"for (int i = 0; i < n; i++) {update}", parameters, after="*x = s;")
    clang, gcc = (
        cost_of_original(
            read.scop,
            read.dependences,
            (),
            replace(context_of(), compiler=CompilerRules(vectors=VectorRules(folds=each))),
        ).at({"n": 1000})
        for each in (False, True)
    )
    assert (gcc.accesses < clang.accesses) is folded
    assert gcc.waiting == clang.waiting > 0


def test_what_statements_of_an_iteration_share_is_loaded_once(model):
    parameters = "int n, double *restrict x, double *restrict y, double *restrict s"

    def accesses(inside: str) -> float:
        read = model(
            f"double p = 0, q = 0; for (int i = 0; i < n; i++) {{ {inside} }} s[0] = p + q;", parameters
        )
        return cost_of_original(read.scop, read.dependences, (), context_of()).at({"n": 4096}).accesses

    shared, apart = accesses("p += x[i]; q *= x[i];"), accesses("p += x[i]; q *= y[i];")
    assert shared == pytest.approx(apart / 2, rel=0.01)
    assert accesses("p += x[i]; y[i] = p; q *= x[i];") > accesses("p += x[i]; q *= x[i]; y[i] = p;")


def test_parts_of_an_array_that_parameters_tell_apart_are_all_moved(original):
    parts = "for (int i = 0; i < n; i++) x[i] = y[i] + y[i + n] + y[i + 2 * n];"
    beside = "for (int i = 0; i < n; i++) x[i] = y[i] + y[i + 1] + y[i + 2];"
    n = 1 << 22
    assert original(parts, n=n).traffic == pytest.approx(5 * 8 * n, rel=0.01)
    assert original(beside, n=n).traffic == pytest.approx(3 * 8 * n, rel=0.01)


def _runs_in_lanes(model, inside: str) -> bool:
    """Whether a compiler takes a nest to lanes as if it knew that all pointers lead to different memory."""
    loops = "for (int i = 9; i < n - 9; i++) for (int j = 9; j < n - 9; j++)"
    pointers = "int n, double *x, double *y, double *z, double X[][512], double Y[][512], double Z[][512]"
    read = model(f"{loops} {{ {inside} }}", pointers)
    aliases = aliases_of(read.region, strict=True)
    known, unknown = (
        cost_of_original(read.scop, read.dependences, (), context_of(), aliases=each).at({"n": 400})
        for each in (lambda _first, _second: False, aliases)
    )
    return bool(unknown.arithmetic == known.arithmetic)


@pytest.mark.parametrize(
    ("update", "fused", "folds", "wanted"),
    [
        ("s += x[i];", 1, False, "sum"),
        ("s += x[i] * y[i];", 2, False, "sum"),
        ("s += x[i] * y[i];", 1, False, "product"),
        ("s += x[i] * y[i];", 1, True, "sum"),
        ("s = s + x[i] * y[i];", 1, False, "product"),
        ("s *= x[i];", 1, False, "product"),
    ],
)
def test_sums_can_be_used_sooner_than_products(model, update, fused, folds, wanted):
    read = model(
        f"for (int i = 0; i < n; i++) {update}", "int n, double *x, double *y, double s", after="*x = s;"
    )
    figures = {"arithmetic.latency": 1.0, "arithmetic.sum_latency": 0.5, "arithmetic.fused": fused}
    context = context_of()
    machine = context.machine.with_figures(figures, Origin.FILE)
    context = replace(context, machine=machine, compiler=CompilerRules(vectors=VectorRules(folds=folds)))
    found = cost_of_original(read.scop, read.dependences, (), context).at({"n": 1000})
    assert found.waiting == pytest.approx({"sum": 500, "product": 1000}[wanted])


def test_compilers_take_all_statements_of_a_loop_to_lanes_or_none(model):
    """What stores apart costs more in lanes than the other statement gains there."""
    context = context_of()
    machine = context.machine.with_figures({"vector.bytes": 64, "vector.scatter": 9.0}, Origin.FILE)
    context = replace(context, machine=machine)

    def operations(inside: str) -> float:
        read = model(f"for (int i = 0; i < n; i++) {{ {inside} }}", PARAMETERS)
        return cost_of_original(read.scop, read.dependences, (), context).at({"n": 1000}).arithmetic

    alone, apart = operations("x[i] = 2 * y[i];"), operations("a[i][0] = 2 * y[i];")
    assert apart > 1.5 * alone
    assert operations("x[i] = 2 * y[i]; a[i][0] = 2 * y[i + n];") == pytest.approx(2 * apart)


def test_nothing_is_around_vectors_of_a_known_number(original):
    known = "for (int i = 0; i < n; i++) for (int j = 0; j < 512; j++) c[i][j] = a[i][j] + b[i][j];"
    unknown = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i][j] = a[i][j] + b[i][j];"
    assert original(known, n=512).arithmetic < original(unknown, n=512).arithmetic


@pytest.mark.parametrize(("taps", "whole"), [(4, True), (3, False)])
def test_unrolled_loops_read_whole_vectors_of_rows_of_a_known_length(model, taps, whole):
    """A vector of ``c[v][k]`` for all ``k`` is sorted out of rows that lie side by side."""
    body = (
        f"for (int i = 0; i < n; i++) for (int v = 0; v < 64; v++) {{ float s = 0;"
        f" for (int k = 0; k < {taps}; k++) s += x[k] * c[v][k]; y[64 * i + v] = s; }}"
    )
    parameters = "int n, const float *restrict x, float *restrict y, const float (*restrict c)[4]"
    read = model(body, parameters)
    found = cost_of_original(read.scop, read.dependences, (), context_of()).at({"n": 1000})
    each = found.accesses / (64 * 1000 * taps)
    assert (each < 0.5 * context_of().machine.vector.gather) is whole


def test_narrow_elements_and_divisions(original):
    assert original(NARROW, n=1000).arithmetic < original(SCALED, n=1000).arithmetic
    assert original(DIVIDED, n=1000).arithmetic > 2 * original(SCALED, n=1000).arithmetic


@pytest.mark.parametrize(
    ("value", "parameters", "fused"),
    [
        ("x[i] * x[i] + 1", "double *restrict x, double *restrict y", 1),
        ("1 - x[i] * x[i] * 2", "double *restrict x, double *restrict y", 1),
        ("y[i] + x[i] * x[i] + x[i] * 3", "double *restrict x, double *restrict y", 2),
        ("x[i] * (x[i] + 1)", "double *restrict x, double *restrict y", 0),
        ("x[i] * x[i] + 1", "int *restrict x, int *restrict y", 0),
    ],
)
@pytest.mark.parametrize("contracts", [True, False])
def test_a_sum_with_a_product_is_one_operation_where_compilers_fuse_them(
    value, parameters, fused, contracts, model
):
    read = model(f"for (int i = 0; i < n; i++) y[i] = {value};", f"int n, {parameters}")
    plain = context_of()
    machine = plain.machine.with_figures({"arithmetic.fused": 1}, Origin.OPTION)
    context = replace(plain, machine=machine, compiler=CompilerRules(may_contract=contracts))
    before, after = (
        cost_of_original(read.scop, read.dependences, (), each).at({"n": 1 << 16}).arithmetic
        for each in (plain, context)
    )
    lanes = 4 if "int *" in parameters else 2
    saved = (fused if contracts else 0) * (1 << 16) * machine.arithmetic.operation / lanes
    assert before - after == pytest.approx(saved, rel=0.01)


def test_a_byte_costs_what_the_cache_takes_that_has_it(original):
    """Two arrays that only the third cache holds: what it takes to bring them to the core, no more."""
    again = "for (int l = 0; l < m; l++) for (int i = 0; i < n; i++) x[i] += y[i];"
    elements, times = 1 << 18, 100
    found, machine = original(again, n=elements, m=times), context_of().machine
    assert found.caches == pytest.approx(times * 3 * 8 * elements / machine.l3.bandwidth, rel=0.02)
    elements = 1 << 14
    found = original(again, n=elements, m=times)
    assert found.caches == pytest.approx(times * 3 * 8 * elements / machine.l2.bandwidth, rel=0.02)


def test_larger_lines_grow_as_planes_do(model):
    assert larger_sizes(model(ROWS, PARAMETERS).scop) == ({"n": 4000},)
    again = "for (int l = 0; l < m; l++) for (int i = 1; i < n; i++) x[i] = y[i - 1] + x[i];"
    assert larger_sizes(model(again, PARAMETERS).scop) == ({"n": 16_000_000, "m": 4000},)


def test_usual_values_let_something_run(model):
    assert usual_values(model(ROWS, PARAMETERS).scop) == {"n": 1000}
    values = usual_values(model(SHIFTED, PARAMETERS).scop)
    assert values["n"] > values["m"]


@pytest.mark.parametrize(
    ("body", "length"),
    [
        ("for (int t = 0; t < m; t++) for (int i = 1; i < n; i++) x[i] += y[i - 1];", 1_000_000),
        (
            "for (int t = 0; t < m; t++) for (int i = 0; i < n; i++) e[(t + 1) % 2][i] = e[t % 2][i];",
            1_000_000,
        ),
        ("for (int t = 0; t < m; t++) { for (int i = 0; i < n; i++) x[i] = y[i]; y[0] = t; }", 1_000_000),
        ("for (int i = 0; i < n; i++) x[i] += y[i];", 1000),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i] += y[i] * y[j];", 1000),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i + j] += y[i];", 1000),
        ("for (int t = 0; t < n; t++) for (int i = 0; i < n; i++) x[i] += y[i];", 1000),
        ("for (int t = 0; t < m; t++) for (int i = 0; i < n; i++) x[i] += a[i][t];", 1000),
    ],
)
def test_lines_that_are_walked_along_again_are_long(model, body, length):
    read = model(body, f"{PARAMETERS}, double e[restrict 2][n]")
    assert usual_values(read.scop)["n"] == length
    assert usual_values(read.scop).get("m", 1000) == 1000


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = m; i < n; i++) x[i] += y[i];",
        "for (int i = m - 2; i <= n + 2; i++) for (int j = m; j <= n; j++) x[i] += y[j];",
        "for (int i = n - 1; i >= m; i--) x[i] += y[i];",
        "int i = m; while (i <= n) { x[i] += y[i]; i++; }",
        "for (int i = m; i < n - m; i++) for (int j = m; j < n - m; j++) c[i][j] = a[i][j - 1] + b[i][j];",
        "for (int i = 0; i < n - m; i++) x[m + i] += y[i]; for (int i = m; i < n; i++) y[i] = x[i];",
        "for (int i = 1; i <= n - m + 1; i++) x[i] += y[i];",
        "for (int i = 0; i < n - m; i++) for (int j = 0; j < n - m; j++) c[i][j] = a[i][j] + b[i][j];",
        "for (int i = n - m; i > 0; i--) x[i] += y[i];",
        "int i = 0; while (i + m < n) { x[i] += y[i]; i++; }",
        "for (int i = 0; m + i <= n; ++i) x[i] += y[i];",
    ],
)
def test_what_loops_start_from_is_small(model, body):
    assert usual_values(model(body, PARAMETERS).scop) == {"n": 1000, "m": 2}


IN_CUBE = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"


@pytest.mark.parametrize(
    ("body", "usual"),
    [
        (f"{IN_CUBE} u[i][j][k] = 0;", {"n": 200}),
        (f"for (int t = 0; t < m; t++) {IN_CUBE} u[i][j][k] += 1;", {"n": 200, "m": 1000}),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) p[i][j][0] = p[i][j][2];", {"n": 1000}),
        (f"{IN_CUBE} x[at[i]] += a[j][k];", {"n": 1000}),
    ],
)
def test_cubes_have_shorter_edges_than_planes(model, body, usual):
    arrays = "double u[restrict n][n][n], float p[restrict n][n][3], const int *restrict at"
    assert usual_values(model(body, f"{PARAMETERS}, {arrays}").scop) == usual


def test_what_loops_end_at_is_large(model):
    halves = "for (int i = 0; i < m; i++) x[i] += y[i]; for (int i = m; i < n; i++) x[i] = y[i];"
    assert usual_values(model(halves, PARAMETERS).scop) == {"n": 1000, "m": 1000}


def test_threads_are_worth_it_between_two_parameters(model):
    inside = "for (int i = m; i < n; i++) for (int j = m; j < n; j++) c[i][j] = 1 / (a[i][j] + b[i][j]);"
    read, context = model(inside, PARAMETERS), context_of()
    mapping = choose_mapping(read.scop, read.dependences, context)
    costs = cost_of_mapping("chosen", read.scop, read.dependences, mapping, context)
    values = usual_values(read.scop)
    assert costs.one_thread.at(values).total > 1.5 * costs.all_threads.at(values).total


def test_threads_pay_where_there_is_enough_to_do(model):
    read = model(PRODUCT, PARAMETERS)
    context = context_of()
    mapping = choose_mapping(read.scop, read.dependences, context)
    costs = cost_of_mapping("chosen", read.scop, read.dependences, mapping, context)

    def gain(n):
        return costs.one_thread.at({"n": n}).total / costs.all_threads.at({"n": n}).total

    assert gain(16) < 1
    assert gain(2000) > 3


def test_rows_and_vectors_of_register_tiles_share_what_they_load(model):
    read, context = model(PRODUCT, PARAMETERS), context_of()
    mapping = choose_mapping(read.scop, read.dependences, context)
    assert mapping.registers
    found = cost_of_mapping("chosen", read.scop, read.dependences, mapping, context).one_thread.at(
        {"n": 1024}
    )
    rows, vectors = (each.size for each in mapping.registers[0].block)
    lanes = mapping.registers[0].lanes
    # in whole vectors: one of a row of b for all rows, an element of a for all vectors
    loads = 1024**3 / lanes * (1 / rows + 1 / vectors) * context.machine.arithmetic.access
    assert found.accesses == pytest.approx(loads, rel=0.2)


def test_tiles_along_diagonals_move_what_is_in_them(model):
    read, context = model(DIAGONALS, PARAMETERS), context_of()
    mapping = choose_mapping(read.scop, read.dependences, context)
    assert mapping.tile_sizes
    assert mapping.parallel_loops
    n = 4000
    found = cost_of_mapping("chosen", read.scop, read.dependences, mapping, context).one_thread.at({"n": n})
    assert found.traffic == pytest.approx(2 * 8 * n * n, rel=0.1)
    assert found.caches < found.memory


def test_extents_are_found_once_for_a_region(model):
    read = model(PRODUCT + COLUMNS, PARAMETERS)
    point = parameters_at(read.scop.context, usual_values(read.scop))
    stamps = [each.domain.identity() for each in read.scop.statements]
    with remembering():
        first = [extents_at(each, point) for each in stamps]
        assert all(extents_at(each, point) is known for each, known in zip(stamps, first, strict=True))
    assert [extents_at(each, point) for each in stamps] == first
    assert extents_at(stamps[0], point) is not first[0]


def test_points_are_told_apart_by_dimensions_that_nothing_relates():
    points = Points.of(
        isl.Set(
            "[n] -> { [i, j, k, l] : 2 <= j <= i < 9 and l = 3 and k mod 4 = 1 and 0 <= k < n and n = 20 }"
        )
    )
    related = {(one, other) for one in range(4) for other in range(one) if points.connects(one, other)}
    assert related == {(1, 0)}
    assert [tuple(map(int, map(str, points.limits(dim)))) for dim in range(4)] == [
        (2, 8),
        (2, 8),
        (1, 17),
        (3, 3),
    ]
    assert int(str(points.stride(2))) == 4
    assert points.fixed(0, isl.Val(1)) is None
    fixed = points.fixed(0, isl.Val(5))
    assert tuple(map(str, fixed.limits(1))) == ("2", "5")
    assert tuple(map(str, fixed.limits(2))) == ("1", "17")


@pytest.mark.parametrize(
    "constraints",
    [
        "128a <= c <= 127 + 128a and 64b <= d <= 63 + 64b and 0 <= c < 1000 and 0 <= d <= c and e = c + d",
        "0 <= a < 40 and a <= b <= a + 9 and 3c = a + 2b and 0 <= d < c and 5e <= d + a <= 5e + 3",
        "a mod 4 = 1 and 0 <= a < 90 and 7b = 2a + c and 0 <= c < 9 and d = 3b - a and 0 <= e - 2d <= a",
    ],
)
def test_limits_of_many_dimensions_are_those_of_all_of_them_together(constraints):
    whole = isl.Set(f"{{ [a, b, c, d, e] : {constraints} }}")
    points = Points.of(whole)
    for dim in range(5):
        assert points.limits(dim) == (whole.dim_min_val(dim), whole.dim_max_val(dim))


def test_pieces_of_points_are_told_apart_one_by_one():
    points = Points.of(
        isl.Set(
            "{ [i, j, k] : (0 <= i < 4 and i <= j < 8 and 0 <= k < 3)"
            " or (20 <= i < 24 and 40 <= j < 42 and 10 <= k < 14) }"
        )
    )
    assert points.in_pieces()
    assert points.connects(0, 2)  # what i is decides on the piece
    limits = [tuple(map(str, points.limits(dim))) for dim in range(3)]
    assert limits == [("0", "23"), ("0", "41"), ("0", "13")]
    assert [points.covered(dim) for dim in range(3)] == [8, 10, 7]
    first = points.fixed(0, isl.Val(2))
    assert not first.in_pieces()
    assert [tuple(map(str, first.limits(dim))) for dim in (1, 2)] == [("2", "7"), ("0", "2")]
    assert points.fixed(0, isl.Val(10)) is None
    assert str(points.stride(0)) == "1"
    steps = isl.Set("{ [i] : i mod 8 = 1 and (0 <= i < 40 or 100 <= i < 140) }")
    assert str(Points.of(steps).stride(0)) == "8"


def test_points_are_found_once_for_a_region():
    box = isl.Set("{ [i, j] : 0 <= i < 4 and 0 <= j < 8 }")
    with remembering():
        assert Points.of(box) is Points.of(isl.Set("{ [i, j] : 0 <= i < 4 and 0 <= j < 8 }"))
    assert not Points.of(box).connects(0, 1)


def test_costs_are_added_up_part_by_part():
    one, other = Cost(arithmetic=1.0, memory=2.0, traffic=4.0), Cost(waiting=0.5, memory=3.0, threads=1.5)
    assert one + other == Cost(arithmetic=1.0, waiting=0.5, memory=5.0, threads=1.5, traffic=4.0)
    assert one.divided(2) == Cost(arithmetic=0.5, memory=1.0, traffic=2.0)
    told = {name: value for name, value in one.parts.items() if value}
    assert told == {"arithmetic": 1.0, "memory": 2.0, "traffic": 4.0}


def test_several_vectors_at_a_time_compute_no_more_at_once(model):
    nearest = """for (int i = 0; i < n; i++) { double best = 1e30; for (int k = 0; k < m; k++) { double d = 0;
        for (int l = 0; l < 9; l++) d += (a[i][l] - b[k][l]) * (a[i][l] - b[k][l]);
        if (d < best) best = d; } x[i] = best; }"""
    read, context = model(nearest, PARAMETERS), context_of()
    mapping = choose_mapping(read.scop, read.dependences, context)
    assert any(each.lanes is not None and each.lanes.copies > 1 for each in mapping.directives.values())
    alone = {
        mark: each if each.lanes is None else replace(each, lanes=replace(each.lanes, copies=1))
        for mark, each in mapping.directives.items()
    }
    one, several = (
        cost_of_mapping("", read.scop, read.dependences, each, context).one_thread.at({"n": 1024, "m": 64})
        for each in (replace(mapping, directives=alone), mapping)
    )
    assert 0.8 * one.arithmetic < several.arithmetic < one.arithmetic  # they share the loop


@pytest.mark.parametrize(("length", "conflicts"), [(512, True), (1024, True), (500, False), (520, False)])
def test_columns_of_rows_of_known_length_are_in_one_set_or_not(model, length, conflicts):
    """The element before was stored a moment ago, in a line that as many others as there are ways share."""
    read = model(
        "for (int i = 1; i < n; i++) for (int j = 0; j < 40; j++) a[j][i] -= a[j][i - 1] * x[i];",
        f"int n, double a[restrict][{length}], double *restrict x",
    )
    found = cost_of_original(read.scop, read.dependences, (), context_of()).at({"n": 400})
    assert (found.conflicts > 0) is conflicts


@pytest.mark.parametrize(
    ("loops", "usual"),
    [
        ("for (int i = 0; i <= n - m; i++) for (int k = 0; k < m; k++)", {"n": 1000, "m": 16}),
        ("for (int i = 0; i < n - m; i++) for (int k = 0; k < n; k++)", {"n": 1000, "m": 2}),
        ("for (int i = 0; i < n; i++) for (int k = 0; k < m; k++)", {"n": 1000, "m": 1000}),
    ],
)
def test_the_extent_of_a_window_is_small(model, loops, usual):
    read = model(f"{loops} y[i] += x[i + k];", "int n, int m, double *restrict y, double *restrict x")
    assert usual_values(read.scop) == usual


def test_loops_one_after_the_other_add_up():
    """A core that waits in one loop does not compute what the next one has; data move all the while."""
    waits, computes = Cost(arithmetic=2.0, waiting=10.0), Cost(arithmetic=8.0, accesses=3.0)
    assert overlapping([waits, computes], Cost()).total == 18.0
    assert overlapping([waits + computes], Cost()).total == 10.0
    assert overlapping([waits, computes], Cost(memory=25.0, caches=4.0)).total == 25.0


def test_every_other_element_is_no_neighbour(original):
    """Two colours of a board, of which each is in steps of two elements from a place that rows change."""
    body = "for (int i = 1; i < n - 1; i++) for (int j = 1 + i % 2; j < n - 1; j += 2) c[i][j] = a[i][j] + 1;"
    steps, all_ = original(body, n=1000), original(ROWS, n=1000)
    assert steps.arithmetic > 0.75 * all_.arithmetic  # of half the elements
    assert steps.accesses > 0.5 * all_.accesses


def test_remainders_by_numbers_are_no_divisions(original):
    """Integers have them, of which compilers make multiplications, also beside floating-point numbers."""
    plain, divided = "c[i][j] = a[i][j] * (i % 3);", "c[i][j] = a[i][j] / (a[i][j] + i);"
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "
    assert original(loops + plain, n=100).arithmetic < original(loops + divided, n=100).arithmetic / 2
