"""Blocks with resident arrays: what is read of them, and what speaks against them."""

from __future__ import annotations

import pytest
from reading import Reader, function

from polybuild.source.model import BlockKind

LOOP = "#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 1;\n#pragma endscop\n"


def block(clause: str, inside: str = LOOP, before: str = "") -> str:
    return function(f"{before}\n#pragma polybuild resident{clause}\n{{\n{inside}}}\n")


@pytest.mark.parametrize(
    ("clause", "before", "address", "size"),
    [
        ("(a[0:n])", "", "a", "(n) > 0 ? (unsigned long long)(n) * sizeof *(a) : 0"),
        (
            "( a [ 2 : n - 2 ] )",
            "",
            "(a) + (2)",
            "(n - 2) > 0 ? (unsigned long long)(n - 2) * sizeof *(a) : 0",
        ),
        ("(x)", "double x[5][n];", "x", "sizeof (x)"),
        ("(s.x)", "struct { int x[3]; } s;", "s.x", "sizeof (s.x)"),
        (
            "(p->x[0:n])",
            "struct { float *x; } *p = 0;",
            "p->x",
            "(n) > 0 ? (unsigned long long)(n) * sizeof *(p->x) : 0",
        ),
    ],
)
def test_arrays(read: Reader, clause: str, before: str, address: str, size: str) -> None:
    source = read(block(clause, before=before))
    assert not source.diagnostics
    (found,) = source.residents
    assert [(each.address, each.size) for each in found.arrays] == [(address, size)]
    assert source.text[found.pragma.start : found.pragma.end] == f"#pragma polybuild resident{clause}\n"
    assert source.text[found.body.start : found.body.end] == f"{{\n{LOOP}}}"


def test_the_block_ends_at_its_own_brace(read: Reader) -> None:
    inside = f'{{ puts("}}}}"); /* }} */ }}\n#define BRACE }}\n{LOOP}// }}\n'
    source = read(block("(a[0:n], b[0:n])", inside, "double *b = a;"))
    (found,) = source.residents
    assert source.text[found.body.start : found.body.end] == f"{{\n{inside}}}"
    assert [each.address for each in found.arrays] == ["a", "b"]


@pytest.mark.parametrize(
    ("clause", "inside", "code", "said"),
    [
        ("", LOOP, "resident-syntax", "no list"),
        ("()", LOOP, "resident-syntax", "'' is no array"),
        ("(a[0:n] b)", LOOP, "resident-syntax", "is no array"),
        ("(a[n])", LOOP, "resident-syntax", "is no array"),
        ("(a)", LOOP, "resident-array", "how many elements 'a' has"),
        ("(n)", LOOP, "resident-array", "'n' is no array"),
        ("(b[0:n])", LOOP, "resident-array", "'b' is no array"),
        ("(a[0:n])", f"if (n) return;\n{LOOP}", "resident-block", "'return' passes"),
        ("(a[0:n])", f"{LOOP}goto end;\n", "resident-block", "'goto' passes"),
        ("(a[0:n])", f"a[3] = n;\n{LOOP}", "resident-use", "'a' is used by statements of no region"),
        ("(a[0:n])", f"{LOOP}n = *a;\n", "resident-use", "'a' is used by statements of no region"),
    ],
)
def test_what_speaks_against_a_block(read: Reader, clause: str, inside: str, code: str, said: str) -> None:
    source = read(function(f"#pragma polybuild resident{clause}\n{{\n{inside}}}\nend: n = 0;\n"))
    assert not source.residents
    (problem,) = source.diagnostics
    assert problem.code == code
    assert said in problem.message


def test_the_pragma_needs_a_block(read: Reader) -> None:
    source = read(function(f"#pragma polybuild resident(a[0:n])\n{LOOP}"))
    assert [each.code for each in source.diagnostics] == ["resident-block"]


def test_a_loop_may_end_inside(read: Reader) -> None:
    inside = f"while (n) {{ if (n == 3) break; n--; continue; }}\nswitch (n) {{ case 1: break; }}\n{LOOP}"
    assert read(block("(a[0:n])", inside)).residents


def test_distributed_arrays_are_read_alike(read: Reader) -> None:
    text = block("(a[0:n])").replace("resident", "distributed")
    (found,) = read(text).residents
    assert (found.kind, found.arrays[0].address) == (BlockKind.DISTRIBUTED, "a")
    assert read(text.replace("#pragma scop", "polybuild_collect(a);\nn = *a;\n#pragma scop")).residents
    (problem,) = read(text.replace("#pragma scop", "n = *a;\n#pragma scop")).diagnostics
    assert problem.message == "no array stays distributed here: 'a' is used by statements of no region"
    assert problem.hint == "call polybuild_collect before the host reads or writes it"


def test_the_host_may_use_what_it_asks_for(read: Reader) -> None:
    inside = f"{LOOP}polybuild_update_host(a);\nn = a[0];\n"
    assert read(block("(a[0:n])", inside)).residents


def test_addresses_are_no_uses(read: Reader) -> None:
    inside = f"g(a, &a[3]);\ndouble *b = a;\nb = a;\n{LOOP}"
    assert read(block("(a[0:n])", inside)).residents


def test_a_block_inside_of_a_region(read: Reader) -> None:
    inner = "#pragma polybuild resident(a[0:n])\n{\nfor (int i = 0; i < n; i++) a[i] = 1;\n}\n"
    source = read(function(f"#pragma scop\n{inner}#pragma endscop"))
    assert [each.code for each in source.diagnostics] == ["resident-block"]
