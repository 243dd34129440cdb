"""Loops unrolled, split and peeled by hand, joined on the model."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from polybuild.analysis.dependences import compute_dependences
from polybuild.analysis.liveness import live_after
from polybuild.rerolling import reroll as rerolling
from polybuild.rerolling.equivalence import computes_the_same
from polybuild.rerolling.joining import joined
from polybuild.rerolling.loop_tree import Block, Loop, loop_tree, schedule_of, statements_of
from polybuild.rerolling.matching import Place, copies_in
from polybuild.rerolling.reroll import reroll
from polybuild.rerolling.shapes import shape_of
from polybuild.schedule.legality import check_schedule
from polybuild.scop.determined_counters import project_determined_counters
from polybuild.scop.extract import extract_scop

PARAMETERS = (
    "int n, int k, double a[restrict n][n], double b[restrict n][n], double x[restrict n], double y[n]"
)
BY_FOUR = """double s = 0;
for (k = 0; k + 3 < n; k += 4) { s += x[k]; s += x[k + 1]; s += x[k + 2]; s += x[k + 3]; }
for (; k < n; k++) s += x[k];
y[0] = s;"""
SQUARES = """s = 0;
for (k = 0; k < n / 2 * 2; k += 2) { s += a[i][k]; s += a[i][k + 1]; }
for (int l = n / 2 * 2; l < n; l++) s += a[i][l];"""
JAMMED = """for (k = 0; k + 1 < n; k += 2) { double s = 0, t = 0;
for (int l = 0; l < n; l++) { s += a[k][l]; t += a[k + 1][l]; }
y[k] = s; y[k + 1] = t; }
for (; k < n; k++) { double s = 0; for (int l = 0; l < n; l++) s += a[k][l]; y[k] = s; }"""
NAMED = """for (int i = 0; i < n; i++) {{ for (k = 0; k + 1 < n; k += 2) {{
double t = a[i][k] * x[i]; double u = a[i][k + 1] * x[i]; y[i] += {}; y[i] += {}; }}
for (k = n - n % 2; k < n; k++) {{ double v = a[i][k] * x[i]; y[i] += v; }} }}"""
TWO = "for (k = 0; k + 1 < n; k += 2) {{ {} }} for (; k < n; k++) {}"

JOINED = {
    "by four": (BY_FOUR, ["S0[]", "S1[k] : 0 <= k < n", "S6[]"]),
    "jammed": (
        JAMMED,
        ["S0[k] : 0 <= k < n", "S2[k, l] : 0 <= k < n and 0 <= l < n", "S4[k] : 0 <= k < n"],
    ),
    "begun with the first term": (
        """for (int i = 0; i < n; i++) { double s = a[i][0] * x[0];
        for (k = 1; k < n; k++) s += a[i][k] * x[k]; y[i] = s; }""",
        ["S0[i] : 0 <= i < n", "S1[i, k] : 0 <= i < n and 0 <= k < n", "S2[i] : 0 <= i < n"],
    ),
    "begun with the first element of a buffer": (
        """for (int i = 0; i < n; i++) { double w[n]; for (k = 0; k < n; k++) w[k] = a[i][k] * 2;
        y[i] = w[0]; for (k = 1; k < n; k++) y[i] += w[k]; }""",
        [
            "S0[i, k] : 0 <= i < n and 0 <= k < n",
            "S1[i] : 0 <= i < n",
            "S2[i, k] : 0 <= i < n and 0 <= k < n",
        ],
    ),
    "by two": (TWO.format("x[k] = y[k]; x[k + 1] = y[k + 1];", "x[k] = y[k];"), ["S0[k] : 0 <= k < n"]),
    "without a rest": (
        "for (k = 0; k < n / 4 * 4; k += 4) { x[k] = 0; x[k + 1] = 0; x[k + 2] = 0; x[k + 3] = 0; }",
        ["S0[k] : 0 <= k < 4 * floor(n / 4)"],
    ),
    "one iteration and a rest": (
        """for (int i = 0; i < n; i++) { for (k = 0; k + 1 < 3; k += 2) {
        y[i] += a[i][k]; y[i] += a[i][k + 1]; } for (k = 2; k < 3; k++) y[i] += a[i][k]; }""",
        ["S0[i, k] : 0 <= i < n and 0 <= k < 3"],
    ),
    "one iteration and a rest, in rows of a flat array": (
        """for (int i = 0; i < n; i++) { for (k = 0; k + 1 < 3; k += 2) {
        y[i] += a[0][i * (n + 8) + k] * x[i * 3 + k];
        y[i] += a[0][i * (n + 8) + (k + 1)] * x[i * 3 + (k + 1)]; }
        for (k = 2; k < 3; k++) y[i] += a[0][i * (n + 8) + k] * x[i * 3 + k]; }""",
        ["S0[i, k] : 0 <= i < n and 0 <= k < 3"],
    ),
    "one iteration and a rest, over rows of a flat array": (
        """for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) { for (k = 0; k + 1 < 3; k += 2) {
        y[i] += x[(i * 3 + k) * 3 + j]; y[i] += x[(i * 3 + k + 1) * 3 + j]; }
        for (k = 2; k < 3; k++) y[i] += x[(i * 3 + k) * 3 + j]; }""",
        ["S0[i, j, k] : 0 <= i < n and 0 <= j < 3 and 0 <= k < 3"],
    ),
    "one iteration, subscripts that grow by two": (
        """for (int i = 0; i + 9 < n; i++) { for (k = 0; k < 1; k += 2) { y[i] += a[i][9 - 2 * k]; y[i] +=
        a[i][9 - 2 * (k + 1)]; } for (k = 2; k < 3; k++) y[i] += a[i][9 - 2 * k]; }""",
        ["S0[i, k] : 0 <= i < n - 9 and 0 <= k < 3"],
    ),
    "downwards": (
        """for (k = n - 1; k > 0; k -= 2) { x[k] += y[k]; x[k - 1] += y[k - 1]; }
        for (; k >= 0; k--) x[k] += y[k];""",
        ["S0[k] : 0 <= k < n"],
    ),
    "in blocks": (
        """for (int ii = 0; ii < n; ii += 32) for (int i = ii; i < (ii + 32 < n ? ii + 32 : n); i++) {
        for (k = 0; k + 1 < n; k += 2) { y[i] += a[i][k]; y[i] += a[i][k + 1]; }
        for (k = n - n % 2; k < n; k++) y[i] += a[i][k]; }""",
        ["S0[ii, i, k] : ii mod 32 = 0 and 0 <= ii <= i <= ii + 31 and i < n and 0 <= k < n"],
    ),
    "halves": (
        "for (k = 0; k < n / 2; k++) x[k] = y[k]; for (k = n / 2; k < n; k++) x[k] = y[k];",
        ["S0[k] : 0 <= k < n"],
    ),
    "first outside": (
        "if (n > 0) x[0] = y[0]; for (int l = 1; l < n; l++) x[l] = y[l];",
        ["S1[l] : 0 <= l < n"],
    ),
    "terms with names": (
        NAMED.format("t", "u"),
        ["S0[i, k] : 0 <= i < n and 0 <= k < n", "S2[i, k] : 0 <= i < n and 0 <= k < n"],
    ),
    "sums of even and odd elements": (
        """for (int i = 0; i < n; i++) { double s = 0, t = 0;
        for (k = 0; k + 1 < n; k += 2) { s += a[i][k]; t += a[i][k + 1]; }
        for (k = n - n % 2; k < n; k++) s += a[i][k];
        y[i] = s + t; }""",
        [
            "S0[i] : 0 <= i < n",
            "S1[i] : 0 <= i < n",
            "S2[i, k] : k mod 2 = 0 and 0 <= i < n and 0 <= k < n",
            "S3[i, k] : k mod 2 = 0 and 0 <= i < n and 0 <= k < n - 1",
            "S5[i] : 0 <= i < n",
        ],
    ),
    "sums of a few even and odd elements, downwards": (
        """for (int i = 0; i < n; i++) { double s = 0, t = 0;
        for (k = 6; k > 2; k -= 3) { s += a[i][k]; t += a[i][k - 1]; }
        for (k = 0; k >= 0; k--) s += a[i][k];
        y[i] = s + t; }""",
        [
            "S0[i] : 0 <= i < n",
            "S1[i] : 0 <= i < n",
            "S2[i, k] : k mod 3 = 0 and 0 <= i < n and 0 <= k <= 6",
            "S3[i, k] : k mod 3 = 0 and 0 <= i < n and 3 <= k <= 6",
            "S5[i] : 0 <= i < n",
        ],
    ),
    "last row outside": (
        """for (int i = 0; i < n - 1; i++) for (int j = 0; j <= i; j++) a[i][j] = b[j][i];
        for (int j = 0; j < n; j++) a[n - 1][j] = b[j][n - 1];""",
        ["S0[i, j] : 0 <= j <= i < n"],
    ),
}
KEPT = {
    "terms with names in another order": NAMED.format("u", "t"),
    "term with a name twice": NAMED.format("t", "t"),
    "nothing alike": "for (int i = 0; i < n; i++) { x[i] = 0; x[i] += y[i]; }",
    "other statements": "for (k = 0; k + 1 < n; k += 2) { x[k] = y[k]; x[k + 1] += y[k + 1]; }",
    "gap": "for (k = 0; k + 2 < n; k += 3) { x[k] = y[k]; x[k + 1] = y[k + 1]; }",
    "overlap": "for (k = 0; k + 2 < n; k += 2) { x[k] = y[k]; x[k + 1] = y[k + 1]; x[k + 2] = y[k + 2]; }",
    "stride": "for (k = 0; k < n; k += 2) x[k] = y[k];",
    "only some": "for (k = 0; k + 1 < n; k += 2) { x[k] = 1; x[k + 1] = 1; y[k] = x[k]; }",
    "other order": "for (k = 0; k + 1 < n; k += 2) { y[0] += x[k + 1]; y[0] += x[k]; }",
    "other values": "for (k = 0; k + 1 < n; k += 2) { x[k] = k; x[k + 1] = k; }",
    "two sums": """double s = 0, t = 0; for (k = 0; k + 1 < n; k += 2) { s += x[k]; t += x[k + 1]; }
        y[0] = s + t;""",
    "exchanged": JAMMED.replace("y[k] = s; y[k + 1] = t;", "y[k] = t; y[k + 1] = s;"),
    "same places": "for (k = 0; k < n; k++) { x[k] += y[k]; x[k] += y[k]; }",
    "begun with another term": "double s = x[1]; for (k = 1; k < n; k++) s += x[k]; y[0] = s;",
    "begun with its own value": "for (k = 0; k < n; k++) { y[0] = y[0] * x[0]; y[0] += y[0] * x[1]; }",
    "begun without a loop": "double s = x[0]; s += x[1]; y[0] = s;",
    "two loops": "for (k = 0; k < n; k++) x[k] += y[k]; for (k = 0; k < n; k++) x[k] += y[k];",
}


@pytest.mark.parametrize("name", JOINED)
def test_copies_are_joined(model, name):
    body, domains = JOINED[name]
    made = model(body, PARAMETERS)
    scop = reroll(made.scop, made.live)
    context = made.scop.context
    found = [each.domain.intersect_params(context) for each in scop.statements]
    expected = [isl.Set(f"[n] -> {{ {each} }}").intersect_params(context) for each in domains]
    assert all(one.is_equal(other) for one, other in zip(found, expected, strict=True)), found
    assert scop.schedule.get_domain().is_equal(scop.domain)
    check_schedule(scop.schedule, compute_dependences(scop, made.live), scop.domain)
    assert reroll(scop, made.live) is scop


def test_copies_in_blocks_are_joined_in_one_piece(read):
    (region,) = read(
        """void f(int n, int k, double w[3], double p[n + 8][n + 8], double q[16][n][n]) {
        #pragma scop
        for (int yy = 0; yy < n; yy += 32) for (int xx = 0; xx < n; xx += 32) for (int o = 0; o < 16; o++)
        for (int y = yy; y < (yy + 32 < n ? yy + 32 : n); y++)
        for (int x = xx; x < (xx + 32 < n ? xx + 32 : n); x++) {
        double s = 0;
        for (int i = 0; i < 3; i++) {
          for (k = 0; k + 1 < 3; k += 2) { s += w[k] * p[y + i][x + k]; s += w[k + 1] * p[y + i][x + k + 1]; }
          for (k = 3 - 3 % 2; k < 3; k++) s += w[k] * p[y + i][x + k]; }
        q[o][y][x] = s; }
        #pragma endscop
        }"""
    ).regions
    _, update, _ = reroll(extract_scop(region), live_after(region)).statements
    assert update.domain.n_basic_set() == 1
    blocks = "yy mod 32 = 0 and xx mod 32 = 0 and 0 <= yy <= y <= yy + 31 and 0 <= xx <= x <= xx + 31"
    inside = "0 <= o < 16 and y < n and x < n and 0 <= i < 3 and 0 <= k < 3"
    assert update.domain.is_equal(isl.Set(f"[n] -> {{ S1[yy, xx, o, y, x, i, k] : {blocks} and {inside} }}"))


def test_variables_of_copies_are_one(model):
    made = model(JAMMED, PARAMETERS)
    scop = reroll(made.scop, made.live)
    assert [each.spelling for each in scop.arrays] == ["s", "a", "y"]
    assert [each.spelling for each in made.scop.arrays] == ["s", "t", "a", "y", "s_1"]


@pytest.mark.parametrize("name", KEPT)
def test_others_stay(model, name):
    made = model(KEPT[name], PARAMETERS)
    assert reroll(made.scop, made.live) is made.scop


def test_nothing_is_asked_where_no_bodies_are_equal(model, monkeypatch):
    made = model(KEPT["nothing alike"], PARAMETERS)
    monkeypatch.setattr(rerolling, "loop_tree", None)
    assert reroll(made.scop, made.live) is made.scop


def test_the_order_of_a_tree_is_that_of_its_schedule(model):
    scop = model(JAMMED, PARAMETERS).scop
    tree = loop_tree(scop.schedule)
    again = schedule_of(tree, {each.name: each.domain for each in scop.statements}, 0, ())
    orders = [each.get_map().lex_lt_union_map(each.get_map()) for each in (scop.schedule, again)]
    assert orders[0].is_equal(orders[1])


def test_loops_whose_counters_went_are_none_of_a_tree(model):
    """The rest of a loop has one iteration: without its counter it is no dimension of its statement."""
    made = model(f"double s; for (int i = 0; i < n; i++) {{ {SQUARES} y[i] = s; }}", PARAMETERS)
    plain = project_determined_counters(made.scop)
    assert {len(each.iterators) for each in plain.statements} == {1, 2}
    assert loop_tree(made.scop.schedule) is not None
    assert loop_tree(plain.schedule) is None
    assert reroll(plain, made.live) is plain


def at_the_top(made):
    """The copies at the outermost place of a model, and what is needed to join them."""
    tree = loop_tree(made.scop.schedule)
    place = Place(tree.parts if isinstance(tree, Block) else (tree,), 0)
    leading = next(index for index, part in enumerate(place.parts) if isinstance(part, Loop))
    shapes = {each.name: shape_of(each, made.live) for each in made.scop.statements}
    copies = copies_in(
        place, leading, {each.name: each for each in made.scop.statements}, shapes, own_cells=True
    )
    return tree, place, copies, shapes


def test_copies_that_begin_each_other_are_found_out(model):
    """``s = 0`` and ``t = 0`` exchanged: each sum would begin with what another instance wrote."""
    made = model(JAMMED, PARAMETERS)
    tree, place, copies, shapes = at_the_top(made)
    right = joined(made.scop, tree, place, copies, shapes)
    assert computes_the_same(made.scop, right, copies, shapes)
    first, second = (next(each for each in copies if each.statement.name == name) for name in ("S0", "S1"))
    swap = {
        "S0": replace(first, instances=second.instances.set_tuple_name(isl.dim_type.in_, "S0")),
        "S1": replace(second, instances=first.instances.set_tuple_name(isl.dim_type.in_, "S1")),
    }
    wrong = [swap.get(each.statement.name, each) for each in copies]
    exchanged = joined(made.scop, tree, place, wrong, shapes)
    assert exchanged is not None
    assert not computes_the_same(made.scop, exchanged, wrong, shapes)


def test_copies_of_other_elements_are_found_out(model):
    """The second copy said to be the third one, and the other way round: the elements are others."""
    made = model(BY_FOUR, PARAMETERS)
    tree, place, copies, shapes = at_the_top(made)
    assert joined(made.scop, tree, place, copies, shapes) is not None
    one, two = (next(each for each in copies if each.statement.name == name) for name in ("S2", "S3"))
    moved = {
        "S2": replace(one, instances=two.instances.set_tuple_name(isl.dim_type.in_, "S2")),
        "S3": replace(two, instances=one.instances.set_tuple_name(isl.dim_type.in_, "S3")),
    }
    wrong = [moved.get(each.statement.name, each) for each in copies]
    assert joined(made.scop, tree, place, wrong, shapes) is None


def test_another_order_is_found_out(model):
    """The joined loop run downwards: each sum would take its terms in another order."""
    made = model(BY_FOUR, PARAMETERS)
    tree, place, copies, shapes = at_the_top(made)
    right = joined(made.scop, tree, place, copies, shapes)
    assert computes_the_same(made.scop, right, copies, shapes)
    text = str(right.schedule).replace("[(k)]", "[(-k)]")
    falling = isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, text)
    assert "-k" in text
    assert not computes_the_same(made.scop, replace(right, schedule=falling), copies, shapes)


def test_statements_are_met_in_textual_order(model):
    tree = loop_tree(model(JAMMED, PARAMETERS).scop.schedule)
    assert [*statements_of(tree)] == [f"S{index}" for index in range(9)]
