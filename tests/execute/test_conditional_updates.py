"""Updates under conditions: of elements that the region writes anyway, and of variables."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from pool_programs import Call, compare
from pycparser import c_ast

from polybuild.storage import element_promotion, guarded_values

SIZES = [*itertools.product((0, 1, 2, 7, 33, 60), repeat=2), (17, 40), (40, 17)]
LARGEST = "if (A[i*m+j] > B[i]) { B[i] = A[i*m+j]; C[i] = j; }"
INNER = "for (int j = 0; j < m; j++)"

CASES = {
    "set_before": f"for (int i = 0; i < n; i++) {{ B[i] = -1; C[i] = 0; {INNER} {LARGEST} }}",
    "set_in_another_nest": (
        f"for (int i = 0; i < n; i++) B[i] = C[i] = -1; for (int i = 0; i < n; i++) {INNER} {LARGEST}"
    ),
    "set_afterwards": f"for (int i = 0; i < n; i++) {{ {INNER} {LARGEST} B[i] += C[i]; C[i] = i; }}",
    "never_set": f"for (int i = 0; i < n; i++) {INNER} {LARGEST}",
    "counted": (
        f"for (int i = 0; i < n; i++) {INNER}"
        " { C[i*m+j] = 0; for (int k = 0; k < 20; k++) if (A[i*20+k] < B[j*20+k]) C[i*m+j] += 1; }"
    ),
    "columns": (
        f"{INNER} B[j] = 0; for (int i = 0; i < n; i++) {INNER} if (A[i*m+j] > B[j]) B[j] = A[i*m+j];"
    ),
    "downwards": (
        "for (int i = n - 1; i >= 0; i--) { B[i] = A[i*m]; C[i] = m;"
        f" for (int j = m - 1; j >= 0; j--) {LARGEST} }}"
    ),
    "triangle": (
        "for (int i = 0; i < n; i++) { C[i] = -1; for (int j = 0; j < i; j++)"
        " if (A[j] < A[i] && B[j] > B[i]) C[i] = j; }"
    ),
    "longest": (
        "for (int i = 0; i < n; i++) { C[i] = 1; for (int j = 0; j < i; j++)"
        " if (A[j] < A[i] && C[j] + 1 > C[i]) C[i] = C[j] + 1; }"
    ),
    "longest_nested": (
        "for (int i = 0; i < n; i++) { C[i] = 1; for (int j = 0; j < i; j++)"
        " if (A[j] < A[i]) if (C[i] < C[j] + 1) C[i] = C[j] + 1; }"
    ),
    "longest_in_a_variable": (
        "for (int i = 0; i < n; i++) { double best = 0; for (int j = 0; j < i; j++)"
        " if (A[j] < A[i] && C[j] > best) best = C[j]; C[i] = best + 1; }"
    ),
    "read_where_it_need_not_be": (
        f"for (int i = 0; i < n; i++) {INNER} if (A[j] > 60 && B[i] > A[i*m+j]) C[i*m+j] = B[i] + C[i*m+j];"
    ),
    "limited": (
        f"for (int i = 0; i < n; i++) {INNER} {{ double a = A[i*m+j] - B[i], s; if (a <= 0) s = 0;"
        " else if (a < C[i]) s = a; else s = C[i]; C[i*m+j+m] = B[i] + 0.5 * s; }"
    ),
    "under_affine_conditions": (
        f"for (int i = 0; i < n; i++) {{ B[i] = 3; C[i] = 1; {INNER} if (j != i) {{ {LARGEST} }} }}"
    ),
    "two_elements": (
        f"for (int i = 1; i < n; i++) {{ B[i] = 3; {INNER} if (A[i*m+j] > B[i]) B[i] = B[i-1] + j; }}"
    ),
    "neighbour_read_later": (
        f"for (int i = 0; i < n; i++) {{ B[i] = 3; {INNER} if (A[i*m+j] > B[i]) B[i] = A[i*m+j];"
        " if (i > 0) C[i] = B[i-1]; }"
    ),
    "other_elements_of_the_row": (
        f"for (int i = 0; i < n; i++) {{ B[i] = 3; {INNER} if (A[i*m+j] > 60) B[j] += 1; }}"
    ),
    "both_branches": (
        f"for (int i = 0; i < n; i++) {{ B[i] = 0; C[i] = 0; {INNER}"
        " if (A[i*m+j] > 60) B[i] += A[i*m+j]; else C[i] += 1; }"
    ),
}

# of a variable that is set and used under conditions
GUARDED = {
    "same_condition": (
        "for (int i = 0; i < n; i++) { if (A[i] > 50) t = A[i] * 2; B[i] = i; if (A[i] > 50) B[i] += t; }"
    ),
    "condition_on_a_variable": (
        "for (int i = 0; i < n; i++) { double u = A[i] - m; if (u > 9) t = u * 2;"
        " C[i] = u; if (u > 9) C[i] += t; }"
    ),
    "condition_changed_between": (
        "for (int i = 0; i < n; i++) { if (A[i] > 50) t = A[i] * 2; A[i] = B[i]; if (A[i] > 50) C[i] = t; }"
    ),
    "another_condition": (
        "for (int i = 0; i < n; i++) { if (A[i] > 90) t = A[i] * 2; if (A[i] > 20) C[i] = t; }"
    ),
    "of_the_iteration_before": (
        "for (int i = 0; i < n; i++) { if (A[i] > 50) C[i] = t; if (A[i] > 50) t = A[i] * 2; }"
    ),
    "old_value_used_first": (
        "for (int i = 0; i < n; i++) { if (A[i] > 50) { B[i] = t; t = A[i]; } if (A[i] > 50) C[i] = t; }"
    ),
    "set_twice": (
        "for (int i = 0; i < n; i++) { if (A[i] > 50) t = A[i]; if (B[i] > 50) t = B[i];"
        " if (A[i] > 50) C[i] = t; }"
    ),
    "not_set_for_certain": (
        "for (int i = 0; i < n; i++) { if (A[i] > 50) { if (B[i] > 50) t = B[i]; } if (A[i] > 50) C[i] = t; }"
    ),
    "other_iterations": (
        "for (int i = 0; i < n; i++) { if (A[i] > 50) t = A[i]; if (i > 3) { if (A[i] > 50) C[i] = t; } }"
    ),
}
ALL = CASES | {name: (each,) for name, each in GUARDED.items()}


def compared(folder, cases):
    functions = {
        name: f"#pragma scop\n{body}\n#pragma endscop"
        if isinstance(body, str)
        else f"double t = 7;\n#pragma scop\n{body[0]}\n#pragma endscop"
        for name, body in cases.items()
    }
    return compare(folder, functions, {name: [Call(each) for each in SIZES] for name in functions})


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compared(tmp_path_factory.mktemp("updates"), ALL)


@pytest.mark.parametrize("name", ALL)
def test_results_are_the_original_ones(comparison, name):
    assert comparison.regions[name].status == "transformed", comparison.regions[name]
    calls = comparison.calls[name]
    assert not all(each.fell_back for each in calls)
    assert [each.transformed for each in calls] == [each.original for each in calls]


def test_a_value_that_is_not_loaded_is_seen(tmp_path, monkeypatch):
    load = element_promotion._reversed

    def forgetful(copy):
        found = load(copy)
        variable = found.accesses[-1]
        body = c_ast.Assignment("=", variable.node, c_ast.Constant("double", "40.0"), None)
        return replace(found, body=body, accesses=(variable,))

    monkeypatch.setattr(element_promotion, "_reversed", forgetful)
    comparison = compared(tmp_path, {"set_in_another_nest": CASES["set_in_another_nest"]})
    (calls,) = comparison.calls.values()
    assert any(each.transformed != each.original for each in calls)


def test_another_condition_that_is_taken_for_the_same_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(guarded_values, "key", lambda _node: "")
    comparison = compared(tmp_path, {"another_condition": ALL["another_condition"]})
    (calls,) = comparison.calls.values()
    assert any(each.transformed != each.original for each in calls)
