"""The accesses of statements that are kept whole, and of calls, as relations."""

from __future__ import annotations

import islpy as isl
import pytest
from plain_regions import scop_in

from polybuild.scop.model import AccessKind

LOOP = "for (int i = 0; i < n; i++)"
PARAMETERS = "int n, double a[n][n], double *x, double *y, int *c"


def relation(scop, array, *kinds):
    """The relation of all accesses of the given kinds to ``array`` where ``n`` is positive."""
    found = isl.UnionMap("[n] -> { }")
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array.name == array and access.kind in kinds:
                found = found.union(isl.UnionMap.from_map(access.relation))
    return found.intersect_params(isl.Set("[n] -> { : n > 0 }"))


# (body of the loop over i, array, reads, may-writes, certain writes)
SAME = "S0[i] -> x[i] : 0 <= i < n"
LOWER = "S0[i] -> a[i, j] : 0 <= j < i < n"
SQUARE = "0 <= i, j < n and 0 <= j"
CASES = [
    ("x[c[i]] = 0;", "x", "", "S0[i] -> x[k] : 0 <= i < n", ""),
    ("y[i] = x[c[i]];", "x", "S0[i] -> x[k] : 0 <= i < n", "", ""),
    ("y[i] = a[c[i]][i];", "a", "S0[i] -> a[k, i] : 0 <= i < n", "", ""),
    ("a[i][c[i]] = 0;", "a", "", "S0[i] -> a[i, k] : 0 <= i, k < n and 0 <= k", ""),
    ("if (c[i]) x[i] = 0;", "x", "", "S0[i] -> x[i] : 0 <= i < n", ""),
    ("if (c[i]) x[i] = 0; else x[i] = 1;", "x", "", SAME, SAME),
    ("if (c[i]) { x[i] = 0; y[i] = x[i]; }", "x", "", SAME, ""),
    ("if (c[i]) y[i] = x[i]; x[i] = 0;", "x", SAME, "", SAME.replace("S0", "S1")),
    ("do { for (int j = 0; j < i; j++) a[i][j] = 0; } while (c[i]);", "a", "", "", LOWER),
    ("while (c[i]) { for (int j = 0; j < i; j++) a[i][j] = 0; }", "a", "", LOWER, ""),
    (
        "do { for (int j = c[i]; j < n; j++) a[i][j] = 0; } while (c[0]);",
        "a",
        "",
        f"S0[i] -> a[i, j] : {SQUARE}",
        "",
    ),
    (
        "do { for (int j = i; j < c[i]; j++) y[i] += x[j]; } while (c[0]);",
        "x",
        "S0[i] -> x[j] : 0 <= i < n and j >= i",
        "",
        "",
    ),
    ("do { for (int j = c[i]; j < n; j++) x[i] = 0; } while (c[0]);", "x", "", SAME, ""),
    ("for (int j = 0; j < n; j++) { if (c[j]) break; x[j] = 0; }", "x", "", f"S0[i] -> x[j] : {SQUARE}", ""),
]


@pytest.mark.parametrize(("body", "array", "reads", "may", "must"), CASES)
def test_accesses(body, array, reads, may, must):
    scop = scop_in(f"{LOOP} {{ {body} }}", PARAMETERS)
    for kind, expected in (
        (AccessKind.READ, reads),
        (AccessKind.MAY_WRITE, may),
        (AccessKind.WRITE, must),
    ):
        wanted = isl.UnionMap(f"[n] -> {{ {expected} }}").intersect_params(isl.Set("[n] -> { : n > 0 }"))
        found = relation(scop, array, kind)
        if kind is AccessKind.MAY_WRITE:  # what is certain may be listed as possible, too
            found = found.subtract(relation(scop, array, AccessKind.WRITE).subtract(wanted))
        assert found.is_equal(wanted), f"{kind}: {found}"


@pytest.mark.parametrize(
    "body",
    [
        "double t; if (c[i]) t = x[i]; else t = y[i]; y[i] = t;",
        "double t; do { t = x[i]; y[i] = t; } while (c[i]);",
        "double t; for (int k = c[i]; k < 2; k++) { t = x[k]; if (c[k]) continue; y[i] = t; }",
    ],
)
def test_work_variables_are_not_read_before_they_are_written(body):
    scop = scop_in(f"{LOOP} {{ {body} }}", PARAMETERS)
    name = body.split()[1].split("[")[0].rstrip(";")
    first = scop.statements[0]
    assert not any(each.array.name == name and each.kind is AccessKind.READ for each in first.accesses)
    assert any(each.array.name == name for each in first.accesses)


def test_a_construct_that_is_kept_whole_is_said():
    scop = scop_in(f"{LOOP}\n while (c[i]) c[i]--;", PARAMETERS)
    (remark,) = scop.remarks
    assert remark.code == "while"
    assert "kept whole" in remark.message


def test_a_variable_of_a_construct_that_was_read_as_loops_before_is_its_own():
    inner = "for (int k = 0; k < 9; k++) { double t = z + x[i]; z = t; if (z > 4) break; }"
    scop = scop_in(f"{LOOP} {{ double z = 0; {inner} y[i] = z; }}", PARAMETERS)
    assert "t" not in {each.name for each in scop.arrays}
    assert not any(array.name == "t" for statement in scop.statements for _, array in statement.locals)
