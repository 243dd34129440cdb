"""The proof: every legal order passes, every kind of illegal one is refused with its reason."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from polybuild.schedule import legality
from polybuild.schedule.legality import (
    IllegalSchedule,
    check_schedule,
    is_legal_below,
    keeps_values,
    privatised,
)

ONE = "int n, double *restrict a"
TWO = "int n, double *restrict a, double *restrict b"

RECURRENCE = ("for (int i = 1; i < n; i++) a[i] = a[i - 1];", ONE, "")
# instance (i, j) needs (i - 1, j + 1) and (i - 1, j)
SKEWED = (
    "for (int i = 1; i < n; i++) for (int j = 0; j < n - 1; j++) A[i][j] = A[i - 1][j + 1] + A[i - 1][j];",
    "int n, double A[restrict n][n]",
    "",
)
PAIR = ("for (int i = 0; i < n; i++) { a[i] = 1; b[i] = a[i]; }", TWO, "")
PRIVATE = ("for (int i = 0; i < n; i++) { t = a[i]; b[i] = t; }", TWO, "double t;")
# the value of S0 is read by all of S1, S2 writes the next one, for S3
TWO_VALUES = (
    "t = 0; for (int i = 0; i < n; i++) b[i] = t; t = 1; for (int i = 0; i < n; i++) a[i] = t;",
    TWO,
    "double t;",
)
DEAD = ("for (int i = 0; i < n; i++) t = a[i];", TWO, "double t;")
COPY = ("for (int i = 0; i < n; i++) a[i] = b[i];", TWO, "")


@pytest.fixture
def prove(model):
    """Check an order, in isl's notation without the domain, of the instances of a region."""

    def proof(case, tree):
        body, parameters, before = case
        found = model(body, parameters, before=before)
        schedule = isl.Schedule.read_from_str(
            isl.DEFAULT_CONTEXT, f'{{ domain: "{found.scop.domain}"{", child: " if tree else ""}{tree} }}'
        )
        check_schedule(schedule, found.dependences, found.scop.domain)
        return schedule

    return proof


def band(schedule, *, coincident="", permutable=0, child=""):
    below = f", child: {child}" if child else ""
    flags = f", permutable: {permutable}" + (f", coincident: [{coincident}]" if coincident else "")
    return f'{{ schedule: "{schedule}"{flags}{below} }}'


def sequence(*parts, kind="sequence"):
    filters = ", ".join(f'{{ filter: "{each}"{f", child: {tree}" if tree else ""} }}' for each, tree in parts)
    return f"{{ {kind}: [ {filters} ] }}"


BOTH = "[{ S0[i] -> [(i)]; S1[i] -> [(i)] }]"
S0, S1 = "{ S0[i] }", "{ S1[i] }"

LEGAL = {
    "two values of a private variable": (
        TWO_VALUES,
        sequence(
            ("{ S0[] }", ""), ("{ S1[i] }", band("[{ S1[i] -> [(-i)] }]", coincident="1")), ("{ S2[] }", ""),
            ("{ S3[i] }", band("[{ S3[i] -> [(-i)] }]", coincident="1")),
        ),
    ),
    "two values of a private variable, the second one first": (
        TWO_VALUES,
        sequence(
            ("{ S2[]; S3[i] }", sequence(("{ S2[] }", ""), ("{ S3[i] }", band("[{ S3[i] -> [(i)] }]")))),
            ("{ S0[]; S1[i] }", sequence(("{ S0[] }", ""), ("{ S1[i] }", band("[{ S1[i] -> [(i)] }]")))),
        ),
    ),
    "as written": (RECURRENCE, band("[{ S0[i] -> [(i)] }]")),
    "shifted and scaled": (RECURRENCE, band("[{ S0[i] -> [(3i + 7)] }]")),
    "a band that is not permutable": (SKEWED, band("[{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(j)] }]")),
    "skewed and permutable": (
        SKEWED, band("[{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(i + j)] }]", permutable=1),
    ),
    "the inner loop outside once skewed": (
        SKEWED, band("[{ S0[i, j] -> [(i + j)] }, { S0[i, j] -> [(i)] }]", permutable=1),
    ),
    "independent instances, backwards": (COPY, band("[{ S0[i] -> [(-i)] }]", coincident="1")),
    "fused": (PAIR, band(BOTH, coincident="1", child=sequence((S0, ""), (S1, "")))),
    "distributed": (PAIR, sequence((S0, band("[{ S0[i] -> [(-i)] }]")), (S1, band("[{ S1[i] -> [(i)] }]")))),
    "live ranges in another order": (
        PRIVATE, band("[{ S0[i] -> [(-i)]; S1[i] -> [(-i)] }]", child=sequence((S0, ""), (S1, ""))),
    ),
    "live ranges side by side": (PRIVATE, band(BOTH, coincident="1", child=sequence((S0, ""), (S1, "")))),
    "tiles of independent live ranges": (
        PRIVATE,
        band(
            "[{ S0[i] -> [(floor(i/8))]; S1[i] -> [(floor(i/8))] }]", coincident="1",
            child=band(BOTH, child=sequence((S0, ""), (S1, ""))),
        ),
    ),
    "an order that is left open": (COPY, ""),
    "loops without an order between them": (
        COPY, sequence(("[n] -> { S0[i] : i < 3 }", ""), ("[n] -> { S0[i] : i >= 3 }", ""), kind="set"),
    ),
}  # fmt: skip

ILLEGAL = {
    "backwards": (RECURRENCE, band("[{ S0[i] -> [(-i)] }]"), "reverses a dependence"),
    "all at once": (RECURRENCE, "", "same time stamp"),
    "two instances at a time": (RECURRENCE, band("[{ S0[i] -> [(floor(i/2))] }]"), "same time stamp"),
    "called coincident": (RECURRENCE, band("[{ S0[i] -> [(i)] }]", coincident="1"), "marked coincident"),
    "shared by threads": (
        RECURRENCE, f'{{ mark: "parallel0", child: {band("[{ S0[i] -> [(i)] }]")} }}', "threads share a loop",
    ),
    "called coincident inside": (
        SKEWED, band("[{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(i + j)] }]", permutable=1, coincident="0, 1"),
        "marked coincident",
    ),
    "called permutable": (
        SKEWED, band("[{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(j)] }]", permutable=1), "back in time",
    ),
    "interchanged": (SKEWED, band("[{ S0[i, j] -> [(j)] }, { S0[i, j] -> [(i)] }]"), "reverses a dependence"),
    "use before definition": (
        PAIR, band(BOTH, child=sequence((S1, ""), (S0, ""))), "sequence reverses a dependence",
    ),
    "definition and use unordered": (
        PAIR, band(BOTH, child=sequence((S0, ""), (S1, ""), kind="set")), "sequence reverses a dependence",
    ),
    "use one iteration early": (
        PAIR, band("[{ S0[i] -> [(i)]; S1[i] -> [(i - 1)] }]", child=sequence((S0, ""), (S1, ""))),
        "reverses a dependence",
    ),
    "halves in the wrong order": (
        RECURRENCE,
        sequence(*((f"{{ S0[i] : i {half} }}", band("[{ S0[i] -> [(i)] }]")) for half in (">= 3", "< 3"))),
        "sequence reverses a dependence",
    ),
    "distribution of a private variable": (
        PRIVATE, sequence((S0, band("[{ S0[i] -> [(i)] }]")), (S1, band("[{ S1[i] -> [(i)] }]"))),
        "live ranges of 't' overlap",
    ),
    "live ranges that cross iterations": (
        PRIVATE,
        band("[{ S0[i] -> [(-i)]; S1[i] -> [(-i + 1)] }]", child=sequence((S0, ""), (S1, ""))),
        "live ranges of 't'",
    ),
    "live ranges in one iteration": (
        PRIVATE, band("[{ S0[i] -> [(0)]; S1[i] -> [(0)] }]", child=sequence((S0, ""), (S1, ""))),
        "live ranges of 't'",
    ),
    "writes to a private variable at once": (DEAD, "", "two live ranges of 't' have the same time stamp"),
    "a write amid a live range that began before": (
        TWO_VALUES,
        sequence(
            ("{ S0[] }", ""),
            (
                "{ S1[i]; S2[] }",
                band("[{ S1[i] -> [(i)]; S2[] -> [(0)] }]", child=sequence((S1, ""), ("{ S2[] }", ""))),
            ),
            ("{ S3[i] }", band("[{ S3[i] -> [(i)] }]")),
        ),
        "live ranges of 't' overlap",
    ),
    "live ranges without an order": (
        PRIVATE,
        band(
            "[{ S0[i] -> [(floor(i/2))]; S1[i] -> [(floor(i/2))] }]", child=sequence((S0, ""), (S1, "")),
        ),
        "live ranges of 't'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", LEGAL)
def test_legal(what, prove):
    prove(*LEGAL[what])


@pytest.mark.parametrize("what", ILLEGAL)
def test_illegal(what, prove):
    case, tree, reason = ILLEGAL[what]
    with pytest.raises(IllegalSchedule, match=reason):
        prove(case, tree)


@pytest.mark.parametrize("domain", ["[n] -> { S0[i] : 2 <= i < n }", "[n] -> { S0[i] : 1 <= i <= n }"])
def test_instances_that_are_missing_or_not_of_the_region(domain, model):
    found = model(*RECURRENCE[:2])
    tree = isl.Schedule(f'{{ domain: "{domain}", child: {band("[{ S0[i] -> [(i)] }]")} }}')
    with pytest.raises(IllegalSchedule, match="does not run the instances"):
        check_schedule(tree, found.dependences, found.scop.domain)


def test_copies_may_be_added_and_statements_may_not(model):
    found = model(*RECURRENCE[:2])
    node = found.scop.schedule.get_root().child(0)
    copies, statements = (
        isl.ScheduleNode.from_extension(isl.UnionMap(f"[n] -> {{ [] -> {added} }}"))
        for added in ("copy[0]", "S0[n + 7]")
    )
    check_schedule(node.graft_before(copies).get_schedule(), found.dependences, found.scop.domain)
    with pytest.raises(isl.Error, match="disjoint"):
        node.graft_before(statements)


def test_the_original_order_is_legal_and_its_opposite_is_not(model):
    found = model(*SKEWED[:2])
    check_schedule(found.scop.schedule, found.dependences, found.scop.domain)
    opposite = isl.Schedule.from_domain(found.scop.domain).insert_partial_schedule(
        isl.MultiUnionPwAff.from_union_map(found.scop.schedule.get_map()).neg()
    )
    with pytest.raises(IllegalSchedule):
        check_schedule(opposite, found.dependences, found.scop.domain)


def test_below_a_loop_only_what_it_leaves_matters(model):
    found = model("for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = A[i - 1][j];", SKEWED[1])
    domain = found.scop.domain
    outer = isl.Schedule(f'{{ domain: "{domain}", child: {band("[{ S0[i, j] -> [(i)] }]")} }}')
    backwards = isl.MultiUnionPwAff("[{ S0[i, j] -> [(-j)] }]")
    below = outer.get_root().child(0).child(0).insert_partial_schedule(backwards)
    assert is_legal_below(below, found.dependences)
    backwards = isl.MultiUnionPwAff("[{ S0[i, j] -> [(-i)] }]")
    alone = outer.get_root().child(0).insert_partial_schedule(backwards)
    assert not is_legal_below(alone, found.dependences)


ROWS = """
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 8; j++) t[j] = a[i] + j;
    for (int j = 0; j < 8; j++) b[8 * i + j] = t[7 - j];
  }"""


def test_threads_over_rows_need_a_row_each(model):
    found = model(ROWS, TWO, before="double t[8];")
    node = found.scop.schedule.get_root().child(0)
    private = found.dependences.private
    assert [each.array.name for each in privatised(node, private)] == ["t_own"]
    assert keeps_values(node, private)


def test_threads_within_a_row_share_it_and_its_values_leave_them(model):
    found = model(ROWS, TWO, before="double t[8];")
    first = found.scop.schedule.get_root().child(0).child(0).child(0).child(0)
    assert isl.schedule_node_type(first.get_type()) == isl.schedule_node_type.band
    assert privatised(first, found.dependences.private) == ()
    assert not keeps_values(first, found.dependences.private)


def counting(found, schedule=None):
    """A check of an order, the original one if none is given, and what it was told to check."""
    seen = []

    def check(dependences):
        seen.append(dependences.validity)
        check_schedule(schedule or found.scop.schedule, dependences, found.scop.domain)

    return check, seen


def test_dependences_among_accesses_are_proved_once(model):
    found = model(SKEWED[0], SKEWED[1])
    check, seen = counting(found)
    legality.prove(check, found.scop, found.dependences, 1_000_000)
    (pairs,) = seen
    assert found.dependences.validity.is_subset(pairs)


def test_dependences_that_no_access_tells_are_proved_too(model):
    """As those of a private variable, whose live ranges are another matter."""
    found = model(PRIVATE[0], PRIVATE[1], before=PRIVATE[2])
    check, seen = counting(found)
    legality.prove(check, found.scop, found.dependences, 1_000_000)
    assert len(seen) == 2
    more = replace(found.dependences, false=found.dependences.validity.reverse())
    with pytest.raises(IllegalSchedule):
        legality.prove(check, found.scop, more, 1_000_000)


def test_dependences_stand_alone_where_accesses_are_too_many(model):
    found = model(SKEWED[0], SKEWED[1])
    check, seen = counting(found)
    legality.prove(check, found.scop, found.dependences, 1)
    assert seen[-1].is_equal(found.dependences.validity)


def test_accesses_refuse_what_dependences_allow(model):
    found = model(RECURRENCE[0], RECURRENCE[1])
    nothing = isl.UnionMap.empty(found.dependences.flow.get_space())
    backwards = isl.Schedule.from_domain(found.scop.domain).insert_partial_schedule(
        isl.MultiUnionPwAff.read_from_str(isl.DEFAULT_CONTEXT, "[{ S0[i] -> [(-i)] }]")
    )
    check, _ = counting(found, backwards)
    with pytest.raises(IllegalSchedule):
        legality.prove(check, found.scop, replace(found.dependences, flow=nothing, false=nothing), 1_000_000)
