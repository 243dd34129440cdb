"""Which arrays hold nothing that is needed outside of a region, and why others do."""

from __future__ import annotations

import pytest

from polybuild.storage.temporaries import refusals, streams, temporaries, unsuited_to_buffers, users_of

PARAMETERS = "int n, double A[restrict n], double B[restrict n], double T[restrict n], int idx[restrict n]"
CHAIN = """
  for (int i = 0; i < n; i++) T[i] = A[i] + 1;
  for (int i = 0; i < n; i++) B[i] = T[i] * 2;"""
OWN = "int n, double A[restrict n], double B[restrict n]"


def names(found, named: tuple[str, ...] = ()) -> list[str]:
    return [each.name for each in temporaries(found.scop, found.dependences, found.live, named)]


def test_an_automatic_array_that_is_dead_afterwards_is_temporary(model):
    assert names(model(CHAIN, OWN, before="double T[n];")) == ["T"]


def test_it_is_not_where_it_is_read_afterwards(model):
    assert names(model(CHAIN, OWN, before="double T[n];", after="B[0] = T[0];")) == []


def test_it_is_not_where_its_address_is_taken(model):
    assert names(model(CHAIN, OWN, before="double T[n]; double *p = &T[0]; (void)p;")) == []


def test_a_parameter_is_temporary_only_where_the_user_says_so(model):
    found = model(CHAIN, PARAMETERS)
    assert names(found) == []
    assert names(found, ("T",)) == ["T"]
    assert refusals(found.scop, found.dependences, ("T",)) == ()


REFUSED = {
    "read before it is written": (
        "for (int i = 1; i < n; i++) { T[i] = A[i]; B[i] = T[i - 1]; }",
        "elements may be read that the region has not written",
    ),
    "chosen by data": ("for (int i = 0; i < n; i++) T[idx[i]] = A[i];", "an access is not known exactly"),
    "perhaps written": (
        "for (int i = 0; i < n; i++) { if (A[i] > 0) T[i] = A[i]; }",
        "an access is not known exactly",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_named_arrays_that_stay_in_memory(what, model):
    body, reason = REFUSED[what]
    found = model(body, PARAMETERS)
    assert names(found, ("T",)) == []
    assert refusals(found.scop, found.dependences, ("T",)) == (f"'T' stays in memory: {reason}",)


def test_scalars_and_structures_have_no_elements_for_buffers(model):
    found = model(
        "for (int i = 0; i < n; i++) { s = A[i]; p[i].x = s; }",
        "int n, double A[restrict n], struct point p[restrict n]",
        top="struct point { double x; };",
        before="double s;",
    )
    reasons = {each.name: unsuited_to_buffers(found.scop, each) for each in found.scop.arrays}
    assert reasons["A"] == ""
    assert reasons["s"] == "it is no array"
    (structure,) = (reason for name, reason in reasons.items() if name.startswith("p"))
    assert structure == "its elements are no numbers"


def test_elements_read_that_no_array_of_that_size_has_do_not_count(model):
    # T[n] is never read by a correct program: the array ends before it
    found = model(
        "for (int i = 0; i < n; i++) T[i] = A[i]; for (int i = 0; i <= n; i++) B[i] = T[i];",
        "int n, double A[restrict n], double B[restrict n + 1]",
        before="double T[n];",
    )
    assert names(found) == ["T"]


def test_users_are_the_statements_that_touch_an_array(model):
    found = model(CHAIN + "for (int i = 0; i < n; i++) A[i] = 0;", PARAMETERS)
    by_name = {each.name: each for each in found.scop.arrays}
    assert users_of(found.scop, [by_name["T"]]) == {"S0", "S1"}
    assert users_of(found.scop, [by_name["A"]]) == {"S0", "S2"}


def test_statements_stream_unless_they_use_each_element_many_times(model):
    found = model(CHAIN, PARAMETERS)
    (array,) = temporaries(found.scop, found.dependences, found.live, ("T",))
    assert streams(found.scop, {"S0", "S1"}, [array])
    found = model(CHAIN + "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) B[i] += T[k];", PARAMETERS)
    (array,) = temporaries(found.scop, found.dependences, found.live, ("T",))
    assert streams(found.scop, {"S0", "S1"}, [array])
    assert not streams(found.scop, {"S0", "S1", "S2"}, [array])
