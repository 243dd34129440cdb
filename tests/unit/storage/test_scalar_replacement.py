"""Which elements of unrolled statements become variables."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.storage.scalar_replacement import OrderedAccess, is_same_element, replaced_elements

PARAMETERS = "int n, double a[restrict n], double b[restrict n], int idx[restrict n]"


def expression(array: str, *subscripts: str) -> isl.AstExpr:
    """The access ``array[subscripts]`` in a loop that counts ``c0``."""
    build = isl.AstBuild.from_context(isl.Set("[n] -> { : }"))
    # c0 is a parameter to isl, as the counter of a loop around is to the statements
    function = isl.MultiPwAff(f"[n, c0] -> {{ {array}[{', '.join(subscripts)}] }}")
    return build.access_from_multi_pw_aff(function)


def chosen(given: list[OrderedAccess]) -> list[tuple[str, bool]]:
    return [(each.element.to_C_str(), each.loaded) for each in replaced_elements(given)]


@pytest.fixture
def updates(model):
    """Two statements that update an element each: a read of ``b``, and a read and a write of ``a``."""
    return model("for (int i = 0; i < n; i++) { a[i] += b[i]; a[i] += b[i]; }", PARAMETERS)


def ordered(found, *subscripts: str) -> list[OrderedAccess]:
    """The accesses of two updates, of the elements of ``a`` at ``subscripts``."""
    given = []
    for statement, subscript in zip(found.scop.statements, subscripts, strict=True):
        for access in statement.accesses:
            where = subscript if access.array.name == "a" else "c0"
            given.append(OrderedAccess(access, expression(access.array.name, where), certain=True))
    return given


def test_an_element_updated_twice_is_a_variable_and_loaded(updates):
    assert chosen(ordered(updates, "c0", "c0")) == [("a[c0]", True)]


def test_what_is_only_read_stays(updates):
    assert not [each for each in replaced_elements(ordered(updates, "c0", "c0")) if each.array.name == "b"]


def test_equal_subscripts_are_equal_however_they_were_written(updates):
    assert is_same_element(expression("a", "c0 + 1"), expression("a", "1 + c0"))
    assert chosen(ordered(updates, "2c0 - c0", "c0")) == [("a[c0]", True)]


def test_numbers_that_differ_are_distinct_elements(updates):
    assert chosen(ordered(updates, "0", "1")) == [("a[0]", True), ("a[1]", True)]


def test_subscripts_that_may_be_equal_keep_an_array_in_memory(updates):
    assert chosen(ordered(updates, "c0", "n")) == []


def test_an_element_kept_elsewhere_keeps_its_array_in_memory(updates):
    given = ordered(updates, "c0", "c0")
    last = next(each for each in reversed(given) if each.access.array.name == "a")
    given[given.index(last)] = OrderedAccess(last.access, None, certain=True)
    assert chosen(given) == []


def test_a_first_access_that_may_not_happen_is_none_to_load_by(updates):
    given = [OrderedAccess(each.access, each.element, certain=False) for each in ordered(updates, "c0", "c0")]
    assert chosen(given) == []


def test_what_is_written_first_is_not_loaded(model):
    found = model("for (int i = 0; i < n; i++) { a[i] = 0; a[i] += b[i]; }", PARAMETERS)
    assert chosen(ordered(found, "c0", "c0")) == [("a[c0]", False)]


def test_elements_that_data_choose_are_none(model):
    found = model("for (int i = 0; i < n; i++) { a[i] = 0; a[idx[i]] = 1; }", PARAMETERS)
    given = [
        OrderedAccess(each, expression(each.array.name, "c0") if each.exact else None, certain=True)
        for statement in found.scop.statements
        for each in statement.accesses
    ]
    assert chosen(given) == []
