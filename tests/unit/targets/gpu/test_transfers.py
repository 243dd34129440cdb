"""Which boxes of which arrays go to the device and back."""

import pytest

from polybuild.diagnostics import Unsupported

VECTORS = "int n, double *restrict a, double *restrict b, int *restrict at"


def directions(found):
    return {each.array.name: (each.goes_in, each.comes_out) for each in found.plan.transfers}


def corners(found, name):
    (one,) = [each for each in found.plan.transfers if each.array.name == name]
    return [str(each).partition("[(")[2].partition(")]")[0] for each in (*one.lowest, *one.highest)]


def test_read_and_written_whole(planned):
    found = planned("for (int i = 2; i < n - 3; i++) b[i] = a[i + 1];", VECTORS)
    assert directions(found) == {"a": (True, False), "b": (False, True)}
    assert corners(found, "b") == ["2", "-4 + n"]
    assert corners(found, "a") == ["3", "-3 + n"]


def test_what_is_not_written_whole_goes_in_as_well(planned):
    found = planned("for (int i = 0; i < n; i++) b[2 * i] = a[i];", VECTORS)
    assert directions(found)["b"] == (True, True)
    found = planned("for (int i = 0; i < n; i++) if (a[i] > 0) b[i] = a[i];", VECTORS)
    assert directions(found)["b"] == (True, True)


def test_what_is_written_before_it_is_read_does_not_go_in(planned):
    body = "for (int i = 0; i < n; i++) b[i] = i; for (int i = 0; i < n; i++) a[i] = b[n - 1 - i];"
    assert directions(planned(body, VECTORS)) == {"a": (False, True), "b": (False, True)}


def test_what_is_dead_after_the_region_does_not_come_out(planned):
    body = "for (int i = 0; i < n; i++) part[i] = a[i]; for (int i = 0; i < n; i++) b[i] = part[n - 1 - i];"
    kept = planned(body, VECTORS, "double part[n];", frozenset({"part"}))
    assert directions(kept) == {"a": (True, False), "part": (False, True), "b": (False, True)}
    dead = planned(body, VECTORS, "double part[n];", frozenset())
    assert directions(dead) == {"a": (True, False), "part": (False, False), "b": (False, True)}


def test_elements_that_data_choose_of_unknown_extent_are_looked_for(planned):
    found = planned("for (int i = 0; i < n; i++) b[i] = a[at[i]] + a[at[i]];", VECTORS)
    (transfer,) = (each for each in found.plan.transfers if each.array.name == "a")
    assert len(transfer.inspected) == 1


@pytest.mark.parametrize(
    "body", ["if (at[i] > 0) b[i] = a[at[i]];", "{ int k = at[i]; if (k >= 0 && a[k] > 0) b[i] = 1; }"]
)
def test_elements_that_a_condition_guards_are_looked_for_under_it(planned, body):
    found = planned(f"for (int i = 0; i < n; i++) {body}", VECTORS)
    (transfer,) = (each for each in found.plan.transfers if each.array.name == "a")
    assert len(transfer.inspected) == 1
    assert transfer.inspected[0].inspector.conditions


def test_a_condition_that_the_region_changes_is_not_known_before(planned):
    with pytest.raises(Unsupported, match="depends on data"):
        planned("for (int i = 0; i < n; i++) b[i] = at[i] < 0 || b[i] > 1 ? 0 : a[at[i]];", VECTORS)


def test_elements_that_depend_on_data_of_a_known_array(planned):
    found = planned("for (int i = 0; i < n; i++) b[i] = table[at[i]];", VECTORS, "double table[50];")
    assert corners(found, "table") == ["0", "49"]
