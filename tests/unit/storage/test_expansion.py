"""Statements that copy what comes in and what goes out, and which arrays are worth it."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.analysis.dependences import compute_dependences
from polybuild.poly.relations import lexicographically_after
from polybuild.schedule.legality import check_schedule
from polybuild.storage.expansion import expand, worth_expanding
from polybuild.transform.index_set_splitting import split_index_sets

PARAMETERS = "int n, double x[restrict n], double y[restrict n], double A[restrict n][n]"
IN_PLACE = "for (int i = 1; i < n - 1; i++) x[i] = (x[i - 1] + x[i] + x[i + 1]) / 4;"


def array(found, name):
    (wanted,) = (each for each in found.scop.arrays if each.name == name)
    return wanted


def test_a_copy_holds_what_is_read_and_gives_back_what_is_written(model):
    found = model(IN_PLACE, PARAMETERS)
    scop, (copy,) = expand(found.scop, found.dependences, [array(found, "x")])
    assert copy.copied == "x"
    original, first, last = scop.statements
    assert {each.array.name for each in original.accesses} == {copy.name}
    assert first.domain.is_equal(isl.Set("[n] -> { S1[i] : 0 <= i < n and n >= 3 }"))
    assert last.domain.is_equal(isl.Set("[n] -> { S2[i] : 1 <= i < n - 1 }"))
    assert [each.array.name for each in (*first.accesses, *last.accesses)] == ["x", copy.name, copy.name, "x"]


def test_the_copies_are_made_before_and_after_everything(model):
    found = model(IN_PLACE, PARAMETERS)
    scop, _ = expand(found.scop, found.dependences, [array(found, "x")])
    after = lexicographically_after(scop.schedule.get_map())
    original, first, last = (isl.UnionSet.from_set(each.domain) for each in scop.statements)
    for earlier, later in ((first, original), (original, last), (first, last)):
        assert isl.UnionMap.from_domain_and_range(earlier, later).is_subset(after)
    dependences = compute_dependences(scop, found.live)
    check_schedule(scop.schedule, dependences, scop.domain)
    assert dependences.flow.intersect_range(last).domain().is_subset(original)


def test_copies_have_names_of_their_own_where_statements_were_split(model):
    found = model("for (int i = 0; i < n; i++) x[i] += y[i > 0 ? i - 1 : 0];", PARAMETERS)
    split = split_index_sets(found.scop, found.live, found.region.visible.symbols)
    names = [each.name for each in split.statements]
    assert names == ["S1", "S2"]
    wanted = [array(found, "x"), array(found, "y")]
    scop, _ = expand(split, compute_dependences(split, found.live), wanted)
    assert len(scop.statements) == 5
    assert len({each.name for each in scop.statements}) == 5


def test_what_is_only_written_is_not_read(model):
    found = model("for (int i = 0; i < n; i++) { y[i] = 0; y[i] += x[i]; }", PARAMETERS)
    scop, _ = expand(found.scop, found.dependences, [array(found, "y")])
    (added,) = scop.statements[2:]
    assert [each.array.name for each in added.accesses] == ["y_copy", "y"]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("for (int i = 0; i < n; i++) y[i] = x[i];", []),
        ("for (int i = 1; i < n; i++) y[i] = x[i] + x[i - 1];", []),
        ("for (int i = 2; i < n; i++) y[i] = x[i] + x[i - 1] + x[i - 2];", ["x"]),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] += A[i][j];", ["y"]),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] += A[i][j] > 0 ? x[j] : 0;", ["y"]),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (A[i][j] > 0) y[i] += A[i][j];", []),
        ("double t[n]; for (int i = 2; i < n; i++) { t[i] = y[i]; x[i] = t[i] + t[i - 1] + t[i - 2]; }", []),
    ],
    ids=["once", "twice", "window", "sum", "perhaps read", "perhaps written", "of the region"],
)
def test_what_is_worth_it(model, body, wanted):
    assert [each.name for each in worth_expanding(model(body, PARAMETERS).scop, [])] == wanted
